"""Looking at a place in a file: where the nearest matches are, and that what is hidden leads nowhere."""

from __future__ import annotations

import pytest

from smart_context.api import App
from smart_context.find import file_view, preview, snippet
from smart_context.find.plan_model import Sought
from smart_context.model import Segment
from smart_context.settings import config


@pytest.fixture
def app(tmp_path, tree):
    filler = "".join(f"line {number}\n" for number in range(1500))
    root = tree(
        {
            "open.txt": f"A walrus.\n{filler}Another walrus.\n{filler}",
            "hidden.txt": f"A walrus.\n{filler}walrus@sea.example\npassword = walrus-Xy7!q2Lp9\n{filler}",
        }
    )
    with App(config.load({"roots": (str(root),), "data_dir": str(tmp_path / "data")})) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        yield app, root


def test_the_next_match_is_the_nearest_place_with_a_sought_word(app):
    opened, root = app
    first = opened.view_file(str(root / "open.txt"), None, "walrus")
    assert (first.match_before, first.match_after != "") == ("", True)
    second = opened.view_file(str(root / "open.txt"), first.match_after, "walrus")
    assert "Another walrus." in second.text
    assert second.match_after == ""
    assert "A walrus." in opened.view_file(str(root / "open.txt"), second.match_before, "walrus").text


def test_what_is_hidden_is_not_led_to(app):
    opened, root = app
    assert opened.view_file(str(root / "hidden.txt"), None, "walrus").match_after == ""


def test_words_are_marked_that_were_indexed_since_the_index_was_opened(app):
    opened, root = app
    assert opened.view_file(str(root / "open.txt"), None, "narwhal").marks == ()
    (root / "new.txt").write_text("A narwhal.\n", "utf-8")
    opened.index_here(str(root), full=False, on_progress=lambda _step: None)
    assert opened.view_file(str(root / "new.txt"), None, "narwhal").marks == ((2, 9),)


def test_without_words_nothing_is_led_to(app):
    opened, root = app
    view = opened.view_file(str(root / "open.txt"))
    assert (view.match_before, view.match_after, view.after != "") == ("", "", True)


def parts(*rows):
    return [Segment(number, pointer, heading, text) for number, (pointer, heading, text) in enumerate(rows)]


WALRUS = snippet.words([Sought("walrus", frozenset({"walrus"}))])
MAIL = parts(
    ("message", "Hello", "hi walrus"),
    ("attachment 'a.pdf' page 1", "", "p1 walrus"),
    ("attachment 'a.pdf' page 2", "", "p2"),
    ("attachment 'b.eml' message", "", "inner"),
    ("attachment 'b.eml' attachment 'c.txt' lines 1-2", "", "c1\nc2 walrus\n"),
)
A1, A2, INNER, C = (part.pointer for part in MAIL[1:])


@pytest.mark.parametrize(
    ("pointer", "before", "after", "match_before", "match_after", "inside"),
    [
        ("message", "", A1, "", A1, (("a.pdf", A1), ("b.eml", INNER))),
        (A1, "message", A2, "message", C, ()),
        (A2, A1, INNER, A1, C, ()),
        (INNER, A2, "attachment 'b.eml' attachment 'c.txt'", A1, C, (("c.txt", C),)),
        (C, INNER, "", A1, "", ()),
        ("attachment 'a.pdf'", "message", INNER, "message", C, ()),  # all of it
        ("attachment 'b.eml'", A2, "", A1, "", ()),
    ],
)
def test_a_place_of_a_message_leads_to_the_next_one_to_matches_and_to_what_is_attached(
    pointer, before, after, match_before, match_after, inside
):
    seen = file_view.at("x.eml", MAIL, pointer, preview.Caps(), WALRUS)
    assert (seen.before, seen.after) == (before, after)
    assert (seen.match_before, seen.match_after, seen.inside) == (match_before, match_after, inside)


def test_a_file_of_places_that_are_seen_one_at_a_time_opens_at_the_first():
    seen = file_view.at("x.eml", MAIL, None, preview.Caps(), WALRUS)
    assert (seen.pointer, seen.text, seen.heading, seen.marks) == ("message", "hi walrus", "Hello", ((3, 9),))
    assert seen == file_view.at("x.eml", MAIL, "message", preview.Caps(), WALRUS)


LINES = parts(
    ("lines 1-2", "A", "one\ntwo walrus\n"),
    ("lines 5-6", "B", "five\nsix\n"),
    ("lines 30-31", "C", "thirty walrus\nlast\n"),
    ("lines 31-31", "C", "part two"),
)


@pytest.mark.parametrize(
    ("pointer", "text", "numbers", "before", "after"),
    [
        (None, "one|two walrus|||five|six|thirty walrus|last|part two", (1, 2, 3, 4, 5, 6, 30, 31, 0), "", ""),
        ("lines 1-2", "one|two walrus", (1, 2), "", "lines 5-31"),
        ("lines 2-5", "two walrus|||five", (2, 3, 4, 5), "", "lines 6-31"),
        ("lines 5-6", "five|six", (5, 6), "lines 1-2", "lines 30-31"),
        ("lines 6-30", "six|thirty walrus", (6, 30), "lines 1-2", "lines 31-31"),
        ("lines 30-31", "thirty walrus|last|part two", (30, 31, 0), "lines 5-6", ""),
    ],
)
def test_lines_keep_their_numbers_and_few_that_no_segment_has_are_empty(pointer, text, numbers, before, after):
    seen = file_view.at("x.txt", LINES, pointer, preview.Caps(), WALRUS)
    assert (seen.text.replace("\n", "|"), seen.numbers) == (text, numbers)
    assert (seen.before, seen.after) == (before, after)
    assert [seen.text[start:end] for start, end in seen.marks] == ["walrus"] * text.count("walrus")


@pytest.mark.parametrize(("gap", "shown"), [(0, 0), (1, 1), (20, 20), (21, 0)])
def test_twenty_lines_that_no_segment_has_are_shown_empty_and_more_are_not(gap, shown):
    some = parts(("lines 1-1", "", "one\n"), (f"lines {gap + 2}-{gap + 2}", "", "two\n"))
    seen = file_view.at("x.txt", some, None, preview.Caps(), None)
    assert seen.text.split("\n") == ["one", *[""] * shown, "two"]
    assert seen.numbers == (1, *range(2, 2 + shown), gap + 2)


def test_lines_of_something_else_than_a_file_have_no_numbers():
    assert file_view.at("x.eml", MAIL, C, preview.Caps(), None).numbers == ()
    rows = parts(("sheet 'Q' rows 1-2", "", "a\nb\n"))
    assert file_view.at("x.xlsx", rows, "sheet 'Q' rows 1-2", preview.Caps(), None).numbers == ()


def test_a_look_is_at_most_as_long_as_a_preview_may_be():
    long = parts(("lines 1-3", "", "aaaa\nbbbb\ncccc\n"))
    seen = file_view.at("x.txt", long, None, preview.Caps(preview_bytes=11), None)
    assert (seen.text, seen.numbers, seen.after) == ("aaaa\nbbbb", (1, 2), "lines 3-3")
    assert file_view.at("x.txt", parts(("lines 1-1", "", "a" * 40)), None, preview.Caps(12), None).text == "a" * 12


@pytest.mark.parametrize(("path", "page"), [("x.PDF", 2), ("x.pdf", 2), ("x.docx", 0)])
def test_of_a_pdf_the_page_that_has_a_picture_is_told(path, page):
    pages = parts(("page 1", "H1", "a"), ("page 2", "H2", "b"), ("page 3", "", "c"))
    seen = file_view.at(path, pages, "page 2", preview.Caps(), None)
    assert (seen.page, seen.heading, seen.before, seen.after, seen.marks) == (page, "H2", "page 1", "page 3", ())


def test_two_thousand_segments_are_looked_through_for_the_next_match():
    for far, found in ((1999, "page 2001"), (2000, "")):
        pages = parts(*((f"page {n}", "", "walrus" if n == far + 2 else "no") for n in range(1, far + 4)))
        assert file_view.at("x.pdf", pages, "page 1", preview.Caps(), WALRUS).match_after == found
