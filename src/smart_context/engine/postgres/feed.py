"""The feed: changes of the record, for rankings and vectors derived from it.

In: a position in the feed.  Out: the files written and removed since, in one committed state, in the order of their transactions.
Always: nothing is missed, however late a transaction commits: transactions are numbered when they begin, so that a follower continues from the
oldest that was still open (`pg_snapshot_xmin`), never from the newest that was seen. Changes that are delivered again are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from smart_context.engine.entry import Entry
from smart_context.engine.local.ranking_state import ANALYSIS_VERSION
from smart_context.engine.model import RankedFile
from smart_context.engine.postgres import terms
from smart_context.engine.postgres.database import Connection, Database
from smart_context.errors import SearchFailed

_ROWS = 200  # fetched at a time: of each, the terms of up to sixteen segments

_HEAD = """SELECT
    (SELECT value FROM smart_context.meta WHERE key = 'identity')
        || '/' || (SELECT system_identifier FROM pg_control_system())
        || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()),
    CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
        ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer END,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    numbers, times,
    coalesce((SELECT xid::text::bigint FROM smart_context.commits ORDER BY xid DESC LIMIT 1), 0),
    coalesce((SELECT value::bigint FROM smart_context.meta WHERE key = 'horizon'), 0)
    FROM (SELECT coalesce(array_agg(xid::text::bigint ORDER BY xid), '{}') AS numbers,
        coalesce(array_agg((extract(epoch FROM at) * 1000000)::bigint ORDER BY xid), '{}') AS times
        FROM smart_context.commits WHERE xid >= %s::text::xid8) AS since"""
_STILL = """SELECT count(*) FROM smart_context.commits
    JOIN unnest(%s::bigint[], %s::bigint[]) AS known (number, began)
    ON xid::text::bigint = number AND (extract(epoch FROM at) * 1000000)::bigint = began"""
_CHANGED = """SELECT f.xid::text::bigint, f.file_id, f.path, f.ext, f.title, f.years, f.analysis, t.data
    FROM smart_context.files f LEFT JOIN smart_context.terms t ON t.file_id = f.file_id
    WHERE f.xid >= %s::text::xid8 ORDER BY f.xid, f.file_id, t.block_id"""
_GONE = (
    """SELECT file_id, xid::text::bigint FROM smart_context.gone WHERE xid >= %s::text::xid8 ORDER BY xid, file_id"""
)


@dataclass(frozen=True, slots=True)
class Head:
    """The position of the record.

    identity, timeline: which record it is, in which database; with another one nothing derived before is valid. oldest: no transaction below it is still
    open. commits: those since the follower's position, each with the time (in microseconds) when it began. newest: the last commit.
    horizon: removals before it are not in the feed any more.
    """

    identity: str
    timeline: int
    oldest: int
    commits: Mapping[int, int]
    newest: int
    horizon: int


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that was written, by which transaction, with its segments; None where another analysis made its terms."""

    xid: int
    file: RankedFile
    segments: tuple[tuple[int, Entry], ...] | None


def begin(db: Connection) -> None:
    """Take a snapshot: see one state until the transaction ends."""
    db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def head(db: Connection, position: int) -> Head:
    """The position of the record in a transaction's snapshot, with the commits since another position."""
    return _head(db.execute(_HEAD, (position,), binary=True).fetchall())


def head_now(database: Database, position: int, seconds: float) -> Head:
    """The position of the record now, with the commits since another position."""
    return _head(database.rows(_HEAD, (position,), seconds=seconds))


def _head(rows: list[Any]) -> Head:
    ((identity, timeline, oldest, numbers, times, newest, horizon),) = rows
    return Head(identity, timeline, oldest, dict(zip(numbers, times, strict=True)), newest, horizon)


def still_has(db: Connection, commits: Mapping[int, int]) -> bool:
    """Whether the record has these commits, by number and time: after a failover, the numbers of lost commits are used again."""
    found = db.execute(_STILL, ([*commits], [*commits.values()])).fetchone()
    return found == (len(commits),)


def count(db: Connection, position: int) -> int:
    """How many files were written since a position."""
    row = db.execute("SELECT count(*) FROM smart_context.files WHERE xid >= %s::text::xid8", (position,)).fetchone()
    assert row
    return int(row[0])


def gone(db: Connection, position: int) -> dict[int, int]:
    """The files that were removed since a position, each with its transaction."""
    return dict(db.execute(_GONE, (position,)).fetchall())


def changed(db: Connection, position: int, known: Mapping[int, int], database: Database) -> Iterator[Changed]:
    """The files that were written since a position, without the known (file, transaction) pairs."""
    with db.cursor("changed", binary=True) as cursor:
        cursor.itersize = _ROWS
        cursor.execute(_CHANGED, (position,))
        for _, rows in groupby(cursor, itemgetter(1)):
            first, *more = rows
            if known.get(first[1]) != first[0]:
                yield _changed([first, *more], database)


def _changed(rows: list[tuple[Any, ...]], database: Database) -> Changed:
    xid, file_id, path, ext, title, years, analysis, _ = rows[0]
    file = RankedFile(file_id, database.paths.to_local(path), ext, title.decode(), tuple(years.split()))
    if analysis != ANALYSIS_VERSION:
        return Changed(xid, file, None)
    try:
        return Changed(xid, file, tuple(one for row in rows if row[-1] is not None for one in terms.unpack(row[-1])))
    except ValueError as error:
        raise SearchFailed(
            f"the index in {database.name} is damaged",
            reason=f"the terms of file {file_id} cannot be read",
            hint="index its folder anew with `full`",
        ) from error
