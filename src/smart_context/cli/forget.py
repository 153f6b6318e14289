"""`context forget`: take text out of the index for good."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import click

from smart_context.cli import Exit, last_search, quoted, say
from smart_context.cli.options import settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import ProgressBar, ask, can_ask, plural, safe
from smart_context.errors import NotFound

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.engine.port import Record
    from smart_context.settings.config import Settings

_MOST_NAMED = 5  # of what is indexed beside a path that is not


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
    `index.never_show` leaves it out. Exits with 4 when nothing is indexed at PATH.
    """
    from smart_context.access.roots import shown
    from smart_context.api import App

    name = os.path.abspath(os.path.expanduser(path))
    with App(settings) as app:
        if not app.engine.is_forgetting():
            _check(app, name)
        if not yes and can_ask():
            _confirm_roots(app, name)
        with ProgressBar("forgetting", at_once=True) as bar:
            count = app.forget(name, on_progress=bar)
    last_search.clear(settings.data_dir)
    say(f"{plural(count, 'file')} at {safe(shown(name))} forgotten")
    warn_of_set_aside(settings)
    if count and os.path.lexists(name):
        say("note: what is still there and in a root is read again by the next run; see `index.exclude`")


def warn_of_set_aside(settings: Settings) -> None:
    """Name the damaged indexes that were set aside: what was forgotten may be in them."""
    from smart_context.cli import checks

    for aside in checks.set_aside(settings.data_dir):
        say(
            f"warning: a damaged index that was set aside may still hold the text; remove it with: rm -r {quoted(aside)}"
        )


def _check(app: App, name: str) -> None:
    """Raises: NotFound where nothing is indexed at a path: it is probably misspelt, and its text is still there."""
    from smart_context.access.roots import shown

    if not app.engine.is_there():
        raise _nothing()
    with closing(app.engine.record()) as record:
        if not _count(record, os.sep):
            raise _nothing()
        if not _count(record, name):
            raise NotFound(f"nothing is indexed at {safe(shown(name))}", hint=_near(record, name))


def _nothing() -> NotFound:
    return NotFound("nothing is indexed", hint="there is nothing to forget")


def _near(record: Record, name: str) -> str:
    """Indexed paths near a path: likely corrections, or the names in the innermost indexed folder above it."""
    from difflib import get_close_matches

    from smart_context.access.roots import shown

    real = os.path.realpath(name)
    if real != name and _count(record, real):
        return f"it is a link; did you mean {safe(shown(real))}?"
    above = os.path.dirname(name)
    while not _count(record, above):
        above = os.path.dirname(above)
    start = above.rstrip(os.sep) + os.sep
    typed = name[len(start) :].partition(os.sep)[0]
    paths = sorted(record.stamps(above))
    inside = list(dict.fromkeys(path[len(start) :].partition(os.sep)[0] for path in paths))
    if alike := get_close_matches(typed, inside, n=1):
        meant = start + alike[0] + name[len(start) + len(typed) :]
        return f"did you mean {safe(shown(meant if _count(record, meant) else start + alike[0]))}?"
    folder = os.path.commonpath([os.path.dirname(path) for path in paths])
    if folder != above:  # folders above a single root, which say nothing
        return f"everything indexed in {safe(shown(above))} lies in {safe(shown(folder))}"
    named = ", ".join(safe(shown(each)) for each in inside[:_MOST_NAMED])
    more = f" and {len(inside) - _MOST_NAMED:,} more" if len(inside) > _MOST_NAMED else ""
    return f"indexed in {safe(shown(above))}: {named}{more}"


def _count(record: Record, place: str) -> int:
    return sum(tally.files for tally in record.tallies(place))


def _confirm_roots(app: App, name: str) -> None:
    """Ask before whole roots are forgotten: reading them again may take hours, and people who type `/` or `.` often mean less.

    Raises: Exit where the answer is no.
    """
    from smart_context.access.roots import is_within, shown

    held = [root for root in app.roots.names if is_within(root, name)]
    if not (held or name == os.sep) or not app.has_index():
        return
    count = _count(app.index.record, name)
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
