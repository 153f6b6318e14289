"""`context watch` and `context maintain`: keep the index up to date, and in health."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import click

from smart_context.cli import Command
from smart_context.cli.options import settings_options
from smart_context.cli.show import ProgressBar, size
from smart_context.errors import ConfigError

if TYPE_CHECKING:
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@settings_options
def watch(settings: Settings) -> None:
    """Index the roots, then whatever changes in them, until interrupted.

    Changes are searchable one to two seconds after the last of them. Network shares, where the system tells of no changes, are looked
    at every `watch.poll_seconds`; everything is looked at every `watch.sweep_minutes`.
    """
    from smart_context.api import App
    from smart_context.index import background

    if not settings.roots:
        raise ConfigError("there is nothing to watch", hint="name a folder with --root DIR, or: context roots add DIR")
    with App(settings) as app:
        watcher = background.start_watching(app, lambda line: click.echo(line, err=True))
        ended = threading.Event()
        embedding = background.start_embedding(app, ended, lambda line: click.echo(f"warning: {line}", err=True))
        click.echo(f"watching {', '.join(app.roots.names)}; stop with Ctrl-C", err=True)
        try:
            threading.Event().wait()
        finally:
            ended.set()
            watcher.close()
            embedding.join()


@click.command(cls=Command)
@settings_options
def maintain(settings: Settings) -> None:
    """Tidy the index: give unused space back, finish merges, and check record against ranking.

    A server does this by itself when it is idle.
    """
    from smart_context.api import App

    with App(settings) as app:
        before = app.status(compare=False).size
        with ProgressBar("tidying") as bar:
            app.maintain(on_progress=bar)
        after = app.status(compare=False).size
    click.echo(f"the index is sound; {size(before)} before, {size(after)} now", err=True)
