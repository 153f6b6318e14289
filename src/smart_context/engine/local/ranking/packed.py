"""What exact scoring needs of every segment, in two files beside the engine's own: read in one go, by number.

In: packed segments by their number.  Out: the same, for many numbers at once.
Always: what a commit of the engine shows was written and flushed before it; nothing written is ever changed, because numbers of segments are
never given twice to what was committed. What was removed takes room until the ranking is rebuilt.

`packed.data` holds the segments one after the other; `packed.places` holds eight bytes for each number: where it begins, and its length.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_DATA, _PLACES = "packed.data", "packed.places"
_PLACE = struct.Struct("<Q")
_LENGTH = 24  # bits of a place that are its length
_SPILL = 8 << 20  # bytes that wait for a flush at most
_NOTHING = bytes(10)
_SPARE = 64 << 10  # bytes that are not worth a rebuild


class Writer:
    """Appends segments; they are there for readers after `flush`."""

    def __init__(self, folder: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._data, self._places = (os.open(folder / name, flags, 0o600) for name in (_DATA, _PLACES))
        self._end = self._written = os.lseek(self._data, 0, os.SEEK_END)
        self._waiting: list[bytes] = []
        self._numbered: list[tuple[int, int]] = []

    def add(self, segment_id: int, packed: bytes) -> None:
        """Take in a segment."""
        self._numbered.append((segment_id, self._end << _LENGTH | len(packed)))
        self._waiting.append(packed)
        self._end += len(packed)
        if self._end - self._written > _SPILL:
            self._spill()

    def flush(self) -> None:
        """Write what was taken in, and see it on the disk."""
        if not self._numbered:
            return
        self._spill()
        self._numbered.sort()
        for first, places in _runs(self._numbered):
            _write(self._places, struct.pack(f"<{len(places)}Q", *places), first * _PLACE.size)
        os.fsync(self._data)
        os.fsync(self._places)
        self._numbered = []

    def _spill(self) -> None:
        _write(self._data, b"".join(self._waiting), self._written)
        self._waiting, self._written = [], self._end

    def close(self) -> None:
        """Close; what was not flushed is forgotten."""
        os.close(self._data)
        os.close(self._places)


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
        self._places = _numbers(_mapped(folder / _PLACES))

    def of(self, segment_ids: Sequence[int]) -> list[bytes]:
        """What segments hold, in the order asked for; nothing for one that is not there."""
        data, places, count, mask = self._data, self._places, len(self._places), (1 << _LENGTH) - 1
        found = [places[number] if 0 <= number < count else 0 for number in segment_ids]
        return [data[(at := one >> _LENGTH) : at + (one & mask)] if one & mask else _NOTHING for one in found]


def _numbers(places: mmap.mmap | bytes) -> Sequence[int]:
    """Places as numbers, read where they stand: a search looks up hundreds."""
    view = memoryview(places)
    return view.cast("Q") if sys.byteorder == "little" else struct.unpack(f"<{len(view) // _PLACE.size}Q", view)


def is_wasteful(folder: Path, living: Sequence[int]) -> bool:
    """Whether less than half of the bytes belong to segments that are in force."""
    held = sum(map(len, Reader(folder).of(living)))
    return (folder / _DATA).stat().st_size > 2 * held + _SPARE


def _mapped(file: Path) -> mmap.mmap | bytes:
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size // 8 * 8 if file.name == _PLACES else os.fstat(opened.fileno()).st_size
        return mmap.mmap(opened.fileno(), size, prot=mmap.PROT_READ) if size else b""
