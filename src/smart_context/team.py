"""The verbs of a shared record: queue files for workers, be a worker, copy an index into it or back.

In: the open application, or its settings.  Out: counts of what was done.
Always: without a shared record there is an error that says so.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from typing import TYPE_CHECKING

from smart_context import engine
from smart_context.errors import ConfigError, ContextError

if TYPE_CHECKING:
    from smart_context.access.ledger import Courier, Ledger
    from smart_context.engine.model import Batch
    from smart_context.engine.port import Shared
    from smart_context.index.model import IndexReport
    from smart_context.model import OnProgress, Stop
    from smart_context.resources import Resources
    from smart_context.settings.config import Settings
    from smart_context.sources.worker import Pool


def enqueue(app: Resources, folder: str, *, full: bool = False) -> int:
    """Walk a folder, and queue new or changed files for workers; return how many batches these are.

    Raises: ConfigError where the record is not shared; as `App.index_here`.
    """
    from smart_context.index import shared

    place = _shared(app.settings)
    with place.open(writable=True) as index:
        return shared.enqueue(index, place.queue(), app.roots, folder, app.options(), full=full)


def enqueue_scans(app: Resources, folder: str) -> int:
    """Queue the files below a folder that wait for OCR, for workers that have it; return how many files these are.

    Raises: as `enqueue`.
    """
    place = _shared(app.settings)
    below = app.roots.inside(folder)
    return place.queue().put_scans(below.root, [row.path for row in place.record().unread(below.path)])


def work(
    app: Resources,
    on_batch: Callable[[IndexReport], None],
    *,
    wait: bool = True,
    scans: bool = False,
    report: Callable[[str], None] = lambda _line: None,
) -> None:
    """Read the queued files below the roots, until a signal comes; without `wait`, until the queue is empty. scans: also run OCR on queued files.
    report: gets lines for people, on roots that the configuration file adds or removes meanwhile.

    Raises: as `enqueue`; ConfigError where OCR or the data of a language is missing.
    """
    from smart_context.index import background, indexer, shared

    place, options = _shared(app.settings), app.options()
    queue, data, ended = place.queue(), app.ocr_data() if scans else {}, threading.Event()

    def read(batch: Batch) -> IndexReport:
        if batch.is_scan:
            return shared.scan(index, queue, app.roots, batch, options, seers())
        report = shared.take(index, queue, app.roots, batch, options, readers)
        if scans:
            shared.leave_scans(index, queue, batch)
        return report

    def take(batch: Batch) -> None:
        try:
            report = read(batch)
        except BaseException:
            index.record.rollback()
            raise
        on_batch(report)

    @cache
    def seers() -> Pool:
        from smart_context.index import scans as reading

        return held.enter_context(reading.readers(options, data))

    def become(folders: Sequence[str]) -> tuple[list[str], list[str]]:
        new, gone = background.become(app, folders)
        with suppress(ContextError):  # the database cannot be reached: the worker itself reports it
            for root in new if scans else ():
                enqueue_scans(app, root)
        return new, gone

    # Kept from batch to batch: to start the reading processes takes as long as to read a hundred small files.
    with ExitStack() as held, place.beside() as index, indexer.readers(options) as readers:
        for root in app.roots.names if scans else ():
            enqueue_scans(app, root)
        background.start_following(app, ended, report, become)
        held.callback(ended.set)
        queue.run(lambda: app.roots.names, take, wait=wait, scans=scans)


def copy(settings: Settings, address: str, *, back: bool, on_progress: OnProgress, stop: Stop) -> int:
    """Copy the index of the data folder into a database, or back; return how many files were copied.

    Raises: NotFound where there is nothing to copy; as `Engine.open`.
    """
    from smart_context.index import move

    ends = engine.at(settings.data_dir), engine.at(settings.data_dir, address, settings.engine_places)
    source, target = reversed(ends) if back else ends
    return move.copy(source, target, settings.roots, on_progress, stop)


def courier(settings: Settings) -> Courier:
    """The context manager that delivers this machine's audit lines to the shared record while it is entered."""
    from smart_context import talk
    from smart_context.access.ledger import Courier

    return Courier(settings.audit_path(), ledger(settings), os.uname().nodename, talk.warn)


def ledger(settings: Settings) -> Ledger:
    """The audit lines of all machines. Raises: ConfigError where the record is not shared."""
    return _shared(settings, "there is one log, this machine's").ledger()


def _shared(settings: Settings, so: str = "there is no queue") -> Shared:
    if not settings.engine:
        raise ConfigError(f"the record is not shared: {so}", hint='set engine = "postgresql://…" first')
    return engine.shared(settings.data_dir, settings.engine, settings.engine_places)
