"""Frozen data that an engine takes and gives: files, segments and runs as the record knows them."""

from __future__ import annotations

import os
from typing import Literal

from smart_context.data import dataclass
from smart_context.model import Hidden

State = Literal["ok", "no_text", "failed"]


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file as the record knows it.

    path, root: absolute; names that are not UTF-8 carry surrogate escapes. ext: lower case with its dot, or "".
    state: `ok`; `no_text` where a file was read and holds none; `failed` with `reason` and `detail`.
    years: the years that stand in its name or text, sorted. reader: the version of this program that read it.
    generation: of the commit that wrote the row. judged: the rules of redaction by which it was judged (`Redactor.identity`).
    author, dated: who wrote it and on which day (`2024-03-31`), as the file itself says, or "". same_text, like_text: what tells copies
    (`text.copies`); same_text is empty for a file with text that was recorded before these were kept. unread_pages: those that have no
    text of their own and that nobody has read from their picture yet.
    """

    file_id: int
    path: str
    root: str
    ext: str
    kind: str
    size: int
    mtime_ns: int
    sha256: str
    state: State
    reason: str
    detail: str
    title: str
    years: tuple[str, ...]
    notes: tuple[str, ...]
    indexed_at: str
    chars: int
    reader: str
    generation: int
    judged: str = ""
    author: str = ""
    dated: str = ""
    same_text: bytes = b""
    like_text: bytes = b""
    unread_pages: int = 0

    def again(self, *, title: str, author: str, judged: str, same_text: bytes, like_text: bytes) -> NewFile:
        """Return the file as it is to be recorded anew, judged by other rules."""
        return NewFile(
            path=self.path,
            root=self.root,
            kind=self.kind,
            size=self.size,
            mtime_ns=self.mtime_ns,
            sha256=self.sha256,
            state=self.state,
            reason=self.reason,
            detail=self.detail,
            title=title,
            notes=self.notes,
            judged=judged,
            author=author,
            dated=self.dated,
            same_text=same_text,
            like_text=like_text,
            unread_pages=self.unread_pages,
        )


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One segment as the record knows it, without its text (`Record.texts` has that). certainty: as `Segment` has it."""

    segment_id: int
    file_id: int
    seq: int
    pointer: str
    heading: str
    certainty: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A segment's text, and its redacted spans."""

    text: str
    hidden: Hidden = ()


Stamp = tuple[bytes, int, int, int]
"""What decides whether a file is read again: (path as the record has it, file_id, size, mtime_ns). A bare row, because a run over an unchanged
folder does little else than look at these; mtime_ns is -1 where the file should be tried again whatever its time."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """What an indexing run learnt about one file, ready to be recorded; the fields are those of `FileRow`."""

    path: str
    root: str
    kind: str
    size: int
    mtime_ns: int
    sha256: str
    state: State
    reason: str = ""
    detail: str = ""
    title: str = ""
    notes: tuple[str, ...] = ()
    judged: str = ""
    author: str = ""
    dated: str = ""
    same_text: bytes = b""
    like_text: bytes = b""
    unread_pages: int = 0


@dataclass(frozen=True, slots=True)
class Tally:
    """The totals of the recorded files of one kind, state and reason."""

    kind: str
    state: State
    reason: str
    files: int
    chars: int
    size: int
    segments: int


@dataclass(frozen=True, slots=True)
class RankedFile:
    """What ranking needs of a file."""

    file_id: int
    path: str
    ext: str
    title: str
    years: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedSegment:
    """What ranking needs of a segment."""

    segment_id: int
    heading: str
    text: str
    pointer: str = ""
    hidden: Hidden = ()


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last finished run over a folder. `device`: that of the folder then (`st_dev`)."""

    started_at: str
    finished_at: str
    device: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Files below a root that a worker is to read, unchanged ones too where it is `full`; `tries`: how often that was begun before.
    is_scan: one file, of which only what waits for OCR is to be read."""

    root: str
    paths: tuple[str, ...]
    tries: int = 0
    full: bool = False
    is_scan: bool = False


@dataclass(frozen=True, slots=True)
class Following:
    """How a ranking keeps up with a record elsewhere. is_away: the record does not answer. taken, total: files, while there is something to take in.
    is_late: a search waited in vain for a commit that is not taken in yet."""

    is_away: bool = False
    taken: int = 0
    total: int = 0
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class SharedState:
    """A shared record, and how far this machine has come with it.

    roles: what the user may be there; "owner" for who made the tables. schema, known: the version of its tables (0: none), and the newest that
    this program knows. missing: roles that nobody has made. commits: those that are remembered; behind: those that this machine has not taken in.
    """

    address: str
    server: str
    user: str
    roles: tuple[str, ...]
    schema: int
    known: int
    missing: tuple[str, ...]
    files: int
    commits: int
    behind: int


def extension(path: str) -> str:
    """A path's extension as filters know it: lower case with its dot, "" where there is none."""
    ext = os.path.splitext(os.path.basename(path))[1].lower()
    return ext.encode("utf-8", "replace").decode()
