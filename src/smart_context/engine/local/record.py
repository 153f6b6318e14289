"""The record: what is known about every file, in SQLite.

In: what an indexing run learnt.  Out: rows, as frozen data.
Always: a commit is on the disk when `commit` returns; readers see whole commits and never wait for the writer; a file that
is not a record of ours, or is damaged, or is newer than this program is refused and left as it is.
"""

# ruff: noqa: S608  (the parts of queries that vary are the constants below; values are bound)

from __future__ import annotations

import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from smart_context import __version__
from smart_context.engine import refusals
from smart_context.engine.facts import Facts
from smart_context.engine.local import below, blocks, file_rows, leaves, migrations
from smart_context.engine.local.by_path import ByPath
from smart_context.engine.local.engine import RECORD
from smart_context.engine.local.leaves import Leaves
from smart_context.engine.local.segments import Segments
from smart_context.engine.model import FileRow, LastRun, NewFile, Stamp
from smart_context.engine.rows import FILE, file_values
from smart_context.errors import Conflict, NotFound, SearchFailed, StorageFailed
from smart_context.model import Segment
from smart_context.text import copies

_PUT_BLOCK = "INSERT INTO blocks (block_id, file_id, first, count, head, seen, data) VALUES (?, ?, ?, ?, ?, ?, ?)"
_FORGET_FOLDERS = "DELETE FROM folders WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.folder_id = folders.folder_id)"
_ENCODING = sys.getfilesystemencoding()
_DAMAGED = "set it aside and index anew with: context index --rebuild"
_STORAGE = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})


class NewerRecord(SearchFailed):
    """The record was written by a newer version of this program: nothing is wrong with it."""


class Record(ByPath, Facts, Segments):
    """The open database. One instance writes (from one thread); any number read, from any thread."""

    _FILES = "file_rows"
    _sketch = staticmethod(copies.dense)

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self.path = path
        self._pending = 0  # the generation of the open transaction, or 0
        self._next_segment = self._last_file = 0
        self._leaves: Leaves | None = None
        self._names: dict[bytes, int] = {}  # numbers of names, while a transaction is open,
        self._folders: dict[bytes, int] = {}  # and of folders
        self._has_removed = False  # a file, since the last commit

    @classmethod
    def open(cls, folder: Path, *, writable: bool = False) -> Self:
        """Open the record below a data directory; a writer creates it and brings an older one up to date.

        Raises: NotFound when there is none and we only read; SearchFailed when it cannot be used.
        """
        path = folder / RECORD
        with _translated(path):
            if not path.exists():
                if not writable:
                    raise NotFound(f"there is no index in {folder} yet", hint="make one with `indexFolder`")
                _create(path)
            db = _connect(path, writable=writable)
            try:
                _check(db, path, writable=writable)
            except BaseException:
                db.close()
                raise
            return cls(db, path)

    # Reading

    @property
    def generation(self) -> int:
        """The number of the last commit."""
        with _translated(self.path):
            found: int = self._db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
            return found

    @property
    def version(self) -> int:
        """A number that changes when another connection commits."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def stamps(self, folder: str) -> dict[str, Stamp]:
        """Every file recorded at or below a folder, by path, in no order."""
        rows = list(self.stamped(folder))
        paths = (
            b"\0".join([row[0] for row in rows]).decode(_ENCODING, "surrogateescape").split("\0")
        )  # none holds a NUL
        return dict(zip(paths, rows, strict=True)) if rows else {}

    def stamped(self, folder: str) -> Iterator[Stamp]:
        """Every file recorded at or below a folder, in no order. Files that failed in another version of this program are due again, and so are those
        recorded without author and date by an older version."""
        where, values = below.every(folder, self._rows)
        query = f"""SELECT {file_rows.PATH}, file_id, size,
            IIF((state = 'failed' AND reader_id IS NOT (SELECT name_id FROM names WHERE name = ?)) OR (state = 'ok' AND same_text = x''), -1, mtime_ns) FROM files {where}"""
        with _translated(self.path):
            yield from self._db.execute(query, (__version__.encode(), *values))

    def file(self, path: str) -> FileRow | None:
        """One file by its path."""
        rows = self._rows(f"SELECT {FILE} FROM file_rows WHERE {below.ITSELF}", below.parts(os.fsencode(path)))
        return file_rows.shown(rows[0]) if rows else None

    def files(self, file_ids: Iterable[int]) -> dict[int, FileRow]:
        """Files by id; those that are not there are left out."""
        among, values = self._among(list(file_ids))
        query = f"SELECT {FILE} FROM file_rows WHERE {among} ORDER BY file_id"
        return {r[0]: file_rows.shown(r) for r in self._rows(query, values)}

    def files_since(self, generation: int) -> Iterator[FileRow]:
        """Files written after a generation, by id."""
        query = f"SELECT {FILE} FROM file_rows WHERE generation > ? AND file_id > ? ORDER BY file_id LIMIT 500"
        last = 0
        while rows := self._rows(query, (generation, last)):
            yield from map(file_rows.shown, rows)
            last = rows[-1][0]

    def file_ids(self) -> set[int]:
        """The id of every file."""
        return {r[0] for r in self._rows("SELECT file_id FROM files ORDER BY file_id")}

    def same_size(self, size: int) -> bool:
        """Whether some file that was read has this size."""
        return bool(self._rows("SELECT 1 FROM files WHERE size = ? AND state <> 'failed' LIMIT 1", (size,)))

    def same_content(self, sha256: str, size: int, ext: str) -> FileRow | None:
        """A file that was read with this content and extension (which decides, with the content, how it is read)."""
        # Without the plus, SQLite puts the value of `content` into `substr`, which then does not match the index.
        query = f"""SELECT {FILE} FROM file_rows WHERE size = ? AND substr(content, 1, 4) = ? AND ext = ? AND +content = ?
            AND state <> 'failed' ORDER BY file_id LIMIT 1"""
        content = bytes.fromhex(sha256)
        rows = self._rows(query, (size, content[:4], ext, content))
        return file_rows.shown(rows[0]) if rows else None

    def judged_otherwise(self, rules: str) -> Iterator[FileRow]:
        """Files with text that were judged by other rules than these, by id."""
        # Two ranges of an index, each by itself and in its order: nothing is read where every file was judged by these rules.
        ranges = [
            f"SELECT file_id FROM files WHERE state = 'ok' AND judged_id {side} ? ORDER BY judged_id, file_id"
            for side in "<>"
        ]
        known = self._rows("SELECT name_id FROM names WHERE name = ?", (rules.encode(),)) or [(0,)]
        due = sorted(row[0] for query in ranges for row in self._rows(query, known[0]))
        for at in range(0, len(due), 500):
            yield from self.files(due[at : at + 500]).values()

    def last_run(self, folder: str) -> LastRun | None:
        """The last finished run over a folder or one above it."""
        above = [folder]
        while (parent := os.path.dirname(above[-1])) != above[-1]:
            above.append(parent)
        rows = self._rows(
            f"""SELECT started_at, finished_at, device FROM runs WHERE folder IN ({", ".join("?" * len(above))})
            ORDER BY finished_at DESC, folder DESC""",
            tuple(map(os.fsencode, above)),
        )
        return LastRun(*rows[0]) if rows else None

    def mounts(self, folder: str) -> dict[str, int]:
        """The folders at or below one that lay on another device than their parent at the last run, with that device."""
        query = f"SELECT folder, device FROM mounts WHERE {below.FOLDERS} ORDER BY folder"
        rows = self._rows(query, below.folder_values(folder))
        return {os.fsdecode(r[0]): r[1] for r in rows}

    def device(self, folder: str) -> int | None:
        """The device of a folder at the last run over it, or when a run over a folder above met it as a mount."""
        name = os.fsencode(folder)
        query = """SELECT device FROM (SELECT device, 0 AS place FROM runs WHERE folder = ?
            UNION ALL SELECT device, 1 FROM mounts WHERE folder = ?) ORDER BY place DESC"""
        rows = self._rows(query, (name, name))
        return rows[0][0] if rows else None

    def _file_names(self) -> Iterator[tuple[int, bytes, str]]:
        # In the order of an index that has both: a tenth of what the rows take.
        return iter(self._rows("SELECT file_id, name, '' FROM files ORDER BY folder_id, name"))

    def _bound(self, ids: Iterable[int]) -> str:
        return json.dumps(list(ids))

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with _translated(self.path):
            return self._db.execute(query, values).fetchall()

    def _reading(self) -> AbstractContextManager[None]:
        return _translated(self.path)

    # Writing: put and remove share one transaction, which commit ends

    def put(
        self, new: NewFile, segments: Sequence[Segment], years: Sequence[str], indexed_at: str
    ) -> tuple[int, list[int]]:
        """Record a file and its segments in place of the old ones; the ids of the file and of each segment."""
        with _translated(self.path):
            generation = self._begin()
            assert self._leaves
            given = file_values(new, segments, years, indexed_at, generation)
            told = file_rows.values(given, self._number, self._folder)
            file_id: int = self._db.execute(file_rows.PUT, told).fetchone()[0]
            if file_id <= self._last_file:
                self._db.execute("UPDATE blocks SET dead = ? WHERE file_id = ? AND dead = 0", (generation, file_id))
            self._last_file = max(self._last_file, file_id)
            first = self._next_segment
            for one in blocks.made(segments):
                own = (file_id, self._next_segment, one.count, one.head, one.seen)
                block = self._leaves.number(leaves.payload(own, len(one.data)))
                self._db.execute(_PUT_BLOCK, (block, *own, one.data))
                self._next_segment += one.count
            return file_id, list(range(first, self._next_segment))

    def restamp(self, file_id: int, mtime_ns: int) -> None:
        """Record that a file has a new modification time and the same content."""
        with _translated(self.path):
            self._begin()
            self._db.execute("UPDATE files SET mtime_ns = ? WHERE file_id = ?", (mtime_ns, file_id))

    def mark_judged(self, file_id: int, rules: str) -> None:
        """Record that a file was judged by rules that hide nothing more of it, and nothing less."""
        with _translated(self.path):
            self._begin()
            judged = self._number(rules.encode())
            self._db.execute("UPDATE files SET judged_id = ? WHERE file_id = ?", (judged, file_id))

    def _number(self, name: bytes) -> int:
        """The number of a name; a new name gets the next one."""
        if name not in self._names:
            self._db.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (name,))
            (self._names[name],) = self._db.execute("SELECT name_id FROM names WHERE name = ?", (name,)).fetchone()
        return self._names[name]

    def _folder(self, folder: bytes) -> int:
        """The number of a folder; a new folder gets the next one."""
        if folder not in self._folders:
            self._db.execute("INSERT OR IGNORE INTO folders (folder) VALUES (?)", (folder,))
            (found,) = self._db.execute("SELECT folder_id FROM folders WHERE folder = ?", (folder,)).fetchone()
            self._folders[folder] = found
        return self._folders[folder]

    def remove(self, file_ids: Iterable[int]) -> None:
        """Forget files and their segments."""
        with _translated(self.path):
            self._begin()
            self._db.executemany("DELETE FROM files WHERE file_id = ?", ((i,) for i in file_ids))
            self._has_removed = True

    def finish_run(self, folder: str, run: LastRun, mounts: Mapping[str, int]) -> None:
        """Record that a run over a folder came to its end, and what is mounted in it; nothing else may be pending."""
        with _translated(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "INSERT OR REPLACE INTO runs (folder, device, started_at, finished_at) VALUES (?, ?, ?, ?)",
                (os.fsencode(folder), run.device, run.started_at, run.finished_at),
            )
            self._db.execute(f"DELETE FROM mounts WHERE {below.FOLDERS}", below.folder_values(folder))
            self._db.executemany("INSERT INTO mounts VALUES (?, ?)", ((os.fsencode(m), d) for m, d in mounts.items()))

    def forget_runs(self, folder: str, keep: Sequence[str]) -> None:
        """Remove the runs over folders at or below one, but those at or below others; nothing else may be pending."""
        conditions = " AND ".join([below.FOLDERS, *(f"NOT ({below.FOLDERS})" for _ in keep)])
        bounds = [value for one in (folder, *keep) for value in below.folder_values(one)]
        with _translated(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(f"DELETE FROM runs WHERE {conditions}", bounds)
            self._db.execute(f"DELETE FROM mounts WHERE {conditions}", bounds)

    def commit(self) -> int:
        """Commit what was put and removed, and return its generation."""
        if not self._pending:
            return self.generation
        with _translated(self.path):
            if self._has_removed:
                self._db.execute(_FORGET_FOLDERS)
            told = (("generation", self._pending), ("segments", self._next_segment - 1))
            self._db.executemany("UPDATE meta SET value = ?2 WHERE key = ?1", told)
            self._db.execute("COMMIT")
        generation, self._pending, self._names, self._folders = self._pending, 0, {}, {}
        self._has_removed = False
        return generation

    def rollback(self) -> None:
        """Discard what was put and removed since the last commit."""
        self._pending, self._leaves, self._names, self._folders = 0, None, {}, {}
        self._has_removed = False
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _begin(self) -> int:
        if not self._pending:
            self._db.execute("BEGIN IMMEDIATE")
            told = dict(self._db.execute("SELECT key, value FROM meta ORDER BY key").fetchall())
            generation = told["generation"]
            self._db.execute("DELETE FROM blocks WHERE dead > 0")
            last = dict(self._db.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name").fetchall())
            self._next_segment, self._last_file = told["segments"] + 1, last.get("files", 0)
            if self._leaves is None:
                self._leaves = Leaves(self._rows("PRAGMA page_size")[0][0], last.get("blocks", 0))
            self._pending = generation + 1
        return self._pending

    def flaw(self) -> str:
        """Check every page; the first damage found, or ""."""
        try:
            with _translated(self.path):
                found: str = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        except SearchFailed as error:
            return error.reason or error.message
        return "" if found == "ok" else found

    def tidy(self) -> None:
        """Free unused pages, refresh the query planner's statistics, and checkpoint the WAL."""
        with _translated(self.path):
            self._db.executescript("PRAGMA incremental_vacuum")  # `execute` would take one step: one page
            self._db.execute("PRAGMA optimize")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def rewrite(self) -> None:
        """Rewrite the database, so that nothing of removed rows is left in it."""
        with _translated(self.path):
            used = " UNION ".join(f"SELECT {name}_id FROM files" for name in ("root", "reader", "judged"))
            self._db.execute(f"DELETE FROM names WHERE name_id NOT IN ({used})")
            self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise Conflict(
                f"the index {self.path} is being read, and its log still holds what was removed",
                hint="try again in a moment, or after its servers have ended: context maintain",
            )

    def close(self) -> None:
        """Close; uncommitted changes are discarded."""
        self.rollback()
        self._db.close()


def _create(path: Path) -> None:
    # Created under another name and renamed, so that a record that exists is complete.
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    db = sqlite3.connect(beside, isolation_level=None)
    try:
        # Nothing of it need survive a power cut before it is renamed, so it is written to the disk once, below.
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA journal_mode = MEMORY").fetchall()
        # As small as with 4096, and smaller than with 1024 or 8192.
        db.execute("PRAGMA page_size = 2048")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID}")
        migrations.migrate(db)
    finally:
        db.close()
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.rename(path)


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    name = path.resolve().as_uri() + ("?mode=rw" if writable else "?mode=ro")
    db = sqlite3.connect(name, uri=True, timeout=10, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA foreign_keys = ON")
    if writable:
        # FULL: a commit is on the disk when it returns, power cut or not.
        db.execute("PRAGMA synchronous = FULL")
        # Kilobytes: pages that do not fit are written to the log before the commit, read again, and written once more.
        db.execute("PRAGMA cache_size = -8000")
    else:
        db.execute("PRAGMA query_only = ON")
    return db


def _check(db: sqlite3.Connection, path: Path, *, writable: bool) -> None:
    owner: int = db.execute("PRAGMA application_id").fetchone()[0]
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if owner != migrations.APPLICATION_ID:
        raise SearchFailed(f"{path} is not an index of ours", hint=_DAMAGED)
    if version > migrations.VERSION:
        raise NewerRecord(
            f"the index {path} was written by a newer version of this program",
            reason=f"its format is {version}, this program knows up to {migrations.VERSION}",
            hint="update Smart Context, or keep another index with --data-dir",
        )
    pages: int = db.execute("PRAGMA page_count").fetchone()[0]
    page_size: int = db.execute("PRAGMA page_size").fetchone()[0]
    log = path.with_name(path.name + "-wal")
    if pages * page_size > path.stat().st_size and not (log.exists() and log.stat().st_size):
        raise SearchFailed(f"the index {path} is truncated", hint=_DAMAGED)
    if writable:
        db.execute("PRAGMA journal_mode = WAL").fetchall()
        migrations.migrate(db)
    elif version < migrations.VERSION:
        raise SearchFailed(
            f"the index {path} was written by an older version of this program",
            hint="`indexFolder` brings it up to date",
        )


class _translated:  # noqa: N801  # a block, as `contextmanager` makes one for three times the time
    """Translate errors of SQLite and the disk into ours."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            _translate(error, self._path)


def _translate(error: BaseException, path: Path) -> None:
    """Raise our error for one of SQLite or the disk; return for any other."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise Conflict(f"the index {path} is busy", hint="try again in a moment") from error
        if code == sqlite3.SQLITE_FULL:
            raise refusals.full(path.parent) from error
        if code in _STORAGE:
            raise _refused(path, code, str(error)) from error
        raise SearchFailed(f"the index {path} is damaged", reason=str(error), hint=_DAMAGED) from error
    if isinstance(error, zlib.error):
        raise SearchFailed(f"the index {path} is damaged", reason=str(error), hint=_DAMAGED) from error
    if isinstance(error, OSError):
        raise refusals.refused(f"the index {path} cannot be written or read", path.parent, error) from error


def _refused(path: Path, code: int, reason: str) -> StorageFailed:
    what = f"the index {path} cannot be written or read"
    if code != sqlite3.SQLITE_IOERR and not refusals.is_read_only(path.parent):
        return StorageFailed(what, reason=reason, hint="check who may read and write it")
    return refusals.by_number(what, path.parent, 0, reason)
