"""Text that fits its terminal: lines broken between words, names cut in the middle, tables that become narrower."""

from __future__ import annotations

import pytest

from smart_context.cli import layout, show
from smart_context.model import Progress

SENTENCE = "what was read is kept and can be searched; go on with: context index '/home/ada/My Documents'"


def test_a_pipe_gets_whole_lines():
    assert layout.fitted(SENTENCE, 0) == SENTENCE


def test_lines_are_broken_between_words_and_a_command_is_kept_whole():
    assert layout.fitted(SENTENCE, 40).split("\n") == [
        "what was read is kept and can be",
        "  searched; go on with:",
        "  context index '/home/ada/My Documents'",
    ]


def test_an_indent_is_kept_and_an_option_stays_with_its_value():
    assert layout.fitted("    1–10 of about 1,358; more with --offset 10", 40).split("\n") == [
        "    1–10 of about 1,358; more with",
        "      --offset 10",
    ]


@pytest.mark.parametrize(
    ("path", "room", "expected"),
    [
        ("~/notes/a.md", 40, "~/notes/a.md"),
        ("~/Documents/2024/minutes/harbour/details.html", 30, "~/Documen…harbour/details.html"),
        ("~/Documents/2024/minutes/harbour/details.html", 13, "…details.html"),
        ("~/Documents/2024/minutes/harbour/details.html", 9, "de…s.html"),
        ("~/文書/議事録.md", 12, "~/…議事録.md"),
    ],
)
def test_a_path_keeps_the_name_of_its_file_as_long_as_there_is_room(path, room, expected):
    short = layout.shortened_path(path, room)
    assert layout.width_of(short) <= room
    assert short == expected


ROWS = [("1", "0.25", "projects/vendor-x-contract.docx/section pricing.md", "taken"), ("2", "0.1", "b.md", "no room")]
HEAD = ("rank", "score", "document", "reason for it")


def test_a_table_that_fits_is_laid_out_in_columns():
    assert layout.table(HEAD, ROWS, left=(2, 3)) == [
        "rank  score  document                                            reason for it",
        "   1   0.25  projects/vendor-x-contract.docx/section pricing.md  taken",
        "   2    0.1  b.md                                                no room",
    ]


def test_a_table_that_does_not_fit_shortens_its_names():
    lines = layout.table(HEAD, ROWS, left=(2, 3), names=(2,), room=60)
    assert lines[1] == "   1   0.25  projects/v…cx/section pricing.md  taken"
    assert max(map(len, lines)) <= 60


def test_or_gives_them_lines_of_their_own():
    assert layout.table(HEAD, ROWS, left=(2, 3), names=(2,), room=30) == [
        "           reason\n           for\nrank score it",
        "   1  0.25 taken\n  projects/…section pricing.md",
        "   2   0.1 no room\n  b.md",
    ]


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.2, "0 s"), (61, "1 min 1 s"), (3600, "1 h"), (7325.4, "2 h 2 min 5 s")]
)
def test_how_long_a_run_took_is_told_to_the_second(seconds, told):
    assert show.exactly(seconds) == told


def test_the_time_that_is_left_is_told_by_the_files_behind_the_large_ones_that_come_first():
    speed = show.Speed()
    lines = []
    for now, done in ((10.0, 0), (40.0, 1), (70.0, 3), (80.0, 13), (90.0, 103), (100.0, 203)):
        step = Progress(done, 203, "/a/b.txt", searchable=done // 2, large=3)
        lines.append(show.progress_line("indexing", step, speed.at(step, now), 80))
    assert lines == [
        "indexing [░░░░░░░░░░] 0/203 large files first  /a/b.txt",
        "indexing [░░░░░░░░░░] 1/203 large files first  /a/b.txt",
        "indexing [░░░░░░░░░░] 3/203 1 searchable  /a/b.txt",
        "indexing [░░░░░░░░░░] 13/203 1/s 3 min left 6 searchable  /a/b.txt",
        "indexing [█████░░░░░] 103/203 5/s 20 s left 51 searchable  /a/b.txt",
        "indexing [██████████] 203/203 7/s 101 searchable  /a/b.txt",
    ]
    # Nothing is large: the first step counts. A narrow terminal has room for the numbers.
    speed = show.Speed()
    for now, done in ((10.0, 1), (20.0, 51)):
        step = Progress(done, 101, "/a/b.txt")
        line = show.progress_line("indexing", step, speed.at(step, now), 40)
    assert line == "indexing 51/101 5/s 10 s left"
