"""Keep the vectors of segments in a file beside the index, and find the nearest.

In: (segment, file, vector) rows, appended as they are made.  Out: segments by likeness to a query's vector.
Always: a row is whole or not there (a torn tail is ignored and cut off by the next writer); a segment's number is never used again, so
rows of removed segments only waste space, until `compact`; a cosine does not depend on the position of its row.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smart_context.data import NamedTuple
from smart_context.engine import refusals
from smart_context.errors import SearchFailed

try:
    from smart_context.engine import _vectors as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Bits = NDArray[np.uint64]

_HEAD = struct.Struct("<8sII")  # what it is, the dimension, nothing yet
_MAGIC = b"vectors1"
_MOST = 32_768  # of a dimension
_BLOCK = 1024  # rows turned into floats at a time: they fit into the processor's cache
_CLOSE = 1e-5  # the fast comparison is right to this, and to what is lost where a query is made of whole numbers:
_WHOLE, _SUM = (
    (1 << 15) - 1,
    (1 << 24) - (1 << 16),
)  # the largest of them, and their sum, so that products with bytes fit into four
_LIKELY = 6000  # rows, or
_SHARE = 25  # one in so many if that is more, or
_WIDER = 10  # so many for each one wanted, that are compared: those with the likest signs
DIGITS = 6  # of a cosine
_ONE_PROCESSOR = 250_000  # products up to which a matrix is multiplied by one processor


class Near(NamedTuple):
    """A segment and its cosine. A tuple, because a search makes hundreds."""

    segment_id: int
    file_id: int
    cosine: float


class Neighbours(NamedTuple):
    """Which of several rows each is most like, by cosines in millionths. `close`: the sum of the nearest of each; `counts`: how many there are, with all that
    equal the last; `others`: which these are, those of the first row first; `like`: how like, nothing where it is unlike."""

    close: Numbers
    counts: Numbers
    others: Numbers
    like: Numbers


@dataclass(frozen=True, slots=True)
class _Rows:
    """The file as it was at one moment. `plain`: its rows as bytes; `order`: the rows by their segment; `known`: those segments, ascending; `signs`: of
    each component one bit, a column a row, 64 components a number; `top`: the largest scale."""

    rows: Any
    plain: Any
    segments: Numbers
    order: Numbers
    known: Numbers
    signs: Bits
    top: float


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
        """Reload if rows were appended or the file compacted; costs one stat if not."""
        try:
            found = os.stat(self._file)
        except FileNotFoundError:
            # Not made yet, or removed because segments are numbered anew.
            self._seen, self._stamp = _seen(np.empty(0, _row(max(self._dimension, 1)))), (-1, -1)
            return
        except OSError as error:
            raise refusals.refused(f"cannot read {self._file}", self._file.parent, error) from error
        if (found.st_ino, found.st_size) == self._stamp or found.st_size < _HEAD.size:
            return
        self._check()
        row = _row(self._dimension)
        count = (found.st_size - _HEAD.size) // row.itemsize
        rows = np.memmap(self._file, row, "r", _HEAD.size, (count,)).view(np.ndarray) if count else np.empty(0, row)
        grown = found.st_ino == self._stamp[0] and found.st_size > self._stamp[1]
        self._seen = _seen(rows, self._seen.signs if grown else None)
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
            raise refusals.refused(f"cannot write {self._file}", self._file.parent, error) from error
        self.reload()

    def compact(self, keep: Iterable[int]) -> int:
        """Rewrite the file with only the rows of live segments, one each; the number of rows removed."""
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
            raise refusals.refused(f"cannot write {self._file}", self._file.parent, error) from error
        self.reload()
        return gone

    def compare(self, query: Floats) -> Likeness:
        """Compare a query's vector with every row."""
        return Likeness(self._seen, query)


class Likeness:
    """The cosines of rows to one query."""

    def __init__(self, seen: _Rows, query: Floats) -> None:
        self._seen = seen
        self._query = query

    def __len__(self) -> int:
        return len(self._seen.rows)

    def nearest(self, count: int, among: Sequence[int] | None = None) -> list[Near]:
        """Give the nearest rows, best first: `count`, and all that tie with the last; only of some segments, if given."""
        places = self._likely(count) if among is None else self._places(among)
        if not len(places) or count < 1:
            return []
        if len(places) > count and _is_quick():
            rough, close = self._compared(places)
            places = places[rough >= np.partition(rough, -count)[-count] - close]
        found = self._exact(places)
        edge = found[min(count, len(found)) - 1].cosine
        return [near for near in found if near.cosine >= edge]

    def _likely(self, count: int) -> Numbers:
        """The rows worth comparing. Vectors that are alike have components of the same sign, and signs are compared 64 at a time; every
        row that is as like as the last is taken, so that it does not matter in which order rows came."""
        total = len(self._seen.rows)
        many = max(_LIKELY, total // _SHARE, _WIDER * count)
        if many >= total:
            return np.arange(total)
        apart, counts = self._signs_apart
        # There are few different counts: a histogram of them is faster than sorting rows.
        edge = int(np.searchsorted(np.cumsum(counts), many + 1))
        return np.flatnonzero(apart <= edge)

    @cached_property
    def _signs_apart(self) -> tuple[NDArray[np.uint16], Numbers]:
        """How many signs of each row are others than the query's, and how many rows are so many signs apart."""
        mine, theirs = _signs(self._query[None]), self._seen.signs
        if compiled:
            each, times = compiled.apart(theirs, mine)
            return np.frombuffer(each, np.uint16), np.frombuffer(times, np.int64)
        apart = np.zeros(len(self._seen.rows), np.uint16)
        for column, other in zip(mine, theirs, strict=True):
            apart += np.bitwise_count(other ^ column)
        return apart, np.bincount(apart, minlength=len(self._query) + 1)

    def spread(self) -> float:
        """How far the cosines of all rows lie apart, by the share of signs that are the same: their standard deviation, nearly, to two digits."""
        signs = len(self._query)
        counts = self._signs_apart[1][: signs + 1]
        like = np.cos(np.pi * np.arange(signs + 1) / signs)
        total = max(1, int(counts.sum()))
        mean = float(counts @ like) / total
        return round(float(np.sqrt(counts @ (like - mean) ** 2 / total)), 2)

    def cosines(self, segments: Sequence[int]) -> dict[int, float]:
        """Give the cosine of those of the segments that have a vector."""
        places = self._places(segments)
        return dict(zip(self._seen.segments[places].tolist(), self._cosines(places).tolist(), strict=True))

    def neighbours(self, segments: Sequence[int], count: int) -> tuple[Numbers, Neighbours | None]:
        """Give those of the segments that have a vector, and which of them each is most like; None where there are not more than `count`."""
        seen, places = self._seen, self._places(segments)
        found: Numbers = seen.segments[places]
        if len(places) <= count:
            return found, None
        if _is_quick():
            made = compiled.alike(seen.plain, places, len(self._query), 10**DIGITS, count)
            return found, Neighbours(*(np.frombuffer(column, np.int64) for column in made))
        rows = seen.rows[places]
        products = _products(rows["vector"].astype(np.float64))
        scales = rows["scale"].astype(np.float64)
        cosines = np.rint(products * (scales[:, None] * scales) * 10**DIGITS).astype(np.int64)
        np.fill_diagonal(cosines, -(10**DIGITS))
        nearest = np.partition(cosines, -count, axis=1)[:, -count:]
        # All that tie with the last are taken: their order means nothing.
        among = cosines >= nearest.min(axis=1)[:, None]
        like = np.maximum(cosines[among], 0)
        return found, Neighbours(nearest.sum(axis=1), among.sum(axis=1), np.nonzero(among)[1], like)

    def _places(self, segments: Sequence[int]) -> Numbers:
        """The rows of those of the segments that have one."""
        known = self._seen.known
        if not len(known):
            return np.empty(0, np.int64)
        wanted = np.asarray(segments, np.int64)
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found: Numbers = self._seen.order[place[known[place] == wanted]]
        return found

    def _compared(self, places: Numbers) -> tuple[Floats, float]:
        """The cosines of rows, roughly, by the C module; and how far two of them may be from what they are."""
        whole, step, lost = self._in_whole_numbers
        # As bytes where they lie: most of the time went into copying rows and widening their components.
        rough = np.frombuffer(compiled.rough(self._seen.plain, places, whole), np.float32)
        return rough * np.float32(step), 2 * lost * 128 * self._seen.top + _CLOSE

    @cached_property
    def _in_whole_numbers(self) -> tuple[NDArray[np.int16], float, float]:
        """The query in steps, as whole numbers; how long a step is; and what its components lose by that, all together."""
        query = self._query.astype(np.float64)
        sizes = np.abs(query)
        step = max(float(sizes.max()) / _WHOLE, float(sizes.sum()) / _SUM) or 1.0
        whole = np.rint(query / step)
        return whole.astype(np.int16), step, float(np.abs(query - step * whole).sum())

    def _exact(self, places: Numbers) -> list[Near]:
        """The cosines of rows, best first."""
        cosines, segments = self._cosines(places), self._seen.segments[places]
        order = np.lexsort((segments, -cosines))
        columns = (segments, self._seen.rows["file"][places], cosines)
        rows = zip(*(column[order].tolist() for column in columns), strict=True)
        return list(map(tuple.__new__, repeat(Near), rows))

    def _cosines(self, places: Numbers) -> NDArray[np.float64]:
        """The cosines of rows, each summed in the same way wherever the row stands, and rounded."""
        query = self._query.astype(np.float64)
        if _is_quick():
            sums = np.frombuffer(compiled.exact(self._seen.plain, places, query), np.float64)
        else:
            sums = np.empty(len(places))
            for start in range(0, len(places), _BLOCK):
                rows = self._seen.rows[places[start : start + _BLOCK]]
                # Not `@`: it would use every processor, for longer than one takes.
                sums[start : start + _BLOCK] = (rows["vector"].astype(np.float64) * query).sum(axis=1) * rows["scale"]
        rounded: NDArray[np.float64] = np.round(sums, DIGITS)
        return rounded


def _is_quick() -> bool:
    """Whether rows are compared by the C module, which reads them as they are in the file."""
    return compiled is not None and sys.byteorder == "little"


def _products(rows: NDArray[Any]) -> NDArray[Any]:
    """The product of every row with every row; whole numbers, so that the order of sums does not matter.

    Square by square, each so small that it is left to one processor: several would spin for longer than this takes.
    """
    out = np.empty((len(rows), len(rows)), rows.dtype)
    side = max(1, int((_ONE_PROCESSOR / max(1, rows.shape[1])) ** 0.5))
    for at in range(0, len(rows), side):
        for beside in range(at, len(rows), side):
            square = rows[at : at + side] @ rows[beside : beside + side].T
            out[at : at + side, beside : beside + side] = square
            out[beside : beside + side, at : at + side] = square.T
    return out


def _row(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("segment", "<i8"), ("file", "<i8"), ("scale", "<f4"), ("vector", "i1", (dimension,))])


def _seen(rows: Any, before: Bits | None = None) -> _Rows:
    """What is known of rows; `before`: the signs of those that come first, unless the file is another one of the same number."""
    segments = np.array(rows["segment"], np.int64)
    order = np.argsort(segments, kind="stable")
    signs = []
    if before is not None and before.size:
        ends = [0, before.shape[1] - 1]
        signs = [before] if np.array_equal(_signs(rows["vector"][ends]), before[:, ends]) else []
    start = signs[0].shape[1] if signs else 0
    signs += [_signs(rows["vector"][at : at + _BLOCK]) for at in range(start, max(len(rows), 1), _BLOCK)]
    top = float(rows["scale"].max(initial=0.0))
    return _Rows(rows, rows.view(np.uint8), segments, order, segments[order], np.concatenate(signs, axis=1), top)


def _signs(vectors: Any) -> Bits:
    bits = np.packbits(vectors > 0, axis=1)
    spare = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, spare))).view(np.uint64).T)


def _pack(vector: Floats) -> tuple[float, NDArray[np.int8]]:
    """Keep eight bits of each component; the cosine stays right to about 0.003."""
    top = float(np.abs(vector).max(initial=0.0)) or 1.0
    return top / 127, np.rint(vector * (127 / top)).astype(np.int8)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
