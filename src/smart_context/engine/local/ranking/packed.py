"""The data of every segment for exact scoring, in files beside the engine's own: read in one go, by number.

In: packed segments by their number.  Out: the same, for many numbers at once.
Always: the segments that a commit of the engine shows were written and flushed before it; nothing written is ever changed, because the ids of committed
segments are never reused. Removed segments take space until the ranking is rebuilt. Damaged data raises ValueError, and is never read as something else.

`packed.data` holds the segments one after the other, shortened as `brief` says, each with a check of its bytes and its number. `packed.places` tells for 32 numbers at a time where the
first one begins and the length of each: they follow each other. `packed.apart` has the others, eight bytes for each number: where it begins, and its length. Hardly any index has them: they were
written out of order, or again after a crash.
`packed.words` holds the table by which they are shortened, in parts as they were learnt: how many words each class has there, a checksum of the part, and the words.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from operator import gt, itemgetter
from pathlib import Path
from typing import cast
from zlib import crc32

from smart_context.data import dataclass
from smart_context.engine.local.ranking import brief
from smart_context.text import codes

try:
    from smart_context.engine.local.ranking import _brief as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_DATA, _PLACES, _APART, _WORDS = "packed.data", "packed.places", "packed.apart", "packed.words"
_TOGETHER = 32  # numbers in a group of `packed.places`
_GROUP = struct.Struct(f"<Q{_TOGETHER}H")  # where the first begins, and the length of each; 0 for one that is not there
_IS_APART, _LONGEST = 0x8000, 0x7FFF  # a bit of a length: the place is in `packed.apart`; and the longest without it
_PLACE = struct.Struct("<Q")
_LENGTH = 24  # bits of an entry in `packed.apart` that are the length
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
        self._data, self._places, self._apart, self._words = self._files = tuple(
            os.open(folder / name, flags, 0o600) for name in (_DATA, _PLACES, _APART, _WORDS)
        )
        self._end = os.lseek(self._data, 0, os.SEEK_END)
        self._table, self._words_end = _table(folder)
        self._waiting_ids: list[int] = []
        self._waiting: list[bytes] = []
        self._bytes_waiting = 0
        self._groups: dict[int, _Group] = {}  # that were changed and not flushed
        self._alone: list[tuple[int, int]] = []  # places for `packed.apart`, the same

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
        if not self._groups:
            return
        for number, place in self._alone:
            _write(self._apart, _PLACE.pack(place), number * _PLACE.size)
        for first, groups in _runs(sorted(self._groups.items(), key=itemgetter(0))):
            told = b"".join(_GROUP.pack(group.start, *group.lengths) for group in groups)
            _write(self._places, told, first * _GROUP.size)
        for file in (self._words, self._data, self._apart, self._places):
            os.fsync(file)
        self._groups, self._alone = {}, []

    def _spill(self) -> None:
        """Write the buffer, and before it the words of the table that it needs."""
        ids, self._waiting_ids = self._waiting_ids, []
        waiting, self._waiting, self._bytes_waiting = self._waiting, [], 0
        if any(map(gt, ids, ids[1:])):  # a ranking that is rebuilt comes by file
            order = sorted(range(len(ids)), key=ids.__getitem__)
            ids, waiting = [ids[at] for at in order], [waiting[at] for at in order]
        if any(words := brief.learnt(waiting, self._table)):
            part = _part(words)
            _write(self._words, part, self._words_end)
            self._words_end += len(part)
            self._table = brief.extended(self._table, [words])
        made, at = brief.shortened(waiting, ids, self._table), self._end
        for segment_id, one in zip(ids, made, strict=True):
            group, own = divmod(segment_id, _TOGETHER)
            if not (self._groups.get(group) or self._group(group)).take(own, self._end, len(one)):
                self._alone.append((segment_id, self._end << _LENGTH | len(one)))
            self._end += len(one)
        _write(self._data, b"".join(made), at)

    def _group(self, number: int) -> _Group:
        """A group as it was written."""
        told = os.pread(self._places, _GROUP.size, number * _GROUP.size).ljust(_GROUP.size, b"\0")
        start, *lengths = _GROUP.unpack(told)
        group = self._groups[number] = _Group(start, lengths, *_end(start, lengths))
        return group

    def close(self) -> None:
        """Close; what was not flushed is discarded."""
        for file in self._files:
            os.close(file)


@dataclass(slots=True)
class _Group:
    """Segments whose numbers and data follow each other. end: where their data end; last: the last one's number in the group, -1 if there is none."""

    start: int
    lengths: list[int]
    end: int
    last: int

    def take(self, own: int, at: int, length: int) -> bool:
        """Take a segment, if it follows the others; else note that it is apart. Where the others are does not change."""
        if self.last < 0:
            self.start = self.end = at
        if own <= self.last or at != self.end or length > _LONGEST:
            self.lengths[own] |= _IS_APART
            return False
        self.lengths[own] = length
        self.last, self.end = own, at + length
        return True


def _end(start: int, lengths: Sequence[int]) -> tuple[int, int]:
    """Where the data of a group end, and the number of its last segment there."""
    there = [length & _LONGEST for length in lengths]
    return start + sum(there), max((own for own, length in enumerate(there) if length), default=-1)


def _runs(numbered: Iterable[tuple[int, _Group]]) -> Iterator[tuple[int, list[_Group]]]:
    """The groups whose numbers follow each other, with the first number."""
    first, groups = 0, list[_Group]()
    for number, group in numbered:
        if groups and number != first + len(groups):
            yield first, groups
            groups = []
        if not groups:
            first = number
        groups.append(group)
    if groups:
        yield first, groups


def _write(file: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, at)
        view, at = view[done:], at + done


class Reader:
    """The segments as of now."""

    def __init__(self, folder: Path) -> None:
        self._data = _mapped(folder / _DATA)
        self._places, self._apart = _mapped(folder / _PLACES), _mapped(folder / _APART)
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
            files = self._data, self._places, self._apart
            return compiled.read(*files, segment_ids, self._table.words, self._table.shorts)
        return list(map(self._one, segment_ids))

    def check(self, segment_ids: Sequence[int]) -> None:
        """Read segments from their files, some at a time.

        Raises: ValueError as `of` does.
        """
        for at in range(0, len(segment_ids), _AT_ONCE):
            self._read(segment_ids[at : at + _AT_ONCE])

    def _one(self, number: int) -> bytes:
        at, length = self._place(number)
        if not length or at + length > len(self._data):
            raise ValueError(f"segment {number} is not there")
        return brief.restored([self._data[at : at + length]], [number], self._table)[0]

    def held(self, segment_ids: Iterable[int]) -> int:
        """The size of segments here, in bytes."""
        return sum(self._place(number)[1] for number in segment_ids)

    def _place(self, number: int) -> tuple[int, int]:
        """Where a segment begins, and its length: 0 for one that is not there."""
        group, own = divmod(number, _TOGETHER)
        if not 0 <= group < len(self._places) // _GROUP.size:
            return 0, 0
        start, *lengths = _GROUP.unpack_from(self._places, group * _GROUP.size)
        if not lengths[own] & _IS_APART:
            return _end(start, lengths[:own])[0], lengths[own]
        if number >= len(self._apart) // _PLACE.size:
            return 0, 0
        (place,) = _PLACE.unpack_from(self._apart, number * _PLACE.size)
        return place >> _LENGTH, place & ((1 << _LENGTH) - 1)


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
        size = os.fstat(opened.fileno()).st_size
        return mmap.mmap(opened.fileno(), size, prot=mmap.PROT_READ) if size else b""
