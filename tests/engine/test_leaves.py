"""Numbers of blocks: none is given twice, and the pages that hold them are full."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from smart_context.engine.local import leaves
from smart_context.engine.local.engine import RECORD
from smart_context.engine.local.leaves import Leaves
from smart_context.engine.local.record import Record
from smart_context.engine.model import NewFile
from smart_context.model import Segment


@pytest.mark.parametrize("page_size", [1024, 2048, 4096])
@pytest.mark.parametrize("longest", [200, 2000, 9000])
def test_numbers_fill_pages(tmp_path, page_size, longest):
    drawn = random.Random(longest)
    sizes = [drawn.randint(1, longest) for _ in range(1500)]
    given, last = Leaves(page_size, 77), list(range(1, len(sizes) + 1))
    numbers = [given.number(leaves.payload((file_id,), size)) for file_id, size in enumerate(sizes, 100)]
    assert len(set(numbers)) == len(sizes)
    assert min(numbers) > 77
    full, plain = (pages(tmp_path / f"{which}", page_size, own, sizes) for which, own in enumerate((numbers, last)))
    needed = sum(size + 20 for size in sizes) / page_size
    assert full < 1.05 * needed + 20
    if longest == 2000 == page_size - 48:  # rows of half a page and more, where it matters most
        assert plain > 1.15 * needed


def pages(file: Path, page_size: int, numbers: Sequence[int], sizes: Sequence[int]) -> int:
    """How many pages a table of these rows has."""
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA page_size = {page_size}")
        db.execute("CREATE TABLE blocks (block_id INTEGER PRIMARY KEY, file_id INTEGER, data BLOB, dead INTEGER)")
        for file_id, (number, size) in enumerate(zip(numbers, sizes, strict=True), 100):
            db.execute("INSERT INTO blocks VALUES (?, ?, ?, 0)", (number, file_id, bytes(size)))
        db.commit()
        return int(db.execute("PRAGMA page_count").fetchone()[0])


def test_texts_come_back_whatever_numbers_their_blocks_have(tmp_path):
    drawn = random.Random(5)
    kept: dict[str, list[str]] = {}
    for _ in range(2):  # the second writer goes on where the first one ended
        with closing(Record.open(tmp_path, writable=True)) as record:
            for turn in range(60):
                path = f"/r/{drawn.randint(0, 40)}"
                texts = [drawn.randbytes(drawn.randint(1, 900)).hex() for _ in range(drawn.randint(0, 40))]
                segments = [Segment(i, f"lines {i + 1}-{i + 1}", "", text) for i, text in enumerate(texts)]
                new = NewFile(path, "/r", "text", 1, 5, "ab", "ok")
                record.put(new, segments, (), "2024-05-06T07:08:09Z")
                if turn % 7 == 3:
                    record.rollback()
                    kept_then = dict(kept)
                else:
                    record.commit()
                    kept_then = {**kept, path: texts}
                kept = kept_then
    with closing(Record.open(tmp_path)) as record:
        for path, texts in kept.items():
            row = record.file(path)
            assert row
            ids = [one.segment_id for one in record.segments_of(row.file_id)]
            assert list(record.texts(ids).values()) == texts
    with closing(sqlite3.connect(tmp_path / RECORD)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
