"""`context watch` and `context maintain`: keep the index up to date, small and sound."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import click

from smart_context import plain
from smart_context.access.roots import shown
from smart_context.cli import say
from smart_context.cli.options import settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import ProgressBar, home, plural, size
from smart_context.errors import ConfigError

if TYPE_CHECKING:
    from smart_context.index.model import Coverage, IndexReport
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@settings_options
def watch(settings: Settings) -> None:
    """Index the roots, then whatever changes in them, until interrupted.

    Changes can be searched one to two seconds later. Network shares, where the system reports no changes, are looked
    at every `watch.poll_seconds`; everything is looked at every `watch.sweep_minutes`.
    """
    from smart_context.api import App
    from smart_context.index import background

    if not settings.roots:
        raise ConfigError("there is nothing to watch", hint="name a folder with --root DIR, or: context roots add DIR")
    with App(settings) as app:
        say(f"watching {', '.join(map(home, app.roots.names))}; stop with Ctrl-C")
        told = _Messages()
        watcher = app.watcher = background.start_watching(app, told.line, told.run, told.bar)
        ended = threading.Event()
        background.start_following(app, ended, told.line)
        embedding = background.start_embedding(app, ended, lambda line: told.line(f"warning: {line}"), told.coverage)
        scanning = background.start_scanning(app, ended, lambda line: told.line(f"warning: {line}"))
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            told.line("ended; what was read is kept and can be searched")
            raise click.exceptions.Exit(130) from None
        finally:
            ended.set()
            watcher.close()
            embedding.join()
            if scanning:
                scanning.join()


class _Messages:
    """Messages of a watch, from any thread: a bar while it reads, and a line for each change."""

    def __init__(self) -> None:
        self.bar = ProgressBar("indexing")
        self._embedded = (-1, -1)

    def line(self, text: str) -> None:
        self.bar.clear()
        say(text)

    def run(self, folder: str, report: IndexReport) -> None:
        counts = {"indexed": report.indexed, "removed": report.removed, "failed": report.failed}
        told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        self.bar.clear()
        if told:
            self.line(f"{plain.line(home(shown(folder)))}: {told} in {report.duration_ms / 1000:,.1f} s")

    def coverage(self, found: Coverage) -> None:
        now = (found.embedded, found.segments)
        if now != self._embedded:
            self._embedded = now
            left = found.segments - found.embedded
            self.line(
                f"{found.embedded:,} of {plural(found.segments, 'segment')} embedded"
                + (f", {left:,} left" if left else "")
            )


@click.command(cls=Command)
@settings_options
def maintain(settings: Settings) -> None:
    """Tidy the index: free unused space, finish merges, and compare the ranking with the record.

    A server does this by itself when it is idle.
    """
    from smart_context.api import App

    with App(settings) as app:
        before = app.status(compare=False).size
        with ProgressBar("tidying", at_once=True) as bar:
            renewed = app.maintain(on_progress=bar)
        after = app.status(compare=False).size
    say(renewed, f"the index is sound; {size(before)} before, {size(after)} now")
