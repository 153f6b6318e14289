"""Write the cells of spreadsheets as lines of text.

In: values of cells, row by row.  Out: units of a sheet whose lines are its rows.
Always: a value reads as people see it (1, not 1.0), no cell holds a tab or a line break, and line n of a unit is row `first + n`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator

from smart_context.model import Pointer, Unit
from smart_context.sources.extract import Refused

Value = str | float | bool | dt.date | dt.time | dt.timedelta
# More empty rows than this are not written out; the unit ends and the next one begins at its own row.
_WIDEST_GAP = 100
_number = "%.15g".__mod__  # fifteen digits, as spreadsheets keep: 0.1 + 0.2 reads 0.3


def line(values: Iterable[Value]) -> str:
    """One row: cells separated by tabs, without empty ones at the end."""
    # Most cells are plain text, which is shown as it is, or numbers.
    return "\t".join(
        [
            value if type(value) is str and value.isprintable()
            else _number(value + 0.0) if type(value) is float
            else shown(value)
            for value in values
        ]
    ).rstrip("\t")  # fmt: skip


def shown(value: Value) -> str:
    """One cell as text."""
    if isinstance(value, str):
        return value if value.isprintable() else " ".join(value.split())
    if isinstance(value, float):
        return _number(value + 0.0)  # -0.0 reads 0
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, dt.datetime):
        return value.strftime("%Y-%m-%d") if value.time() == dt.time() else value.isoformat(" ", "seconds")
    if isinstance(value, dt.timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return str(value)


def units(pointer: Pointer, rows: Iterable[tuple[int, str]], room: int) -> Iterator[Unit]:
    """Units of a sheet from its rows (numbered from 1, ascending); stops soon after `room` characters.

    Raises:
        Refused: the rows broke off; what came before has been yielded.
    """
    lines: list[str] = []
    first = 1
    broken: Refused | None = None
    try:
        for number, text in rows:
            if not text:
                continue
            gap = number - first - len(lines)
            if not lines:
                first = number
            elif gap > _WIDEST_GAP or gap < 0:
                yield Unit(pointer, "\n".join(lines), divisible="rows", first=first)
                lines, first = [], number
            else:
                lines.extend([""] * gap)
            lines.append(text)
            room -= len(text) + 1
            if room < 0:
                break
    except Refused as refusal:
        broken = refusal
    if lines:
        yield Unit(pointer, "\n".join(lines), divisible="rows", first=first)
    if broken is not None:
        raise broken
