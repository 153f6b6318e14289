"""What exact scoring needs of every segment, in two files beside the engine's own: read in one go, by number.

In: packed segments by their number.  Out: the same, for many numbers at once.
Always: what a commit of the engine shows was written and flushed before it; nothing written is ever changed, because numbers of segments are
never given twice to what was committed. What was removed takes room until the ranking is rebuilt.

`packed.data` holds the segments one after the other; `packed.places` holds eight bytes for each number: where it begins, and its length.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_DATA, _PLACES = "packed.data", "packed.places"
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
        ids = np.array([number for number, _ in self._numbered], np.int64)
        places = np.array([place for _, place in self._numbered], "<u8")
        for run in np.split(np.arange(len(ids)), np.flatnonzero(np.diff(ids) != 1) + 1):
            _write(self._places, places[run].tobytes(), int(ids[run[0]]) * 8)
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


def _write(file: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, at)
        view, at = view[done:], at + done


class Reader:
    """The segments as of now."""

    def __init__(self, folder: Path) -> None:
        self._data = _mapped(folder / _DATA)
        self._places: NDArray[np.uint64] = np.frombuffer(_mapped(folder / _PLACES), "<u8")

    def of(self, segment_ids: Sequence[int]) -> list[bytes]:
        """What segments hold, in the order asked for; nothing for one that is not there."""
        ids = np.array(segment_ids, np.int64)
        inside = ids < len(self._places)
        places = np.where(inside, self._places[np.where(inside, ids, 0)], 0) if len(self._places) else ids * 0
        starts, lengths = (places >> _LENGTH).tolist(), (places & ((1 << _LENGTH) - 1)).tolist()
        data = self._data
        return [data[at : at + size] if size else _NOTHING for at, size in zip(starts, lengths, strict=True)]


def is_wasteful(folder: Path, living: Sequence[int]) -> bool:
    """Whether less than half of the bytes belong to segments that are in force."""
    held = sum(map(len, Reader(folder).of(living)))
    return (folder / _DATA).stat().st_size > 2 * held + _SPARE


def _mapped(file: Path) -> mmap.mmap | bytes:
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size // 8 * 8 if file.name == _PLACES else os.fstat(opened.fileno()).st_size
        return mmap.mmap(opened.fileno(), size, prot=mmap.PROT_READ) if size else b""
