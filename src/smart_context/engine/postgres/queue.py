"""The queue of files to read, in the database of the record. The only module that knows procrastinate.

In: batches of paths below a root.  Out: each batch, given to one worker at a time until it is done.
Always: a waiting batch is not enqueued twice, and no two workers have the same one; the batch of a dead worker is retried; files that wait for OCR
come last; the queue has nothing that a walk would not find again, so that it is recreated when its schema changes.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import procrastinate
from procrastinate import exceptions
from procrastinate.schema import SchemaManager

from smart_context.engine.model import Batch
from smart_context.engine.postgres import roles
from smart_context.engine.postgres.database import Connection, Database
from smart_context.errors import SearchFailed

_SCHEMA = "smart_context_queue"
_VERSION = ".".join(procrastinate.__version__.split(".")[:2])
_TASK = "read"
_SCAN_TASK = "scan"
_LAST = -10  # the priority of files that wait for OCR: after everything that can be read without it
_BEAT = 2.0  # seconds between two heartbeats of a worker
_DEAD = 10.0  # seconds without one, after which its batch is taken back
_POLL = 2.0
_TRIES = 20  # of a batch that fails because the database or a share does not answer
_DUMB = {"min_size": 1, "max_size": 4, "timeout": 10.0}


class Queue:
    """The queue of one record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, root: str, batches: Iterable[Sequence[str]], *, full: bool = False) -> int:
        """Enqueue batches of paths below a root; how many were not waiting already."""
        return self._put(_TASK, root, batches, {"full": full})

    def put_scans(self, root: str, paths: Iterable[str]) -> int:
        """Enqueue files below a root that wait for OCR, one by one; how many were not waiting already."""
        return self._put(_SCAN_TASK, root, ([path] for path in paths), {})

    def _put(self, what: str, root: str, batches: Iterable[Sequence[str]], more: Mapping[str, bool]) -> int:
        check(self._database)
        done = 0
        to_record = self._database.paths.to_record
        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(**self._how()))
        is_scan = what == _SCAN_TASK
        queue = _name(to_record(root), is_scan=is_scan)
        with self._translated(), app.open():
            for paths in batches:
                written: list[Any] = [
                    to_record(path).decode("latin-1") for path in paths
                ]  # JSON has no place for other bytes
                name = what * is_scan + hashlib.sha256("\0".join(written).encode()).hexdigest()
                task = app.configure_task(
                    what, queue=queue, queueing_lock=name, lock=name, priority=_LAST if is_scan else 0
                )
                with suppress(exceptions.AlreadyEnqueued):
                    task.defer(root=to_record(root).decode("latin-1"), paths=[*written], **more)
                    done += 1
        return done

    def run(
        self, roots: Callable[[], Sequence[str]], take: Callable[[Batch], None], *, wait: bool, scans: bool
    ) -> None:
        """Process batches below the current roots, one at a time, until a signal comes; without `wait`, until none is left. scans:
        files that wait for OCR too, when there is no batch."""
        check(self._database)
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(**self._how()))
        retry = procrastinate.RetryStrategy(max_attempts=_TRIES, exponential_wait=2)

        def path_of(written: str) -> str:
            return self._database.paths.to_local(written.encode("latin-1"))

        @app.task(name=_TASK, pass_context=True, retry=retry)
        def read(context: procrastinate.JobContext, root: str, paths: list[str], full: bool) -> None:
            tries = context.job.attempts if context.job else 0
            take(Batch(path_of(root), tuple(map(path_of, paths)), tries, full))

        @app.task(name=_SCAN_TASK, pass_context=True, retry=retry)
        def scan(context: procrastinate.JobContext, root: str, paths: list[str]) -> None:
            tries = context.job.attempts if context.job else 0
            take(Batch(path_of(root), tuple(map(path_of, paths)), tries, is_scan=True))

        kinds = (False, True) if scans else (False,)

        def queues() -> list[str]:
            return [_name(self._database.paths.to_record(root), is_scan=kind) for root in roots() for kind in kinds]

        with self._translated():
            asyncio.run(_working(app, queues, wait=wait))

    def waiting(self) -> int:
        """How many batches are not done yet."""
        if not _is_there(self._database):
            return 0
        query = f"SELECT count(*) FROM {_SCHEMA}.procrastinate_jobs WHERE status IN ('todo', 'doing')"  # noqa: S608
        return int(self._database.rows(query)[0][0])

    def _how(self) -> dict[str, Any]:
        options = {"options": f"-c search_path={_SCHEMA}"}
        return {"conninfo": self._database.address, "kwargs": options, **_DUMB}

    def _translated(self) -> Any:
        return _Translated(self._database)


class _Translated:
    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.rows("SELECT 1")  # raises our error at once if something is wrong

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, exceptions.ConnectorException):
            raise self._database.away() from error


async def _working(app: procrastinate.App, queues: Callable[[], list[str]], *, wait: bool) -> None:
    now = queues()
    async with app.open_async():
        beside = [asyncio.create_task(each) for each in (_rescue(app, now), _follow(queues, now))]
        try:
            await app.run_worker_async(
                queues=now,
                wait=wait,
                fetch_job_polling_interval=_POLL,
                update_heartbeat_interval=_BEAT,
                stalled_worker_timeout=_DEAD,
                delete_jobs="successful",
            )
        finally:
            for each in beside:
                each.cancel()


async def _follow(queues: Callable[[], list[str]], now: list[str]) -> None:
    """Keep the list of queues as it should be: a worker asks it whenever it looks for a batch."""
    while True:
        now[:] = queues()
        await asyncio.sleep(_POLL)


async def _rescue(app: procrastinate.App, queues: Sequence[str]) -> None:
    """Take back what dead workers had."""
    while True:
        with suppress(exceptions.ConnectorException):  # the database is away: the worker itself says so
            for queue in queues:
                for job in await app.job_manager.get_stalled_jobs(queue=queue, seconds_since_heartbeat=_DEAD):
                    await app.job_manager.retry_job(job)
        await asyncio.sleep(_POLL)


def prepare(database: Database) -> bool:
    """Create the queue, or recreate it if its schema is another; whether that was needed."""
    with database.connection(seconds=None) as db, db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (_SCHEMA,))
        if _version(database) == _VERSION:
            return False
        db.execute(f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE")
        db.execute(f"CREATE SCHEMA {_SCHEMA}")
        db.execute(f"SET LOCAL search_path = {_SCHEMA}")
        db.execute(SchemaManager.get_schema())
        db.execute(
            """INSERT INTO smart_context.meta VALUES ('queue', %s)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value""",
            (_VERSION,),
        )
        _grant(db)
    return True


def check(database: Database) -> None:
    """Check that there is a queue that this program can use.

    Raises: SearchFailed, ConfigError where there is none and this user may not make one.
    """
    found = _version(database)
    if not found:
        prepare(database)
    elif found != _VERSION:
        raise SearchFailed(
            f"the queue in {database.name} has another form",
            reason=f"it was made with procrastinate {found}, this program has {_VERSION}",
            hint="when every machine is up to date: context engine migrate",
        )


def _grant(db: Connection) -> None:
    if db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (roles.INDEXER,)).fetchone():
        for what in (f"USAGE ON SCHEMA {_SCHEMA}", f"ALL ON ALL TABLES IN SCHEMA {_SCHEMA}"):
            db.execute(f"GRANT {what} TO {roles.INDEXER}")
        db.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {_SCHEMA} TO {roles.INDEXER}")


def _is_there(database: Database) -> bool:
    return bool(_version(database))


def _version(database: Database) -> str:
    rows = database.rows("SELECT value FROM smart_context.meta WHERE key = 'queue'")
    return str(rows[0][0]) if rows else ""


def _name(root: bytes, *, is_scan: bool = False) -> str:
    """The queue of a root: a worker takes from those of the roots that its machine has, and of scans where it has OCR."""
    return f"{'scan' if is_scan else 'root'}-{hashlib.sha256(root).hexdigest()[:20]}"
