"""What a server does by itself: watch the roots, and keep the index in health when nothing else happens.

Always: it runs at low priority through the same queue as everybody, so that it never stands in the way of a call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smart_context.errors import Conflict, ContextError
from smart_context.search.jobs import step_back
from smart_context.search.watch import Pace, Watcher
from smart_context.server.ops import State
from smart_context.server.wire import say

if TYPE_CHECKING:
    from smart_context.api import App

_UPKEEP_EVERY = 600.0  # seconds between two looks at whether there is something to tidy
_EMBED_EVERY = 2.0  # seconds between two looks at whether there is something to embed
_PATIENCE = 5.0  # seconds; what is under way is lost then, and made again by the next server
_NEVER = 10 * 365 * 86400.0


@contextmanager
def work(app: App, *, watch: bool) -> Iterator[None]:
    """Do the background work while the block runs."""
    ended = threading.Event()
    watcher = start_watching(app, lambda line: say(f"watch: {line}\n")) if watch else None
    threading.Thread(target=_upkeep, args=(app, ended), name="upkeep", daemon=True).start()
    embedding = start_embedding(app, ended, lambda line: say(f"warning: {line}\n"))
    try:
        yield
    finally:
        ended.set()
        embedding.join(_PATIENCE)
        if watcher:
            watcher.close()


def start_watching(app: App, report: Callable[[str], None]) -> Watcher:
    """Watch the roots and index what changes; `report` gets lines for people."""
    settings = app.settings.watch

    def index(folder: str) -> None:
        app.jobs.submit(folder, priority="low").wait()

    pace = Pace(settings.poll_seconds, settings.sweep_minutes * 60.0 or _NEVER)
    watcher = Watcher(app.roots.names, index, pace, report, skip=[str(app.data_dir)])
    watcher.start()
    return watcher


def start_embedding(app: App, ended: threading.Event, report: Callable[[str], None]) -> threading.Thread:
    """Embed what was indexed, whenever nothing is being indexed, until `ended`; `report` gets lines for people."""
    thread = threading.Thread(target=_embed, args=(app, ended, report), name="embedding", daemon=True)
    thread.start()
    return thread


def _embed(app: App, ended: threading.Event, report: Callable[[str], None]) -> None:
    def stop() -> None:
        if ended.is_set() or app.jobs.states():
            raise _Later

    step_back()
    embedded = 0  # the generation up to which everything has its vector
    while not ended.wait(_EMBED_EVERY):
        try:
            if app.has_index() and (generation := app.index.record.generation) != embedded:
                app.embed(stop=stop)
                embedded = generation
        except (_Later, Conflict):
            continue  # files come first, and another server does the same work
        except ContextError as error:
            report("; ".join(filter(None, (error.message, error.reason, error.hint))))
            return


class _Later(Exception):
    """There is something more urgent to do."""


def _upkeep(app: App, ended: threading.Event) -> None:
    """Tidy the index once it has changed and nothing is being indexed."""
    tidied = 0
    while not ended.wait(_UPKEEP_EVERY):
        try:
            if app.has_index() and not app.jobs.states() and app.index.record.generation != tidied:
                app.maintain()
                tidied = app.index.record.generation
        except ContextError:
            continue  # somebody else writes, or the index is being mended: the next look is soon enough


def state(app: App, now: datetime | None = None) -> State:
    """Say how the index is, for operators."""
    found = app.status(compare=False)
    runs = [root.last_run for root in found.roots]
    kinds: dict[str, int] = {}
    for root in found.roots:
        for tally in root.kinds:
            kinds[tally.kind or "unknown"] = kinds.get(tally.kind or "unknown", 0) + tally.files
    return State(
        roots=len(found.roots),
        roots_available=sum(root.is_available for root in found.roots),
        has_index=found.generation > 0,
        files=sum(root.files for root in found.roots),
        segments=sum(root.segments for root in found.roots),
        failures=sum(root.failed for root in found.roots),
        without_text=sum(root.no_text for root in found.roots),
        index_bytes=found.size,
        vectors=found.meaning.embedded if found.meaning else 0,
        queued=len(app.jobs.states()),
        generation=found.generation,
        oldest_run_seconds=_age(min(runs), now or datetime.now(UTC)) if runs and all(runs) else None,
        kinds=kinds,
    )


def _age(when: str, now: datetime) -> float:
    return (now - datetime.fromisoformat(when)).total_seconds()
