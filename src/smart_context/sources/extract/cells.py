"""Read an XLSX sheet cell by cell, for sheets too sparse to be allocated as a rectangle.

In: the XML of a sheet and of the workbook's shared strings.  Out: its rows that hold anything.
Always: memory grows with the cells that are there. Slower than the reader for ordinary sheets, and dates stay numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from smart_context.sources.extract import rows, xmlsafe
from smart_context.sources.extract.opc import STRICT, TRANSITIONAL

_SHEET = (f"{TRANSITIONAL}spreadsheetml/2006/main", f"{STRICT}spreadsheetml/main")
_STRINGS = xmlsafe.tags(("si", "t", "rPh"), *_SHEET)
_CELLS = xmlsafe.tags(("row", "c", "v", "t"), *_SHEET)


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


def lines(pieces: Iterable[bytes], shared: list[str], most: int) -> Iterator[tuple[int, str]]:
    """Yield rows that hold something with their numbers, up to `most` cells."""
    number = count = 0
    row: list[str] = []
    words: list[str] = []
    for event, name, element in xmlsafe.events(pieces, _CELLS, free=("row",)):
        if event == "start":
            if name == "row":
                number = int(given) if (given := element.get("r", "")).isdecimal() else number + 1
            continue
        if name in {"v", "t"}:
            words.append(xmlsafe.text_of(element))
        elif name == "c":
            row.append(_shown("".join(words), element.get("t", "n"), shared))
            words.clear()
            count += 1
        else:
            yield number, rows.line(row)
            row = []
        if count > most:
            return


def _shown(raw: str, kind: str, shared: list[str]) -> str:
    if kind == "s":
        return shared[int(raw)] if raw.isdecimal() and int(raw) < len(shared) else ""
    if kind == "n" and re.fullmatch(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?", raw, re.ASCII):
        try:
            return rows.shown(float(raw))
        except ValueError:
            return raw
    if kind == "b":
        return rows.shown(raw == "1")
    return rows.shown(raw)
