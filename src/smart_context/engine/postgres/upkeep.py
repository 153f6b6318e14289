"""Maintain a shared record.

In: the database, this machine's index.  Out: a record without unneeded rows, and a compact ranking.
Always: what search nodes may still show is kept; what is to be forgotten is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smart_context.engine.local.engine import vector_files
from smart_context.engine.postgres.database import Connection, Database
from smart_context.engine.postgres.index import Index
from smart_context.errors import SearchFailed
from smart_context.model import OnProgress

_TOLD = "30 days"  # how long the feed has removals; a node that was away longer compares everything
_TEXTS = ("segments", "blocks", "terms", "vectors", "files")


def maintain(database: Database, index: Index, on_progress: OnProgress) -> None:
    """Free space, finish merges, look for damage.

    Raises: SearchFailed when the record is damaged.
    """
    if flaw := index.record.flaw():
        raise SearchFailed(
            f"the index in {database.name} is damaged",
            reason=flaw,
            hint="restore it from a backup, or index anew with `full`",
        )
    index.tidy()
    with database.connection(seconds=None) as db:
        _shorten(db)
        for table in (*_TEXTS, "gone", "commits"):
            db.execute(f"VACUUM (ANALYZE) smart_context.{table}")
    index.tidy_ranking(on_progress)


def forget(
    database: Database, index: Index, folder: Path, below: str, keep: Sequence[str], on_progress: OnProgress
) -> int:
    """Remove files at or below a folder, but for those at or below others; how many that were.

    The tables are written anew without them, and this machine's ranking and vectors are made of what is left. Other machines take them out of
    theirs; the database's own log and backups are its operators' affair.
    """
    kept = {path for other in keep for path in index.record.stamps(other)}
    gone = [stamp[1] for path, stamp in index.record.stamps(below).items() if path not in kept]
    if not gone:
        index.record.forget_runs(below, keep)
        return 0
    index.remove(gone)
    index.commit()
    index.record.forget_runs(below, keep)
    with database.connection(seconds=None) as db:
        for table in ("segments", "blocks"):  # texts that were replaced earlier, too
            db.execute(f"DELETE FROM smart_context.{table} WHERE file_id = ANY(%s)", (gone,))  # noqa: S608  constants
        for table in _TEXTS:
            db.execute(f"VACUUM (FULL) smart_context.{table}")
    index.renew(on_progress)
    files = list(vector_files(folder))
    if files:
        from smart_context.engine.vectors import Vectors

        living = index.record.living()
        for file in files:
            Vectors(file).compact(living)
    return len(gone)


def _shorten(db: Connection) -> None:
    """Remove old entries of the feed; the last commit always stays."""
    with db.transaction():
        db.execute(
            f"""WITH old AS (DELETE FROM smart_context.gone WHERE at < now() - interval '{_TOLD}' RETURNING xid)
            INSERT INTO smart_context.meta
            SELECT 'horizon', (xid::text::bigint + 1)::text FROM old ORDER BY xid DESC LIMIT 1
            ON CONFLICT (key) DO UPDATE SET value = excluded.value"""  # noqa: S608  constants
        )
        db.execute(
            f"""DELETE FROM smart_context.commits WHERE at < now() - interval '{_TOLD}'
            AND xid < (SELECT xid FROM smart_context.commits ORDER BY xid DESC LIMIT 1)"""  # noqa: S608  constants
        )
