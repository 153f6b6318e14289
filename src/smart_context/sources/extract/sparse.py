"""Compact the cells of an XLS workbook, where a few of them span so large a rectangle that the spreadsheet library would allocate millions.

In: the workbook stream.  Out: the same stream without gaps between the cells of a row and between the rows that are not
empty, and the original number of each row.
Always: the records stay where they are and as long as they are; only the numbers of rows and columns in them change.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator

from smart_context.data import dataclass

_CELLS = frozenset({0x06, 0x206, 0x406, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x27E})
_RUN = 0xBD  # several numbers side by side; its last two bytes are the last column
_DIMENSIONS = 0x200
_SHEET = 0x85
_BEGIN = frozenset({0x09, 0x209, 0x409, 0x809})
_PLACE = struct.Struct("<HH")


@dataclass(frozen=True, slots=True)
class Compacted:
    """The stream; `rows` gives for each sheet in order the numbers, from 0, of the rows that are there. cells: of the largest rectangles."""

    stream: bytes
    rows: tuple[tuple[int, ...], ...]
    cells: int


def compact(workbook: bytes) -> Compacted:
    """Compact the cells of every sheet."""
    starts: list[int] = []
    used: dict[int, set[int]] = defaultdict(set)
    begin = 0
    for kind, at, length in _records(workbook):
        if kind in _BEGIN:
            begin = at - 4
        elif kind == _SHEET and length >= 4:
            starts.append(struct.unpack_from("<I", workbook, at)[0])
        elif (kind in _CELLS or kind == _RUN) and length >= 6:
            used[begin].add(_PLACE.unpack_from(workbook, at)[0])
    rows = {begin: tuple(sorted(found)) for begin, found in used.items()}
    stream = bytearray(workbook)
    cells = _move(stream, rows)
    return Compacted(bytes(stream), tuple(rows.get(start, ()) for start in starts), cells)


def _move(stream: bytearray, rows: dict[int, tuple[int, ...]]) -> int:
    ranks = {begin: {row: rank for rank, row in enumerate(found)} for begin, found in rows.items()}
    filled: dict[tuple[int, int], int] = defaultdict(int)
    widest: dict[int, int] = defaultdict(int)
    begin = 0
    for kind, at, length in _records(bytes(stream)):
        if kind in _BEGIN:
            begin = at - 4
        elif kind == _DIMENSIONS:
            stream[at : at + length] = bytes(length)
        elif (kind in _CELLS or kind == _RUN) and length >= 6:
            row, _ = _PLACE.unpack_from(stream, at)
            column = filled[begin, row]
            _PLACE.pack_into(stream, at, ranks[begin][row], column)
            width = max(1, (length - 6) // 6) if kind == _RUN else 1
            if kind == _RUN:
                struct.pack_into("<H", stream, at + length - 2, column + width - 1)
            filled[begin, row] = column + width
            widest[begin] = max(widest[begin], column + width)
    return sum(len(found) * widest[begin] for begin, found in rows.items())


def _records(stream: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, place and length of each record that is whole."""
    at = 0
    while at + 4 <= len(stream):
        kind, length = _PLACE.unpack_from(stream, at)
        at += 4
        if at + length > len(stream):
            return
        yield kind, at, length
        at += length
