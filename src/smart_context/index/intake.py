"""Take one file into the index.

In: what reading a file gave, or a file that was read before.  Out: `Taken`, and the index holds it (after its next commit).
Always: a row says what became of the file; its text is valid UTF-8; the stamp is that of the bytes that were read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from smart_context.access.roots import Roots
from smart_context.engine.model import FileRow, NewFile, State, extension
from smart_context.engine.port import Index
from smart_context.errors import ContextError
from smart_context.model import Extracted, Segment, Skipped
from smart_context.sources.walk import Found
from smart_context.sources.worker import Done
from smart_context.text import segment, years

# What is no failure: there was nothing to read in a picture or a program.
_NO_TEXT = frozenset({"empty", "unknown type", "no text in this type"})
# What may be over by the next run: tried again then, whatever the file's time.
_PASSING = frozenset({"killed", "cannot be opened", "changed while being read"})


@dataclass(frozen=True, slots=True)
class Intake:
    """Where files are taken in: the index, the root they lie in, the longest segment, the time that rows get."""

    index: Index
    root: str
    max_chars: int
    at: str

    def read(self, path: str, done: Done) -> Taken:
        """Take in what a reader gave for a file."""
        assert done.outcome is not None
        if isinstance(done.outcome, Skipped):
            return self._skipped(path, done, done.outcome)
        return self._text(path, done, done.outcome)

    def known(self, found: Found, roots: Roots) -> Taken | None:
        """Take in a file whose content was read before, under this name or another, without reading it as a document."""
        record = self.index.record
        if not record.same_size(found.size):
            return None
        digest = _digest(found, roots)
        row = record.same_content(digest, found.size, extension(found.path)) if digest else None
        if row is None:
            return None
        if row.path == found.path:
            record.restamp(row.file_id, found.mtime_ns)
        else:
            self._copy(row, found)
        return Taken(row.kind, row.state, row.chars)

    def _text(self, path: str, done: Done, doc: Extracted) -> Taken:
        segments = [
            Segment(s.seq, _valid(s.pointer), _valid(s.heading), _valid(s.text))
            for s in segment.cut(doc, self.max_chars)
        ]
        named = years.named_in((os.path.basename(path), *(unit.text for unit in doc.units)))
        new = NewFile(
            path=path,
            root=self.root,
            kind=doc.kind,
            size=done.size,
            mtime_ns=done.mtime_ns,
            sha256=done.sha256,
            state="ok" if segments else "no_text",
            reason="" if segments else "no text",
            title=_valid(doc.title),
            notes=tuple(map(_valid, doc.notes)),
        )
        return self._put(new, segments, named)

    def _skipped(self, path: str, done: Done, outcome: Skipped) -> Taken:
        new = NewFile(
            path=path,
            root=self.root,
            kind=outcome.kind,
            size=done.size,
            mtime_ns=0 if outcome.reason in _PASSING else done.mtime_ns,
            sha256=done.sha256,
            state="no_text" if outcome.reason in _NO_TEXT else "failed",
            reason=_valid(outcome.reason),
            detail=_valid(outcome.detail),
        )
        return self._put(new, (), years.named_in((os.path.basename(path),)))

    def _copy(self, row: FileRow, found: Found) -> None:
        rows = self.index.record.segments_of(row.file_id)
        texts = self.index.record.texts(s.segment_id for s in rows)
        new = NewFile(
            path=found.path,
            root=self.root,
            kind=row.kind,
            size=found.size,
            mtime_ns=found.mtime_ns,
            sha256=row.sha256,
            state=row.state,
            reason=row.reason,
            detail=row.detail,
            title=row.title,
            notes=row.notes,
        )
        segments = [Segment(s.seq, s.pointer, s.heading, texts[s.segment_id]) for s in rows]
        self._put(new, segments, years.named_in((os.path.basename(found.path), *texts.values())))

    def _put(self, new: NewFile, segments: Sequence[Segment], named: tuple[str, ...]) -> Taken:
        self.index.put(new, segments, named, self.at)
        return Taken(new.kind, new.state, sum(len(s.text) for s in segments))


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one file."""

    kind: str
    state: State
    chars: int


def _digest(found: Found, roots: Roots) -> str:
    # "" for a file that cannot be opened or changes meanwhile: the reader will say what is wrong with it.
    with suppress(OSError, ContextError):
        with open(roots.open_file(found.path), "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            after = os.fstat(file.fileno())
        if (after.st_size, after.st_mtime_ns) == (found.size, found.mtime_ns):
            return digest
    return ""


def _valid(text: str) -> str:
    """Text that can be written as UTF-8, whatever a file made of it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
