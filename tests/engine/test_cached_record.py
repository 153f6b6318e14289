"""What a reader keeps of the record is what the record says, whatever was committed meanwhile."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from smart_context.engine import facts
from smart_context.engine.local import cached_record
from smart_context.engine.local.cached_record import CachedRecord
from smart_context.engine.local.record import Record
from smart_context.engine.model import LastRun, NewFile
from smart_context.model import Segment

DAYS = [("", "", "", ""), ("1970-01-01", "", "", ""), ("", "1970-01-01", "", ""), ("", "", "1970-01-02", "")]


def put(record: Record, path: str, *texts: str, title: str = "") -> tuple[int, list[int]]:
    file = NewFile(path, "/r", "text", 3, 5, "ab", "ok", title=title, same_text=title.encode(), like_text=b"like")
    return record.put(file, [Segment(at, f"line {at}", "", text) for at, text in enumerate(texts)], (), "2024")


def every(record: Record, ids: list[int]) -> tuple[object, ...]:
    """All that is kept, with the order in which it comes."""
    return (
        list(record.files(ids).items()),
        list(record.segments(ids).items()),
        list(record.passages(iter(ids)).items()),
        record.marks(ids),
        [record.between(*days) for days in DAYS],
        [record.last_run(folder) for folder in ("/r", "/r/a", "/other")],
    )


@pytest.mark.parametrize(("rows", "characters"), [(4096, 1 << 20), (3, 20), (0, 0)])
def test_a_reader_that_keeps_rows_answers_as_one_that_does_not(tmp_path, monkeypatch, rows, characters):
    monkeypatch.setattr(cached_record, "_ROWS", rows)
    monkeypatch.setattr(cached_record, "_CHARACTERS", characters)
    monkeypatch.setattr(cached_record, "_LISTED", rows)
    monkeypatch.setattr(cached_record, "_OPENED", rows)
    writer = Record.open(tmp_path, writable=True)
    plain, keeping = Record.open(tmp_path), CachedRecord.open(tmp_path)
    drawn = random.Random(11)
    for number in range(60):
        path = f"/r/{drawn.randrange(6)}"
        if drawn.random() < 0.7:
            put(writer, path, *(f"text {number} {at}" for at in range(drawn.randrange(4))), title=f"{number}")
        elif row := writer.file(path):
            writer.remove([row.file_id])
        if drawn.random() < 0.6:
            writer.commit()
        if drawn.random() < 0.2:
            writer.commit()
            writer.finish_run("/r", LastRun(f"{number}", f"{number}", 1), {})
        for _ in range(2):
            ids = drawn.choices(range(140), k=30)
            assert every(keeping, ids) == every(plain, ids)
    for record in (writer, plain, keeping):
        record.close()


def test_what_was_read_is_not_read_again_until_something_is_committed(tmp_path: Path):
    writer = Record.open(tmp_path, writable=True)
    file_id, ids = put(writer, "/r/a", "one", "two")
    writer.commit()
    reader = CachedRecord.open(tmp_path)
    file, passage = reader.files([file_id])[file_id], reader.passages(ids)[ids[0]]
    assert reader.files([file_id, 99])[file_id] is file
    assert reader.passages([ids[0]])[ids[0]] is passage
    writer.restamp(file_id, 77)
    assert reader.files([file_id])[file_id] is file
    writer.commit()
    assert reader.files([file_id])[file_id].mtime_ns == 77
    writer.close()
    reader.close()


def test_one_search_sees_what_was_kept_when_it_began_and_the_next_one_what_was_committed_since(tmp_path: Path):
    writer = Record.open(tmp_path, writable=True)
    file_id, ids = put(writer, "/r/a", "one", "two")
    writer.commit()
    reader = CachedRecord.open(tmp_path)
    first = reader.still()
    assert every(first, [file_id]) == every(reader, [file_id])
    file = first.files([file_id])[file_id]
    writer.restamp(file_id, 77)
    writer.commit()
    assert first.files([file_id])[file_id] is file
    assert first.passages(ids).keys() == set(ids)
    assert reader.still().files([file_id])[file_id].mtime_ns == 77
    assert reader.files([file_id])[file_id].mtime_ns == 77
    writer.close()
    reader.close()


def test_days_on_which_nothing_was_written_take_room_too(tmp_path, monkeypatch):
    monkeypatch.setattr(cached_record, "_LISTED", 3)
    Record.open(tmp_path, writable=True).close()
    reader = CachedRecord.open(tmp_path)
    for day in range(1, 29):
        assert reader.between(f"2024-02-{day:02}", "", "", "") == []
        assert len(reader._known().between._rows) <= 3
    reader.close()


def test_marks_of_any_number_of_files_are_those_of_each(tmp_path, monkeypatch):
    monkeypatch.setattr(facts, "_BOUND", 11)
    writer = Record.open(tmp_path, writable=True)
    ids = [put(writer, f"/r/{number}", title=f"{number}")[0] for number in range(20)]
    writer.commit()
    each = [mark for i in ids for mark in writer.marks([i])]
    assert [(mark.file_id, mark.same) for mark in each] == [(i, f"{at}".encode()) for at, i in enumerate(ids)]
    for count in range(len(ids) + 1):
        assert writer.marks(reversed(ids[:count])) == each[:count]
    assert writer.marks([ids[3], 999, ids[1], ids[3]]) == [each[1], each[3]]
    writer.close()
