"""Read spreadsheets (XLSX, XLSB, XLS), one unit a sheet, each row a line of cells parted by tabs.

In: the bytes of a workbook.  Out: its sheets in order, hidden ones included, and after a sheet what is written beside its cells.
Always: a sheet is measured before the reader allocates it; one that is wide but sparse is read cell by cell instead.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import python_calamine as calamine

from smart_context.model import Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused, cells, drawing, extents, opc, rows, xmlsafe
from smart_context.sources.extract.collect import Full, Units

# The reader allocates every cell of the rectangle; this many for each that we would read.
_EMPTY_SHARE = 4
# What is packed below this inflates to nothing that matters: deflate gains a thousandfold at most.
_TOO_SMALL_TO_BOMB = 32 * 1024
_BESIDE = frozenset({"drawing", "comments", "threadedComment", "chart", "chartEx", "diagramData"})


def read(data: Buffer, job: Job) -> Extracted:
    """Read every sheet, up to the limits."""
    beside = None if job.kind == "xls" else _Beside(data, job)
    if beside is None:
        _measure_xls(data, job)
    elif job.kind == "xlsb":
        _measure_xlsb(beside, job)
    with _translated():
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data[:]))
    units = Units(job.limits)
    try:
        for index, name in enumerate(book.sheet_names):
            for unit in _sheet(book, index, name, job, units, beside):
                units.add(unit)
    except Full:
        pass
    title = "" if beside is None else beside.package.title()
    return Extracted(job.kind, title, units.finish(), tuple(units.notes))


class _Beside:
    """The parts of an XLSX or XLSB file around the cells."""

    def __init__(self, data: Buffer, job: Job) -> None:
        self.package = opc.Package(data, job)
        self._main = self.package.main("xl/workbook.xml")
        self._relations = self.package.relations(self._main)
        self._shared: list[str] | None = None
        for relation in self._relations:
            if relation.kind in {"sharedStrings", "styles"}:
                self._check_inflation(relation.target)
        self.sheets = tuple(r.target for r in self._relations if r.kind in {"worksheet", "dialogsheet", "xlMacrosheet"})
        self.by_name = {} if self._main.endswith(".bin") else self._names()

    def shared(self) -> list[str]:
        """Strings that cells refer to by number."""
        if self._shared is None:
            part = next((r.target for r in self._relations if r.kind == "sharedStrings"), None)
            self._shared = cells.strings(self.package.zip.stream(part)) if part is not None else []
        return self._shared

    def lines(self, part: str, depth: int = 2) -> Iterator[str]:
        """What stands in drawings, charts and comments of a sheet."""
        for relation in self.package.relations(part):
            if relation.kind in _BESIDE and depth:
                yield from _side_lines(self.package, relation)
                yield from self.lines(relation.target, depth - 1)

    def _check_inflation(self, part: str) -> None:
        if self.package.zip.packed_size(part) > _TOO_SMALL_TO_BOMB:
            for _ in self.package.zip.stream(part):
                pass

    def _names(self) -> dict[str, str]:
        targets = {relation.id: relation.target for relation in self._relations}
        workbook = xmlsafe.tree(self.package.zip.read(self._main))
        return {
            element.get("name", ""): targets[found]
            for element in workbook.iter("{*}sheet")
            if (found := opc.relation_id(element)) in targets
        }


def _side_lines(package: opc.Package, relation: opc.Relation) -> Iterator[str]:
    if relation.target.endswith(".bin"):
        return
    if relation.kind in {"comments", "threadedComment"}:
        for comment in xmlsafe.tree(package.zip.read(relation.target)).iter("{*}comment", "{*}threadedComment"):
            yield " ".join("".join(t.text or "" for t in comment.iter("{*}t", "{*}text")).split())
    else:
        yield from (line.text for line in drawing.lines(package.zip.stream(relation.target)))


def _measure_xls(data: Buffer, job: Job) -> None:
    import olefile  # type: ignore[import-untyped]  # it ships no types

    try:
        with olefile.OleFileIO(data[:]) as ole:
            name = next(name for name in ("Workbook", "Book") if ole.exists(name))
            stream: bytes = ole.openstream(name).read()
    except Exception as error:  # hostile bytes in a third-party parser
        raise Refused("damaged", f"not a readable workbook: {error}") from error
    _refuse_over(extents.of_biff(stream), job)


def _measure_xlsb(beside: _Beside, job: Job) -> None:
    for part in beside.sheets:
        _refuse_over(extents.of_binary(beside.package.zip.read(part)), job)


def _refuse_over(count: int, job: Job) -> None:
    if count > _EMPTY_SHARE * job.limits.max_sheet_cells:
        raise Refused("too large", f"a sheet spans {count:,} cells")


def _sheet(
    book: calamine.CalamineWorkbook, index: int, name: str, job: Job, units: Units, beside: _Beside | None
) -> Iterator[Unit]:
    pointer = (Part("sheet", name),)
    part = beside.by_name.get(name) if beside is not None else None
    is_empty = True
    with units.part(f"sheet '{name}'"):
        for unit in rows.units(pointer, _rows(book, index, part, job, beside), units.room):
            yield unit
            is_empty = False
    with units.part(f"sheet '{name}'"):
        if beside is not None and part is not None and (lines := [line for line in beside.lines(part) if line]):
            yield Unit(pointer, "\n".join(lines))
            is_empty = False
    if is_empty:
        yield Unit(pointer, "")


def _rows(
    book: calamine.CalamineWorkbook, index: int, part: str | None, job: Job, beside: _Beside | None
) -> Iterator[tuple[int, str]]:
    if beside is not None and part is not None:
        count = extents.of_xml(partial(beside.package.zip.stream, part))
        if count > _EMPTY_SHARE * job.limits.max_sheet_cells:
            yield from cells.lines(beside.package.zip.stream(part), beside.shared(), job.limits.max_sheet_cells)
            return
    with _translated():
        for number, values in enumerate(book.get_sheet_by_index(index).iter_rows(), 1):
            yield number, rows.line(values)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn whatever the reader raises into a refusal."""
    try:
        yield
    except calamine.PasswordError as error:
        raise Refused("encrypted", "a password protects this workbook") from error
    except (calamine.CalamineError, ValueError, OSError, OverflowError) as error:
        raise Refused("damaged", f"not a readable workbook: {error}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a panic in Rust becomes; it has no importable name
            raise
        raise Refused("damaged", f"not a readable workbook: {error}") from error
