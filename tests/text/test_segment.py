"""Segments: every character once, in order, with a pointer to where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.defaults import SEGMENT_CHARS
from smart_context.model import Divisible, Extracted, Part, Pointer, Unit
from smart_context.text import segment


def doc(*units: Unit) -> Extracted:
    return Extracted("text", "", units)


def lines(text: str, pointer: Pointer = (), divisible: Divisible = "lines", first: int = 1) -> Unit:
    return Unit(pointer, text, divisible=divisible, first=first)


def shown(extracted: Extracted, room: int) -> list[tuple[str, str]]:
    return [(s.pointer, s.text) for s in segment.cut(extracted, room)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\nthree\n", [("lines 1-2", "one\ntwo\n"), ("lines 3-3", "three\n")]),
        ("a\nb", [("lines 1-2", "a\nb")]),
        ("aaa\n\nbbb\nccc", [("lines 1-2", "aaa\n\n"), ("lines 3-4", "bbb\nccc")]),  # a blank line is the better seam
        ("\n\n\nend", [("lines 1-4", "\n\n\nend")]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_text_is_cut_between_lines_and_says_which(text, expected):
    assert shown(doc(lines(text)), 9) == expected


def test_a_line_too_long_for_the_room_is_cut_at_words_and_keeps_its_number():
    assert shown(doc(lines("x\nalpha beta gamma\ny")), 9) == [
        ("lines 1-1", "x\n"),
        ("lines 2-2", "alpha "),
        ("lines 2-2", "beta "),
        ("lines 2-2", "gamma\n"),
        ("lines 3-3", "y"),
    ]


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (lines("a\nb\n", (Part("sheet", "Q2"),), "rows"), ["sheet 'Q2'"]),
        (
            lines("aaaa\nbbbb\ncccc\n", (Part("sheet", "Q2"),), "rows", 40),
            ["sheet 'Q2' rows 40-41", "sheet 'Q2' rows 42-42"],
        ),
        (
            lines("aaaa\nbbbb\ncc", (Part("section", "A"),), "paragraphs"),
            ["section 'A' paragraphs 1-1", "section 'A' paragraphs 2-3"],
        ),
        (lines("a\nb", (), "paragraphs"), ["paragraphs 1-2"]),
        (lines("a\nb", (Part("entry", "in/a.txt"),)), ["entry 'in/a.txt' lines 1-2"]),
        (lines("a\nb", (Part("attachment", "x.pdf"), Part("page", first=2))), ["attachment 'x.pdf' page 2"]),
        (Unit((Part("page", first=3),), "one two three four"), ["page 3", "page 3"]),
        (Unit((), "a\nb"), [""]),
    ],
)
def test_the_range_is_named_where_the_place_alone_would_not_do(unit, expected):
    assert [s.pointer for s in segment.cut(doc(unit), 10)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First one. Second two", ["First one. ", "Second two"]),  # a sentence ends
        ("aaaa bbbb cccc dddd", ["aaaa bbbb ", "cccc dddd"]),  # a word ends; both parts alike
        ("Head line\n\nrest of it here", ["Head line\n\n", "rest of ", "it here"]),  # a blank line
        ("東京都は日本の首都。大阪は西の町", ["東京都は日本の首都。", "大阪は西の町"]),  # no spaces
        ("あいうえおかきくけこさしすせそ", ["あいうえおかきくけこ", "さしすせそ"]),  # nothing to cut at
        ("aaaaaaa" + "e\u0301" * 3, ["aaaaaaa", "e\u0301" * 3]),  # an accent stays with its letter
    ],
)
def test_a_page_is_cut_where_reading_would_pause(text, expected):
    assert [s.text for s in segment.cut(doc(Unit((Part("page", first=1),), text)), 12)] == expected


def test_small_neighbours_stay_apart_and_keep_their_heading():
    slides = [Unit((Part("slide", first=n),), f"Slide {n}", heading=f"Title {n}") for n in (1, 2)]
    assert list(segment.cut(doc(*slides), SEGMENT_CHARS)) == [
        segment.Segment(0, "slide 1", "Title 1", "Slide 1"),
        segment.Segment(1, "slide 2", "Title 2", "Slide 2"),
    ]


@given(
    st.text(st.characters(codec="utf-8") | st.sampled_from("\n\n .。\u0301")),
    st.integers(1, 40),
    st.sampled_from(["lines", None]),
)
def test_joined_segments_are_the_text(text, room, divisible):
    found = list(segment.cut(doc(Unit((), text, divisible=divisible)), room))
    assert "".join(s.text for s in found) == ("" if text.isspace() else text)
    assert all(0 < len(s.text) <= room for s in found)
    assert [s.seq for s in found] == list(range(len(found)))


@given(st.lists(st.text("ab .", max_size=30), min_size=1, max_size=30), st.integers(1, 40), st.integers(1, 5))
def test_every_line_is_where_its_pointer_says(rows, room, first):
    text = "\n".join(rows)
    for found in segment.cut(doc(lines(text, first=first)), room):
        low, high = map(int, found.pointer.removeprefix("lines ").split("-"))
        inside = "\n".join(rows[low - first : high - first + 1]) + "\n"
        assert found.text in inside
