"""What a segment says, in three bytes a word: enough to score it exactly without reading and analysing its text again.

In: terms.  Out: bytes that the ranking index keeps beside each segment, and, for many of them at once, where sought terms stand.
Always: a code depends on the term alone. Two terms share one by chance in one of 16 million pairs: then a word counts that is not there.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

_HEADER = struct.Struct("<III")
_WIDTH = 3


@dataclass(slots=True)
class Found:
    """What one segment has: `size` in words; (place, number) of terms in the text; numbers found by other forms, and in heads, and how often."""

    size: int
    places: list[tuple[int, int]] = field(default_factory=list)
    also: dict[int, int] = field(default_factory=dict)
    heads: dict[int, int] = field(default_factory=dict)


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


def scan(packed: Sequence[bytes], numbers: Mapping[str, tuple[int, ...]]) -> list[Found]:
    """Find numbered terms in packed segments."""
    shapes = [_HEADER.unpack_from(one) for one in packed]
    found = [Found(shape[0]) for shape in shapes]
    if not numbers or not packed:
        return found
    by_code: dict[int, tuple[int, ...]] = {}
    for term, which in numbers.items():
        code = int.from_bytes(_codes[term], "little")
        by_code[code] = tuple(sorted({*by_code.get(code, ()), *which}))
    codes = _unpacked(b"".join([one[_HEADER.size :] for one in packed]))
    sought = np.array(sorted(by_code), dtype=np.uint32)
    nearest = np.minimum(np.searchsorted(sought, codes), len(sought) - 1)
    at = np.nonzero(sought[nearest] == codes)[0]
    starts = np.cumsum([0, *(sum(shape) for shape in shapes)])
    owners = np.searchsorted(starts, at, side="right") - 1
    for place, owner, code in zip((at - starts[owners]).tolist(), owners.tolist(), codes[at].tolist(), strict=True):
        _note(found[owner], shapes[owner], place, by_code[code])
    return found


def _unpacked(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    # Four bytes from each third one on, of which the last is not ours.
    padded = np.frombuffer(data + b"\0", dtype=np.uint8)
    four = np.lib.stride_tricks.as_strided(padded, (len(data) // _WIDTH, 4), (_WIDTH, 1))
    return np.ascontiguousarray(four).view("<u4").reshape(-1) & np.uint32(0xFFFFFF)


def _note(found: Found, shape: tuple[int, ...], place: int, numbers: tuple[int, ...]) -> None:
    if place < shape[0]:
        found.places += [(place, number) for number in numbers]
        return
    counts = found.also if place < shape[0] + shape[1] else found.heads
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
