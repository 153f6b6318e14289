"""Pack the terms of a segment into two or three bytes per word: enough to score it exactly without reading and analysing its text again.

In: terms.  Out: bytes that the ranking keeps for each segment; `find.score` finds terms in them.
Always: a code depends on the term alone. Two terms collide in one of 8 million pairs: then a word counts that is not in the segment.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from zlib import crc32

WIDTH, SHORT = 3, 2  # bytes of a code in a line, and of one of which only the presence counts
HEADER = struct.Struct("<HHHHH")
MASK, AS_WRITTEN = 0x7FFFFF, 0x800000  # the bit beside a code: the word is written like its stem
_MOST = 0xFFFF


def number(term: str) -> int:
    """The code of a term."""
    return crc32(term.encode()) & MASK


def numbers(terms: Iterable[str]) -> list[int]:
    """The codes of many terms."""
    return [crc32(term.encode()) & MASK for term in terms]


def code(term: str, as_written: bool = False) -> bytes:
    """The code of a term as it is packed."""
    return (crc32(term.encode()) & MASK | (AS_WRITTEN if as_written else 0)).to_bytes(WIDTH, "little")


def short(term: str) -> bytes:
    """The code of something of which only the presence counts."""
    return (number(term) & 0xFFFF).to_bytes(SHORT, "little")


def pack(length: int, line: bytes, also: bytes, heads: bytes, present: bytes) -> bytes:
    """Pack a segment of `length` words: the codes of its text in order, of its further terms, of its heads, and the short codes."""
    wide = [part[: _MOST * WIDTH] for part in (line, also, heads)]
    there = present[: _MOST * SHORT]
    sizes = [len(part) // WIDTH for part in wide]
    return HEADER.pack(min(length, _MOST), *sizes, len(there) // SHORT) + b"".join(wide) + there


def stands(data: bytes, form: str, stems: Iterable[str]) -> bool:
    """Whether a packed segment has a word as it is written: its form among the short codes, or a stem that is written like the word."""
    _, *wide, _ = HEADER.unpack_from(data)
    end = HEADER.size + sum(wide) * WIDTH
    return _is_at(data[end:], short(form), SHORT) or any(
        _is_at(data[HEADER.size : end], code(stem, as_written=True), WIDTH) for stem in stems
    )


def _is_at(data: bytes, wanted: bytes, width: int) -> bool:
    """Whether a code is one of the consecutive codes of this width."""
    at = data.find(wanted)
    while at >= 0 and at % width:
        at = data.find(wanted, at + 1)
    return at >= 0


def is_packed(data: bytes) -> bool:
    """Whether some bytes have the form of a packed segment."""
    if len(data) < HEADER.size:
        return False
    _, line, also, heads, there = HEADER.unpack_from(data)
    size: int = HEADER.size + (line + also + heads) * WIDTH + there * SHORT
    return len(data) == size
