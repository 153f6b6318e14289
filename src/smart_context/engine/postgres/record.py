"""The record in PostgreSQL, for reading: what is known about every file.

In: ids, paths, folders.  Out: rows, as frozen data.
Always: each answer is of one committed state; names and text from files are stored as bytes, because the database's text type cannot
hold all of them. `writer.py` writes.
"""

# ruff: noqa: S608  (the parts of queries that vary are the constants below; values are bound)

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from smart_context import __version__
from smart_context.engine.facts import Facts
from smart_context.engine.model import FileRow, LastRun, Passage, SegmentRow, Stamp, Tally
from smart_context.engine.postgres.database import Database
from smart_context.engine.rows import file_row, texts_of
from smart_context.errors import Forbidden, SearchFailed
from smart_context.text import hidden

# In the order of `FileRow`.
FILE = (
    "file_id, path, root, ext, kind, size, mtime_ns, sha256, state, reason, detail, title, years, notes, indexed_at,"
    " chars, reader, xid::text::bigint, judged, author, dated, same_text, like_text, unread_pages"
)
_SEGMENT = "segment_id, file_id, seq, pointer, heading, certainty"
_SOME = 500
_NEWEST = "SELECT xid::text::bigint FROM smart_context.commits ORDER BY xid DESC LIMIT 1"

# Whether this user sees texts by token only: the owner of the tables and indexers see all.
IS_SHOWN_LITTLE = """SELECT row_security_active('smart_context.blocks') AND NOT EXISTS (
    SELECT FROM pg_roles WHERE rolname = 'smart_context_indexer' AND pg_has_role(oid, 'USAGE'))"""
# One lookup in the index of whole paths, however long they are.
_IS_PATH = "sha256(path) = sha256(%s::bytea)"
# A folder's files: one range of the sorted index. `0` is the character after `/`.
_BELOW = """(path = %s OR (path >= %s AND path < %s)) AND head >= substr(%s::bytea, 1, 1024)
    AND head <= substr(%s::bytea, 1, 1024)"""
_BELOW_FOLDER = "(folder = %s OR (folder >= %s AND folder < %s))"

_STAMP = """SELECT path, file_id, size,
    CASE WHEN (state = 'failed' AND reader <> %s) OR (state = 'ok' AND same_text = '') THEN -1 ELSE mtime_ns END
    FROM smart_context.files"""
STAMPS_AT = f"{_STAMP} WHERE sha256(path) = ANY(%s) ORDER BY path"


class Record(Facts):
    """The record, for readers in any thread."""

    _FILES = "smart_context.files"
    _VALUE = "%s"
    _AMONG = "file_id = ANY(?)"

    def __init__(self, database: Database, machine: str, key: str = "") -> None:
        """key: the token of the caller for whom it is read; without one, everything that this user of the database may see."""
        self._database = database
        self._machine = machine
        self._key = key
        self._needs_token: bool | None = None  # whether the database shows texts to this user by token only

    def shown_to(self, key: str) -> Record:
        """The record as a caller may see it, by a token.

        Raises: Forbidden where the database shows texts by token only, and there is none.
        """
        if not key:
            self._refuse_nobody()
            return self
        other = copy(self)
        other._key = key
        return other

    def _refuse_nobody(self) -> None:
        if self._needs_token is None:
            self._needs_token = bool(self._look(IS_SHOWN_LITTLE)[0][0])
        if self._needs_token:
            raise Forbidden(
                "this machine shows texts to callers with a token of the shared record only",
                hint="make one with: context token add, or connect as smart_context_indexer",
            )

    @property
    def generation(self) -> int:
        """The number of the last commit."""
        found = self._rows(_NEWEST)
        return found[0][0] if found else 0

    def stamps(self, folder: str) -> dict[str, Stamp]:
        """Every file recorded at or below a folder, by path; those that are due again with a time of -1, as in the local record."""
        query = f"{_STAMP} WHERE {_BELOW} ORDER BY path"
        rows = self._rows(query, (__version__, *self._below(folder)))
        to_local = self._database.paths.to_local
        return {to_local(row[0]): row for row in rows}

    def stamped(self, folder: str) -> Iterator[Stamp]:
        """The same, each with its path on this machine."""
        for path, (_, file_id, size, mtime_ns) in self.stamps(folder).items():
            yield os.fsencode(path), file_id, size, mtime_ns

    def file(self, path: str) -> FileRow | None:
        """One file by its path."""
        query = f"SELECT {FILE} FROM smart_context.files WHERE {_IS_PATH}"
        rows = self._look(query, (self._database.paths.to_record(path),))
        return self._file(rows[0]) if rows else None

    def files(self, file_ids: Iterable[int]) -> dict[int, FileRow]:
        """Files by id; those that are not there are left out."""
        query = f"SELECT {FILE} FROM smart_context.files WHERE file_id = ANY(%s) ORDER BY file_id"
        return {row[0]: self._file(row) for row in self._rows(query, (_ids(file_ids),))}

    def file_ids(self) -> set[int]:
        """The id of every file."""
        return {row[0] for row in self._rows("SELECT file_id FROM smart_context.files ORDER BY file_id")}

    def same_size(self, size: int) -> bool:
        """Whether some file that was read has this size."""
        query = "SELECT EXISTS (SELECT FROM smart_context.files WHERE size = %s AND state <> 'failed')"
        return bool(self._look(query, (size,))[0][0])

    def same_content(self, sha256: str, size: int, ext: str) -> FileRow | None:
        """A file that was read with this content and extension (which decides, with the content, how it is read)."""
        query = f"""SELECT {FILE} FROM smart_context.files
            WHERE size = %s AND sha256 = %s AND ext = %s AND state <> 'failed' ORDER BY file_id LIMIT 1"""
        rows = self._look(query, (size, sha256, ext))
        return self._file(rows[0]) if rows else None

    def segments(self, segment_ids: Iterable[int]) -> dict[int, SegmentRow]:
        """Segments by id, without their text; those that are not there are left out."""
        query = f"SELECT {_SEGMENT} FROM smart_context.segments WHERE segment_id = ANY(%s) ORDER BY segment_id"
        return {row[0]: _segment(row) for row in self._rows(query, (_ids(segment_ids),))}

    def segments_of(self, file_id: int) -> list[SegmentRow]:
        """A file's segments in reading order, without their text."""
        query = f"""SELECT {_SEGMENT} FROM smart_context.segments WHERE file_id = %s AND dead IS NULL
            ORDER BY seq, segment_id"""
        return [_segment(row) for row in self._rows(query, (file_id,))]

    def texts(self, segment_ids: Iterable[int]) -> dict[int, str]:
        """The text of segments, by id."""
        return {i: text for i, text, _ in self._texts(segment_ids)}

    def passages(self, segment_ids: Iterable[int]) -> dict[int, Passage]:
        """Segments' text by id, each with its redacted spans."""
        return {i: Passage(text, hidden.unpack(known, len(text))) for i, text, known in self._texts(segment_ids)}

    def _texts(self, segment_ids: Iterable[int]) -> list[tuple[int, str, bytes]]:
        # A block is sent once, however many of its segments are asked for.
        wanted = _ids(segment_ids)
        query = """SELECT segment_id, hidden, ''::bytea, block_id, start, s.size,
                CASE WHEN row_number() OVER (PARTITION BY block_id ORDER BY segment_id) = 1 THEN b.data END
            FROM smart_context.segments s JOIN smart_context.blocks b USING (block_id)
            WHERE segment_id = ANY(%s) ORDER BY segment_id"""
        try:
            return texts_of(self._rows(query, (wanted,)))
        except zlib.error as error:
            raise SearchFailed(
                f"the index in {self._database.name} is damaged",
                reason=str(error),
                hint="restore it from a backup, or index anew with `full`",
            ) from error

    def judged_otherwise(self, rules: str) -> Iterator[FileRow]:
        """Files with text that were judged by other rules than these, by id."""
        query = f"""SELECT {FILE} FROM smart_context.files
            WHERE (judged < %s OR judged > %s) AND file_id > %s AND state = 'ok' ORDER BY file_id LIMIT {_SOME}"""
        last = 0
        while rows := self._rows(query, (rules, rules, last)):
            yield from map(self._file, rows)
            last = rows[-1][0]

    def by_path(self) -> Iterator[list[int]]:
        """The id of every file that gave text, in the order of their paths: a few, then more and more at a time."""
        last, many = b"", 16
        query = """SELECT path, file_id FROM smart_context.files
            WHERE (head, path) > (substr(%s::bytea, 1, 1024), %s) AND state = 'ok'
            ORDER BY head, path LIMIT %s"""
        while rows := self._rows(query, (last, last, many)):
            yield [row[1] for row in rows]
            last, many = rows[-1][0], min(4 * many, 4096)

    def living(self) -> list[int]:
        """The id of every live segment, ascending."""
        query = "SELECT segment_id FROM smart_context.segments WHERE dead IS NULL ORDER BY segment_id"
        return [row[0] for row in self._rows(query)]

    def last_run(self, folder: str) -> LastRun | None:
        """The last finished run over a folder or one above it, on any machine."""
        above = [self._database.paths.to_record(folder)]
        while (parent := os.path.dirname(above[-1])) != above[-1]:
            above.append(parent)
        query = """SELECT started_at, finished_at, device::bigint FROM smart_context.runs WHERE folder = ANY(%s)
            ORDER BY finished_at DESC, folder DESC, machine LIMIT 1"""
        rows = self._rows(query, (above,))
        return LastRun(*rows[0]) if rows else None

    def mounts(self, folder: str) -> dict[str, int]:
        """The folders at or below one that lay on another device than their parent at this machine's last run, with that device."""
        query = f"""SELECT folder, device::bigint FROM smart_context.mounts WHERE machine = %s AND {_BELOW_FOLDER}
            ORDER BY folder"""
        to_local = self._database.paths.to_local
        return {to_local(row[0]): row[1] for row in self._rows(query, (self._machine, *self._below(folder)[:3]))}

    def device(self, folder: str) -> int | None:
        """The device of a folder at this machine's last run over it, or when a run over a folder above met it as a mount."""
        name = self._database.paths.to_record(folder)
        query = """SELECT device::bigint FROM (
                SELECT device, 0 AS place FROM smart_context.runs WHERE folder = %s AND machine = %s
                UNION ALL SELECT device, 1 FROM smart_context.mounts WHERE folder = %s AND machine = %s
            ) AS known ORDER BY place DESC LIMIT 1"""
        rows = self._rows(query, (name, self._machine, name, self._machine))
        return rows[0][0] if rows else None

    def tallies(self, folder: str) -> list[Tally]:
        """The totals of a folder's files, by kind, state and reason."""
        query = f"""SELECT kind, state, reason, count(*), sum(chars)::bigint, sum(size)::bigint, sum(segments)::bigint
            FROM smart_context.files WHERE {_BELOW} GROUP BY kind, state, reason
            ORDER BY kind COLLATE "C", state COLLATE "C", reason COLLATE "C" """
        return [Tally(*row) for row in self._rows(query, self._below(folder))]

    def without_text(self, folder: str, limit: int, name: str = "") -> list[FileRow]:
        """A folder's files that gave no text, by path: those that failed first; of that name only, if one is given."""
        end = f"/{name}".encode("utf-8", "surrogateescape")
        named, values = (
            ("AND substr(path, greatest(1, length(path) - %s)) = %s", (len(end) - 1, end)) if name else ("", ())
        )
        query = f"""SELECT {FILE} FROM smart_context.files WHERE {_BELOW} {named} AND state <> 'ok'
            ORDER BY state COLLATE "C", path LIMIT %s"""
        return [self._file(row) for row in self._rows(query, (*self._below(folder), *values, limit))]

    def unread(self, folder: str) -> list[FileRow]:
        """A folder's files with pages or pictures that wait for OCR, by path."""
        query = f"SELECT {FILE} FROM smart_context.files WHERE {_BELOW} AND unread_pages > 0 ORDER BY path"
        return [self._file(row) for row in self._rows(query, self._below(folder))]

    def read_pages(self, folder: str) -> int:
        """How many places in a folder's files have text that OCR read."""
        query = f"""SELECT count(*) FROM (SELECT DISTINCT s.file_id, s.pointer FROM smart_context.segments s
            JOIN smart_context.files USING (file_id) WHERE certainty IS NOT NULL AND dead IS NULL AND {_BELOW}) AS places"""
        return int(self._rows(query, self._below(folder))[0][0])

    def flaw(self) -> str:
        """Check that every live segment has its text; the first that has none, or ""."""
        query = """SELECT segment_id FROM smart_context.segments s WHERE dead IS NULL
            AND NOT EXISTS (SELECT FROM smart_context.blocks b WHERE b.block_id = s.block_id)
            ORDER BY segment_id LIMIT 1"""
        rows = self._database.rows(query, seconds=None)
        return f"segment {rows[0][0]} has no text" if rows else ""

    # What only a writer may do

    def restamp(self, file_id: int, mtime_ns: int) -> None:
        """Not here."""
        raise self._is_for_reading()

    def mark_judged(self, file_id: int, rules: str) -> None:
        """Not here."""
        raise self._is_for_reading()

    def finish_run(self, folder: str, run: LastRun, mounts: Mapping[str, int]) -> None:
        """Not here."""
        raise self._is_for_reading()

    def forget_runs(self, folder: str, keep: Sequence[str]) -> None:
        """Not here."""
        raise self._is_for_reading()

    def rollback(self) -> None:
        """Nothing is pending."""

    def _is_for_reading(self) -> SearchFailed:
        return SearchFailed(f"the index in {self._database.name} is open for reading only")

    def close(self) -> None:
        """Release its connections."""
        self._database.drop()

    def _bound(self, ids: Iterable[int]) -> list[int]:
        return list(ids)

    def _below(self, folder: str) -> tuple[bytes, bytes, bytes, bytes, bytes]:
        """The bounds of the paths at or below a folder."""
        bare = self._database.paths.to_record(folder).rstrip(b"/")
        return bare, bare + b"/", bare + b"0", bare, bare + b"0"

    def _file(self, row: tuple[Any, ...]) -> FileRow:
        path, root = (os.fsencode(self._database.paths.to_local(name)) for name in row[1:3])
        detail, title, notes, author = (row[i].decode() for i in (10, 11, 13, 19))
        return file_row((row[0], path, root, *row[3:10], detail, title, row[12], notes, *row[14:19], author, *row[20:]))

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._look(query, values)

    # As `_rows`, for what a writer can answer without sending what waits.
    def _look(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._database.rows(query, values, key=self._key)


def _ids(ids: Iterable[int]) -> list[int]:
    return list(ids)


def _segment(row: tuple[Any, ...]) -> SegmentRow:
    segment_id, file_id, seq, pointer, heading, certainty = row
    return SegmentRow(segment_id, file_id, seq, pointer.decode(), heading.decode(), certainty)
