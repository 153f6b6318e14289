"""A month of changes: the index stays as large as what it holds, and its halves agree."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from smart_context.search import upkeep
from smart_context.search.index import Index
from smart_context.search.model import NewFile, Segment

ROUNDS = 60
FILES = 40


def text(rnd):
    return " ".join(f"word{rnd.randrange(3000)}" for _ in range(250))


def put(index, name, rnd):
    segments = [Segment(seq, f"lines {seq * 20 + 1}-{seq * 20 + 20}", "", text(rnd)) for seq in range(4)]
    index.put(NewFile(f"/share/{name}.txt", "/share", "text", 1, 1, "", "ok"), segments, (), "2026-01-01T00:00:00Z")


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def churned(tmp_path_factory):
    """An index after many rounds of changed, new and removed files; each round a run of its own. Gives the largest size on the way."""
    folder = tmp_path_factory.mktemp("churn") / "data"
    rnd = random.Random(3)
    names = list(range(FILES))
    largest = 0
    for number in range(ROUNDS):
        with Index.open(folder, writable=True) as index:
            for name in names if not number else rnd.sample(names, 5):
                put(index, name, rnd)
            gone = names.pop(rnd.randrange(len(names)))
            row = index.record.file(f"/share/{gone}.txt")
            index.remove([row.file_id])
            names.append(FILES + number)
            put(index, names[-1], rnd)
            index.commit()
            index.record.tidy()
        largest = max(largest, size(folder))
    return folder, names, largest


def test_the_index_stays_bounded_under_churn_and_small_after_upkeep(churned, tmp_path):
    folder, names, largest = churned
    with Index.open(tmp_path / "fresh", writable=True) as index:
        for name in names:
            put(index, name, random.Random(name))
        index.commit()
        index.record.tidy()
    upkeep.maintain(tmp_path / "fresh")
    fresh = size(tmp_path / "fresh")
    assert largest < 3 * fresh
    upkeep.maintain(folder)
    assert size(folder) < 1.6 * fresh
    with Index.open(folder) as index:
        assert index.ranking.file_ids() == index.record.file_ids()
        assert len(index.record.file_ids()) == FILES
        assert not (folder / "record.sqlite-wal").exists() or (folder / "record.sqlite-wal").stat().st_size == 0


def test_a_ranking_that_lost_a_file_is_made_anew(churned):
    folder, _, _ = churned
    with Index.open(folder, writable=True) as index:
        lost = min(index.ranking.file_ids())
        index.ranking.delete([lost])
        index.ranking.commit(index.record.generation)
        index.ranking.reload()
        assert lost not in index.ranking.file_ids()
    upkeep.maintain(folder)
    with Index.open(folder) as index:
        assert index.ranking.file_ids() == index.record.file_ids()
