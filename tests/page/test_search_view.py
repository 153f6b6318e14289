"""The view of a search without a browser: pages, orders, counts, and what an address says."""

from __future__ import annotations

import os
import shutil

import pytest
from starlette.datastructures import QueryParams

from smart_context.api import App
from smart_context.model import OWNER
from smart_context.page import render, search
from smart_context.settings import config


@pytest.fixture
def app(tmp_path, tree):
    root = tree({f"{'even' if n % 2 == 0 else 'odd'}/note{n:02}.md": f"A walrus of 20{n:02}.\n" for n in range(90)})
    for n, path in enumerate(sorted(root.rglob("*.md"))):
        os.utime(path, (1_700_000_000 + 86_400 * n,) * 2)
    settings = config.load({"roots": (str(root),), "data_dir": str(tmp_path / "data")})
    with App(settings) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        yield app


def seen(app, address):
    return search.view(app, search.asked(QueryParams(address)), OWNER, lambda: None)


def test_without_an_index_the_page_names_the_command_in_place_of_other_words(tmp_path, tree):
    settings = config.load({"roots": (str(tree({"a.md": "A walrus.\n"})),), "data_dir": str(tmp_path / "data")})
    with App(settings) as empty:
        view = seen(empty, "q=walrus&kind=md")
    shown = render.page("search-part.html", view=view, asked=view.asked, may_freeze=False).body.decode()
    assert "context index" in shown
    assert "words may help" not in shown


def test_pages_neither_repeat_nor_lose_a_result(app):
    address, names = "q=walrus", []
    while address:
        view = seen(app, address)
        names += [result.name for result in view.results]
        address = view.after.removeprefix("/?")
    assert sorted(names) == [f"note{n:02}.md" for n in range(90)]


def test_the_newest_come_first_when_sorted_by_date(app):
    dates = [result.modified for result in seen(app, "q=walrus&sort=date").results]
    assert dates == sorted(dates, reverse=True)
    assert len(dates) == search.SHOWN


def test_times_narrow_a_view_and_stay_in_its_addresses(app):
    view = seen(app, "q=walrus&since=2023-12&until=2023-12-10")
    dates = {result.date for result in view.results}
    assert (min(dates), max(dates), view.total) == ("2023-12-01", "2023-12-10", 10)
    assert "since=2023-12&until=2023-12-10" in view.results[0].address
    assert (search.asked(QueryParams("q=walrus&since=soon")).since, view.asked.is_narrowed) == ("", True)


def test_copies_are_named_with_their_addresses(app, tmp_path):
    root = app.roots.names[0]
    shutil.copy(f"{root}/even/note00.md", f"{root}/odd/copy.md")
    app.index_here(root, full=False, on_progress=lambda _step: None)
    found = next(result for result in seen(app, "q=walrus+2000").results if result.also)
    assert [name for name, _ in found.also] == [f"{os.path.basename(root)} / odd / copy.md"]
    assert found.also[0][1].startswith("/see?path=")


def test_counts_are_of_what_was_looked_at(app):
    view = seen(app, "q=walrus")
    assert view.looked_at == search.LOOKED_AT < view.total
    folders = next(each for each in view.filters if each.title == "Folder")
    assert sum(choice.count for choice in folders.choices) == search.LOOKED_AT
    assert {choice.label for choice in folders.choices} == {"even", "odd"}


def test_a_filter_is_an_address(app):
    folders = next(each for each in seen(app, "q=walrus").filters if each.title == "Folder")
    even = next(choice for choice in folders.choices if choice.label == "even")
    view = seen(app, even.address.removeprefix("/?"))
    assert view.total == 45
    assert all(int(result.name[4:6]) % 2 == 0 for result in view.results)


@pytest.mark.parametrize("offset", ["-1", "x", "1e9", "9" * 30, "²"])
def test_an_address_that_makes_no_sense_starts_at_the_beginning(app, offset):
    assert search.asked(QueryParams({"q": "walrus", "from": offset})).offset == 0


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        (((0, 1),), (("a", True), ("bcd", False))),
        (((1, 2), (2, 3)), (("a", False), ("b", True), ("c", True), ("d", False))),
        (((0, 2), (1, 3)), (("ab", True), ("cd", False))),
        ((), (("abcd", False),)),
    ],
)
def test_a_text_is_cut_at_its_marks(marks, expected):
    assert search.pieces("abcd", marks) == expected
