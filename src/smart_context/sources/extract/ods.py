"""Read OpenDocument spreadsheets (ODS), one unit per sheet, each row a line of cells separated by tabs.

In: the bytes of an ODS.  Out: its sheets in order, cells as they are shown (with their formats), comments in the cells they stand in.
Always: a cell or row that is declared to repeat a million times is written a few times: the rest adds nothing, and would use all memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from smart_context.model import Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, odf, rows, xmlsafe
from smart_context.sources.extract.collect import Full, Units

_TAGS = {
    **xmlsafe.tags(("p", "h"), odf.TEXT),
    **xmlsafe.tags(("table", "table-row", "table-cell", "covered-table-cell"), odf.TABLE),
}
_FREE = frozenset({"p", "h", "table-row", "table"})
_MOST_COPIES = 64
_WIDEST_GAP = 256


def read(data: Buffer, job: Job) -> Extracted:
    """Read every sheet, up to the limits."""
    document = odf.Document(data, job)
    units = Units(job.limits)
    events = xmlsafe.events(document.stream("content.xml"), _TAGS, free=_FREE, always=True)
    try:
        with units.part("content.xml"):
            for event, name, element in events:
                if event == "start" and name == "table":
                    _sheet(element.get(f"{{{odf.TABLE}}}name", ""), events, units)
    except Full:
        pass
    return document.about().extracted("ods", units.finish(), tuple(units.notes))


def _sheet(name: str, events: Iterator[xmlsafe.Event], units: Units) -> None:
    pointer = (Part("sheet", name),)
    is_empty = True
    for unit in rows.units(pointer, _rows(events), units.room):
        units.add(unit)
        is_empty = False
    if is_empty:
        units.add(Unit(pointer, ""))


def _rows(events: Iterator[xmlsafe.Event]) -> Iterator[tuple[int, str]]:
    """Rows of the table that has just begun, up to its end, with their numbers."""
    number = depth = 1
    row = _Row()
    for event, name, element in events:
        if name == "table":  # a table can stand inside a cell
            depth += 1 if event == "start" else -1
            if depth == 0:
                return
        elif event == "start" or depth > 1:
            continue
        elif name in {"p", "h"}:
            row.words.append(odf.text_of(element))
        elif name == "table-row":
            count = odf.repeats(element, "rows")
            text = rows.line(row.cells)
            for copy in range(min(count, _MOST_COPIES) if text else 0):
                yield number + copy, text
            number += count
            row = _Row()
        else:
            row.end_cell(odf.repeats(element, "columns"))


class _Row:
    """The cells of the row being read."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.words: list[str] = []
        self._empty = 0

    def end_cell(self, count: int) -> None:
        text = " ".join(self.words)
        self.words.clear()
        if not text:
            self._empty += count
            return
        self.cells.extend([""] * min(self._empty, _WIDEST_GAP))
        self.cells.extend([text] * min(count, _MOST_COPIES))
        self._empty = 0
