"""A month of changes: the index stays as large as what it holds, and its halves agree."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from smart_context.engine.local import upkeep
from smart_context.engine.local.index import Index
from smart_context.engine.model import NewFile
from smart_context.model import Segment

ROUNDS = 60
FILES = 40


def text(rnd):
    return " ".join(f"word{rnd.randrange(3000)}" for _ in range(250))


def put(index, name, rnd):
    segments = [Segment(seq, f"lines {seq * 20 + 1}-{seq * 20 + 20}", "", text(rnd)) for seq in range(4)]
    index.put(NewFile(f"/share/{name}.txt", "/share", "text", 1, 1, "", "ok"), segments, (), "2026-01-01T00:00:00Z")


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Look(NamedTuple):
    """An index between two runs: its bytes, the pages of its record and those that nothing uses, the parts of its ranking."""

    size: int
    pages: int
    unused: int
    parts: int


def look(folder: Path) -> Look:
    with contextlib.closing(sqlite3.connect(folder / "record.sqlite")) as db:
        pages, unused = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
    return Look(size(folder), pages, unused, len(list((folder / "ranking").glob("*.store"))))


@pytest.fixture(scope="module")
def churned(tmp_path_factory):
    """An index after many rounds of changed, new and removed files; each round a run of its own. Gives a look after each."""
    folder = tmp_path_factory.mktemp("churn") / "data"
    rnd = random.Random(3)
    names = list(range(FILES))
    looks = []
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
        looks.append(look(folder))
    return folder, names, looks


@pytest.mark.unmeasured
def test_the_index_stays_bounded_under_churn_and_small_after_upkeep(churned, tmp_path):
    folder, names, looks = churned
    with Index.open(tmp_path / "fresh", writable=True) as index:
        for name in names:
            put(index, name, random.Random(name))
        index.commit()
        index.record.tidy()
    upkeep.maintain(tmp_path / "fresh")
    fresh = look(tmp_path / "fresh")
    # What exact scoring needs of segments that are gone takes room until the next upkeep, and no longer.
    assert max(seen.size for seen in looks) < 6 * fresh.size
    assert max(seen.pages for seen in looks) < 1.5 * fresh.pages
    assert {seen.unused for seen in looks} == {0}
    assert max(seen.parts for seen in looks) < 12
    upkeep.maintain(folder)
    assert size(folder) < 1.6 * fresh.size
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


def test_an_index_that_most_files_are_gone_from_is_small_after_upkeep(tmp_path):
    """The engine alone would keep what they had in its parts until it merges them, which may be never."""
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, count in ((few, 4), (many, 40)):
        with Index.open(folder, writable=True) as index:
            for name in range(count):
                put(index, name, random.Random(name))
            index.commit()
    with Index.open(many, writable=True) as index:
        index.remove([index.record.file(f"/share/{name}.txt").file_id for name in range(4, 40)])
        index.commit()
    with Index.open(many) as reader:
        upkeep.maintain(many)
        reader.refresh()
        assert reader.ranking.file_ids() == reader.record.file_ids()
    upkeep.maintain(few)
    assert look(many).pages < 1.1 * look(few).pages
    assert size(many / "ranking") < 1.1 * size(few / "ranking")
