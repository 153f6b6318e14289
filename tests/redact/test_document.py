"""A file judged as a whole: how its segments are joined, and that no border between them shows or hides anything."""

from __future__ import annotations

import pytest

from smart_context import pointer as grammar
from smart_context import redact
from smart_context.errors import BadRequest
from smart_context.model import Segment
from smart_context.redact import document, repeats

REDACTOR = redact.Redactor([r"S3CRET-\d+"])


def segments(*rows, certainty=None):
    return [Segment(number, pointer, "", text, certainty=certainty) for number, (pointer, text) in enumerate(rows)]


@pytest.mark.parametrize(
    ("rows", "whole", "lines"),
    [
        ([("page 1", "a\nb1"), ("page 1", "b2\nc")], "a\nb1b2\nc", [("lines", 1, 2), ("lines", 2, 3)]),  # a line goes on
        ([("page 1", "a\n"), ("page 1", "b")], "a\nb", [("lines", 1, 1), ("lines", 2, 2)]),
        ([("page 1", "a"), ("page 2", "b")], "a\nb", [("lines", 1, 1), ("lines", 1, 1)]),
        ([("lines 1-2", "a\nb"), ("lines 2-3", "b2\nc")], "a\nbb2\nc", [("lines", 1, 2), ("lines", 2, 3)]),
        ([("lines 1-2", "a\nb"), ("lines 3-3", "c")], "a\nb\nc", [("lines", 1, 2), ("lines", 3, 3)]),
        ([("lines 1-1", "a"), ("page 1", "b"), ("page 1 lines 1-1", "c")], "a\nb\nc", [("lines", 1, 1)] * 3),
        ([("sheet 'Q'", "a\nb"), ("sheet 'Q'", "c")], "a\nbc", [("rows", 1, 2), ("rows", 2, 2)]),
        ([("section 'A'", "a\nb\n")], "a\nb\n", [("paragraphs", 1, 2)]),
        ([("", "a"), ("", "")], "a", [("lines", 1, 1), ("lines", 1, 1)]),
        ([], "", []),
    ],
)  # fmt: skip
def test_the_pieces_of_a_place_are_joined_and_places_stand_on_lines_of_their_own(rows, whole, lines):
    text, pieces = document.join(segments(*rows))
    assert text == whole
    assert [(piece.lines.kind, piece.lines.first, piece.lines.last) for piece in pieces] == lines
    assert [text[piece.start : piece.end] for piece in pieces] == [text for _, text in rows]


def parted(pointer, how):
    try:
        return how(pointer)
    except BadRequest:
        return "refused"


@pytest.mark.parametrize("frame", ["", "page 3", "section 'A'", "section 'it''s lines 1-2'", "entry 'x y' sheet 'Q' (2)", "section 'a", "lines 1-2", "page", "message "])  # fmt: skip
@pytest.mark.parametrize("lines", ["", "lines 1-2", "rows 7-7", "paragraphs 3-2", "lines 0-1", "lines 4", "Lines 1-2", "lines 1 - 2", "lines 1-2'", "lines 1-1000000000", "lines 1-2\n"])  # fmt: skip
def test_a_pointer_is_parted_as_if_all_of_it_were_parsed(frame, lines):
    for pointer in (f"{frame} {lines}", f"{frame}  {lines}", f"{frame}\n{lines}", f"{frame}{lines}"):
        whole = parted(pointer, lambda one: document.split(grammar.parse(one)))
        assert parted(pointer, document._place) == whole


def test_what_was_read_from_a_picture_begins_anew():
    both = [*segments(("page 1", "a")), *segments(("page 1", "b"), certainty=90)]
    assert document.join(both)[0] == "a\nb"


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_secret_across_a_border_is_hidden_on_both_sides_and_is_one(cut):
    text = "key S3CRET-123456 end"
    parts = document.judged(segments(("page 1", text[:cut]), ("page 1", text[cut:])), REDACTOR)
    hidden = [part.text[start:end] for part in parts for start, end, _ in part.hidden]
    assert "".join(hidden) == "S3CRET-123456"
    joined, pieces = document.join(parts)
    [span] = document.hidden_in(parts, pieces)
    assert (joined[span.start : span.end], span.kind) == ("S3CRET-123456", "custom")


def test_stretches_that_touch_are_one_only_where_they_are_of_a_kind():
    one = [Segment(0, "page 1", "", "abcdef", ((0, 2, "secret"), (2, 4, "email"), (4, 6, "email")))]
    _, pieces = document.join(one)
    assert document.hidden_in(one, pieces) == [redact.Span(0, 2, "secret"), redact.Span(2, 6, "email")]


def test_a_secret_is_hidden_in_the_rest_of_its_file_too():
    value = "q7Rk2ZpX9vLm4TnB"
    parts = document.judged(
        segments(("page 1", f"password = {value}\n"), ("page 2", f"see {value} and {value}x\n"), ("page 3", "nothing\n")), REDACTOR
    )  # fmt: skip
    shown = [redact.part(part.text, [redact.Span(*one) for one in part.hidden], 0, len(part.text)) for part in parts]
    assert shown == ["password = [redacted:secret]\n", "see [redacted:secret] and [redacted:secret]x\n", "nothing\n"]


def test_a_title_shows_nothing_that_is_hidden_in_it_or_in_the_file():
    parts = document.judged(segments(("page 1", "password = q7Rk2ZpX9vLm4TnB\npin: abc\n")), REDACTOR)
    assert document.head("The q7Rk2ZpX9vLm4TnB plan of S3CRET-1", parts, REDACTOR) == (
        "The [redacted:secret] plan of [redacted:custom]"
    )
    assert document.head("A plain title", parts, REDACTOR) == "A plain title"
    assert document.head("", parts, REDACTOR) == ""
    told = [Segment(0, "page 1", "", "abcd abc jane@x.org", ((0, 4, "secret"), (5, 8, "secret"), (9, 19, "email")))]
    assert document.head("abcd, abc", told, REDACTOR) == "[redacted:secret], abc"  # three letters stand in any title


def test_a_heading_is_shown_without_what_is_hidden_in_it():
    [part] = document.judged([Segment(0, "page 1", "of S3CRET-1", "text")], REDACTOR)
    assert part.heading == "of [redacted:custom]"


def heading(text, heading):
    [part] = document.judged([Segment(0, "page 1", heading, text)], REDACTOR)
    return part.heading


def test_a_heading_shows_nothing_that_is_hidden_in_its_file():
    value, token = "q7Rk2ZpX9vLm4TnB", "ghp_Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
    assert heading(f"password = {value}\n", f"The {value} plan") == "The [redacted:secret] plan"
    assert heading(f"# {token[:20]}\n## {token[20:]}\n", token[20:]) == "[redacted:secret]"  # a line break cut it
    assert heading(f"password = {value}\n", "The q7Rk plan") == "The q7Rk plan"


@pytest.mark.parametrize(
    ("value", "kind"),
    [("q7Rk2ZpX9vLm4TnB", "secret"), ("jane.doe@example.org", "email"), ("4111 1111 1111 1111", "card")],
)
def test_a_heading_that_was_cut_does_not_end_in_half_a_secret(value, kind):
    whole = "long " * 38 + value
    for cut in range(195, len(whole)):
        assert heading(f"# {whole}\npassword = {value}\n", whole[:cut]) in {
            f"{'long ' * 38}[redacted:{kind}]",
            f"{'long ' * 38}[redacted:secret]",
        }


def test_many_secrets_and_many_headings_take_no_longer_together():
    text = "".join(f"password = q7Rk2ZpX9vLm4T{number}\n" for number in range(2000))
    parts = [Segment(number, f"page {number + 1}", f"q7Rk of part {number}", text[:40]) for number in range(2000)]
    told = document._told([part.heading for part in parts], [(line[11:], "secret") for line in text.splitlines()])
    assert len(told) == repeats.SOUGHT


@pytest.mark.parametrize(
    ("value", "title"),
    [("q7Rk2%24ZpX9vLm", "of q7Rk2$ZpX9vLm"), ("q7Rk2$ZpX9vLm", "of q7Rk2%24ZpX9vLm"), ("q7Rk2$ZpX9vLm", "of q7Rk2&#36;ZpX9vLm")],
)  # fmt: skip
def test_a_heading_shows_no_secret_that_is_written_otherwise_in_the_text(value, title):
    assert heading(f'password = "{value}"\n', title) == "of [redacted:secret]"


def test_an_escaped_word_is_no_secret_elsewhere():
    text = r'password = "\u0073\u0077\u006f\u0072\u0064\u0066\u0069\u0073\u0068"' + "\nA swordfish swims.\n"
    (one,) = document.judged(segments(("lines 1-2", text)), REDACTOR)
    assert [text[start:end] for start, end, _ in one.hidden] == [text[12 : text.index("\n") - 1]]
