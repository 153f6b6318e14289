"""`context open` and `context cat`: look at a place in a file, or print all of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from smart_context import plain
from smart_context.cli import GivenOptions, last_search, quoted, results, say
from smart_context.cli.layout import columns, is_terminal, shortened, shortened_path, width_of
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import home, json_of, safe, say_unredacted
from smart_context.errors import Forbidden

if TYPE_CHECKING:
    from smart_context.settings.config import Settings


def _places(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from smart_context.cli import completion

    return completion.pointers(context, parameter, typed)


@click.command("open", cls=Command)
@click.argument("path", type=click.Path(), metavar="PATH|N")
@click.option(
    "--pointer",
    metavar="PLACE",
    shell_complete=_places,
    help='Where to look: "page 3", "sheet \'Q2\'", "lines 10-40", as search shows it.',
)
@click.option("--before", type=int, default=0, help="Characters to show before the place, at most 4000.")
@click.option("--after", type=int, default=0, help="Characters to show after the place, at most 4000.")
@click.option("--app", "in_application", is_flag=True, help="Open the file in its application instead.")
@click.option("--unredacted", is_flag=True, help="Hide nothing. For your own use; it is logged.")
@settings_options
@json_option
def open_(
    path: str,
    pointer: str | None,
    before: int,
    after: int,
    in_application: bool,
    unredacted: bool,
    settings: Settings,
    as_json: bool,
) -> None:
    """Show a part of the file at PATH, or of result N of the last search, as agents see it: text only, redacted, at most 8 kB.

    \b
    Examples:
      context open 3
      context open 3 --app
      context open report.pdf --pointer "page 3"
      context open budget.xlsx --pointer "sheet 'Q2'"
    """
    from smart_context.api import App

    name, pointer = _meant(settings, path, pointer)
    with _naming_the_root("open", path, name), App(settings) as app:
        if in_application:
            from smart_context.cli.searching import launch

            launch(app.locate(name))
            return
        answer = app.open_file(name, pointer, before, after, unredacted=unredacted)
    if unredacted:
        say_unredacted(settings)
    if as_json:
        click.echo(json_of(answer))
        return
    say(_title(answer["path"], answer["pointer"]))
    click.echo(safe(answer["preview"]).rstrip("\n"))
    if answer["truncated"]:
        more = f'--pointer "{answer["next"]}"' if answer.get("next") else "--pointer"
        say(f"… there is more after {plain.line(answer['pointer']) or 'this'}; ask for it with {plain.line(more)}")


@click.command(cls=Command)
@click.argument("path", type=click.Path(), metavar="PATH|N")
@click.option(
    "--pointer",
    metavar="PLACE",
    shell_complete=_places,
    help="Only this place, as search shows it; default: the whole file.",
)
@click.option("--unredacted", is_flag=True, help="Hide nothing. For your own use; it is logged.")
@settings_options
def cat(path: str, pointer: str | None, unredacted: bool, settings: Settings) -> None:
    """Print the text of the file at PATH, or of result N of the last search: any format, the whole text, redacted.

    \b
    Examples:
      context cat report.pdf | less
      context cat budget.xlsx --pointer "sheet 'Q2'"
      context cat keys.txt --unredacted
    """
    from smart_context.api import App

    name = _meant(settings, path, pointer)[0]
    with _naming_the_root("cat", path, name), App(settings) as app:
        _, text = app.read_file(name, pointer, unredacted=unredacted)
    if unredacted:
        say_unredacted(settings)
    click.echo((safe(text) if is_terminal(sys.stdout) else text).rstrip("\n"))


def _title(path: str, pointer: str) -> str:
    """A file and a place in it, on one line of a terminal."""
    place, room = plain.line(pointer), columns(sys.stderr)
    if not room:
        return f"{results.place(path)}  {place}"
    place = shortened(place, max(8, room // 2))
    return f"{shortened_path(home(results.place(path)), max(8, room - width_of(place) - 2))}  {place}"


def _meant(settings: Settings, path: str, pointer: str | None) -> tuple[str, str | None]:
    """The file that is meant, and the place in it: a number means a result; a file with such a name is `./3`."""
    if not _is_number(path):
        return os.path.abspath(os.path.expanduser(path)), pointer
    name, place = last_search.result(settings.data_dir, int(path))
    return name, pointer or place


def _is_number(path: str) -> bool:
    return path.isascii() and path.isdecimal()


@contextmanager
def _naming_the_root(command: str, path: str, name: str) -> Iterator[None]:
    """Say how to look at a result that lies in no root of this command: the search that showed it had a `--root` of its own."""
    try:
        yield
    except Forbidden as error:
        if not _is_number(path):
            raise
        again = f"context {command} {path} --root {quoted(os.path.dirname(name))}{GivenOptions.place}"
        raise Forbidden(error.message, hint=f"if that search had a --root, give it here too: {again}") from None
