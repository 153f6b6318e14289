"""Results by date and by name: those that are worth it, in an order that ends in the path."""

from __future__ import annotations

from smart_context.engine.model import FileRow, SegmentRow
from smart_context.find import sorting
from smart_context.find.order import Placed


def placed(path, score=1.0, *, dated="", seconds=0, seq=0):
    file = FileRow(1, path, "/", "", "", 1, seconds * 10**9, "", "ok", "", "", "", (), (), "", 1, "", 1, dated=dated)
    return Placed(SegmentRow(seq, 1, seq, f"page {seq}", ""), file, "en", score)


def names(found):
    return [f"{one.file.path}#{one.segment.seq}" for one in found]


def test_what_is_less_than_half_as_good_as_the_best_is_left_out():
    found, is_cut = sorting.results([placed("a", 0.8), placed("b", 0.4), placed("c", 0.39), placed("d", 0.8)], "name")
    assert (names(found), is_cut) == (["a#0", "b#0"], True)
    assert sorting.results([placed("a", 0.8), placed("b", 0.4)], "name")[1] is False
    assert sorting.results([], "date") == ([], False)


def test_fifteen_hundred_are_put_in_order(monkeypatch):
    assert sorting.MOST == 1500
    monkeypatch.setattr(sorting, "MOST", 3)
    found, is_cut = sorting.results([placed(name) for name in "dcba"], "name")
    assert (names(found), is_cut) == (["b#0", "c#0", "d#0"], True)
    assert sorting.results([placed(name) for name in "cba"], "name")[1] is False


def test_the_newest_come_first_by_the_day_that_a_file_gives_or_its_last_change():
    some = [placed("b", seconds=0), placed("a", dated="2024-05-01"), placed("d", seconds=1_714_600_000), placed("c", seconds=0, seq=2), placed("c", seconds=0)]  # fmt: skip
    assert names(sorting.results(some, "date")[0]) == ["d#0", "a#0", "b#0", "c#0", "c#2"]
    assert sorting.date(placed("x", seconds=1).file) == "1970-01-01T00:00:01.000000"


def test_names_are_compared_without_case_and_folders_only_after_them():
    assert names(sorting.results([placed("/b/A"), placed("/a/b"), placed("/a/a")], "name")[0]) == [
        "/a/a#0",
        "/b/A#0",
        "/a/b#0",
    ]
