"""Answers of a search as a whole: their order, their pages, their number."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from searching import Searched, indexed
from smart_context.engine.local.ranking import view
from smart_context.engine.local.ranking.view import View
from smart_context.find import order

_FILES = 400


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searched]:
    """Files that match `red kite` in as many ways: how often, how far apart, in how much text, up to five times a file."""
    root = tmp_path_factory.mktemp("files")
    chance = random.Random(7)  # for the same files each time
    for number in range(_FILES):
        parts = []
        for _ in range(chance.choice([1, 1, 1, 5])):
            words = ["red"] * chance.randint(0, 3) + ["kite"] * chance.randint(1, 3)
            words += ["filler"] * chance.randint(0, 200)
            chance.shuffle(words)
            parts.append(f"# Part\n{' '.join(words)}\n{'padding ' * 200}\n")
        (root / f"{number:03}.md").write_text("\n".join(parts), encoding="utf-8")
    with indexed(root, tmp_path_factory.mktemp("data")) as searched:
        yield searched


@pytest.fixture(scope="module")
def everything(searched: Searched) -> list[tuple[float, str, str]]:
    found = []
    while items := searched.page("red kite", 100, len(found)).items:
        found += [(-item.score, item.path, item.pointer) for item in items]
    return found


@pytest.mark.unmeasured
def test_results_fall_by_score_and_ties_go_by_path_and_pointer(everything):
    assert len(everything) > _FILES
    assert everything == sorted(everything)
    assert all(-1 <= score <= 0 for score, _, _ in everything)


@pytest.mark.unmeasured
def test_pages_of_any_size_fit_together(searched, everything):
    pages = [searched.page("red kite", 37, offset).items for offset in range(0, len(everything), 37)]
    assert [(-item.score, item.path, item.pointer) for page in pages for item in page] == everything


def test_a_file_has_at_most_three_results(everything):
    paths = [path for _, path, _ in everything]
    assert max(map(paths.count, set(paths))) == 3


@pytest.mark.parametrize("offset", [0, 10, 500])
def test_the_estimate_counts_results_under_that_rule(searched, everything, offset):
    assert searched.page("red kite", 5, offset).total_estimate == len(everything)


@pytest.mark.parametrize("offset", [5000, 2**63 - 1])
def test_a_page_past_the_end_is_empty_and_the_estimate_stays_true(searched, everything, offset):
    page = searched.page("red kite", 10, offset)
    assert (page.items, page.offset, page.total_estimate) == ((), offset, len(everything))


@pytest.mark.parametrize("query", ["-nowhere", "md files"])
def test_what_nothing_tells_apart_goes_by_path_and_is_looked_at_as_far_as_it_is_read(searched, monkeypatch, query):
    looked_at = []
    described = View.described

    def counted(view, found):
        looked_at.extend(found)
        return described(view, found)

    monkeypatch.setattr(View, "described", counted)
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 10**6)
    whole = [(item.path, item.pointer) for item in searched.page(query, 100).items]
    assert whole == sorted(whole)
    at_once = len(looked_at)
    looked_at.clear()
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 100)
    assert [(item.path, item.pointer) for item in searched.page(query, 10).items] == whole[:10]
    assert len(looked_at) < at_once / 4
    pages = [searched.page(query, 7, offset).items for offset in range(0, 98, 7)]
    assert [(item.path, item.pointer) for page in pages for item in page] == whole[:98]


@pytest.mark.unmeasured
def test_searches_of_many_threads_on_one_index_do_not_disturb_each_other(searched, monkeypatch):
    for bound in ("_TERMS", "_EXPRESSIONS"):
        monkeypatch.setattr(view, bound, 2)  # so that what one thread remembers is forgotten under another's hands
    queries = [
        "red kite",
        "red",
        "kite -red",
        "fil*",
        '"red kite"',
        "kite NEAR/3 red",
        "padding filler",
        "md files",
    ] * 3
    alone = [searched.page(query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(searched.page, queries * 4)) == alone * 4
