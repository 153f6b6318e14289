"""What a segment says, in three bytes a word: enough to score it exactly without reading and analysing its text again.

In: terms.  Out: bytes that the ranking index keeps beside each segment, and, for many of them at once, where sought terms stand.
Always: a code depends on the term alone. Two terms share one by chance in one of 16 million pairs: then a word counts that is not there.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_HEADER = struct.Struct("<III")
_WIDTH = 3
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """What segments have of what is sought: their `sizes` in words, and a row a hit, by segment and place: whose it is (`owners`), where
    it stands (`places`), which number it has, and in what: `TEXT`, `ALSO` (by another form) or `HEAD`."""

    sizes: Numbers
    owners: Numbers
    places: Numbers
    numbers: Numbers
    kinds: Numbers


TEXT, ALSO, HEAD = 0, 1, 2


class _Codes(dict[str, bytes]):
    def __missing__(self, term: str) -> bytes:
        if len(self) > 500_000:
            self.clear()
        code = self[term] = (crc32(term.encode()) & 0xFFFFFF).to_bytes(_WIDTH, "little")
        return code


_codes = _Codes()


def pack(line: str, also: str, heads: str) -> bytes:
    """Pack a segment: the terms of its text in order, its other forms, the terms of its heads."""
    parts = [text.split() for text in (line, also, heads)]
    code = _codes.__getitem__
    return _HEADER.pack(*map(len, parts)) + b"".join([code(term) for part in parts for term in part])


def scan(packed: Sequence[bytes], numbers: Mapping[str, tuple[int, ...]]) -> Found:
    """Find numbered terms in packed segments."""
    headers = np.frombuffer(b"".join([one[: _HEADER.size] for one in packed]), "<u4")
    shapes = headers.reshape(-1, 3).astype(np.int64)
    words = shapes.sum(axis=1)
    table = sorted((int.from_bytes(_codes[term], "little"), number) for term, own in numbers.items() for number in own)
    sought = np.array([code for code, _ in table], dtype=np.uint32)
    which = np.array([number for _, number in table], dtype=np.int64)
    at, codes = _sifted(b"".join([one[_HEADER.size :] for one in packed]), sought)
    first, last = (np.searchsorted(sought, codes, side=side) for side in _SIDES)
    times = last - first  # none, or several where a term has several numbers
    rows = np.repeat(at, times)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    ends = np.cumsum(words)
    owners = np.searchsorted(ends, rows, side="right")
    places = rows - (ends - words)[owners]
    kinds = (places >= shapes[owners, 0]).astype(np.int64) + (places >= shapes[owners, 0] + shapes[owners, 1])
    return Found(shapes[:, 0], owners, places, which[np.repeat(first, times) + within], kinds)


def _sifted(data: bytes, sought: NDArray[np.uint32]) -> tuple[Numbers, NDArray[np.uint32]]:
    """Where codes stand that may be sought, and those codes."""
    count = len(data) // _WIDTH
    # Most words are not sought: two bytes of a code tell, by one look into a table, and are looked at where they stand.
    two = np.ndarray((count,), "<u2", data, strides=(_WIDTH,)) if count else np.empty(0, np.uint16)
    may_be = np.zeros(1 << 16, dtype=np.bool_)
    may_be[sought & 0xFFFF] = True
    at: Numbers = np.flatnonzero(may_be[two])
    third = np.frombuffer(data, np.uint8)[at * _WIDTH + 2]
    codes: NDArray[np.uint32] = two[at] + (third.astype(np.uint32) << np.uint32(16))
    return at, codes
