"""Store one file in the index.

In: the outcome of reading a file, or a file that was read before.  Out: `Taken`; the index has it after its next commit.
Always: each file has a row with its outcome; its text is valid UTF-8; size and time are those of the bytes that were read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from smart_context.access.roots import Roots
from smart_context.data import dataclass, replace
from smart_context.engine import searchable
from smart_context.engine.entry import Entry
from smart_context.engine.model import FileRow, NewFile, State, extension
from smart_context.errors import ContextError
from smart_context.model import Prepared, Segment, Skipped, changed_at
from smart_context.redact import Redactor
from smart_context.sources.walk import Found
from smart_context.sources.worker import Done
from smart_context.text import valid, years
from smart_context.text.copies import Marks

if TYPE_CHECKING:
    from smart_context.engine.port import Index

# Reasons that are not a failure: a picture or a program has no text.
_NO_TEXT = frozenset({"empty", "unknown type", "no text in this type"})
# Temporary reasons: the next run tries again, even if the file's time has not changed.
PASSING = frozenset({"killed", "cannot be opened", "changed while being read"})


@dataclass(frozen=True, slots=True)
class Intake:
    """Stores files: in an index, below a root, judged by a version of the redaction rules, with a time for the rows."""

    index: Index
    root: str
    redactor: Redactor
    at: str

    def read(self, path: str, done: Done) -> Taken:
        """Store the outcome of reading a file."""
        if isinstance(done.outcome, Skipped):
            return self._skipped(path, done, done.outcome)
        assert isinstance(done.outcome, Prepared)
        return self._text(path, done, done.outcome)

    def known(self, found: Found, roots: Roots) -> Taken | None:
        """Store a file whose content is already indexed, under this name or another: it is hashed, but not parsed again."""
        record = self.index.record
        if not record.same_size(found.size):
            return None
        digest = _digest(found, roots)
        row = record.same_content(digest, found.size, extension(found.path)) if digest else None
        if row is None or (row.state == "ok" and not row.same_text):  # recorded by a version that stored less of a file
            return None
        if row.path == found.path:
            record.restamp(row.file_id, found.mtime_ns)
        else:
            self._copy(row, found)
        return Taken(row.kind, row.state, row.chars)

    def _text(self, path: str, done: Done, ready: Prepared) -> Taken:
        doc, segments = ready.about, ready.segments
        try:
            entries = [searchable.unpacked(data) for data in ready.entries]
        except ValueError:
            broken = Skipped(doc.kind, "crashed", "the reading process gave a broken answer")
            return self._skipped(path, done, broken)
        new = NewFile(
            path=path,
            root=self.root,
            kind=doc.kind,
            size=done.size,
            mtime_ns=done.mtime_ns,
            sha256=done.sha256,
            state="ok" if segments else "no_text",
            reason="" if segments else "no text",
            title=doc.title,
            notes=doc.notes,
            judged=self.redactor.identity(),
            author=doc.author,
            dated=doc.dated,
            same_text=ready.same_text,
            like_text=ready.like_text,
            unread_pages=doc.unread_pages,
        )
        return self._put(new, segments, ready.years, entries)

    def _skipped(self, path: str, done: Done, outcome: Skipped) -> Taken:
        new = NewFile(
            path=path,
            root=self.root,
            kind=outcome.kind,
            size=done.size,
            mtime_ns=0 if outcome.reason in PASSING else done.mtime_ns,
            sha256=done.sha256,
            state="no_text" if outcome.reason in _NO_TEXT else "failed",
            reason=valid.utf8(outcome.reason),
            detail=valid.utf8(outcome.detail),
        )
        return self._put(new, (), years.named_in((os.path.basename(path),)))

    def _copy(self, row: FileRow, found: Found) -> None:
        # Imported here: few runs find a copy, and most files are prepared where they are read.
        from smart_context.index import prepare, rejudge
        from smart_context.redact import document

        segments = rejudge.recorded(self.index, row)
        rules, known = self.redactor.identity(), Marks(row.same_text, row.like_text)
        if row.judged != rules:
            segments = document.judged(segments, self.redactor)
            known = prepare.marks(segments) if row.same_text else known
        title, author = (document.head(text, segments, self.redactor) for text in (row.title, row.author))
        before = row.again(title=title, author=author, judged=rules, same_text=known.same, like_text=known.like)
        new = replace(before, path=found.path, root=self.root, size=found.size, mtime_ns=found.mtime_ns)
        self._put(new, segments, prepare.named_years(found.path, segments))

    def _put(
        self, new: NewFile, segments: Sequence[Segment], named: tuple[str, ...], entries: Sequence[Entry] = ()
    ) -> Taken:
        self.index.put(new, segments, named, self.at, entries)
        return Taken(new.kind, new.state, sum(len(s.text) for s in segments))


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one file."""

    kind: str
    state: State
    chars: int


def _digest(found: Found, roots: Roots) -> str:
    # "" for a file that cannot be opened or changes meanwhile: the reader will report the reason.
    import hashlib

    with suppress(OSError, ContextError):
        with open(roots.open_file(found.path), "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            after = os.fstat(file.fileno())
        if (after.st_size, changed_at(after)) == (found.size, found.mtime_ns):
            return digest
    return ""
