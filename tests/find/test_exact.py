"""Whether a text has an identifier as it was typed."""

import re
import sys

from hypothesis import given
from hypothesis import strategies as st

from smart_context.find import exact

_PIECES = [
    "size",
    "SIZE",
    "Size",
    "kiss",
    "_",
    "-",
    "+",
    "#",
    ".",
    ",",
    " ",
    "ä",
    "Ä",
    "ß",
    "ſ",
    "K",
    "İ",
    "ı",
    "٣",
    "名",
    "\u0301",
    "😀",
]
texts = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join) | st.text(max_size=20)


def by_pattern(typed: str, text: str) -> bool:
    flags = re.IGNORECASE if typed == typed.lower() else re.NOFLAG
    joined = r"(?<!\w-)" if typed[:1].isalpha() else ""
    return bool(re.search(rf"(?<!\w){joined}{re.escape(typed)}(?!\w)", text, flags))


@given(texts.filter(bool), texts, texts, st.booleans())
def test_an_identifier_stands_where_a_pattern_finds_it_as_a_word(typed, before, behind, is_there):
    text = before + (typed if is_there else typed.swapcase()) + behind
    assert exact.Spelling(typed).stands_in(text) == by_pattern(typed, text)


def test_the_end_of_a_longer_name_is_not_what_was_typed_but_the_end_of_a_range_is():
    assert not exact.Spelling("ed25519").stands_in("an id-Ed25519")
    assert exact.Spelling("ed25519").stands_in("an id-Ed25519 - ed25519-sk")
    assert exact.Spelling("8,000").stands_in("4,000-8,000")


def test_a_text_that_has_a_name_as_an_option_only_does_not_have_it_apart():
    spelling = exact.Spelling("human-readable")
    assert spelling.may_be_option
    texts = ("with --human-readable or --Human-Readable.", "a human-readable --human-readable", "x--human-readable")
    assert [spelling.stands_apart_in(text) for text in texts] == [False, True, True]
    assert not exact.Spelling("--human-readable").may_be_option
    assert not exact.Spelling("human_readable").may_be_option


def test_a_file_is_called_so_in_the_same_capitals_if_one_was_typed():
    named = [exact.Spelling(typed).names("/docs/data_type.html") for typed in ("data_type", "DATA_TYPE", "dataType")]
    assert named == [True, False, False]
    assert exact.Spelling("DATA_TYPE").names("/docs/DATA_TYPE.html")
    assert exact.Spelling("data_type").names("/docs/Data_Type.html")


def test_the_letters_that_are_one_of_ascii_in_another_case_are_known():
    every = "".join(map(chr, range(128, sys.maxunicode + 1)))
    alike = {char for letter in "abcdefghijklmnopqrstuvwxyz" for char in re.findall(letter, every, re.IGNORECASE)}
    assert alike == set(re.findall(exact._OTHER_CASES, every))
    assert [char for char in every if len(char.lower()) > 1] == ["İ"]
