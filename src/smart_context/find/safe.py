"""Read recorded text together with its redacted spans.

In: segments of the record.  Out: their text, with the spans that must be hidden.
Always: the spans in the record are used if the current rules made them; a file that was judged by other rules is judged again as a whole at each
reading, until a writer has updated the record.
"""

from __future__ import annotations

from collections.abc import Iterable

from smart_context.data import replace
from smart_context.engine.model import FileRow, Passage, SegmentRow
from smart_context.engine.port import Record
from smart_context.model import Segment
from smart_context.redact import Redactor, document


def passages(
    record: Record, wanted: Iterable[tuple[SegmentRow, FileRow]], redactor: Redactor | None
) -> dict[int, Passage]:
    """The text of segments, by id; removed ones are left out. Without a redactor nothing is hidden."""
    if redactor is None:
        known = record.passages(row.segment_id for row, _ in wanted)
        return {number: replace(passage, hidden=()) for number, passage in known.items()}
    rules = redactor.identity()
    pairs = list(wanted)
    found = record.passages(row.segment_id for row, file in pairs if file.judged == rules)
    others = {file.file_id: file for _, file in pairs if file.judged != rules}
    for file in others.values():
        found.update(_judged_now(record, file, redactor))
    return found


def segments(record: Record, file: FileRow, redactor: Redactor) -> list[Segment]:
    """A file's segments in reading order; none if a writer has just replaced them."""
    rows = record.segments_of(file.file_id)
    known = record.passages(row.segment_id for row in rows)
    if len(known) < len(rows):
        return []
    found = [
        Segment(row.seq, row.pointer, row.heading, passage.text, passage.hidden, row.certainty)
        for row in rows
        for passage in (known[row.segment_id],)
    ]
    return found if file.judged == redactor.identity() else document.judged(found, redactor)


def _judged_now(record: Record, file: FileRow, redactor: Redactor) -> dict[int, Passage]:
    rows = record.segments_of(file.file_id)
    return {
        row.segment_id: Passage(segment.text, segment.hidden)
        for row, segment in zip(rows, segments(record, file, redactor), strict=False)
    }
