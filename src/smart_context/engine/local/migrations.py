"""The record's schema, as numbered steps.

In: an open database at some version.  Out: the same at `VERSION`.
Always: a step that has been released is never edited; a change to the schema is a new step at the end.
"""

# ruff: noqa: S608  (the names of columns are constants)

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from smart_context.engine.local import below, blocks, file_rows, leaves
from smart_context.engine.local.blocks import Block
from smart_context.engine.rows import texts_of
from smart_context.model import Segment
from smart_context.text import copies, hidden

APPLICATION_ID = 0x53435458  # "SCTX": a file with another id is not ours
NOT_JUDGED = "-"  # by any rules of redaction: of a file that was indexed before files were judged as a whole


def _first(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID")
    db.execute("INSERT INTO meta VALUES ('generation', 0)")
    db.execute(
        """CREATE TABLE files (
            file_id INTEGER PRIMARY KEY AUTOINCREMENT,
            path BLOB NOT NULL UNIQUE,
            root BLOB NOT NULL,
            ext TEXT NOT NULL,
            kind TEXT NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            sha256 TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('ok', 'no_text', 'failed')),
            reason TEXT NOT NULL,
            detail TEXT NOT NULL,
            title TEXT NOT NULL,
            years TEXT NOT NULL,
            notes TEXT NOT NULL,
            indexed_at TEXT NOT NULL,
            chars INTEGER NOT NULL,
            reader TEXT NOT NULL,
            generation INTEGER NOT NULL
        ) STRICT"""
    )
    # A file whose size is known may be one we have read already, under another name.
    db.execute("CREATE INDEX files_by_size ON files (size, sha256)")
    db.execute("CREATE INDEX files_by_generation ON files (generation)")
    # `dead` is the generation that replaced a segment: its text stays for searches that began before, until the next commit.
    db.execute(
        """CREATE TABLE segments (
            segment_id INTEGER PRIMARY KEY AUTOINCREMENT,
            file_id INTEGER NOT NULL REFERENCES files (file_id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            pointer TEXT NOT NULL,
            heading TEXT NOT NULL,
            text BLOB NOT NULL,
            dead INTEGER NOT NULL DEFAULT 0
        ) STRICT"""
    )
    db.execute("CREATE INDEX segments_of_file ON segments (file_id, seq)")
    db.execute("CREATE INDEX segments_dead ON segments (dead) WHERE dead > 0")
    db.execute(
        """CREATE TABLE runs (
            folder BLOB PRIMARY KEY,
            device INTEGER NOT NULL,
            started_at TEXT NOT NULL,
            finished_at TEXT NOT NULL
        ) STRICT, WITHOUT ROWID"""
    )


def _second(db: sqlite3.Connection) -> None:
    # One look finds a file that was read with some content, however many share it or failed with it.
    db.execute("DROP INDEX files_by_size")
    db.execute("CREATE INDEX files_by_content ON files (size, sha256, ext) WHERE state <> 'failed'")
    # Folders inside an indexed one that lay on another device than their parent when they were last walked.
    db.execute("CREATE TABLE mounts (folder BLOB PRIMARY KEY, device INTEGER NOT NULL) STRICT, WITHOUT ROWID")


def _keep_what_is_hidden(db: sqlite3.Connection) -> None:
    # What was indexed before has not been judged: it is kept, and comes back into the ranking when a run has judged it.
    db.execute(f"ALTER TABLE files ADD COLUMN judged TEXT NOT NULL DEFAULT '{NOT_JUDGED}'")
    db.execute("CREATE INDEX files_by_rules ON files (judged) WHERE state = 'ok'")
    db.execute("ALTER TABLE segments ADD COLUMN hidden BLOB NOT NULL DEFAULT x''")


def _keep_texts_in_blocks(db: sqlite3.Connection) -> None:
    # The texts of neighbouring segments are compressed together: a quarter less. Segments of before keep their own until they are written again.
    db.execute(
        """CREATE TABLE blocks (
            block_id INTEGER PRIMARY KEY AUTOINCREMENT,
            file_id INTEGER NOT NULL REFERENCES files (file_id) ON DELETE CASCADE,
            data BLOB NOT NULL,
            dead INTEGER NOT NULL DEFAULT 0
        ) STRICT"""
    )
    db.execute("CREATE INDEX blocks_of_file ON blocks (file_id)")
    db.execute("CREATE INDEX blocks_dead ON blocks (dead) WHERE dead > 0")
    for column in ("block_id", "start", "size"):
        db.execute(f"ALTER TABLE segments ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")


def _keep_what_files_say_of_themselves(db: sqlite3.Connection) -> None:
    # What was recorded before has none of these; it has no `same_text` either, by which the next run knows that it is to be read again.
    for column in ("author", "dated"):
        db.execute(f"ALTER TABLE files ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
    for column in ("same_text", "like_text"):
        db.execute(f"ALTER TABLE files ADD COLUMN {column} BLOB NOT NULL DEFAULT x''")
    db.execute("ALTER TABLE files ADD COLUMN unread_pages INTEGER NOT NULL DEFAULT 0")
    # How certain it is, in per cent, that a text was read rightly from a picture; NULL where the file itself has the text.
    db.execute("ALTER TABLE segments ADD COLUMN certainty INTEGER")


def _keep_less_for_segments_and_files(db: sqlite3.Connection) -> None:
    _keep_segments_in_blocks(db)
    _keep_files_in_few_bytes(db)


def _keep_segments_in_blocks(db: sqlite3.Connection) -> None:
    # What a segment is, beside its text, is kept in the block that has the text: a seventh of the record less than as rows with an index of their own.
    db.execute(
        """CREATE TABLE new_blocks (
            block_id INTEGER PRIMARY KEY AUTOINCREMENT,
            file_id INTEGER NOT NULL REFERENCES files (file_id) ON DELETE CASCADE,
            first INTEGER NOT NULL,
            count INTEGER NOT NULL,
            head INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            data BLOB NOT NULL,
            dead INTEGER NOT NULL DEFAULT 0
        ) STRICT"""
    )
    numbers = leaves.Leaves(db.execute("PRAGMA page_size").fetchone()[0], 0)
    put = "INSERT INTO new_blocks (block_id, file_id, first, count, head, seen, data) VALUES (?, ?, ?, ?, ?, ?, ?)"
    for (file_id,) in db.execute("SELECT DISTINCT file_id FROM segments WHERE dead = 0 ORDER BY file_id").fetchall():
        for first, block in _as_blocks(db, file_id):
            told = (file_id, first, block.count, block.head, block.seen)
            number = numbers.number(leaves.payload(told, len(block.data)))
            db.execute(put, (number, *told, block.data))
    last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'segments'").fetchone()
    db.execute("INSERT INTO meta VALUES ('segments', ?)", last or (0,))  # the last number that was given to one
    db.execute("DROP TABLE segments")
    db.execute("DROP TABLE blocks")
    db.execute("ALTER TABLE new_blocks RENAME TO blocks")
    # With what is counted, so that counting touches no text.
    db.execute("CREATE INDEX blocks_of_file ON blocks (file_id, count, dead)")
    db.execute("CREATE INDEX blocks_by_first ON blocks (first, count, dead)")
    db.execute("CREATE INDEX blocks_seen ON blocks (file_id) WHERE seen > 0")
    db.execute("CREATE INDEX blocks_dead ON blocks (dead) WHERE dead > 0")


def _keep_files_in_few_bytes(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE names (name_id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE) STRICT")
    for column in ("root", "reader", "judged"):
        db.execute(f"INSERT OR IGNORE INTO names (name) SELECT DISTINCT CAST({column} AS BLOB) FROM files")
        db.execute(f"ALTER TABLE files ADD COLUMN {column}_id INTEGER NOT NULL DEFAULT 0")
        db.execute(f"UPDATE files SET {column}_id = (SELECT name_id FROM names WHERE name = CAST({column} AS BLOB))")
    db.execute("ALTER TABLE files ADD COLUMN content BLOB NOT NULL DEFAULT x''")
    db.execute("ALTER TABLE files ADD COLUMN indexed ANY NOT NULL DEFAULT 0")
    told = db.execute("SELECT sha256, indexed_at, file_id FROM files ORDER BY file_id").fetchall()
    kept = ((bytes.fromhex(sha256), file_rows.seconds(time), file_id) for sha256, time, file_id in told)
    db.executemany("UPDATE files SET content = ?, indexed = ? WHERE file_id = ?", kept)
    db.execute("DROP INDEX files_by_content")
    db.execute("DROP INDEX files_by_rules")
    for column in ("root", "reader", "judged", "sha256", "indexed_at"):
        db.execute(f"ALTER TABLE files DROP COLUMN {column}")
    db.execute("CREATE INDEX files_by_content ON files (size, substr(content, 1, 4), ext) WHERE state <> 'failed'")
    db.execute("CREATE INDEX files_by_rules ON files (judged_id) WHERE state = 'ok'")
    db.execute(_FILE_ROWS)


_FILE_ROWS = """CREATE VIEW file_rows AS SELECT file_id, path, (SELECT name FROM names WHERE name_id = root_id) AS root, ext, kind, size, mtime_ns,
    content AS sha256, content, state, reason, detail, title, years, notes, indexed AS indexed_at, chars,
    (SELECT CAST(name AS TEXT) FROM names WHERE name_id = reader_id) AS reader, generation,
    (SELECT CAST(name AS TEXT) FROM names WHERE name_id = judged_id) AS judged, author, dated, same_text, like_text, unread_pages FROM files"""


def _keep_paths_once(db: sqlite3.Connection) -> None:
    # With the path in the row and in its index, a fiftieth of an index was paths. `files_by_generation` served only the repair of a ranking.
    db.execute("DROP VIEW file_rows")
    db.execute("CREATE TABLE folders (folder_id INTEGER PRIMARY KEY, folder BLOB NOT NULL UNIQUE) STRICT")
    db.execute(
        f"""CREATE TABLE new_files (
            file_id INTEGER PRIMARY KEY AUTOINCREMENT,
            folder_id INTEGER NOT NULL,
            name BLOB NOT NULL,
            {_COLUMNS},
            UNIQUE (folder_id, name)
        ) STRICT"""
    )
    db.create_function("folder_of", 1, lambda path: below.parts(path)[0], deterministic=True)
    db.create_function("name_of", 1, lambda path: below.parts(path)[1], deterministic=True)
    db.create_function("sparse", 1, copies.sparse, deterministic=True)
    db.execute("INSERT INTO folders (folder) SELECT DISTINCT folder_of(path) FROM files ORDER BY 1")
    kept = ", ".join(line.split()[0] for line in _COLUMNS.split(",\n"))
    db.execute(
        f"""INSERT INTO new_files (file_id, folder_id, name, {kept}) SELECT file_id, (SELECT folder_id FROM folders WHERE folder = folder_of(path)),
            name_of(path), {kept.replace("like_text", "sparse(like_text)")} FROM files ORDER BY file_id"""
    )
    # The last number that was given to a file; its row may be gone.
    db.execute("DELETE FROM sqlite_sequence WHERE name = 'new_files'")
    db.execute("INSERT INTO sqlite_sequence SELECT 'new_files', seq FROM sqlite_sequence WHERE name = 'files'")
    db.execute("DROP TABLE files")
    db.execute("ALTER TABLE new_files RENAME TO files")
    db.execute("CREATE INDEX files_by_content ON files (size, substr(content, 1, 4), ext) WHERE state <> 'failed'")
    db.execute("CREATE INDEX files_by_rules ON files (judged_id) WHERE state = 'ok'")
    db.execute(file_rows.VIEW)


_COLUMNS = """ext TEXT NOT NULL,
            kind TEXT NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('ok', 'no_text', 'failed')),
            reason TEXT NOT NULL,
            detail TEXT NOT NULL,
            title TEXT NOT NULL,
            years TEXT NOT NULL,
            notes TEXT NOT NULL,
            chars INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            author TEXT NOT NULL,
            dated TEXT NOT NULL,
            same_text BLOB NOT NULL,
            like_text BLOB NOT NULL,
            unread_pages INTEGER NOT NULL,
            root_id INTEGER NOT NULL,
            reader_id INTEGER NOT NULL,
            judged_id INTEGER NOT NULL,
            content BLOB NOT NULL,
            indexed ANY NOT NULL"""


def _as_blocks(db: sqlite3.Connection, file_id: int) -> Iterator[tuple[int, Block]]:
    """The segments of a file as blocks, each with the number of its first one."""
    query = """SELECT segment_id, seq, pointer, heading, certainty, hidden, segments.text, block_id, start, size, data
        FROM segments LEFT JOIN blocks USING (block_id) WHERE segments.file_id = ? AND segments.dead = 0 ORDER BY segment_id"""
    rows = db.execute(query, (file_id,)).fetchall()
    texts = texts_of([(row[0], *row[5:]) for row in rows])
    segments = [
        (number, Segment(seq, pointer, heading, text, hidden.unpack(concealed, len(text)), certainty))
        for (number, seq, pointer, heading, certainty, *_), (_, text, concealed) in zip(rows, texts, strict=True)
    ]
    while segments:  # numbers follow each other in a block
        first = segments[0][0]
        own = [one for at, (number, one) in enumerate(segments) if number == first + at]
        segments = segments[len(own) :]
        for block in blocks.made(own):
            yield first, block
            first += block.count


STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _first,
    _second,
    _keep_what_is_hidden,
    _keep_texts_in_blocks,
    _keep_what_files_say_of_themselves,
    _keep_less_for_segments_and_files,
    _keep_paths_once,
)
VERSION = len(STEPS)


def migrate(db: sqlite3.Connection) -> None:
    """Bring an older database up to `VERSION`, each step in a transaction of its own."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version >= VERSION:
        return
    # Replacing a table would delete what refers to it. SQLite ignores this within a transaction.
    checks: int = db.execute("PRAGMA foreign_keys").fetchone()[0]
    db.execute("PRAGMA foreign_keys = OFF")
    for number, step in enumerate(STEPS[version:], start=version + 1):
        db.execute("BEGIN IMMEDIATE")
        step(db)
        db.execute(f"PRAGMA user_version = {number}")
        db.execute("COMMIT")
    db.execute(f"PRAGMA foreign_keys = {checks}")
