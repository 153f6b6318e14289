"""`context connect`: put the server into a client's settings, check that it starts, and take it out again."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from smart_context.cli import say
from smart_context.cli.layout import columns, shortened_path
from smart_context.cli.program import Command
from smart_context.cli.show import ask, can_ask, home, waiting
from smart_context.clients import change, probe
from smart_context.clients import command as start
from smart_context.clients.known import CLIENTS, Client, Places
from smart_context.errors import ConfigError, UsageError
from smart_context.settings import config

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

_WITH_TITLE = 100  # columns from which there is room for a client's whole name
_LEAST_FILE = 20  # columns that make it worth naming a file
_FOLDER = click.Path(file_okay=False, resolve_path=True)


@click.command(cls=Command)
@click.argument("client", required=False, type=click.Choice(list(CLIENTS)), metavar="[CLIENT]")
@click.option(
    "--root", "roots", multiple=True, type=_FOLDER, metavar="DIR", help="A folder the client may search; repeatable."
)
@click.option("--data-dir", type=_FOLDER, metavar="DIR", help="Keep the index here.")
@click.option("--cache-root", type=_FOLDER, metavar="DIR", help="The folder of caches.")
@click.option(
    "--config",
    "config_file",
    type=click.Path(dir_okay=False, resolve_path=True),
    metavar="FILE",
    help="A configuration file.",
)
@click.option("--remove", is_flag=True, help="Take the server out of the client's settings.")
@click.option("--print", "only_print", is_flag=True, help="Show the entry, and change nothing.")
@click.option("--yes", is_flag=True, help="Change the settings without asking.")
def connect(
    client: str | None,
    roots: tuple[str, ...],
    data_dir: str | None,
    cache_root: str | None,
    config_file: str | None,
    remove: bool,
    only_print: bool,
    yes: bool,
) -> None:
    """Connect an MCP CLIENT: show the change to its settings, make it once you agree, and try the server.

    Without CLIENT, list the clients that are known and whether they are connected.

    \b
    Examples:
      context connect
      context connect claude-desktop --root ~/Documents
      context connect vscode --root ~/notes --yes
      context connect cursor --remove
    """
    places = Places.of_this_user()
    if client is None:
        _list(places)
        return
    chosen = CLIENTS[client]
    if remove:
        plan = change.remove(chosen, places)
        if plan.is_empty:
            say(f"{chosen.title} was not connected")
        else:
            _apply(plan, places, yes=yes)
        return
    flags = {"roots": roots, "data_dir": data_dir, "cache_root": cache_root, "config": config_file}
    settings = config.load(dict(flags))
    _check(settings)
    _say_what_is_left_out(flags, settings.roots)
    command = [*start.words(), *arguments(chosen, flags, watch=bool(settings.roots))]
    plan = change.add(chosen, places, command)
    if only_print:
        click.echo(plan.after, nl=False)
        return
    if _apply(plan, places, yes=yes):
        with waiting("starting the server to try it"):
            names = _tried(command)
        say(f"the server starts and offers {len(names)} tools: {', '.join(names)}")
        say(f"{chosen.title} is connected. {chosen.after}")


def arguments(client: Client, flags: Mapping[str, object], *, watch: bool) -> list[str]:
    """Give the arguments of `serve`, with the flags that were given here."""
    found = ["serve"]
    for name, option in (("config", "--config"), ("data_dir", "--data-dir"), ("cache_root", "--cache-root")):
        if flags[name]:
            found += [option, str(flags[name])]
    roots = flags["roots"]
    for root in roots if isinstance(roots, tuple) else ():
        found += ["--root", root]
    found += ["--watch"] if watch else []
    return found if client.dotted else [*found, "--tool-names", "underscore"]


def _check(settings: Settings) -> None:
    if not settings.roots and not settings.cache_root:
        raise ConfigError(
            "there is nothing to serve yet",
            hint="name a folder to search with --root DIR, or one of caches with --cache-root DIR",
        )
    for root in settings.roots:
        if not os.path.isdir(root):
            raise UsageError(f"{root} is not a folder", hint="give --root the folder to search")


def _say_what_is_left_out(flags: Mapping[str, object], served: Sequence[str]) -> None:
    """Say that --root in an entry replaces the configured roots, if there are others."""
    if not flags["roots"]:
        return
    left_out = [root for root in config.load({**flags, "roots": None}).roots if root not in served]
    if left_out:
        say(
            f"this client will search {', '.join(served)} alone",
            f"it will not search your configured roots ({', '.join(left_out)}); without --root it searches those",
        )


def _apply(plan: change.Plan, places: Places, *, yes: bool) -> bool:
    """Show the change and make it; True if the settings are then as planned."""
    if plan.is_empty:
        say(f"{home(str(plan.file))} is already up to date")
        return True
    click.echo(plan.difference(), err=True, nl=False)
    if not yes:
        if not can_ask():
            raise UsageError("nothing was changed, since nobody can be asked here", hint="add --yes to make the change")
        if not ask(f"Change {home(str(plan.file))}?"):
            say("nothing was changed")
            return False
    backup = change.write(plan, places)
    say(f"changed {home(str(plan.file))}" + (f"; the old one is {backup.name}" if backup else ""))
    return True


def _tried(command: Sequence[str]) -> Sequence[str]:
    # Without --watch: a server that is only tried should not begin to read folders.
    return probe.tools([word for word in command if word != "--watch"])


def _list(places: Places) -> None:
    """A line for each client: all of it for a pipe and a wide terminal, else what there is room for."""
    room = columns(sys.stdout)
    troubles = []
    for client in CLIENTS.values():
        file = home(str(client.settings(places)))
        try:
            connected = change.command_of(client, places) is not None
            state = "connected" if connected else "not connected" if client.settings(places).exists() else "no settings"
        except ConfigError as error:
            state = "unreadable"
            troubles.append(f"{file} cannot be read: {error.reason}")
        told = (
            f"{client.name:<20} " + (f"{client.title:<31} " if not room or room >= _WITH_TITLE else "") + f"{state:<14}"
        )
        left = room - len(told) - 1
        if not room:
            click.echo(f"{told} {file}")
        else:
            click.echo(f"{told} {shortened_path(file, left) if left > _LEAST_FILE else ''}".rstrip())
    say(*troubles, "connect one with: context connect NAME --root DIR")
