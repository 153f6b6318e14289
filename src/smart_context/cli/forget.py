"""`context forget`: take text out of the index for good."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from smart_context.cli import last, say
from smart_context.cli.options import settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import ProgressBar, plural, safe

if TYPE_CHECKING:
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@click.argument("path", type=click.Path())
@settings_options
def forget(path: str, settings: Settings) -> None:
    """Remove the text of the file or folder at PATH from the index for good: record, ranking and vectors.

    \b
    Examples:
      context forget ~/Documents/old-contract.pdf
      context forget ~/Documents/2019

    The files themselves are not touched. What still lies in a root is read again by the next run, unless `index.exclude` or
    `index.never_show` leaves it out.
    """
    from smart_context.access.roots import shown
    from smart_context.api import App

    name = os.path.abspath(os.path.expanduser(path))
    with App(settings) as app, ProgressBar("forgetting", at_once=True) as bar:
        count = app.forget(name, on_progress=bar)
    last.clear(settings.data_dir)
    say(f"{plural(count, 'file')} at {safe(shown(name))} forgotten")
    if count and os.path.lexists(name):
        say("note: what is still there and in a root is read again by the next run; see `index.exclude`")
