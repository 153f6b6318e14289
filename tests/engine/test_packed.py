"""The files that exact scores are made from: what was flushed is there, by its number, whatever happened to what was not."""

from __future__ import annotations

from smart_context.engine.local.ranking import packed
from smart_context.engine.local.ranking.packed import Reader, Writer


def test_segments_are_read_by_their_numbers_in_the_order_asked_for(tmp_path):
    writer = Writer(tmp_path)
    for number in (7, 3, 4, 900):
        writer.add(number, b"segment %d" % number)
    writer.flush()
    assert Reader(tmp_path).of([900, 3, 7]) == [b"segment 900", b"segment 3", b"segment 7"]
    writer.close()


def test_what_is_not_there_has_nothing(tmp_path):
    Writer(tmp_path).close()
    assert Reader(tmp_path).of([0, 5]) == [bytes(10), bytes(10)]
    assert Reader(tmp_path).of([]) == []


def test_what_was_not_flushed_is_forgotten_and_its_number_can_be_used_again(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "_SPILL", 4)  # so that some of it is written nevertheless
    first = Writer(tmp_path)
    first.add(1, b"kept")
    first.flush()
    first.add(2, b"lost in a crash")
    first.close()
    assert Reader(tmp_path).of([1, 2]) == [b"kept", bytes(10)]
    second = Writer(tmp_path)
    second.add(2, b"another")
    second.flush()
    second.close()
    assert Reader(tmp_path).of([1, 2]) == [b"kept", b"another"]


def test_a_reader_keeps_what_it_saw(tmp_path):
    writer = Writer(tmp_path)
    writer.add(1, b"one")
    writer.flush()
    before = Reader(tmp_path)
    writer.add(2, b"two")
    writer.flush()
    writer.close()
    assert before.of([1, 2]) == [b"one", bytes(10)]
