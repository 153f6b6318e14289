"""The order of many matches, which are scored a tier at a time."""

from __future__ import annotations

import random

import pytest

from searching import indexed
from smart_context.find import order


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ties_go_by_path_also_where_one_tier_of_matches_ends_and_the_next_begins(
    tree, tmp_path, monkeypatch, seed
) -> None:
    monkeypatch.setattr(order, "TIERS", (10, 40))
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 20)
    chance = random.Random(seed)
    words = ["harbour", "crane", "wharf", "tide", "rope"]
    files = {}
    for number in range(90):
        said = [chance.choice(words) for _ in range(chance.randint(1, 9))]
        files[f"{chance.randrange(10**6):06}-{number}.txt"] = " ".join([*said, *["and so on"] * chance.randint(0, 9)])
    with indexed(tree(files), tmp_path / "data") as folder:
        for query in ("harbour crane", "harbour OR wharf OR tide", "rope tide crane"):
            items = folder.page(query, 90).items
            placed = [(-item.score, item.path, item.pointer) for item in items]
            assert len(placed) > 40
            assert placed == sorted(placed)
