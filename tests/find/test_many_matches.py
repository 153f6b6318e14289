"""Many matches: how far they are looked at, how they are counted, and that this changes no answer. Bounds are lowered, so that few files are many."""

from __future__ import annotations

import pytest

from searching import indexed
from smart_context.find import order, search

NAMES = [f"{'bcdfghjklm'[n % 10]}{'aeiou'[n // 10]}rn" for n in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Forty files of five sections that speak of a harbour: ten five times in each, the others twice in three of them and once in two."""
    place = tmp_path_factory.mktemp("many").resolve()
    (place / "root").mkdir()
    for number, name in enumerate(NAMES):
        times = [5] * 5 if number % 4 == 0 else [2, 1, 2, 1, 2]
        said = [f"# {name} {at}\n\n{'harbour ' * n}{name} and {name * 2} {at}.\n" for at, n in enumerate(times)]
        (place / "root" / f"{name}.md").write_text("\n".join(said), encoding="utf-8")
    with indexed(place / "root", place / "data") as opened:
        yield opened


def everything(folder, query, k=100, **more):
    out, page = [], folder.page(query, k, **more)
    while page.items:
        out += [(-item.score, item.path, item.pointer) for item in page.items]
        page = folder.page(query, k, offset=len(out), **more)
    return out


@pytest.mark.parametrize("k", [7, 100])
def test_a_tier_at_a_time_gives_what_all_at_once_gives_as_far_as_it_is_scored(folder, monkeypatch, k):
    whole = everything(folder, "harbour")
    assert len(whole) == 120  # three of each file
    monkeypatch.setattr(order, "TIERS", (45, 150))
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 100)
    tiers = everything(folder, "harbour", k)
    assert tiers == sorted(tiers)
    assert tiers[:30] == whole[:30]
    assert {path for _, path, _ in tiers} == {path for _, path, _ in whole}
    assert len(tiers) == len(set(tiers)) == 120


@pytest.mark.parametrize(("query", "count"), [("-nowhere", 120), ("md files", 40)])
def test_what_nothing_tells_apart_goes_by_path_however_much_it_is(folder, monkeypatch, query, count):
    whole = everything(folder, query)
    assert len(whole) == count
    assert [path for _, path, _ in whole] == sorted(path for _, path, _ in whole)
    monkeypatch.setattr(order, "TIERS", (10, 40))
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 20)
    assert everything(folder, query, 9) == whole


def test_results_are_counted_up_to_a_bound_and_estimated_by_the_best_beyond(folder, monkeypatch):
    monkeypatch.setattr(search, "_COUNTED", 200)
    assert folder.page("harbour", 5).total_estimate == 120
    monkeypatch.setattr(search, "_COUNTED", 199)
    monkeypatch.setattr(search, "_SAMPLED", 50)  # the best: five of ten files each, of which three are shown
    assert folder.page("harbour", 5).total_estimate == 200 * 30 // 50
    monkeypatch.setattr(search, "_SAMPLED", 51)  # and what scores as the next one, three of each of the others
    assert folder.page("harbour", 5).total_estimate == 200 * (30 + 90) // 140
    assert folder.page("harbour", 100, offset=21).total_estimate == 120  # all were reached
    assert folder.page("md files", 5).total_estimate == 40


def test_a_page_that_ends_with_the_last_result_counts_what_was_reached(folder):
    for k, offset in ((20, 100), (21, 100), (19, 100), (1, 119), (1, 120)):
        assert folder.page("harbour", k, offset).total_estimate == 120


def test_matches_of_nearly_equal_rough_score_are_in_one_tier(folder, monkeypatch):
    monkeypatch.setattr(order, "TIERS", (1, 2))
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 1)
    found = everything(folder, "harbour")
    assert found == sorted(found)
    assert len(found) == len(set(found)) == 120
