"""Read spreadsheets (XLSX, XLSB, XLS), one unit per sheet, each row a line of cells separated by tabs.

In: the bytes of a workbook.  Out: its sheets in order, hidden ones included, and after a sheet the text beside its cells (drawings, comments).
Always: a sheet is measured before the spreadsheet library allocates it; one that is wide but sparse is read cell by cell instead.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import python_calamine as calamine

from smart_context.model import Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused, cells, extents, rows, sparse
from smart_context.sources.extract.collect import Full, Units
from smart_context.sources.extract.compound import Compound
from smart_context.sources.extract.properties import About
from smart_context.sources.extract.workbook import Workbook

# The library allocates every cell of the rectangle: we allow this many times the cells that we would read.
_EMPTY_SHARE = 4
_XLS_CELLS = 1_000_000  # in all sheets of an XLS file; above that, cells are compacted first (`sparse`)


def read(data: Buffer, job: Job) -> Extracted:
    """Read every sheet, up to the limits."""
    if job.kind == "xls":
        return _read_xls(data, job)
    workbook = Workbook(data, job)
    return _read(_Book(data, job, workbook), workbook.package.about(), job)


def _read(book: _Book, about: About, job: Job) -> Extracted:
    units = Units(job.limits)
    try:
        for name in book.names:
            for unit in _sheet(book, name, units):
                units.add(unit)
    except Full:
        pass
    return about.extracted(job.kind, units.finish(), tuple(units.notes))


def _read_xls(data: Buffer, job: Job) -> Extracted:
    with Compound.of(data[:], job) as streams:
        name = "Workbook" if ("Workbook",) in streams else "Book"
        stream = streams.read(name)
        about = streams.about()
        count = extents.of_biff(stream)
        if count > _XLS_CELLS:
            together = sparse.compact(stream)
            if together.cells < count // 4:
                _refuse_over(together.cells, job)
                return _read(_Book(streams.replaced(together.stream, name), job, None, together.rows), about, job)
            _refuse_over(count, job)
    return _read(_Book(data, job, None), about, job)


def _refuse_over(count: int, job: Job) -> None:
    if count > _EMPTY_SHARE * job.limits.max_sheet_cells:
        raise Refused("too large", f"a sheet spans {count:,} cells")


def _sheet(book: _Book, name: str, units: Units) -> Iterator[Unit]:
    pointer = (Part("sheet", name),)
    is_empty = True
    with units.part(f"sheet '{name}'"):
        for unit in rows.units(pointer, book.rows(name), units.room):
            yield unit
            is_empty = False
    with units.part(f"sheet '{name}'"):
        if lines := [line for line in book.side_lines(name) if line]:
            # The same pointer as the cells, so only the empty line separates the two.
            yield Unit(pointer, "\n".join(lines if is_empty else ["", *lines]))
            is_empty = False
    if is_empty:
        yield Unit(pointer, "")


class _Book:
    """A workbook as the library reads it, and the parts of its package where it has one."""

    def __init__(
        self, data: Buffer, job: Job, workbook: Workbook | None, rows: Sequence[Sequence[int]] | None = None
    ) -> None:
        """rows: the numbers from 0 of the rows of each sheet, where the cells were compacted."""
        self._job = job
        self._workbook = workbook
        self._parts = workbook.sheets if workbook is not None else {}
        self._reader: calamine.CalamineWorkbook | None = None
        self._charts: frozenset[str] = frozenset()
        try:
            with _translated():
                self._reader = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data[:]))
                self.names = self._reader.sheet_names
                self._charts = frozenset(
                    each.name for each in self._reader.sheets_metadata if each.typ == calamine.SheetTypeEnum.ChartSheet
                )
        except Refused as refusal:
            if job.kind != "xlsx" or refusal.reason == "encrypted" or not self._parts:
                raise
            self.names = list(self._parts)
        self._rows = dict(zip(self.names, rows, strict=False)) if rows is not None else {}
        if workbook is None:  # the sheet of a chart has no cells but copies of what it shows
            self.names = [name for name in self.names if name not in self._charts]

    def rows(self, name: str) -> Iterator[tuple[int, str]]:
        """Rows of a sheet with their numbers, in the way that fits it."""
        part = self._parts.get(name)
        if self._workbook is None or part is None:
            yield from self._read(name)
        elif self._job.kind == "xlsb":
            _refuse_over(extents.of_binary(self._workbook.package.zip.read(part)), self._job)
            yield from self._read(name)
        else:
            yield from self._rows_of_xml(name, self._workbook, part)

    def side_lines(self, name: str) -> Iterator[str]:
        """What is written beside the cells of a sheet."""
        if self._workbook is not None and (part := self._parts.get(name)) is not None:
            yield from self._workbook.lines(part)

    def _rows_of_xml(self, name: str, workbook: Workbook, part: str) -> Iterator[tuple[int, str]]:
        again = partial(workbook.package.zip.stream, part, again=True)
        found = extents.of_xml(workbook.package.zip.stream(part), again)
        if found.cells <= _EMPTY_SHARE * self._job.limits.max_sheet_cells:
            try:
                yield from self._read(name, cells.errors(again()) if found.has_errors else None)
                return
            except Refused as refusal:
                if refusal.reason != "damaged":
                    raise
        yield from cells.lines(again(), workbook.cells(), self._job.limits.max_sheet_cells)

    def _read(self, name: str, errors: dict[tuple[int, int], str] | None = None) -> Iterator[tuple[int, str]]:
        with _translated():
            if self._reader is None:
                raise Refused("damaged", "not a readable workbook")
            sheet = self._reader.get_sheet_by_name(name)
            first_column = sheet.start[1] + 1 if sheet.start is not None else 1
            moved = self._rows.get(name)
            for at, values in enumerate(sheet.iter_rows()):
                number = (moved[at] if at < len(moved) else at) + 1 if moved is not None else at + 1
                if errors:
                    values = [errors.get((number, first_column + n), v) for n, v in enumerate(values)]  # noqa: PLW2901
                yield number, rows.line(values)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn whatever the library raises into a refusal."""
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
