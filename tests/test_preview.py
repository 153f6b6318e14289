"""Previews: places found by pointer, cleaned before they are cut, and capped."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.errors import BadRequest, NotFound
from smart_context.redact import Span
from smart_context.search import preview
from smart_context.search.model import Segment


def nothing(text):
    return []


def secrets(text):
    return [Span(m.start(), m.end(), "gone") for m in re.finditer(r"S3CRET-\d+", text)]


def segments(*pairs):
    return [Segment(n, pointer, "", text) for n, (pointer, text) in enumerate(pairs)]


PAGES = segments(("page 1", "one"), ("page 2", "two "), ("page 2", "more"), ("page 3", "three"))
LONG_PAGE = segments(("page 1", "a\nb1"), ("page 1", "b2\nc\n"), ("page 1", "d"), ("page 2", "e"))
LINES = segments(("lines 1-2", "a\nb\n"), ("lines 3-4", "c\nd\n"))
SHEET = segments(("sheet 'Q1'", "x"), ("sheet 'Q2' rows 1-2", "r1\nr2\n"), ("sheet 'Q2' rows 3-4", "r3\nr4"))
MAIL = segments(("message", "hi"), ("attachment 'a.pdf' page 1", "p1"), ("attachment 'a.pdf' page 2", "p2"))


@pytest.mark.parametrize(
    ("parts", "pointer", "text"),
    [
        (PAGES, "page 2", "two more"),  # a place in two pieces
        (PAGES, "page 3", "three"),
        (LINES, "lines 2-3", "b\nc"),  # a range across pieces
        (LINES, "lines 4-9", "d"),  # a range that runs past the end
        (SHEET, "sheet 'Q2'", "r1\nr2\nr3\nr4"),  # the whole of what was split
        (SHEET, "sheet 'Q2' rows 2-3", "r2\nr3"),
        (segments(("section 'A'", "p1\np2\np3")), "section 'A' paragraphs 2-2", "p2"),
        (LONG_PAGE, "page 1 lines 2-3", "b1b2\nc"),  # lines of a place go on through its pieces
        (LONG_PAGE, "page 1 lines 4-4", "d"),
        (MAIL, "attachment 'a.pdf'", "p1\np2"),  # everything inside
        (MAIL, "attachment 'a.pdf' page 2", "p2"),
    ],
)
def test_a_pointer_shows_its_place(parts, pointer, text):
    assert preview.cut(parts, pointer, 0, 0, nothing) == preview.Preview(pointer, text, truncated=False)


@pytest.mark.parametrize("pointer", [None, ""])
def test_without_a_pointer_it_shows_the_start(pointer):
    assert preview.cut(PAGES, pointer, 0, 0, nothing) == preview.Preview(
        "page 1", "one\ntwo more\nthree", truncated=False
    )


def test_before_and_after_extend_the_place_up_to_their_cap():
    assert preview.cut(PAGES, "page 2", 4, 3, nothing).text == "one\ntwo more\nth"
    long = segments(("page 1", "a" * 3000), ("page 2", "b"), ("page 3", "c" * 3000))
    assert preview.cut(long, "page 2", 9999, 0, nothing).text == "a" * 999 + "\nb"


@pytest.mark.parametrize("pointer", ["page 9", "slide 1", "lines 90-91", "section 'A'"])
def test_a_place_that_is_not_there_is_not_found(pointer):
    with pytest.raises(NotFound):
        preview.cut(PAGES + LINES, pointer, 0, 0, nothing)


@pytest.mark.parametrize("pointer", ["page", "page x", "sheet 'Q2", "frob 3"])
def test_a_pointer_that_cannot_be_read_is_a_bad_request(pointer):
    with pytest.raises(BadRequest):
        preview.cut(PAGES, pointer, 0, 0, nothing)


def test_a_negative_extension_is_a_bad_request():
    with pytest.raises(BadRequest):
        preview.cut(PAGES, "page 1", -1, 0, nothing)


def test_a_secret_across_the_edge_of_the_place_never_shows_in_part():
    parts = segments(("page 1", "key S3CRET-12"), ("page 1", "3456 end"), ("page 2", "x"))
    shown = preview.cut(parts, "page 2", 9, 0, secrets).text
    assert "3456" not in shown


@given(st.integers(0, 40), st.integers(0, 40))
def test_no_part_of_a_secret_shows_wherever_the_cut_falls(before, after):
    parts = segments(("page 1", "aaa S3CRET-1234567"), ("page 2", "mid"), ("page 3", "S3CRET-7654321 zzz"))
    shown = preview.cut(parts, "page 2", before, after, secrets).text
    assert not re.search(r"\d|S3C|CRET", shown)


def test_a_preview_is_at_most_two_thousand_bytes_and_whole_characters():
    shown = preview.cut(segments(("page 1", "漢" * 5000)), "page 1", 0, 0, nothing)
    assert (shown.text, shown.truncated) == ("漢" * 666, True)


def test_an_empty_file_has_an_empty_preview():
    assert preview.cut([], None, 0, 0, nothing) == preview.Preview("", "", truncated=False)
