"""The ranking index: candidate segments with rough scores. The only package that knows the engine, tantivy.

In: files with their segments' text.  Out: a `View` of each commit, to look things up in.
Always: a commit is seen whole or not at all; `generation` never claims more than the index has; everything here can be rebuilt
from the record.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smart_context.engine import entry, searchable
from smart_context.engine.local import ranking_state
from smart_context.engine.local.ranking import engine, packed, parts
from smart_context.engine.model import RankedFile, RankedSegment
from smart_context.errors import SearchFailed
from smart_context.text import languages

if TYPE_CHECKING:
    import tantivy

    from smart_context.engine.local.ranking.view import View

_HEAP = 64_000_000  # bytes the writer may hold before it writes a part of the index
_NOBODY = -1  # the file of documents that are removed before they are committed


class Ranking:
    """The open index. One instance writes, from one thread; any number read."""

    def __init__(self, index: tantivy.Index, folder: Path, *, writable: bool) -> None:
        self._index = index
        self._folder = folder
        self._writable = writable
        self._writer: tantivy.IndexWriter | None = None
        self._packed: packed.Writer | None = None
        self._is_pending = False  # something was added or deleted since the last commit
        self._view: View | None = None
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path, *, writable: bool) -> Ranking:
        """Open the index in a folder; a writer creates it.

        Raises: SearchFailed when it is absent, cannot be read, or was made by another analysis (rebuild it then).
        """
        with engine.translated(folder, writes=writable):
            import tantivy

            if writable:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not tantivy.Index.exists(str(folder)):
                    ranking_state.write(folder, 0)
                    packed.Writer(folder).close()
                    tantivy.Index(engine.schema(), str(folder))
            ranking_state.read(folder)
            if writable:
                packed.check(folder)
                parts.check(folder)  # merging would give damaged data a valid checksum
            index = tantivy.Index.open(str(folder))
            index.config_reader("manual")
            return cls(index, folder, writable=writable)

    @property
    def generation(self) -> int:
        """The generation of the last commit; what is in the index is at least that."""
        with engine.translated(self._folder):
            return ranking_state.read(self._folder)

    @property
    def state(self) -> bytes:
        """The state file of the index: it changes when there is something new to see."""
        with engine.translated(self._folder):
            return ranking_state.text(self._folder)

    # Writing

    def add(self, file: RankedFile, segments: Sequence[RankedSegment]) -> None:
        """Replace a file's segments."""
        entries = searchable.every(file.path, file.title, segments)
        self.add_made(file, [segment.segment_id for segment in segments], entries)

    def add_made(self, file: RankedFile, segment_ids: Sequence[int], entries: Sequence[entry.Entry]) -> None:
        """Replace a file's segments, given as the entries that `searchable.every` makes."""
        writer, self._is_pending = self._open_writer(), True
        with engine.translated(self._folder, writes=True):
            _replace(writer, file, segment_ids, entries)
            self._open_packed().add(segment_ids, [own.packed for own in entries])

    def delete(self, file_ids: Iterable[int]) -> None:
        """Take files out."""
        writer, self._is_pending = self._open_writer(), True
        with engine.translated(self._folder, writes=True):
            for file_id in file_ids:
                writer.delete_documents_by_term("file_id", file_id)

    def clear(self) -> None:
        """Take everything out."""
        writer, self._is_pending = self._open_writer(), True
        with engine.translated(self._folder, writes=True):
            writer.delete_all_documents()

    def commit(self, generation: int, source: Mapping[str, Any] | None = None) -> None:
        """Commit what was added and deleted, under a generation number; `source`: the position in the record that it was derived from."""
        with engine.translated(self._folder, writes=True):
            if self._packed is not None:
                self._packed.flush()
            if self._writer is not None:
                self._writer.commit()
                self._is_pending = False
            # After the commit, so that a crash between the two leaves a number that is too small: the record then
            # repeats its last files, which is harmless, because adding a file replaces it.
            ranking_state.write(self._folder, generation, source)

    def merge(self) -> None:
        """Wait for running merges, and remove unused files."""
        with engine.translated(self._folder, writes=True):
            if self._writer is not None:
                self._writer.wait_merging_threads()
                self._writer = None
            self._open_writer().garbage_collect_files()

    def is_scattered(self, *, is_upkeep: bool = False) -> bool:
        """Whether the index is in many parts, with much of it outside of the largest, and there is disk space to merge them; is_upkeep: also if it is little."""
        with engine.translated(self._folder):
            if not parts.are_many(parts.read(self._folder), is_upkeep=is_upkeep):
                return False
            import shutil

            return shutil.disk_usage(self._folder).free > parts.needs(self._folder)

    def gather(self, file: RankedFile, segments: Sequence[RankedSegment]) -> None:
        """Merge all parts into one; nothing may be pending. file: one of `beside_others`, unchanged. Readers keep the parts that they have, and see
        the merged one when they reload."""
        with engine.translated(self._folder, writes=True):
            self._open_writer().commit()  # starts the merges that it would do by itself, so that they do not run meanwhile
        self.merge()
        found = parts.read(self._folder)
        if parts.can_be_one(found):
            self._commit_beside(1 + max(part.held for part in found), file, segments)
            self.merge()
        with engine.translated(self._folder, writes=True):
            ranking_state.tell(self._folder, parts=len(parts.read(self._folder)))

    def _commit_beside(self, many: int, file: RankedFile, segments: Sequence[RankedSegment]) -> None:
        """Commit a file again, in one part with `many` deleted documents."""
        import tantivy

        writer, self._is_pending = self._open_writer(), True
        with engine.translated(self._folder, writes=True):
            for _ in range(many):
                nothing = tantivy.Document()
                nothing.add_integer("file_id", _NOBODY)
                writer.add_document(nothing)
            writer.delete_documents_by_term("file_id", _NOBODY)
            # The packed segments beside the engine's files are left alone: they are there under the same numbers.
            entries = searchable.every(file.path, file.title, segments)
            _replace(writer, file, [segment.segment_id for segment in segments], entries)
            writer.commit()
            self._is_pending = False

    def close(self) -> None:
        """Close; what was not committed is forgotten."""
        writer, self._writer = self._writer, None
        if self._packed is not None:
            self._packed.close()
            self._packed = None
        if writer is not None:
            # A dead worker thread has raised when it was given work; its documents were not committed.
            with engine.translated(self._folder, writes=True), suppress(ValueError):
                if self._is_pending:  # only then: a rollback discards running merges, too
                    writer.rollback()
                writer.wait_merging_threads()
        self._view = None

    def _open_writer(self) -> tantivy.IndexWriter:
        if not self._writable:
            raise SearchFailed(f"the ranking index {self._folder} is open for reading only")
        if self._writer is None:
            with engine.translated(self._folder, writes=True):
                self._writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        return self._writer

    def _open_packed(self) -> packed.Writer:
        if self._packed is None:
            self._packed = packed.Writer(self._folder)
        return self._packed

    # Reading

    def reload(self) -> None:
        """Show the last commit from now on."""
        with engine.translated(self._folder), self._lock:
            self._index.reload()
            self._view = None

    def view(self) -> View:
        """The index as of the last reload; it stays as it is while others write."""
        from smart_context.engine.local.ranking.view import (
            View,  # imported here: a run that writes seldom looks anything up
        )

        with engine.translated(self._folder), self._lock:
            if self._view is None:
                self._view = View(self._index, self._folder)
            return self._view

    def is_wasteful(self) -> bool:
        """Whether most of the data for exact scoring belongs to removed segments."""
        return packed.is_wasteful(self._folder, self.view().segment_ids())

    def flaw(self) -> str:
        """Read everything that was committed; the first damage found, or ""."""
        with engine.translated(self._folder):
            found = parts.flaw(self._folder)  # before the engine reads them
        if found:
            return found
        try:
            self.reload()
            self.view().read_all()
        except SearchFailed as error:
            return error.reason or error.message
        return ""

    def file_ids(self) -> set[int]:
        """Every file that has a segment in the index."""
        return self.view().file_ids()


def _replace(
    writer: tantivy.IndexWriter, file: RankedFile, segment_ids: Sequence[int], entries: Sequence[entry.Entry]
) -> None:
    """Replace a file's segments."""
    import tantivy

    writer.delete_documents_by_term("file_id", file.file_id)
    every = tantivy.Document()  # what all segments of the file share: a copy takes half of the time that adding it does
    every.add_integer("file_id", file.file_id)
    every.add_text("ext", file.ext)
    for key in entry.folder_keys(file.path):
        every.add_text("folder", key)
    if file.years:
        every.add_text("year", " ".join(entry.year_keys(file.years)))
    first = 1
    for segment_id, own in zip(segment_ids, entries, strict=True):
        doc = every.__copy__()  # type: ignore[attr-defined]  # its types leave it out
        doc.add_unsigned("first", first)
        doc.add_unsigned("segment_id", segment_id)
        _add_entry(doc, own)
        writer.add_document(doc)
        first = 0


_NUMBERS = {code: number for number, code in enumerate(languages.CODES)}


def _add_entry(doc: tantivy.Document, made: entry.Entry) -> None:
    doc.add_text("text", made.text)
    if made.also:
        doc.add_text("also", made.also)
    if made.compounds:
        doc.add_text("compounds", made.compounds)
    if made.border:
        doc.add_text("border", made.border)
    doc.add_unsigned("length", made.length)
    doc.add_unsigned("language", _NUMBERS[made.language])
