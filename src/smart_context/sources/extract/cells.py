"""Read an XLSX sheet cell by cell: one too sparse to be allocated as a rectangle, or one that the spreadsheet library cannot read.

In: the XML of a sheet, and what its cells refer to.  Out: its rows that are not empty.
Always: memory grows with the cells that are there. Several times slower than the reader for ordinary sheets.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator

from smart_context.data import dataclass
from smart_context.sources.extract import extents, rows, xmlsafe
from smart_context.sources.extract.opc import STRICT, TRANSITIONAL

_SHEET = (f"{TRANSITIONAL}spreadsheetml/2006/main", f"{STRICT}spreadsheetml/main")
_STRINGS = xmlsafe.tags(("si", "t", "rPh"), *_SHEET)
_CELLS = xmlsafe.tags(("row", "c", "v", "t"), *_SHEET)
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})", re.ASCII)
_DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_NOT_FORMAT = re.compile(r'"[^"]*"|\\.|\[(?!h|m|s)[^]]*\]|General', re.IGNORECASE)


def strings(pieces: Iterable[bytes]) -> list[str]:
    """The shared strings of a workbook."""
    found: list[str] = []
    words: list[str] = []
    for event, name, element in xmlsafe.events(pieces, _STRINGS, free=("si",)):
        if event == "start":
            continue
        if name == "t":
            words.append(xmlsafe.text_of(element))
        elif name == "rPh":
            words.clear()  # how to pronounce what follows
        else:
            found.append("".join(words))
            words.clear()
    return found


@dataclass(frozen=True, slots=True)
class Book:
    """What cells refer to: strings by number, and which styles show a number as a date. `epoch` is day 0 of its dates."""

    strings: list[str]
    dates: frozenset[int]
    epoch: dt.datetime


def epoch(is_1904: bool) -> dt.datetime:
    """Day 0. Excel treats 1900 as a leap year, so day 0 is one day early for every date after February 1900."""
    return dt.datetime(1904, 1, 1) if is_1904 else dt.datetime(1899, 12, 30)


def date_styles(styles: xmlsafe.Element) -> frozenset[int]:
    """Numbers of cell styles that show a date or a time."""
    codes = {e.get("numFmtId", ""): e.get("formatCode", "") for e in styles.iter("{*}numFmt")}
    formats = [e.get("numFmtId", "") for list_ in styles.iter("{*}cellXfs") for e in list_.iterchildren("{*}xf")]
    return frozenset(index for index, known in enumerate(formats) if _is_date(known, codes.get(known, "")))


def _is_date(known: str, code: str) -> bool:
    if code:
        return re.search("[dmyhs]", _NOT_FORMAT.sub("", code), re.IGNORECASE) is not None
    return known.isdecimal() and int(known) in _DATE_FORMATS


def lines(pieces: Iterable[bytes], book: Book, most: int) -> Iterator[tuple[int, str]]:
    """Yield rows that hold something with their numbers, up to `most` cells."""
    number = count = 0
    row: list[str] = []
    words: list[str] = []
    for event, name, element in xmlsafe.events(pieces, _CELLS, free=("row",)):
        if event == "start":
            if name == "row":
                number = max(1, int(given)) if (given := element.get("r", "")).isdecimal() else number + 1
            continue
        if name in {"v", "t"}:
            words.append(xmlsafe.text_of(element))
        elif name == "c":
            row.append(_shown("".join(words), element, book))
            words.clear()
            count += 1
        else:
            yield number, rows.line(row)
            row = []
        if count > most:
            return


def errors(pieces: Iterable[bytes]) -> dict[tuple[int, int], str]:
    """Cells that show an error (`#DIV/0!`) by row and column from 1."""
    found: dict[tuple[int, int], str] = {}
    value = ""
    for event, name, element in xmlsafe.events(pieces, _CELLS, free=("row",)):
        if event == "start":
            continue
        if name == "v":
            value = xmlsafe.text_of(element)
        elif element.get("t") == "e" and (place := _REFERENCE.fullmatch(element.get("r", ""))):
            found[int(place[2]), extents.column(place[1].encode())] = rows.shown(value)
    return found


def _shown(raw: str, cell: xmlsafe.Element, book: Book) -> str:
    kind = cell.get("t", "n")
    if kind == "s":
        return rows.shown(book.strings[int(raw)]) if raw.isdecimal() and int(raw) < len(book.strings) else ""
    if kind == "b":
        return rows.shown(raw == "1")
    if kind != "n":
        return rows.shown(raw)
    try:
        value = float(raw)
        style = cell.get("s", "")
        if style.isdecimal() and int(style) in book.dates:
            return rows.shown(book.epoch + dt.timedelta(days=value))
        return rows.shown(value)
    except (ValueError, OverflowError):
        return raw
