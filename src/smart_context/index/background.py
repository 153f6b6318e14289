"""The background work of a server: index roots for the first time, watch them, maintain the index when idle.

Always: it runs at low priority through the same queue as calls, and yields to callers that ask for the same folder, so that it never
delays a call.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from smart_context import plain
from smart_context.access.roots import shown
from smart_context.access.roots_file import RootsFile
from smart_context.errors import Conflict, ContextError, Forbidden, NotFound
from smart_context.index.watch import Pace, Watcher
from smart_context.model import Stop, silent

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.index.model import Coverage, IndexReport
    from smart_context.model import OnProgress
    from smart_context.resources import Resources

Take = Callable[[Sequence[str]], tuple[list[str], list[str]]]
"""Have exactly these roots from now on: which are new, and which went."""

_NICE = 10
_UPKEEP_EVERY = 600.0  # seconds between two checks whether the index needs maintenance
_ROOTS_EVERY = 1.0  # seconds between two checks of the configuration file
_HEAD_START = 5.0  # seconds in which a client may index by itself before we do
_RETRY = 1.0
_LOOK_EVERY = 0.05
_EMBED_EVERY = 2.0  # seconds between two checks for segments to embed
_SCAN_EVERY = 2.0  # seconds between two checks for pages that wait for OCR
_LAST_BATCH = 5.0  # seconds to finish at shutdown; an unfinished batch is lost then, and made again by the next server
_NEVER = 10 * 365 * 86400.0


@contextmanager
def work(app: App, *, watch: bool, report: Callable[[str], None]) -> Iterator[None]:
    """Do the background work while the block runs; `report` gets lines for people."""
    ended = threading.Event()
    app.follows = True
    if app.settings.index.at_start and app.roots.names:
        app.first_runs = FirstRuns(app, ended)
        threading.Thread(target=app.first_runs.run, name="first runs", daemon=True).start()
    start_following(app, ended, report)
    watcher = app.watcher = start_watching(app, lambda line: report(f"watch: {line}")) if watch else None
    upkeep = threading.Thread(target=_upkeep, args=(app, ended), name="upkeep", daemon=True)
    upkeep.start()
    embedding = start_embedding(app, ended, lambda line: report(f"warning: {line}"))
    scanning = start_scanning(app, ended, lambda line: report(f"warning: {line}"))
    try:
        yield
    finally:
        ended.set()
        if scanning:
            scanning.join(_LAST_BATCH)
        embedding.join(_LAST_BATCH)
        if watcher:
            watcher.close()
        upkeep.join()  # it uses the index, which is closed next


class FirstRuns:
    """Indexes the roots that were never indexed: a while after the start, or as soon as a search comes."""

    def __init__(self, app: App, ended: threading.Event) -> None:
        self._app = app
        self._ended = ended
        self._wanted = threading.Event()
        self._over = threading.Event()

    @property
    def is_over(self) -> bool:
        """Whether searches need not wait any more."""
        return self._over.is_set()

    def run(self) -> None:
        """Index them one after the other; the body of a thread."""
        try:
            self._wanted.wait(_HEAD_START)
            for root in self._app.roots.names:
                self._index(root)
        finally:
            self._over.set()

    def wait_for_some(self, stop: Stop) -> None:
        """Let a search wait until there is something to find: the first commit ever, or the end of these runs."""
        if self._over.is_set():
            return
        self._wanted.set()
        until = time.monotonic() + self._app.settings.index.first_wait
        while not self._over.is_set() and not _has_commit(self._app) and time.monotonic() < until:
            self._over.wait(_LOOK_EVERY)
            stop()

    def _index(self, root: str) -> None:
        while not self._ended.is_set() and _is_new(self._app, root):
            try:
                self._app.jobs.submit(root, priority="low", yields=True).wait()
            except Conflict:
                self._ended.wait(_RETRY)  # another process writes: it may be indexing this very root
            except ContextError:
                return  # the root is missing now, or the server ends: `status` reports it, and the next start tries again


def _is_new(app: App, root: str) -> bool:
    if app.roots.state(root) != "available":
        return False
    try:
        return app.index.record.last_run(root) is None
    except NotFound:
        return True
    except ContextError:  # damaged, or of another version: that is for a person to decide
        return False


def _has_commit(app: App) -> bool:
    try:
        return app.index.generation > 0  # it follows the record, and is what a search sees
    except ContextError:  # none yet, or one that is just being made
        return False


def start_watching(
    app: App,
    report: Callable[[str], None],
    on_run: Callable[[str, IndexReport], None] = lambda _folder, _report: None,
    on_progress: OnProgress = silent,
) -> Watcher:
    """Watch the roots and index what changes; `report` gets lines for people, `on_run` what each run did."""
    settings = app.settings.watch

    def stop() -> None:
        if watcher.is_closing:
            raise Conflict("the watch ends")

    def index(folder: str) -> None:
        on_run(folder, app.jobs.submit(folder, priority="low", yields=True).wait(on_progress, stop))

    pace = Pace(settings.poll_seconds, settings.sweep_minutes * 60.0 or _NEVER)
    watcher = Watcher(app.roots.names, index, pace, report, skip=[str(app.data_dir)])
    watcher.start()
    return watcher


def start_following(
    app: Resources, ended: threading.Event, report: Callable[[str], None], take: Take | None = None
) -> None:
    """Follow the roots of the configuration file as they are added or removed, until `ended`; `report` gets lines for people.

    take: called with the roots instead of `_take`, which is what a server does.
    """
    if app.settings.roots_file:
        args = (app, RootsFile(app.settings.roots_file), ended, report, take or partial(_take, app))
        threading.Thread(target=_follow, args=args, name="roots", daemon=True).start()


def _follow(app: Resources, file: RootsFile, ended: threading.Event, report: Callable[[str], None], take: Take) -> None:
    while not ended.wait(_ROOTS_EVERY):
        try:
            found = file.changed()
        except ContextError as error:
            report(f"warning: the roots stay as they are: {error.in_one_line}")
            continue
        if found is None or set(found) == set(app.roots.names):
            continue
        new, gone = take(found)
        for name in new:
            report(f"{plain.line(shown(name))} is now a root, by {file.path}")
        for name in gone:
            report(f"{plain.line(shown(name))} is no longer a root, by {file.path}")


def become(app: Resources, folders: Sequence[str]) -> tuple[list[str], list[str]]:
    """Make exactly these folders the roots from now on; return those added, and those removed."""
    known = app.roots.resolved
    app.roots.become({name: known.get(name) or os.path.realpath(name) for name in folders})
    return [name for name in folders if name not in known], [name for name in known if name not in folders]


def _take(app: Resources, folders: Sequence[str]) -> tuple[list[str], list[str]]:
    """Index new roots, if the server indexes by itself, and stop the runs over removed ones."""
    new, gone = become(app, folders)
    if app.watcher:
        app.watcher.become(app.roots.names)
    for folder, _, _ in app.jobs.states() if gone else ():
        try:
            app.roots.inside(folder)
        except Forbidden:
            app.jobs.cancel(folder)
    for name in new if app.settings.index.at_start and not app.watcher else ():
        with suppress(ContextError):  # another process writes, or the folder is missing: a client can ask for it
            app.jobs.submit(name, priority="low", yields=True)
    return new, gone


def start_embedding(
    app: App,
    ended: threading.Event,
    report: Callable[[str], None],
    on_coverage: Callable[[Coverage], None] = lambda _found: None,
) -> threading.Thread:
    """Embed what was indexed, whenever nothing is being indexed, until `ended`; `report` gets lines for people.

    on_coverage: called with how many segments have a vector, before and after more of them get one.
    """
    thread = threading.Thread(target=_embed, args=(app, ended, report, on_coverage), name="embedding", daemon=True)
    thread.start()
    return thread


def _embed(
    app: App, ended: threading.Event, report: Callable[[str], None], on_coverage: Callable[[Coverage], None]
) -> None:
    def stop() -> None:
        if ended.is_set() or app.jobs.states():
            raise _Later

    _step_back()
    embedded = 0  # the generation up to which everything has its vector
    while not ended.wait(_EMBED_EVERY):
        try:
            if app.has_index() and (generation := app.index.record.generation) != embedded:
                if (found := app.extra.coverage()) and found.embedded < found.segments:
                    on_coverage(found)
                if app.embed(stop=stop) and (found := app.extra.coverage()):
                    on_coverage(found)
                embedded = generation
        except (_Later, Conflict):
            continue  # files come first, and another server does the same work
        except ContextError as error:
            report(error.in_one_line)
            return


def start_scanning(app: App, ended: threading.Event, report: Callable[[str], None]) -> threading.Thread | None:
    """Run OCR on waiting pages, whenever nothing is being indexed, until `ended`; None where OCR is off."""
    if not app.settings.ocr.enabled:
        return None
    thread = threading.Thread(target=_scan, args=(app, ended, report), name="OCR", daemon=True)
    thread.start()
    return thread


def _scan(app: App, ended: threading.Event, report: Callable[[str], None]) -> None:
    def stop() -> None:
        if ended.is_set():
            raise _Later

    scanned = 0  # the generation up to which nothing waits that can be read
    while not ended.wait(_SCAN_EVERY):
        try:
            if app.jobs.states() or not app.has_index() or app.index.record.generation == scanned:
                continue
            for root in app.roots.names:
                if app.index.record.unread(root):
                    app.jobs.submit(root, priority="low", scans=True).wait(stop=stop)
            scanned = app.index.record.generation
        except (_Later, Conflict):
            continue  # files that changed come first
        except ContextError as error:
            report(f"not read by OCR: {error.in_one_line}")
            return


class _Later(Exception):
    """There is something more urgent to do."""


def _upkeep(app: App, ended: threading.Event) -> None:
    """Maintain the index once it has changed and nothing is being indexed."""

    def stop() -> None:
        if ended.is_set():
            raise Conflict("the server ends")

    tidied = 0
    while not ended.wait(_UPKEEP_EVERY):
        try:
            if app.has_index() and not app.jobs.states() and app.index.record.generation != tidied:
                app.maintain_apart(stop)
                tidied = app.index.record.generation
        except ContextError:
            continue  # another process writes, or the index is being repaired: the next check is soon enough


def _step_back() -> None:
    """Lower the priority, so that searches go first. On Linux it is per thread, and threads that the model starts inherit it.

    Only for work that is done outside Python: a low-priority thread that holds the GIL holds up every other.
    """
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
