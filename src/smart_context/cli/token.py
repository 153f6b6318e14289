"""`context token`: who may use a shared server, what each sees, and until when."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from smart_context import plain
from smart_context.cli import say
from smart_context.cli.options import json_option
from smart_context.cli.program import Group
from smart_context.errors import UsageError

if TYPE_CHECKING:
    from smart_context.access.tokens import TokenStore
    from smart_context.settings.config import Settings

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=Group)
def token() -> None:
    """Give people tokens for `context serve --http`, list them, or end them.

    A token has a name, the folders that it may see, and an end. A running server applies a change at once.

    \b
    Examples:
      context token add ada --root /srv/share/sales --days 90
      context token add ops --admin
      context token list
      context token revoke ada
    """


def _data_dir_options(command: F) -> F:
    @wraps(command)
    def resolved(*args: Any, config_file: str | None, data_dir: str | None, **more: Any) -> Any:
        from smart_context import engine
        from smart_context.settings import config

        settings = config.load({"config": config_file, "data_dir": data_dir})
        shared = (
            engine.shared(settings.data_dir, settings.engine, settings.engine_places).tokens()
            if settings.engine
            else None
        )
        return command(*args, settings=settings, shared=shared, **more)

    for option in reversed(_DATA_DIR):
        resolved = option(resolved)
    return resolved  # type: ignore[return-value]  # the same command with two more options


_DATA_DIR = (
    click.option("--config", "config_file", type=click.Path(dir_okay=False), metavar="FILE", help="The server's configuration."),
    click.option("--data-dir", type=click.Path(file_okay=False), metavar="DIR", help="The server's data folder."),
)  # fmt: skip


@token.command()
@click.argument("name")
@click.option(
    "--root", "roots", multiple=True, type=click.Path(), metavar="DIR", help="A folder it may see; repeatable."
)
@click.option("--all-roots", is_flag=True, help="It may see every root.")
@click.option("--admin", is_flag=True, help="It may index, too; without --root it sees every root.")
@click.option(
    "--days", type=click.IntRange(1, 36_500), metavar="N", help="It ends after this many days. Default: never."
)
@_data_dir_options
def add(
    settings: Settings,
    shared: TokenStore | None,
    name: str,
    roots: tuple[str, ...],
    all_roots: bool,
    admin: bool,
    days: int | None,
) -> None:
    """Make a token for NAME and print it. It is shown this once: only its hash is kept."""
    from smart_context.access import tokens

    if roots and all_roots:
        raise UsageError("--root and --all-roots do not go together")
    if not (roots or all_roots or admin):
        raise UsageError(
            "a token needs to know what it may see", hint="name folders with --root DIR, or say --all-roots"
        )
    now, data_dir = datetime.now(UTC), Path(settings.data_dir)
    folders = tuple(dict.fromkeys(_folder(root) for root in roots))
    given = tokens.add(
        data_dir,
        name,
        folders or None,
        is_admin=admin,
        made=_written(now),
        ends=_written(now + timedelta(days=days)) if days else "",
        shared=shared,
    )
    click.echo(given)
    say(f"this is the token of {name}; it is not shown again")
    for folder in folders:
        _warn_of_nothing(settings, folder)
    if shared is None and (owner := _owner(data_dir)):
        say(f"warning: {data_dir} belongs to {owner}, and a server that runs as {owner} cannot read this token")
        say(f"make tokens as that user: runuser -u {owner} -- context token …")


def _warn_of_nothing(settings: Settings, folder: str) -> None:
    """Say where a token is to see a folder in which there is nothing to see."""
    from smart_context.access.roots import Roots, shown

    name = plain.line(shown(folder))
    if not os.path.isdir(folder):
        say(f"warning: there is no folder {name} on this machine")
    if not Roots(settings.roots).within([folder]).names:
        say(
            f"warning: {name} is in no configured root: the token sees nothing there, unless the server is given it as --root"
        )
        say("see the roots with: context roots")


def _owner(data_dir: Path) -> str:
    """Whose folder root has written to; "" for our own."""
    if not hasattr(os, "geteuid") or (uid := data_dir.stat().st_uid) == os.geteuid():
        return ""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


@token.command("list")
@_data_dir_options
@json_option
def list_(settings: Settings, shared: TokenStore | None, as_json: bool) -> None:
    """List the tokens with what they may see and when they end."""
    from smart_context.access import tokens
    from smart_context.cli import show

    now = datetime.now(UTC)
    found = tokens.kept(Path(settings.data_dir), shared)
    if as_json:
        rows = [
            {"name": t.name, "roots": t.roots, "admin": t.is_admin, "made": t.made, "ends": t.ends or None}
            for t in found
        ]
        click.echo(show.json_of(rows))
        return
    for each in found:
        ends = ("ended " if each.has_ended(now) else "until ") + each.ends if each.ends else "no end"
        sees = ", ".join(map(show.safe, each.roots)) if each.roots is not None else "all roots"
        click.echo(f"{each.name}  {'administrator' if each.is_admin else 'reader'}  {ends}  {sees}")
    if not found:
        say("there are no tokens; make one with: context token add NAME --root DIR")


@token.command()
@click.argument("name")
@_data_dir_options
def revoke(settings: Settings, shared: TokenStore | None, name: str) -> None:
    """End the token of NAME, from its next request on."""
    from smart_context.access import tokens

    tokens.revoke(Path(settings.data_dir), name, shared)
    say(f"the token of {name} has ended")


def _folder(name: str) -> str:
    path = os.path.realpath(os.path.expanduser(name))
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("a token cannot name a folder that is not UTF-8", hint="name a folder above it") from None
    return path


def _written(when: datetime) -> str:
    return when.isoformat(timespec="seconds").replace("+00:00", "Z")
