"""Spreadsheets of before XML: records, extents, sheets."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from office_files import office, relations
from ole_writer import compound
from smart_context.model import Extracted, Limits, Part, Skipped, Unit
from smart_context.sources.extract import cells, extents, extract, rows, sparse


def biff(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def xls(*cells: tuple[int, int, float]) -> bytes:
    """A workbook of one sheet with these numbers (row and column from 0)."""
    begin = biff(0x809, struct.pack("<HHHHLL", 0x600, 5, 0, 0, 0, 6))
    end = biff(0x0A)
    place = len(begin) + len(biff(0x85, bytes(12))) + len(end)
    listed = biff(0x85, struct.pack("<LBBBB", place, 1, 0, 4, 0) + b"Plan")
    sheet = biff(0x809, struct.pack("<HHHHLL", 0x600, 0x10, 0, 0, 0, 6))
    sheet += b"".join(biff(0x203, struct.pack("<HHHd", row, column, 0, value)) for row, column, value in cells)
    return compound({"Workbook": begin + listed + end + sheet + end})


def test_a_hidden_sheet_of_an_old_workbook_is_read() -> None:
    assert extract(xls((2, 1, 7.0), (3, 1, 0.5)), "a.xls", Limits()) == Extracted(
        "xls", "", (Unit((Part("sheet", "Plan"),), "7\n0.5", divisible="rows", first=3),)
    )


def test_cells_at_the_ends_of_an_old_sheet_are_moved_together_and_keep_their_rows() -> None:
    corners = ((0, 0, 1.0), (0, 255, 2.0), (4, 7, 3.0), (65535, 0, 4.0), (65535, 255, 5.0))
    assert extract(xls(*corners), "a.xls", Limits(max_sheet_cells=10)) == Extracted(
        "xls",
        "",
        (
            Unit((Part("sheet", "Plan"),), "1\t2\n\n\n\n3", divisible="rows", first=1),
            Unit((Part("sheet", "Plan"),), "4\t5", divisible="rows", first=65536),
        ),
    )


def test_runs_of_numbers_are_moved_together_too() -> None:
    run = biff(0xBD, struct.pack("<HH", 9, 100) + 3 * struct.pack("<HL", 0, 7 << 2 | 2) + struct.pack("<H", 102))
    found = sparse.compact(biff(0x809) + biff(0x203, struct.pack("<HHHd", 9, 5, 0, 1.0)) + run)
    moved = biff(0xBD, struct.pack("<HH", 0, 1) + 3 * struct.pack("<HL", 0, 7 << 2 | 2) + struct.pack("<H", 3))
    assert found.stream == biff(0x809) + biff(0x203, struct.pack("<HHHd", 0, 0, 0, 1.0)) + moved
    assert found.cells == 4


def test_an_old_sheet_too_large_to_hold_is_refused() -> None:
    wide = [(0, column, 1.0) for column in range(256)]
    long = [(row, 0, 1.0) for row in range(1, 65536)]
    found = extract(xls(*wide, *long), "a.xls", Limits(max_sheet_cells=1_000_000))
    assert found == Skipped("xls", "too large", "a sheet spans 16,777,216 cells")


def test_the_sheet_of_a_chart_is_no_sheet() -> None:
    data = xls((0, 0, 7.0))
    assert extract(data.replace(bytes([1, 0, 4, 0]) + b"Plan", bytes([1, 2, 4, 0]) + b"Plan"), "a.xls", Limits()) == (
        Extracted("xls", "", ())
    )


@pytest.mark.parametrize(
    ("records", "count"),
    [
        (b"", 0),
        (biff(0x203, struct.pack("<HH", 9, 4) + bytes(10)), 50),
        (biff(0xBE, struct.pack("<HH", 0, 1) + bytes(6) + struct.pack("<H", 19)), 20),  # blanks from column 1 to 19
        (biff(0x203, bytes(14)) + biff(0x809) + biff(0x203, struct.pack("<HH", 1, 1) + bytes(10)), 5),  # two sheets
        (biff(0x203, b"\xff\xff") + b"\x03\x02\xff\xff", 0),  # too short to be cells
    ],
)
def test_cells_of_old_sheets_are_counted(records: bytes, count: int) -> None:
    assert extents.of_biff(records) == count


def binary(kind: int, content: bytes) -> bytes:
    number = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return number + bytes([len(content)]) + content


def wide(text: str) -> bytes:
    return struct.pack("<L", len(text)) + text.encode("utf-16-le")


def test_a_binary_workbook_is_read_unless_it_is_too_wide() -> None:
    names = binary(156, struct.pack("<LL", 0, 1) + wide("rId1") + wide("Plan"))
    cell = binary(0, struct.pack("<L", 4) + bytes(12)) + binary(5, struct.pack("<LLd", 2, 0, 8.5))
    parts = {
        "xl/workbook.bin": binary(131, b"")
        + binary(153, bytes(12))
        + binary(143, b"")
        + names
        + binary(144, b"")
        + binary(132, b""),
        "xl/_rels/workbook.bin.rels": relations({"worksheet": "worksheets/sheet1.bin"}),
        "xl/worksheets/sheet1.bin": binary(129, b"")
        + binary(148, bytes(16))
        + binary(145, b"")
        + cell
        + binary(146, b"")
        + binary(130, b""),
    }
    data = office("xl/workbook.bin", "ms-excel.sheet.binary.macroEnabled", parts)
    found = extract(data, "a.xlsb", Limits())
    assert isinstance(found, Extracted)
    assert found.units == (Unit((Part("sheet", "Plan"),), "8.5", divisible="rows", first=5),)
    assert extract(data, "a.xlsb", Limits(max_sheet_cells=2)) == Skipped("xlsb", "too large", "a sheet spans 15 cells")


def test_a_row_that_calls_itself_0_is_the_first() -> None:
    sheet = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><row r="0"><c r="A0"><v>7</v></c></row></worksheet>'
    assert list(cells.lines([sheet], cells.Book([], frozenset(), cells.epoch(False)), 10)) == [(1, "7")]


@given(st.floats() | st.integers(-(10**17), 10**17).map(float) | st.decimals(allow_nan=False, places=4).map(float))
@example(-0.0)
@example(1e15)
@example(999_999_999_999_999.0)
@example(-999_999_999_999_999.5)
def test_a_number_reads_without_a_fraction_that_it_does_not_have(value: float) -> None:
    expected = str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    assert rows.shown(value) == expected
    assert rows.line([value, "a", value]) == f"{expected}\ta\t{expected}"
