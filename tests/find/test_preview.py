"""Previews: places found by pointer, cleaned before they are cut, and capped."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context import redact
from smart_context.errors import BadRequest, NotFound
from smart_context.find import preview
from smart_context.model import Extracted, Part, Segment, Unit
from smart_context.redact import document
from smart_context.text import segment

OLD = preview.Caps(preview_bytes=2000, around_chars=1000)
REDACTOR = redact.Redactor([r"S3CRET-\d+"])


def judged(*pairs):
    return document.judged(segments(*pairs), REDACTOR)


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
    found = preview.cut(parts, pointer, 0, 0, OLD)
    assert (found.pointer, found.text, found.truncated) == (pointer, text, False)


@pytest.mark.parametrize("pointer", [None, ""])
def test_without_a_pointer_it_shows_the_start(pointer):
    assert preview.cut(PAGES, pointer, 0, 0, OLD) == preview.Preview("page 1", "one\ntwo more\nthree", truncated=False)


def test_before_and_after_extend_the_place_up_to_their_cap():
    assert preview.cut(PAGES, "page 2", 4, 3, OLD).text == "one\ntwo more\nth"
    long = segments(("page 1", "a" * 3000), ("page 2", "b"), ("page 3", "c" * 3000))
    assert preview.cut(long, "page 2", 9999, 0, OLD).text == "a" * 999 + "\nb"


@pytest.mark.parametrize("pointer", ["page 9", "slide 1", "lines 90-91", "section 'A'"])
def test_a_place_that_is_not_there_is_not_found(pointer):
    with pytest.raises(NotFound):
        preview.cut(PAGES + LINES, pointer, 0, 0, OLD)


@pytest.mark.parametrize("pointer", ["page", "page x", "sheet 'Q2", "frob 3"])
def test_a_pointer_that_cannot_be_read_is_a_bad_request(pointer):
    with pytest.raises(BadRequest):
        preview.cut(PAGES, pointer, 0, 0, OLD)


def test_a_negative_extension_is_a_bad_request():
    with pytest.raises(BadRequest):
        preview.cut(PAGES, "page 1", -1, 0, OLD)


def test_a_secret_across_the_edge_of_the_place_never_shows_in_part():
    parts = judged(("page 1", "key S3CRET-12"), ("page 1", "3456 end"), ("page 2", "x"))
    shown = preview.cut(parts, "page 2", 9, 0).text
    assert "3456" not in shown


@given(st.integers(0, 40), st.integers(0, 40))
def test_no_part_of_a_secret_shows_wherever_the_cut_falls(before, after):
    parts = judged(("page 1", "aaa S3CRET-1234567"), ("page 2", "mid"), ("page 3", "S3CRET-7654321 zzz"))
    shown = preview.cut(parts, "page 2", before, after).text
    assert not re.search(r"\d|S3C|CRET", shown)


def test_a_preview_is_at_most_two_thousand_bytes_and_whole_characters():
    shown = preview.cut(segments(("page 1", "漢" * 5000)), "page 1", 0, 0, OLD)
    assert (shown.text, shown.truncated) == ("漢" * 666, True)


def paged(text, room=400):
    pages = Extracted(
        "pdf", "", (Unit((Part("page", first=1),), text), Unit((Part("page", first=2),), "the next page"))
    )
    return list(segment.cut(pages, room))


FIFTY = "\n".join(f"line {n} {'x' * 90}" for n in range(1, 51))


@pytest.mark.parametrize(
    ("parts", "pointer", "shown"),
    [
        (paged(FIFTY), "page 1", "page 1 lines 1-20"),
        (paged(FIFTY), "page 1 lines 21-90", "page 1 lines 21-40"),
        (paged(FIFTY), None, "page 1 lines 1-20"),
        (paged(FIFTY, room=9000), "page 1", "page 1 lines 1-20"),  # in one piece
        (segments(("lines 1-50", FIFTY)), None, "lines 1-20"),
        (segments(("sheet 'Q2' rows 41-90", FIFTY)), "sheet 'Q2'", "sheet 'Q2' rows 41-60"),
        (segments(("section 'A'", FIFTY)), "section 'A'", "section 'A' paragraphs 1-20"),
        (segments(("lines 1-1", "x" * 1500), ("lines 1-1", "x" * 1500)), None, "lines 1-1"),  # one long line
        (segments(("message", "x" * 1500), ("attachment 'a' lines 1-1", "y" * 1500)), None, "message"),  # two places
    ],
)
def test_a_preview_that_is_cut_off_names_the_lines_that_it_shows(parts, pointer, shown):
    found = preview.cut(parts, pointer, 0, 0, OLD)
    assert (found.pointer, found.truncated) == (shown, True)


LINES_OF_TEXT = st.lists(st.text(st.sampled_from("ab 漢."), max_size=300), min_size=1, max_size=60)


@given(LINES_OF_TEXT.map(lambda lines: [*lines, "end"]), st.integers(50, 3000))
def test_reading_on_from_where_a_preview_ended_shows_every_line_of_a_page(lines, room):
    read, first = [], 1
    while first <= len(lines):
        found = preview.cut(paged("\n".join(lines), room), f"page 1 lines {first}-999", 0, 0, OLD)
        whole = int(found.pointer.rpartition("-")[2]) - first + 1 if found.truncated else len(lines) - first + 1
        read += found.text.split("\n")[:whole]
        first += whole
    assert read == lines


def test_the_lines_of_a_preview_are_those_of_the_file_whatever_was_hidden_in_them():
    text = "\n".join(["S3CRET-1", "S3CRET-2 " + "x" * 500, "y" * 2000])
    found = preview.cut(document.judged(paged(text, room=5000), REDACTOR), "page 1", 0, 0, OLD)
    assert found.text.startswith("[redacted:custom]\n[redacted:custom] xxx")
    assert (found.pointer, found.next) == ("page 1 lines 1-2", "page 1 lines 3-3")


@given(st.integers(0, 9000), st.integers(0, 9000), st.integers(100, 3000))
def test_what_was_asked_for_is_always_inside_the_window(before, after, most):
    parts = segments(("page 1", "a" * 5000), ("page 2", "here"), ("page 3", "漢" * 5000))
    found = preview.cut(parts, "page 2", before, after, preview.Caps(most, 4000))
    assert "here" in found.text
    assert len(found.text.encode()) <= most
    assert found.text.count("a") <= 4000


def test_next_goes_on_until_everything_was_shown():
    parts = [*paged(FIFTY), *segments(("page 3", FIFTY))]
    pointer, shown = None, []
    for _ in range(40):
        found = preview.cut(parts, pointer, 0, 0, OLD)
        shown.append(found.text)
        pointer = found.next
        if not pointer:
            break
    lines = "\n".join(shown).split("\n")
    assert [line for line in lines if line in {*FIFTY.split("\n"), "the next page"}] == [
        *FIFTY.split("\n"),
        "the next page",
        *FIFTY.split("\n"),
    ]


def test_an_empty_file_has_an_empty_preview():
    assert preview.cut([], None, 0, 0, OLD) == preview.Preview("", "", truncated=False)


def test_all_of_a_place_is_given_to_its_owner_with_or_without_what_is_hidden():
    some = judged(("page 1", "key S3CRET-12 end"), ("page 2", "two"))
    assert preview.text_of(some, "page 1", redacted=True) == "key [redacted:custom] end"
    assert preview.text_of(some, "page 1", redacted=False) == "key S3CRET-12 end"
    assert preview.text_of(some, None, redacted=True) == "key [redacted:custom] end\ntwo"
    assert preview.text_of(some, "", redacted=False) == "key S3CRET-12 end\ntwo"


NUMBERED = ["alpha", "", "gamma delta", "e", "zeta eta theta", "iota"]


@pytest.mark.parametrize(("first", "last"), [(1, 6), (1, 1), (2, 5), (3, 3), (4, 6), (5, 6)])
def test_what_is_shown_and_where_it_goes_on_are_told_by_whole_lines(first, last):
    for most in range(1, 45):
        assert_told_by_whole_lines(first, last, most)


def assert_told_by_whole_lines(first, last, most):
    some = segments(("lines 1-3", "alpha\n\ngamma delta\n"), ("lines 4-6", "e\nzeta eta theta\niota"))
    found = preview.cut(some, f"lines {first}-{last}", 0, 0, preview.Caps(most, 0))
    wanted = "\n".join(NUMBERED[first - 1 : last])
    assert found.text == wanted[:most]
    if len(wanted) <= most:
        assert (found.pointer, found.truncated) == (f"lines {first}-{last}", False)
        resume = last + 1
    else:
        whole = found.text.count("\n") + (wanted[most] == "\n" or found.text.endswith("\n")) - found.text.endswith("\n")
        assert (found.pointer, found.truncated) == (f"lines {first}-{first + max(whole, 1) - 1}", True)
        resume = first + max(whole, 1)
    assert found.next == (f"lines {resume}-6" if resume <= 6 else "")


def as_shown(text, hidden, start, end):
    """A part of a text, as it may be shown: each character, and one mark for each stretch that is hidden."""
    at, out = start, []
    while at < end:
        span = next((one for one in hidden if one.start <= at < one.end), None)
        out.append((at, f"[redacted:{span.kind}]" if span else text[at]))
        at = span.end if span else at + 1
    return out


def taken(shown, most):
    """How many of these fit into so many bytes, and the bytes that are taken; all where not all of them fit."""
    used = 0
    for count, (_, piece) in enumerate(shown):
        size = len(piece.encode())
        if used + size > most:
            return count, most
        used += size
    return len(shown), used


@given(
    st.text(st.sampled_from("ab 漢"), max_size=20), st.text(st.sampled_from("ab 漢"), max_size=12), st.text(st.sampled_from("ab 漢"), max_size=20),
    st.integers(0, 30), st.integers(0, 30), st.integers(1, 90),
)  # fmt: skip
def test_a_preview_is_as_full_as_it_can_be_and_its_sides_share_what_the_place_leaves(a, b, c, before, after, most):
    some = judged(("page 1", f"{a} S3CRET-1 {a}"), ("page 2", f"{b} S3CRET-2 {b}"), ("page 3", f"{c} S3CRET-3 {c}"))
    whole, pieces = document.join(some)
    hidden = document.hidden_in(some, pieces)
    first, last = pieces[1].start, pieces[1].end
    low, high = max(0, first - before), min(len(whole), last + after)
    place, ahead = as_shown(whole, hidden, first, last), as_shown(whole, hidden, last, high)
    behind = as_shown(whole, hidden, low, first)
    count, used = taken(place, most)
    expected = place[:count]
    if count == len(place):
        room = most - used
        some_behind, used_behind = taken(behind[::-1], max(room // 2, room - taken(ahead, room)[1]))
        some_ahead, _ = taken(ahead, room - used_behind)
        expected = behind[len(behind) - some_behind :] + place + ahead[:some_ahead]
    found = preview.cut(some, "page 2", before, after, preview.Caps(most, 1000))
    assert found.text == "".join(piece for _, piece in expected)
    assert found.truncated == (len(expected) < len(behind) + len(place) + len(ahead))
