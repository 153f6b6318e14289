"""Read CSV and TSV.

In: the bytes of a delimited file.  Out: its lines as they stand, the header row as their heading.
Always: line n of the unit is line n of the file, also where a quoted cell runs over several.
"""

from __future__ import annotations

import csv
from itertools import accumulate

from smart_context.model import Extracted, Unit
from smart_context.sources.extract import Buffer, Job
from smart_context.sources.extract.encoding import decode_capped

_DELIMITERS = "\t;|,"
_LONGEST_HEADING = 300


def read(data: Buffer, job: Job) -> Extracted:
    """Read a delimited file."""
    text, notes = decode_capped(data, job.limits)
    if not text.strip():
        return Extracted("csv", "", (), notes)
    return Extracted("csv", "", (Unit((), text, _header(text), "lines"),), notes)


def _header(text: str) -> str:
    """The first row as words, if it names columns: cells that all have a letter."""
    line = text[:4096].partition("\n")[0]
    delimiter = max(_DELIMITERS, key=line.count)
    try:
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return ""
    named = [cell for cell in cells if cell]
    if len(named) < 2 or not all(any(map(str.isalpha, cell)) for cell in named):
        return ""
    lengths = accumulate(len(cell) + 2 for cell in named)
    return ", ".join([cell for cell, upto in zip(named, lengths, strict=True) if upto <= _LONGEST_HEADING + 2])
