"""Measure sheets before a reader allocates them.

In: the bytes of a sheet as its file holds them.  Out: how many cells the rectangle around its content has.
Always: cells are looked at, never what a header declares: two cells, A1 and XFD1048576, make a rectangle of 17 thousand million.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

_FAR = re.compile(rb"""\sr\s*=\s*["'](?:[A-Z]{3}|[A-Z]*[0-9]{5})""")
_REFERENCE = re.compile(rb"""\sr\s*=\s*["']([A-Z]{1,3})([0-9]{1,7})["']""")
_OVERLAP = 64  # longer than any reference, so that none is lost between two pieces
_NEAR = 702 * 9_999  # what a sheet without far cells can have: columns A to ZZ, rows of four digits

_BIFF_CELLS = frozenset({0x06, 0x206, 0x406, 0xBD, 0xBE, 0xD6, 0xFD, 0x201, 0x203, 0x204, 0x205, 0x27E})
_BIFF_SPANS = frozenset({0xBD, 0xBE})
_BIFF_BEGIN = frozenset({0x09, 0x209, 0x409, 0x809})


def of_xml(pieces: Iterable[bytes]) -> int:
    """Cells of an XLSX sheet; for one with no cell far out, only that it is small."""
    columns: set[bytes] = set()
    last_row = 0
    is_far = False
    tail = b""
    for piece in pieces:
        text = tail + piece
        if is_far or _FAR.search(text):
            is_far = True
            for column, row in _REFERENCE.findall(text):
                columns.add(column)
                last_row = max(last_row, int(row))
        tail = text[-_OVERLAP:]
    return last_row * max(map(_column, columns), default=0) if is_far else _NEAR


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def of_binary(sheet: bytes) -> int:
    """Cells of an XLSB sheet: records with a number and a length of one to four bytes of seven bits each."""
    at, end = 0, len(sheet)
    last_row = last_column = 0
    while at < end:
        kind, at = _seven_bits(sheet, at, 2)
        length, at = _seven_bits(sheet, at, 4)
        if kind <= 11 and length >= 4 and at + 4 <= end:
            number = struct.unpack_from("<L", sheet, at)[0]
            if kind == 0:
                last_row = max(last_row, number)
            else:
                last_column = max(last_column, number)
        at += length
    return (last_row + 1) * (last_column + 1)


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
            last_row = max(last_row, row + 1)
            last_column = max(last_column, column + 1)
        elif kind in _BIFF_BEGIN:
            total += last_row * last_column
            last_row = last_column = 0
        at += length
    return total + last_row * last_column
