"""Keep the vectors of segments in a file beside the index, and find the nearest.

In: (segment, file, vector) rows, appended as they are made.  Out: segments by likeness to a query's vector.
Always: a row is whole or not there (a torn tail is ignored and cut off by the next writer); a segment's number is never used again, so
rows of segments that are gone do harm to nothing but space, until `compact`; a cosine is the same wherever its row stands.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smart_context.errors import SearchFailed, StorageFailed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

_HEAD = struct.Struct("<8sII")  # what it is, the dimension, nothing yet
_MAGIC = b"vectors1"
_MOST = 65_536  # of a dimension
_BLOCK = 1024  # rows turned into float32 at a time: they stay near the processor
_CLOSE = 1e-5  # the fast comparison is right to this
DIGITS = 6  # of a cosine


@dataclass(frozen=True, slots=True)
class Near:
    """A segment and how like it is."""

    segment_id: int
    file_id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class _Rows:
    """The file as it was at one moment. `order`: the rows by their segment; `known`: those segments, ascending."""

    rows: Any
    segments: Numbers
    files: Numbers
    order: Numbers
    known: Numbers


class Vectors:
    """The vectors of one model. One process appends or compacts at a time, under a lock of its own; any number read."""

    def __init__(self, file: Path, dimension: int = 0) -> None:
        """Open the file; `dimension` is needed where it may not exist yet.

        Raises: SearchFailed when it is no file of vectors, or of another dimension.
        """
        self._file = file
        self._dimension = dimension
        self._stamp = (-1, -1)
        self._seen = _seen(np.empty(0, _row(max(dimension, 1))))
        self.reload()

    def reload(self) -> None:
        """See what has been appended or compacted since; costs one stat when nothing has."""
        try:
            found = os.stat(self._file)
        except FileNotFoundError:
            # Not made yet, or removed because segments are numbered anew.
            self._seen, self._stamp = _seen(np.empty(0, _row(max(self._dimension, 1)))), (-1, -1)
            return
        except OSError as error:
            raise StorageFailed(f"cannot read {self._file}", reason=error.strerror) from error
        if (found.st_ino, found.st_size) == self._stamp or found.st_size < _HEAD.size:
            return
        self._check()
        row = _row(self._dimension)
        count = (found.st_size - _HEAD.size) // row.itemsize
        rows = np.memmap(self._file, row, "r", _HEAD.size, (count,)) if count else np.empty(0, row)
        self._seen = _seen(rows)
        self._stamp = (found.st_ino, found.st_size)

    def _check(self) -> None:
        with open(self._file, "rb") as file:
            magic, dimension, _ = _HEAD.unpack(file.read(_HEAD.size))
        if magic != _MAGIC or not 0 < dimension <= _MOST or self._dimension not in (0, dimension):
            raise SearchFailed(f"{self._file} is damaged", hint="remove it; it is made again by: context index")
        self._dimension = dimension

    def __len__(self) -> int:
        return len(self._seen.rows)

    def segments(self) -> Numbers:
        """Give the numbers of the segments that have a vector, ascending."""
        return self._seen.known

    def append(self, rows: Iterable[tuple[int, int, Floats]]) -> None:
        """Add rows and make them durable."""
        kind = _row(self._dimension)
        data = np.array([(segment, file, *_pack(vector)) for segment, file, vector in rows], kind).tobytes()
        try:
            with open(self._file, "ab", opener=_private) as out:
                size = out.tell()
                if size < _HEAD.size:
                    out.truncate(0)
                    out.write(_HEAD.pack(_MAGIC, self._dimension, 0))
                else:
                    out.truncate(size - (size - _HEAD.size) % kind.itemsize)
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise StorageFailed(f"cannot write {self._file}", reason=error.strerror) from error
        self.reload()

    def compact(self, keep: Iterable[int]) -> int:
        """Rewrite the file with the rows of living segments alone, one each; the number of rows that went."""
        seen = self._seen
        order = seen.order[np.append(np.diff(seen.known) != 0, True)] if len(seen.order) else seen.order
        kept = np.sort(order[np.isin(seen.segments[order], np.fromiter(keep, np.int64))])
        gone = len(seen.rows) - len(kept)
        if not gone:
            return 0
        fresh = self._file.with_suffix(".new")
        try:
            with open(fresh, "wb", opener=_private) as out:
                out.write(_HEAD.pack(_MAGIC, self._dimension, 0))
                out.writelines(seen.rows[kept[at : at + _BLOCK]].tobytes() for at in range(0, len(kept), _BLOCK))
                out.flush()
                os.fsync(out.fileno())
            os.replace(fresh, self._file)
        except OSError as error:
            raise StorageFailed(f"cannot write {self._file}", reason=error.strerror) from error
        self.reload()
        return gone

    def compare(self, query: Floats) -> Likeness:
        """Compare a query's vector with every row."""
        return Likeness(self._seen, query)


class Likeness:
    """How like every row is to one query."""

    def __init__(self, seen: _Rows, query: Floats) -> None:
        self._seen = seen
        self._query = query
        self._rough: Floats | None = None

    def nearest(self, count: int, among: Sequence[int] | None = None) -> list[Near]:
        """Give the nearest rows, best first: `count`, and all that equal the last of them; of some segments alone where given."""
        if self._rough is None:
            self._rough = self._compared()
        rough, places = self._rough, None
        if among is not None:
            places = self._places(among)
            rough = rough[places]
        if not len(rough) or count < 1:
            return []
        best = np.arange(len(rough))
        if len(rough) > count:
            best = np.flatnonzero(rough >= np.partition(rough, -count)[-count] - _CLOSE)
        found = self._exact(best if places is None else places[best])
        edge = found[min(count, len(found)) - 1].cosine
        return [near for near in found if near.cosine >= edge]

    def cosines(self, segments: Sequence[int]) -> dict[int, float]:
        """Give the cosine of those of the segments that have a vector."""
        return {near.segment_id: near.cosine for near in self._exact(self._places(segments))}

    def _places(self, segments: Sequence[int]) -> Numbers:
        """The rows of those of the segments that have one."""
        known = self._seen.known
        if not len(known):
            return np.empty(0, np.int64)
        wanted = np.asarray(segments, np.int64)
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found: Numbers = self._seen.order[place[known[place] == wanted]]
        return found

    def _compared(self) -> Floats:
        rows = self._seen.rows
        out = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            # Not `@`: it would set every processor to work, for longer than one needs.
            out[start : start + _BLOCK] = np.einsum("ij,j->i", block["vector"].astype(np.float32), self._query)
        out *= rows["scale"]
        return out

    def _exact(self, places: Numbers) -> list[Near]:
        """The cosines of rows, best first, each summed in the same way wherever the row stands, and rounded."""
        rows = self._seen.rows[places]
        products = rows["vector"].astype(np.float64) * self._query.astype(np.float64)
        cosines = np.round(products.sum(axis=1) * rows["scale"], DIGITS)
        order = np.lexsort((rows["segment"], -cosines))
        return [Near(int(rows["segment"][i]), int(rows["file"][i]), float(cosines[i])) for i in order]


def _row(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("segment", "<i8"), ("file", "<i8"), ("scale", "<f4"), ("vector", "i1", (dimension,))])


def _seen(rows: Any) -> _Rows:
    segments = np.array(rows["segment"], np.int64)
    order = np.argsort(segments, kind="stable")
    return _Rows(rows, segments, np.array(rows["file"], np.int64), order, segments[order])


def _pack(vector: Floats) -> tuple[float, NDArray[np.int8]]:
    """Keep eight bits of each component; the cosine stays right to about 0.003."""
    top = float(np.abs(vector).max(initial=0.0)) or 1.0
    return top / 127, np.rint(vector * (127 / top)).astype(np.int8)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
