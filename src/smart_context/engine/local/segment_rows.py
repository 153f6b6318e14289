"""Rows of segments in the local record.

In: a segment, and where its text is kept; a row.  Out: the values to bind; a `SegmentRow`.
Always: what is read is what was written, also by versions that kept all of a pointer.
"""

from __future__ import annotations

from typing import Any

from smart_context.engine.model import SegmentRow
from smart_context.model import Segment
from smart_context.text import hidden

COLUMNS = "segment_id, file_id, seq, pointer, heading, certainty"
PUT = """INSERT INTO segments (segment_id, file_id, seq, pointer, heading, certainty, text, hidden, block_id, start, size)
    VALUES (?, ?, ?, ?, ?, ?, x'', ?, ?, ?, ?)"""

_HEADING = "\x1a"  # stands in a pointer for the heading, which most of them name; no pointer has a control character
POINTER = f"REPLACE(pointer, char({ord(_HEADING)}), heading)"
"""A pointer as it was given."""


def values(segment_id: int, file_id: int, block: int, one: Segment, start: int, size: int) -> tuple[Any, ...]:
    """The values of a segment that has some bytes of a block."""
    heading = one.heading
    pointer = one.pointer.replace(heading, _HEADING) if heading else one.pointer
    concealed = hidden.pack(one.hidden) if one.hidden else b""
    return segment_id, file_id, one.seq, pointer, heading, one.certainty, concealed, block, start, size


def segment_row(row: tuple[Any, ...]) -> SegmentRow:
    """A segment's row as data."""
    segment_id, file_id, seq, pointer, heading, certainty = row
    return SegmentRow(segment_id, file_id, seq, pointer.replace(_HEADING, heading), heading, certainty)
