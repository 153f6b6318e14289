"""Measure sheets before the spreadsheet library allocates them.

In: the bytes of a sheet as stored in its file.  Out: how many cells the rectangle around its content has.
Always: the cells are counted, never the dimensions that a header declares: two cells, A1 and XFD1048576, make a rectangle of 17 thousand million.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator

from smart_context.data import dataclass

# Starts with a literal, which makes it seven times faster than one that allows spaces, which no program writes.
_REFERENCE = rb"""r=["']"""
# Small enough: up to fourteen columns with any number of rows, and up to ten thousand rows with columns up to ZZ.
_WIDE = re.compile(_REFERENCE + rb"(?:[A-Z]{2}|[O-Z])")
_WIDEST = re.compile(_REFERENCE + rb"[A-Z]{3}")
_LONG = re.compile(_REFERENCE + rb"[A-Z]*[0-9]{5}")
_SMALL = 14 * 1_048_576
_COLUMN = re.compile(_REFERENCE + rb"([A-Z]{1,3})[0-9]")
_ROW = re.compile(_REFERENCE + rb"[A-Z]{1,3}([0-9]{1,7})")
_OVERLAP = 64  # longer than any reference, so that none is lost between two pieces

_BIFF_CELLS = frozenset({0x06, 0x206, 0x406, 0xBD, 0xBE, 0xD6, 0xFD, 0x201, 0x203, 0x204, 0x205, 0x27E})
_BIFF_SPANS = frozenset({0xBD, 0xBE})
_BIFF_BEGIN = frozenset({0x09, 0x209, 0x409, 0x809})


@dataclass(frozen=True, slots=True)
class Extent:
    """How many cells the rectangle has, and whether any of them shows an error."""

    cells: int
    has_errors: bool


def of_xml(pieces: Iterable[bytes], again: Callable[[], Iterable[bytes]]) -> Extent:
    """Cells of an XLSX sheet; for most sheets only that they are few, because counting takes a second pass."""
    wide = long = far = errors = False
    for text in _overlapping(pieces):
        errors = errors or b't="e"' in text
        wide = wide or _WIDE.search(text) is not None
        long = long or _LONG.search(text) is not None
        far = far or (wide and (long or _WIDEST.search(text) is not None))
    return Extent(_count(again()) if far else _SMALL, errors)


def _count(pieces: Iterable[bytes]) -> int:
    columns: set[bytes] = set()
    last_row = 0
    for text in _overlapping(pieces):
        columns.update(_COLUMN.findall(text))
        last_row = max(last_row, max(map(int, _ROW.findall(text)), default=0))
    return last_row * max(map(column, columns), default=0)


def _overlapping(pieces: Iterable[bytes]) -> Iterator[bytes]:
    tail = b""
    for piece in pieces:
        text = tail + piece
        yield text
        tail = text[-_OVERLAP:]


def column(letters: bytes) -> int:
    """The number of a column, from 1, by its letters."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def of_binary(sheet: bytes) -> int:
    """Cells of an XLSB sheet: records below 12 are rows (0) and cells, and begin with their number."""
    last_row = last_column = 0
    for kind, record in records(sheet):
        if kind <= 11 and len(record) >= 4:
            number = int.from_bytes(record[:4], "little")
            if kind == 0:
                last_row = max(last_row, number)
            else:
                last_column = max(last_column, number)
    return (last_row + 1) * (last_column + 1)


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of an XLSB part: a number of one or two bytes, a length of up to four, seven bits each."""
    at = 0
    while at < len(data):
        kind, at = _seven_bits(data, at, 2)
        length, at = _seven_bits(data, at, 4)
        yield kind, data[at : at + length]
        at += length


def _seven_bits(data: bytes, at: int, most: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 7 * most, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return number, at


def of_biff(workbook: bytes) -> int:
    """Cells of all sheets of an XLS workbook stream together, since its reader holds them all at once."""
    pair = struct.Struct("<HH")
    at, end = 0, len(workbook) - 4
    total = last_row = last_column = 0
    while at <= end:
        kind, length = pair.unpack_from(workbook, at)
        at += 4
        if kind in _BIFF_CELLS and length >= 4 and at + length <= len(workbook):
            row, column = pair.unpack_from(workbook, at)
            if kind in _BIFF_SPANS:
                column = struct.unpack_from("<H", workbook, at + length - 2)[0]
            if row >= last_row:
                last_row = row + 1
            if column >= last_column:
                last_column = column + 1
        elif kind in _BIFF_BEGIN:
            total += last_row * last_column
            last_row = last_column = 0
        at += length
    return total + last_row * last_column
