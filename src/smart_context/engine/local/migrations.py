"""The record's schema, as numbered steps.

In: an open database at some version.  Out: the same at `VERSION`.
Always: a step that has been released is never edited; a change to the schema is a new step at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

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


def _keep_less_twice(db: sqlite3.Connection) -> None:
    # A part of the hash tells nearly all contents apart; the rest of it is compared in the row itself.
    db.execute("DROP INDEX files_by_content")
    db.execute("CREATE INDEX files_by_content ON files (size, substr(sha256, 1, 8), ext) WHERE state <> 'failed'")
    # From here on, a heading that a pointer names is kept once, which older versions cannot read. What was recorded before stays as it is.


STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _first,
    _second,
    _keep_what_is_hidden,
    _keep_texts_in_blocks,
    _keep_what_files_say_of_themselves,
    _keep_less_twice,
)
VERSION = len(STEPS)


def migrate(db: sqlite3.Connection) -> None:
    """Bring an older database up to `VERSION`, each step in a transaction of its own."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    for number, step in enumerate(STEPS[version:], start=version + 1):
        db.execute("BEGIN IMMEDIATE")
        step(db)
        db.execute(f"PRAGMA user_version = {number}")
        db.execute("COMMIT")
