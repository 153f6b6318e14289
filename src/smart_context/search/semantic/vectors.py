"""Keep the vectors of segments in a file beside the index, and find the nearest.

In: (segment, file, vector) rows, appended as they are made.  Out: segments by likeness to a query's vector.
Always: a row is whole or not there (a torn tail is ignored and cut off by the next writer); a segment's number is never used again, so
rows of segments that are gone do harm to nothing but space, until `compact`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

_BLOCK = 8192  # rows turned into float32 at a time: the working memory of a search


class Vectors:
    """The vectors of one model. One process appends, under the index's lock; any number read."""

    def __init__(self, file: Path, dimension: int) -> None:
        self._file = file
        self._row = np.dtype([("segment", "<i8"), ("file", "<i8"), ("scale", "<f4"), ("vector", "i1", (dimension,))])
        self._rows = np.empty(0, self._row)
        self._order = np.empty(0, np.int64)
        self._stamp = (-1, -1)
        self.reload()

    def reload(self) -> None:
        """See what has been appended or compacted since; costs one stat when nothing has."""
        try:
            found = os.stat(self._file)
        except FileNotFoundError:
            return
        count = found.st_size // self._row.itemsize
        if (found.st_ino, count) == self._stamp:
            return
        self._stamp = (found.st_ino, count)
        self._rows = np.memmap(self._file, self._row, "r", shape=(count,)) if count else np.empty(0, self._row)
        self._order = np.argsort(self._rows["segment"], kind="stable")

    def __len__(self) -> int:
        return len(self._rows)

    def segments(self) -> Numbers:
        """Give the numbers of the segments that have a vector, ascending."""
        return np.asarray(self._rows["segment"])[self._order]

    def append(self, rows: Iterable[tuple[int, int, Floats]]) -> None:
        """Add rows and make them durable."""
        entries = [(segment, file, *_pack(vector)) for segment, file, vector in rows]
        data = np.array(entries, self._row).tobytes()
        with open(self._file, "ab", opener=_private) as out:
            whole = out.tell() - out.tell() % self._row.itemsize
            out.truncate(whole)
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        self.reload()

    def compact(self, keep: Iterable[int]) -> None:
        """Rewrite the file with the rows of living segments alone."""
        alive = np.isin(self._rows["segment"], np.fromiter(keep, np.int64))
        fresh = self._file.with_suffix(".new")
        with open(fresh, "wb", opener=_private) as out:
            out.write(np.asarray(self._rows[alive]).tobytes())
            out.flush()
            os.fsync(out.fileno())
        os.replace(fresh, self._file)
        self.reload()

    def nearest(self, query: Floats, count: int, files: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """Give (segment, cosine) of the nearest rows, best first, of some files alone where they are given."""
        likeness = self._likeness(query, self._rows)
        numbers = np.asarray(self._rows["segment"])
        if files is not None:
            allowed = np.isin(self._rows["file"], np.asarray(files, np.int64))
            likeness, numbers = likeness[allowed], numbers[allowed]
        if len(likeness) > count:
            # Everything as good as the last one that counts, so that ties at the edge are cut by number below, not by chance.
            edge = np.partition(likeness, -count)[-count]
            best = likeness >= edge
            likeness, numbers = likeness[best], numbers[best]
        order = np.lexsort((numbers, -likeness))[:count]
        return [(int(numbers[i]), float(likeness[i])) for i in order]

    def scores(self, query: Floats, segments: Sequence[int]) -> dict[int, float]:
        """Give the cosine of those of the segments that have a vector."""
        wanted = np.asarray(segments, np.int64)
        known = self.segments()
        if not len(known):
            return {}
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = known[place] == wanted
        rows = self._rows[self._order[place[found]]]
        return {int(n): float(s) for n, s in zip(wanted[found], self._likeness(query, rows), strict=True)}

    def _likeness(self, query: Floats, rows: NDArray[np.void]) -> Floats:
        out = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            out[start : start + _BLOCK] = (block["vector"].astype(np.float32) @ query) * block["scale"]
        return out


def _pack(vector: Floats) -> tuple[float, NDArray[np.int8]]:
    """Keep eight bits of each component; the cosine stays right to about 0.003."""
    top = float(np.abs(vector).max(initial=0.0)) or 1.0
    return top / 127, np.rint(vector * (127 / top)).astype(np.int8)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
