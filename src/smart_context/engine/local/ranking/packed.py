"""The data of every segment for exact scoring, in three files beside the engine's own: read in one go, by number.

In: packed segments by their number.  Out: the same, for many numbers at once.
Always: the segments that a commit of the engine shows were written and flushed before it; nothing written is ever changed, because the ids of committed
segments are never reused. Removed segments take space until the ranking is rebuilt. Damaged data raises ValueError, and is never read as something else.

`packed.data` holds the segments one after the other, shortened as `brief` says, each with a check of its bytes and its number; `packed.places` holds eight bytes for each number: where it begins, and its length;
`packed.words` holds the table by which they are shortened, in parts as they were learnt: how many words each class has there, a checksum of the part, and the words.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast
from zlib import crc32

from smart_context.engine.local.ranking import brief
from smart_context.text import codes

try:
    from smart_context.engine.local.ranking import _brief as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_DATA, _PLACES, _WORDS = "packed.data", "packed.places", "packed.words"
_PLACE = struct.Struct("<Q")
_LENGTH = 24  # bits of an entry in `packed.places` that are the length
_SPILL = 8 << 20  # bytes that are buffered at most
_PART = struct.Struct("<5II")  # how many words of each class, and short codes, a part of the table has; its checksum
_AT_ONCE = 2000  # segments that are read together if all are read
_SPARE = 64 << 10  # bytes of removed segments that are not worth a rebuild
_SMALL = 4 << 20  # bytes of segments up to which read data is cached: searches come back to it
_KEPT = 16 << 20  # bytes that are cached at most, as packed


class Writer:
    """Appends segments; readers see them after `flush`."""

    def __init__(self, folder: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._data, self._places, self._words = (
            os.open(folder / name, flags, 0o600) for name in (_DATA, _PLACES, _WORDS)
        )
        self._end = os.lseek(self._data, 0, os.SEEK_END)
        self._table, self._words_end = _table(folder)
        self._waiting_ids: list[int] = []
        self._waiting: list[bytes] = []
        self._bytes_waiting = 0
        self._numbered: list[tuple[int, int]] = []

    def add(self, segment_ids: Sequence[int], packed: Sequence[bytes]) -> None:
        """Buffer segments."""
        self._waiting_ids += segment_ids
        self._waiting += packed
        self._bytes_waiting += sum(map(len, packed))
        if self._bytes_waiting > _SPILL:
            self._spill()

    def flush(self) -> None:
        """Write the buffered segments and sync them to disk."""
        self._spill()
        if not self._numbered:
            return
        self._numbered.sort()
        for first, places in _runs(self._numbered):
            _write(self._places, struct.pack(f"<{len(places)}Q", *places), first * _PLACE.size)
        for file in (self._words, self._data, self._places):
            os.fsync(file)
        self._numbered = []

    def _spill(self) -> None:
        """Write the buffer, and before it the words of the table that it needs."""
        ids, self._waiting_ids = self._waiting_ids, []
        waiting, self._waiting, self._bytes_waiting = self._waiting, [], 0
        if any(words := brief.learnt(waiting, self._table)):
            part = _part(words)
            _write(self._words, part, self._words_end)
            self._words_end += len(part)
            self._table = brief.extended(self._table, [words])
        made, at = brief.shortened(waiting, ids, self._table), self._end
        for segment_id, one in zip(ids, made, strict=True):
            self._numbered.append((segment_id, self._end << _LENGTH | len(one)))
            self._end += len(one)
        _write(self._data, b"".join(made), at)

    def close(self) -> None:
        """Close; what was not flushed is discarded."""
        for file in (self._data, self._places, self._words):
            os.close(file)


def _runs(numbered: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[int]]]:
    """The places of numbers that follow each other, with the first of these."""
    first, places = 0, list[int]()
    for number, place in numbered:
        if places and number != first + len(places):
            yield first, places
            places = []
        if not places:
            first = number
        places.append(place)
    if places:
        yield first, places


def _write(file: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, at)
        view, at = view[done:], at + done


class Reader:
    """The segments as of now."""

    def __init__(self, folder: Path) -> None:
        self._data = _mapped(folder / _DATA)
        self._where = _mapped(folder / _PLACES)
        self._places = _numbers(self._where)
        self._table, _ = _table(folder)  # after the places: it has every word of what they show
        self._kept: dict[int, bytes] = {}
        self._room = _KEPT if len(self._data) <= _SMALL else 0

    def of(self, segment_ids: Sequence[int]) -> list[bytes]:
        """Packed segments, in the order of the ids.

        Raises: ValueError for one that is missing or damaged.
        """
        if not self._room and not self._kept:
            return self._read(segment_ids)
        found = list(map(self._kept.get, segment_ids))
        missing = [number for number, one in zip(segment_ids, found, strict=True) if one is None]
        if not missing:
            return cast("list[bytes]", found)
        read = dict(zip(missing, self._read(missing), strict=True))
        if self._room:
            self._kept.update(read)
            self._room = max(0, self._room - sum(map(len, read.values())))
        return [read[number] if one is None else one for number, one in zip(segment_ids, found, strict=True)]

    def _read(self, segment_ids: Sequence[int]) -> list[bytes]:
        if compiled:
            return compiled.read(self._data, self._where, segment_ids, self._table.words, self._table.shorts)
        return [self._one(number, place) for number, place in zip(segment_ids, self._found(segment_ids), strict=True)]

    def check(self, segment_ids: Sequence[int]) -> None:
        """Read segments from their files, some at a time.

        Raises: ValueError as `of` does.
        """
        for at in range(0, len(segment_ids), _AT_ONCE):
            self._read(segment_ids[at : at + _AT_ONCE])

    def _one(self, number: int, place: int) -> bytes:
        at, length = place >> _LENGTH, place & ((1 << _LENGTH) - 1)
        if not length or at + length > len(self._data):
            raise ValueError(f"segment {number} is not there")
        return brief.restored([self._data[at : at + length]], [number], self._table)[0]

    def held(self, segment_ids: Sequence[int]) -> int:
        """The size of segments here, in bytes."""
        mask = (1 << _LENGTH) - 1
        return sum(one & mask for one in self._found(segment_ids))

    def _found(self, segment_ids: Sequence[int]) -> list[int]:
        """Where segments are and how long, 0 for one that is not there."""
        places, count = self._places, len(self._places)
        return [places[number] if 0 <= number < count else 0 for number in segment_ids]


def _numbers(places: mmap.mmap | bytes) -> Sequence[int]:
    """Places as numbers, read where they stand: a search looks up hundreds."""
    view = memoryview(places)
    return view.cast("Q") if sys.byteorder == "little" else struct.unpack(f"<{len(view) // _PLACE.size}Q", view)


def is_wasteful(folder: Path, living: Sequence[int]) -> bool:
    """Whether less than half of the bytes belong to live segments."""
    return (folder / _DATA).stat().st_size > 2 * Reader(folder).held(living) + _SPARE


def _part(words: Sequence[bytes]) -> bytes:
    """A part of a table, as it is written."""
    sizes = [len(own) // width for own, width in zip(words, _WIDTHS, strict=True)]
    data = b"".join(words)
    return _PART.pack(*sizes, crc32(data, crc32(struct.pack("<5I", *sizes)))) + data


_WIDTHS = (codes.WIDTH,) * len(brief.CLASSES) + (codes.SHORT,)


def check(folder: Path) -> None:
    """Check that the table is complete: without a lost part segments cannot be read, and nothing may be written in its place.

    Raises: ValueError if it is not.
    """
    if _table(folder)[1] < (folder / _WORDS).stat().st_size:
        raise ValueError("the table of words is damaged")


def _table(folder: Path) -> tuple[brief.Table, int]:
    """The numbered words, and the offset where they end: a part that is damaged or still being written, and all after it, are ignored."""
    data = (folder / _WORDS).read_bytes()
    parts: list[list[bytes]] = []
    at = 0
    while at + _PART.size <= len(data):
        *sizes, sum_ = _PART.unpack_from(data, at)
        start = at + _PART.size
        end = start + sum(size * width for size, width in zip(sizes, _WIDTHS, strict=True))
        if end > len(data) or crc32(data[start:end], crc32(struct.pack("<5I", *sizes))) != sum_:
            break
        parts.append([])
        for size, width in zip(sizes, _WIDTHS, strict=True):
            parts[-1].append(data[start : start + size * width])
            start += size * width
        at = end
    return brief.extended(brief.Table(), parts), at


def _mapped(file: Path) -> mmap.mmap | bytes:
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size // 8 * 8 if file.name == _PLACES else os.fstat(opened.fileno()).st_size
        return mmap.mmap(opened.fileno(), size, prot=mmap.PROT_READ) if size else b""
