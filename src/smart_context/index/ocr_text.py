"""The earlier OCR text of a file, and the request for reading it again.

In: a file as the record has it.  Out: `OcrRequest`, for the process that reads the file again.
Always: text that OCR read stays until OCR has read its place again, or the file has changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from smart_context.data import asdict, dataclass
from smart_context.sources.extract.sight import NOT_READ, Recognized

if TYPE_CHECKING:
    from smart_context.engine.model import FileRow
    from smart_context.engine.port import Index


@dataclass(frozen=True, slots=True)
class OcrRequest:
    """The request to read a file again, with what is known of it.

    waiting: places that wait. known: what OCR read of it, as (pointer, certainty, text). notes: why places were not read. seconds: of CPU
    time, after which no further place is begun. lost: why the next place is given up, or "". sha256: of the bytes that OCR read.
    """

    waiting: int
    known: tuple[tuple[str, int, str], ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    lost: str = ""
    sha256: str = ""

    def to_json(self) -> bytes:
        """Serialized for the process."""
        return json.dumps(asdict(self)).encode()

    def recognized(self) -> dict[str, Recognized]:
        """What OCR read, by pointer."""
        return {where: Recognized(text, certainty) for where, certainty, text in self.known}


def from_json(data: bytes) -> OcrRequest:
    """The request that a process received."""
    how = json.loads(data)
    known = tuple((where, certainty, text) for where, certainty, text in how["known"])
    return OcrRequest(**{**how, "known": known, "notes": tuple(how["notes"])})


def kept(index: Index, path: str) -> bytes:
    """The request for reading a file again without losing its OCR text; b"" if it has none."""
    row = index.record.file(path)
    if row is None or all(one.certainty is None for one in index.record.segments_of(row.file_id)):
        return b""
    return OcrRequest(row.unread_pages, known=_known(index, row), sha256=row.sha256).to_json()


def waiting(index: Index, row: FileRow, seconds: float, lost: str) -> bytes:
    """The request for running OCR on what waits in a file."""
    notes = tuple(note for note in row.notes if note.startswith(NOT_READ))
    return OcrRequest(row.unread_pages, _known(index, row), notes, seconds, lost).to_json()


def _known(index: Index, row: FileRow) -> tuple[tuple[str, int, str], ...]:
    """What OCR read of a file, by place: (pointer, certainty, text)."""
    from smart_context.index import rejudge  # imported here: the reading process has no index

    found: dict[str, tuple[int, str]] = {}
    for segment in rejudge.recorded(index, row):
        if segment.certainty is not None:
            before = found.get(segment.pointer, (0, ""))[1]
            found[segment.pointer] = (segment.certainty, before + segment.text)
    return tuple((where, certainty, text) for where, (certainty, text) in found.items())
