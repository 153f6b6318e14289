"""Pointers: one grammar, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context import pointer
from smart_context.errors import BadRequest
from smart_context.model import Part, Pointer

EXAMPLES: list[tuple[str, Pointer]] = [
    ("", ()),
    ("page 3", (Part("page", first=3),)),
    ("slide 7", (Part("slide", first=7),)),
    ("sheet 'Q2'", (Part("sheet", "Q2"),)),
    ("sheet 'Q2' rows 41-80", (Part("sheet", "Q2"), Part("rows", first=41, last=80))),
    ("lines 10-40", (Part("lines", first=10, last=40),)),
    ("section 'Pricing'", (Part("section", "Pricing"),)),
    ("section 'Pricing' (2)", (Part("section", "Pricing", nth=2),)),
    ("section '' paragraphs 21-40", (Part("section", ""), Part("paragraphs", first=21, last=40))),
    ("section 'It''s (2)'", (Part("section", "It's (2)"),)),
    ("message", (Part("message"),)),
    ("attachment 'x.pdf' page 2", (Part("attachment", "x.pdf"), Part("page", first=2))),
    ("entry 'inner/a.txt' lines 1-20", (Part("entry", "inner/a.txt"), Part("lines", first=1, last=20))),
    (
        "entry 'mail.zip' entry 'a.eml' attachment 'b.docx' section 'C'",
        (Part("entry", "mail.zip"), Part("entry", "a.eml"), Part("attachment", "b.docx"), Part("section", "C")),
    ),
    (r"entry 'a\x0ab\x1b.txt'", (Part("entry", "a\nb\x1b.txt"),)),
    (r"entry 'C:\new\x5cx41\u202e'", (Part("entry", "C:\\new\\x41\u202e"),)),
    (r"entry '\udcff'", (Part("entry", "\udcff"),)),
]


@pytest.mark.parametrize(("text", "parts"), EXAMPLES)
def test_a_pointer_is_written_and_read_as_the_reference_says(text: str, parts: Pointer) -> None:
    assert pointer.format(parts) == text
    assert pointer.parse(text) == parts


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("  Page   3 ", "page 3"),
        ("lines 5", "lines 5-5"),
        ("lines 5 - 9", "lines 5-9"),
        ("section 'A'(2)", "section 'A' (2)"),
        ("section 'A' (1)", "section 'A'"),
        ("section 'a\nb'", r"section 'a\x0ab'"),
    ],
)
def test_what_people_type_is_read_kindly(text: str, same: str) -> None:
    assert pointer.format(pointer.parse(text)) == same


@pytest.mark.parametrize(
    "text",
    [
        "page",
        "page 0",
        "page -1",
        "page 3x",
        "page ٣",
        "page 3 page 4",
        "page 99999999999",
        "lines 9-5",
        "lines 0-5",
        "lines 1-5 lines 2-3",
        "rows 1-2 sheet 'Q2'",
        "sheet Q2",
        "sheet 'Q2",
        "sheet 'a'b'",
        "section 'A' (0)",
        "page 3 entry 'a.txt'",
        "message message",
        "chapter 4",
        "'",
        "\0",
    ],
)
def test_what_is_no_pointer_is_a_bad_request_that_names_it(text: str) -> None:
    with pytest.raises(BadRequest) as caught:
        pointer.parse(text)
    assert caught.value.message.startswith("pointer ")
    assert caught.value.hint


NUMBER = st.integers(1, 999_999_999)
NAME = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(
    ["'", "\\x41", "\\", "a\\u0041", "''"]
)
CONTAINER = st.builds(Part, st.sampled_from(["attachment", "entry"]), NAME, NUMBER)
PLACE = (
    st.builds(lambda kind, first: Part(kind, first=first), st.sampled_from(["page", "slide"]), NUMBER)
    | st.builds(Part, st.sampled_from(["sheet", "section"]), NAME, NUMBER)
    | st.just(Part("message"))
)
RANGE = st.builds(
    lambda kind, ends: Part(kind, first=min(ends), last=max(ends)),
    st.sampled_from(["lines", "rows", "paragraphs"]),
    st.tuples(NUMBER, NUMBER),
)


@given(st.lists(CONTAINER, max_size=3), st.lists(PLACE, max_size=1), st.lists(RANGE, max_size=1))
def test_every_pointer_survives_the_round_trip_as_one_line(
    outer: list[Part], place: list[Part], span: list[Part]
) -> None:
    parts = (*outer, *place, *span)
    text = pointer.format(parts)
    text.encode()
    assert len(text.splitlines()) <= 1
    assert pointer.parse(text) == parts


@given(st.text(max_size=60))
def test_any_text_is_a_pointer_or_a_bad_request(text: str) -> None:
    try:
        parts = pointer.parse(text)
    except BadRequest:
        return
    assert pointer.parse(pointer.format(parts)) == parts
