"""Find terms in many segments packed by `codes` at once.

In: packed segments, and numbered terms.  Out: `Found`: the position, segment and kind of each hit.
Always: the answer depends on the bytes and the terms alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smart_context.data import dataclass
from smart_context.text import codes

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """The hits in segments: the segments' `sizes` in words, how many of these are `telling` (no stop words), and one row per hit, by segment and position:
    its segment (`owners`), its position (`places`; stop words have none), the number of its term, its kind (`TEXT`, `ALSO` or `HEAD`), and whether it is
    written like its stem. `present`: for each segment, which of the short codes it has."""

    sizes: Numbers
    telling: Numbers
    owners: Numbers
    places: Numbers
    numbers: Numbers
    kinds: Numbers
    as_written: Flags
    present: Flags


TEXT, ALSO, HEAD = 0, 1, 2


def scan(packed: Sequence[bytes], numbers: Mapping[str, tuple[int, ...]], there: Sequence[str] = ()) -> Found:
    """Find numbered terms in packed segments, and which segments have the terms `there`, of which only the presence counts."""
    size = codes.HEADER.size
    headers = np.frombuffer(b"".join([one[:size] for one in packed]), "<u2").reshape(-1, 5).astype(np.int64)
    edges = np.cumsum(headers[:, 1:4], axis=1)
    words = edges[:, -1]
    ends = (size + words * codes.WIDTH).tolist()
    wide = b"".join([one[size:end] for one, end in zip(packed, ends, strict=True)])
    table = sorted((codes.number(term), number) for term, own in numbers.items() for number in own)
    sought = np.array([code for code, _ in table], dtype=np.uint32)
    which = np.array([number for _, number in table], dtype=np.int64)
    at, found, flags = _sifted(wide, sought)
    first, last = (np.searchsorted(sought, found, side=side) for side in _SIDES)
    times = last - first  # none, or several where a term has several numbers
    rows = np.repeat(at, times)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    until = np.cumsum(words)
    # Hits are in order, so the end of each segment is enough to know which hits it owns.
    owners = np.repeat(np.arange(len(words)), np.diff(np.searchsorted(rows, until, side="left"), prepend=0))
    places = rows - (until - words)[owners]
    kinds = (places >= edges[owners, 0]).astype(np.int64) + (places >= edges[owners, 1])
    numbered = which[np.repeat(first, times) + within]
    present = _present([one[end:] for one, end in zip(packed, ends, strict=True)], headers[:, 4], there)
    return Found(headers[:, 0], headers[:, 1], owners, places, numbered, kinds, np.repeat(flags, times), present)


def _present(parts: Sequence[bytes], sizes: Numbers, there: Sequence[str]) -> Flags:
    """A row for each segment, a column for each term: whether it is there."""
    out = np.zeros((len(parts), len(there)), dtype=np.bool_)
    if there:
        short = np.frombuffer(b"".join(parts), "<u2")
        owners = np.repeat(np.arange(len(parts)), sizes)
        for column, term in enumerate(there):
            out[owners[short == codes.number(term) & 0xFFFF], column] = True
    return out


def _sifted(data: bytes, sought: NDArray[np.uint32]) -> tuple[Numbers, NDArray[np.uint32], Flags]:
    """The positions of codes that may be wanted, those codes, and the bit beside each."""
    count = len(data) // codes.WIDTH
    # Most words are not wanted: two bytes of a code, read in place, tell by one table lookup.
    two = np.ndarray((count,), "<u2", data, strides=(codes.WIDTH,)) if count else np.empty(0, np.uint16)
    may_be = np.zeros(1 << 16, dtype=np.bool_)
    may_be[sought & 0xFFFF] = True
    at: Numbers = np.flatnonzero(may_be[two])
    third = np.frombuffer(data, np.uint8)[at * codes.WIDTH + 2]
    whole = two[at] + (third.astype(np.uint32) << np.uint32(16))
    return at, whole & np.uint32(codes.MASK), (whole & np.uint32(codes.AS_WRITTEN)) > 0
