"""`context forget`: take text out of the index for good."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from smart_context.cli import Exit, last, say
from smart_context.cli.options import settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import ProgressBar, ask, can_ask, plural, safe

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@click.argument("path", type=click.Path())
@click.option("--yes", is_flag=True, help="Do not ask, not even before a whole root is forgotten.")
@settings_options
def forget(path: str, yes: bool, settings: Settings) -> None:
    """Remove the text of the file or folder at PATH from the index for good: record, ranking and vectors.

    \b
    Examples:
      context forget ~/Documents/old-contract.pdf
      context forget ~/Documents/2019

    On a terminal you are asked before a whole root is forgotten, or several; --yes does not ask.

    The files themselves are not touched. What still lies in a root is read again by the next run, unless `index.exclude` or
    `index.never_show` leaves it out.
    """
    from smart_context.access.roots import shown
    from smart_context.api import App

    name = os.path.abspath(os.path.expanduser(path))
    with App(settings) as app:
        if not yes and can_ask():
            _confirm_roots(app, name)
        with ProgressBar("forgetting", at_once=True) as bar:
            count = app.forget(name, on_progress=bar)
    last.clear(settings.data_dir)
    say(f"{plural(count, 'file')} at {safe(shown(name))} forgotten")
    if count and os.path.lexists(name):
        say("note: what is still there and in a root is read again by the next run; see `index.exclude`")


def _confirm_roots(app: App, name: str) -> None:
    """Ask before whole roots are forgotten: reading them again may take hours, and people who type `/` or `.` often mean less.

    Raises: Exit where the answer is no.
    """
    from smart_context.access.roots import shown

    held = [root for root in app.roots.names if f"{root.rstrip('/')}/".startswith(f"{name.rstrip('/')}/")]
    if not (held or name == os.sep) or not app.has_index():
        return
    count = sum(tally.files for tally in app.index.record.tallies(name))
    if not count:
        return
    what = (
        "is a root"
        if held == [name]
        else "is the whole file system"
        if name == os.sep
        else f"holds {plural(len(held), 'root')}"
    )
    if not ask(f"{safe(shown(name))} {what}. Forget the text of {plural(count, 'file')}?"):
        say("nothing was forgotten")
        raise Exit(1)
