"""What every reader uses is the same in C and in Python: lines are gathered, and text is cleaned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both
from smart_context.model import Limits
from smart_context.sources.extract import collect, encoding

# White space of every kind, what is none, half of a character, and characters of one to four bytes.
TEXT = st.text(st.sampled_from("ab  \t\n\r\x0b\x1c\x85\xa0\u2003\u3000\u200bé中😀\udc80\0\x7f"))
ENDS = [chr(code) for code in (0, 8, 9, 10, 0x0B, 0x1F, 0x20, 0x7E, 0x7F, 0x84, 0x85, 0x86, 0x9F, 0xA0, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0x10FFFF)]  # fmt: skip


@given(st.lists(st.tuples(TEXT, st.lists(TEXT)), max_size=4), st.integers(0, 60), st.integers(1, 4))
def test_sections_are_gathered_the_same_up_to_any_limit(sections, chars, units):
    def gathered():
        taken = collect.Sections(Limits(max_text_chars=chars, max_units=units))
        taken.take_all(sections)
        return taken.finish(), taken.notes, taken.room

    quick, slow = both(gathered, collect)
    assert quick == slow


def test_a_line_that_is_neat_is_not_made_anew():
    line = "one two\tthree"
    taken = collect.Sections(Limits())
    taken.lines(["", line, " \t"])
    assert taken.finish()[0].text is line


@given(TEXT)
def test_text_is_cleaned_the_same(text):
    quick, slow = both(lambda: encoding.clean(text), encoding)
    assert quick == slow


@pytest.mark.parametrize("width", ["a", "é", "中", "😀"])
@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_what_is_no_text_is_found_wherever_it_stands(end, width):
    for before in (0, 1, 255, 256, 700):
        text = width * before + end + width
        quick, slow = both(lambda text=text: encoding.clean(text), encoding)
        assert quick == slow
