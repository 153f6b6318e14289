"""Write the record in PostgreSQL.

In: files with their segments and the entries of these.  Out: rows, by COPY, in one transaction until `commit`.
Always: a commit is durable when `commit` returns; nothing is visible to others before it; any number of machines write at once, and of two that
write the same file the later one wins, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from smart_context import __version__
from smart_context.engine import searchable
from smart_context.engine.entry import Entry
from smart_context.engine.local.ranking_state import ANALYSIS_VERSION
from smart_context.engine.model import FileRow, LastRun, NewFile, Stamp, extension
from smart_context.engine.postgres import terms
from smart_context.engine.postgres.database import WRITE_SECONDS, Connection, Database
from smart_context.engine.postgres.record import STAMPS_AT, Record
from smart_context.engine.rows import blocks, file_values
from smart_context.model import Segment
from smart_context.text import hidden

CHANNEL = "smart_context"
_FILES = 64  # buffered before they are sent
_CHARS = 2_000_000
_KEPT = "1 hour"  # how long a replaced text stays for search nodes that lag
_ALIKE = 50  # contents of one size that are cached
_OF_SIZE = f"""SELECT wanted, sha256, ext FROM unnest(%s::bigint[]) AS wanted CROSS JOIN LATERAL (
    SELECT sha256, ext FROM smart_context.files WHERE size = wanted AND state <> 'failed' LIMIT {_ALIKE}) AS of_size"""  # noqa: S608

_COLUMNS = (
    "path, root, ext, kind, size, mtime_ns, sha256, state, reason, detail, title, years, notes, indexed_at, chars,"
    " segments, reader, judged, author, dated, same_text, like_text, unread_pages, analysis"
)
_TYPES = (
    "bytea bytea text text bigint bigint text text text bytea bytea text bytea text bigint integer text text bytea text"
    " bytea bytea integer integer"
)
_PUT = f"""INSERT INTO smart_context.files ({_COLUMNS})
    SELECT * FROM unnest({", ".join(f"%s::{kind}[]" for kind in _TYPES.split())})
    ON CONFLICT (sha256(path)) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ") if name != "path")},
    xid = pg_current_xact_id()
    RETURNING path, file_id, xmax = 0"""  # noqa: S608  constants


@dataclass(frozen=True, slots=True)
class _Put:
    new: NewFile
    segments: Sequence[Segment]
    years: Sequence[str]
    indexed_at: str
    entries: Sequence[Entry]


class Writer(Record):
    """The record, open for one thread to write. What it reads includes what it has put."""

    def __init__(self, database: Database, machine: str) -> None:
        super().__init__(database, machine)
        self._db: Connection | None = None
        self._waiting: dict[str, _Put] = {}
        self._chars = 0
        self._foreseen: dict[int, set[tuple[str, str]]] = {}  # by size: what had it at the last `look_up`
        self._copies: bool | None = None  # whether this user may write by COPY

    # Gathering

    def put(
        self, new: NewFile, segments: Sequence[Segment], years: Sequence[str], indexed_at: str, entries: Sequence[Entry]
    ) -> None:
        """Put a file in place of its old version."""
        made = entries or searchable.every(new.path, new.title, segments)
        self._waiting[new.path] = _Put(new, segments, years, indexed_at, made)
        if new.size in self._foreseen and new.state != "failed":
            self._foreseen[new.size].add((new.sha256, extension(new.path)))
        self._chars += sum(len(segment.text) for segment in segments)
        if len(self._waiting) >= _FILES or self._chars >= _CHARS:
            self._flush()

    def remove(self, file_ids: Iterable[int]) -> None:
        """Forget files and their segments."""
        gone = list(file_ids)
        with self._writing() as db:
            db.execute("DELETE FROM smart_context.files WHERE file_id = ANY(%s)", (gone,))
            for table in ("segments", "blocks", "terms", "vectors"):
                db.execute(f"DELETE FROM smart_context.{table} WHERE file_id = ANY(%s)", (gone,))  # noqa: S608
            db.execute("INSERT INTO smart_context.gone (file_id) SELECT unnest(%s::bigint[])", (gone,))

    def restamp(self, file_id: int, mtime_ns: int) -> None:
        """Record that a file has a new modification time and the same content."""
        with self._writing() as db:
            db.execute("UPDATE smart_context.files SET mtime_ns = %s WHERE file_id = %s", (mtime_ns, file_id))

    def mark_judged(self, file_id: int, rules: str) -> None:
        """Record that a file was judged by rules that hide nothing more of it, and nothing less."""
        with self._writing() as db:
            db.execute("UPDATE smart_context.files SET judged = %s WHERE file_id = %s", (rules, file_id))

    def finish_run(self, folder: str, run: LastRun, mounts: Mapping[str, int]) -> None:
        """Record that a run over a folder came to its end, and what is mounted in it; nothing else may be pending."""
        name = self._database.paths.to_record(folder)
        with self._database.connection(WRITE_SECONDS) as db, db.transaction():
            db.execute(
                """INSERT INTO smart_context.runs VALUES (%s, %s, %s, %s, %s) ON CONFLICT (folder, machine) DO UPDATE
                SET device = excluded.device, started_at = excluded.started_at, finished_at = excluded.finished_at""",
                (name, self._machine, run.device, run.started_at, run.finished_at),
            )
            db.execute(
                """DELETE FROM smart_context.mounts
                WHERE machine = %s AND (folder = %s OR (folder >= %s AND folder < %s))""",
                (self._machine, *self._below(folder)[:3]),
            )
            for mount, device in mounts.items():
                db.execute(
                    "INSERT INTO smart_context.mounts VALUES (%s, %s, %s)",
                    (self._database.paths.to_record(mount), self._machine, device),
                )

    def forget_runs(self, folder: str, keep: Sequence[str]) -> None:
        """Remove the runs over folders at or below one, on any machine, but those at or below others; nothing else may be pending."""
        one = "(folder = %s OR (folder >= %s AND folder < %s))"
        conditions = " AND ".join([one, *(f"NOT {one}" for _ in keep)])
        bounds = [value for place in (folder, *keep) for value in self._below(place)[:3]]
        with self._database.connection(WRITE_SECONDS) as db, db.transaction():
            for table in ("runs", "mounts"):
                db.execute(f"DELETE FROM smart_context.{table} WHERE {conditions}", bounds)  # noqa: S608  constants

    def commit(self) -> int:
        """Commit what was put and removed, and return its generation."""
        self._flush()
        if self._db is None:
            return self.generation
        db, self._db = self._db, None
        with self._database.translated():
            try:
                with db.pipeline():
                    made = db.execute(
                        "INSERT INTO smart_context.commits (machine) VALUES (%s) RETURNING xid::text::bigint",
                        (self._machine,),
                    )
                    db.execute("SELECT pg_notify(%s, '')", (CHANNEL,))
                row = made.fetchone()
                db.execute("COMMIT")
            except BaseException:
                db.close()
                raise
        self._database.give(db)
        assert row
        return int(row[0])

    def rollback(self) -> None:
        """Discard what was put and removed since the last commit."""
        self._waiting, self._chars = {}, 0
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def tidy(self) -> None:
        """Remove texts that were replaced so long ago that no search node shows them."""
        with self._database.connection(seconds=None) as db:
            for table in ("segments", "blocks"):
                db.execute(f"DELETE FROM smart_context.{table} WHERE dead < now() - interval '{_KEPT}'")  # noqa: S608

    def close(self) -> None:
        """Close; uncommitted changes are discarded."""
        self.rollback()
        super().close()

    # Reading what was put

    def look_up(self, files: Mapping[str, int]) -> dict[str, Stamp]:
        """The stamps of some files, given with their sizes. The contents with these sizes are cached from now on."""
        self._flush()
        to_record = self._database.paths.to_record
        stamps = self._look(STAMPS_AT, (__version__, [sha256(to_record(path)).digest() for path in files]))
        sizes = sorted(set(files.values()))
        known: dict[int, list[tuple[str, str]]] = {size: [] for size in sizes}
        for size, digest, ext in self._look(_OF_SIZE, (sizes,)):
            known[size].append((digest, ext))
        self._foreseen = {size: set(contents) for size, contents in known.items() if len(contents) < _ALIKE}
        to_local = self._database.paths.to_local
        return {to_local(row[0]): row for row in stamps}

    def file(self, path: str) -> FileRow | None:
        """One file by its path."""
        if path in self._waiting:
            self._flush()
        return super().file(path)

    def same_size(self, size: int) -> bool:
        """Whether some file that was read has this size."""
        if size in self._foreseen:
            return bool(self._foreseen[size])
        # Asked for every new file: answered without sending the buffer.
        return any(put.size == size for put in self._read()) or super().same_size(size)

    def same_content(self, sha256: str, size: int, ext: str) -> FileRow | None:
        """A file that was read with this content and extension."""
        if size in self._foreseen and (sha256, ext) not in self._foreseen[size]:
            return None
        if any((put.sha256, put.size, extension(put.path)) == (sha256, size, ext) for put in self._read()):
            self._flush()
        return super().same_content(sha256, size, ext)

    def _read(self) -> Iterator[NewFile]:
        return (put.new for put in self._waiting.values() if put.new.state != "failed")

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        self._flush()
        return self._look(query, values)

    def _look(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        if self._db is None:
            return super()._look(query, values)
        with self._database.translated():
            return self._db.execute(query, values or None, binary=True).fetchall()

    # Sending

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """The open transaction, after sending the buffer."""
        self._flush()
        with self._sending() as db:
            yield db

    @contextmanager
    def _sending(self) -> Iterator[Connection]:
        with self._database.translated():
            if self._db is None:
                self._db = self._database.take(WRITE_SECONDS)
                self._db.execute("BEGIN")
            yield self._db

    def _flush(self) -> None:
        if not self._waiting:
            return
        to_record = self._database.paths.to_record
        puts = sorted(self._waiting.values(), key=lambda put: to_record(put.new.path))  # in one order: no deadlock
        self._waiting, self._chars = {}, 0
        with self._sending() as db:
            file_ids = _put_files(db, puts, to_record)
            count = sum(len(put.segments) for put in puts)
            query = "SELECT nextval('smart_context.segment_ids') FROM generate_series(1, %s)"
            numbers = iter([row[0] for row in db.execute(query, (count,), binary=True)])
            if self._copies is None:
                self._copies = _may_copy(db)
            packed = [_packed(put, file_ids[to_record(put.new.path)], numbers) for put in puts]
            _send(db, packed, _copied if self._copies else _inserted)


@dataclass(frozen=True, slots=True)
class _Packed:
    """A file's rows, ready to be sent."""

    segments: list[tuple[Any, ...]]
    blocks: list[tuple[Any, ...]]
    terms: list[tuple[Any, ...]]


def _put_files(db: Connection, puts: Sequence[_Put], to_record: Callable[[str], bytes]) -> dict[bytes, int]:
    """Record files; their ids by path. Their old segments become dead."""
    rows = [(to_record(put.new.path), to_record(put.new.root), *_values(put)) for put in puts]
    found = db.execute(_PUT, [list(column) for column in zip(*rows, strict=True)], binary=True).fetchall()
    replaced = [file_id for _, file_id, is_new in found if not is_new]
    if replaced:
        for table in ("segments", "blocks"):
            db.execute(
                f"UPDATE smart_context.{table} SET dead = now() WHERE file_id = ANY(%s) AND dead IS NULL",  # noqa: S608
                (replaced,),
            )
        for table in ("terms", "vectors"):
            db.execute(f"DELETE FROM smart_context.{table} WHERE file_id = ANY(%s)", (replaced,))  # noqa: S608
    return {path: file_id for path, file_id, _ in found}


def _values(put: _Put) -> tuple[Any, ...]:
    (
        _,
        _,
        ext,
        kind,
        size,
        mtime_ns,
        sha256,
        state,
        reason,
        detail,
        title,
        years,
        notes,
        at,
        chars,
        reader,
        _,
        by,
        author,
        *more,
    ) = file_values(put.new, put.segments, put.years, put.indexed_at, 0)
    said = (detail.encode(), title.encode(), years, notes.encode())
    plain = reason.replace("\0", "\ufffd")
    last = (at, chars, len(put.segments), reader, by, author.encode(), *more, ANALYSIS_VERSION)
    return (ext, kind, size, mtime_ns, sha256, state, plain, *said, *last)


def _packed(put: _Put, file_id: int, numbers: Iterator[int]) -> _Packed:
    out = _Packed([], [], [])
    entries = iter(put.entries)
    for some, data in blocks(put.segments):
        ids = [next(numbers) for _ in some]
        block_id = ids[0]  # nobody else has it
        out.blocks.append((block_id, file_id, data))
        out.terms.append((block_id, file_id, terms.pack([(number, next(entries)) for number in ids])))
        for number, (one, start, size) in zip(ids, some, strict=True):
            said = (one.pointer.encode(), one.heading.encode(), one.certainty, hidden.pack(one.hidden))
            out.segments.append((number, file_id, one.seq, *said, block_id, start, size))
    return out


def _may_copy(db: Connection) -> bool:
    """Whether this user may COPY: under row-level security, users other than the owner of the tables may only INSERT."""
    guarded = " OR ".join(f"row_security_active('smart_context.{table}')" for table in ("segments", "blocks", "terms"))
    return db.execute(f"SELECT {guarded}").fetchone() == (False,)


def _send(
    db: Connection, files: Sequence[_Packed], by: Callable[[Connection, str, str, list[str], list[Any]], None]
) -> None:
    columns = "segment_id, file_id, seq, pointer, heading, certainty, hidden, block_id, start, size"
    kinds = ["int8", "int8", "int4", "bytea", "bytea", "int2", "bytea", "int8", "int4", "int4"]
    by(db, "segments", columns, kinds, [row for file in files for row in file.segments])
    columns, kinds = "block_id, file_id, data", ["int8", "int8", "bytea"]
    by(db, "blocks", columns, kinds, [row for file in files for row in file.blocks])
    by(db, "terms", columns, kinds, [row for file in files for row in file.terms])


def _copied(db: Connection, table: str, columns: str, kinds: list[str], rows: list[tuple[Any, ...]]) -> None:
    copy_in = f"COPY smart_context.{table} ({columns}) FROM STDIN (FORMAT BINARY)"
    with db.cursor() as cursor, cursor.copy(copy_in) as copy:
        copy.set_types(kinds)
        for row in rows:
            copy.write_row(row)


def _inserted(db: Connection, table: str, columns: str, kinds: list[str], rows: list[tuple[Any, ...]]) -> None:
    if rows:
        arrays = ", ".join(f"%s::{kind}[]" for kind in kinds)
        insert = f"INSERT INTO smart_context.{table} ({columns}) SELECT * FROM unnest({arrays})"  # noqa: S608  constants
        db.execute(insert, [list(column) for column in zip(*rows, strict=True)])
