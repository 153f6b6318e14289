"""`context roots`: which folders may be read, and changing that in the configuration file."""

from __future__ import annotations

import os
import shlex
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smart_context.cli import Exit, GivenOptions, last_search, quoted, say
from smart_context.cli.forget import warn_of_set_aside
from smart_context.cli.options import CONFIG, DATA_DIR, F, json_option, settings_options
from smart_context.cli.program import Group
from smart_context.cli.show import ask, can_ask, home, json_of, plural
from smart_context.data import replace
from smart_context.errors import ConfigError, ContextError, NotFound, UsageError

if TYPE_CHECKING:
    from smart_context.settings.config import Settings


@click.group(cls=Group, invoke_without_command=True)
@settings_options
@json_option
@click.pass_context
def roots(ctx: click.Context, settings: Settings, as_json: bool) -> None:
    """List the folders that may be read, or change them in the configuration file.

    \b
    Examples:
      context roots
      context roots add ~/Documents
      context roots add /srv/share --config /etc/smart-context.toml
      context roots remove ~/Documents
    """
    ctx.obj = settings
    if not ctx.invoked_subcommand:
        _list(settings, as_json=as_json)


def _list(settings: Settings, *, as_json: bool) -> None:
    from smart_context.access.roots import Roots, shown

    listed = Roots(settings.roots)
    states = [(shown(name), listed.state(name)) for name in listed.names]
    if as_json:
        click.echo(json_of([{"root": name, "state": state} for name, state in states]))
        return
    for name, state in states:
        click.echo(name if state == "available" else f"{name}  ({state})")
    if not states:
        say("no roots are configured; add one with: context roots add DIR")


def _own_options(command: F) -> F:
    """Let `--config` and `--data-dir` stand behind a command as well as before it; the command gets the resolved `settings`."""

    @wraps(command)
    @click.pass_context
    def resolved(ctx: click.Context, /, *args: Any, config_file: str | None, data_dir: str | None, **more: Any) -> Any:
        from smart_context.settings import config

        settings: Settings = ctx.obj
        if config_file or data_dir:
            before = ctx.parent.params if ctx.parent else {}
            settings = config.load(
                {
                    "config": config_file or before.get("config_file"),
                    "roots": before.get("roots"),
                    "data_dir": data_dir or before.get("data_dir"),
                    "cache_root": before.get("cache_root"),
                }
            )
        return command(*args, settings=settings, **more)

    for option in (DATA_DIR, CONFIG):
        resolved = option(resolved)
    return resolved  # type: ignore[return-value]  # the same command with two more options


@roots.command("list")
@_own_options
@json_option
def list_(settings: Settings, as_json: bool) -> None:
    """List the folders that may be read, as `context roots` does."""
    _list(settings, as_json=as_json)


@roots.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--yes", is_flag=True, help="Do not ask, not even before your whole home folder becomes a root.")
@_own_options
def add(settings: Settings, folder: str, yes: bool) -> None:
    """Add FOLDER to the folders that may be read.

    You are asked before your whole home folder becomes a root, or one that holds it; --yes does not ask.
    """

    path, name = file_of(settings), _name(folder)
    if not os.path.isdir(name):
        raise NotFound(f"{name} is not a folder", hint="a root has to be there when it is added")
    if not yes and name not in settings.roots:
        _confirm(name)
    from smart_context.access.roots import is_within
    from smart_context.settings import write

    done = write.add_root(path, name)
    _check(path)
    say(f"{home(name)} {'is now' if done else 'was already'} a root, in {home(str(path))}")
    around = next((root for root in settings.roots if root != name and is_within(name, root)), "") if done else ""
    if around:
        say(f"it lies in the root {home(around)}, so that its files could be read already")
    if done:
        from smart_context.settings import config

        more = "" if path == Path(config.config_path()) else f" --config {shlex.quote(str(path))}"
        say(f"read it into the index with: context index{more}")


def _confirm(name: str) -> None:
    """Ask before a whole home folder becomes a root.

    Raises: UsageError where there is nobody to ask, Exit where the answer is no.
    """
    from smart_context.access.new_root import too_wide

    wide = too_wide(name)
    if not wide:
        return
    if not can_ask():
        hint = f"name the folders that matter; if you mean all of it: context roots add --yes {quoted(name)}{GivenOptions.place}"
        raise UsageError(f"{name} {wide}", hint=hint)
    if not ask(f"{home(name)} {wide}, and whoever may search may find what is in it. Make it a root?"):
        say("nothing was added; name the folders that matter: context roots add FOLDER")
        raise Exit(1)


@roots.command()
@click.argument("folder", type=click.Path())
@_own_options
def remove(settings: Settings, folder: str) -> None:
    """Remove FOLDER from the folders that may be read, and its text from the index."""

    path, name = file_of(settings), _name(folder)
    from smart_context.settings import write

    if not write.remove_root(path, name):
        raise NotFound(f"{name} is not among the roots in {path}", hint="list them with: context roots")
    say(f"removed root {home(name)} from {home(str(path))}")
    _forget(settings, name)


def _forget(settings: Settings, name: str) -> None:
    """Remove what is indexed of a root, except what lies in other roots."""
    from smart_context.access.roots import is_within
    from smart_context.api import App

    last_search.clear(settings.data_dir)
    others = tuple(root for root in settings.roots if root != name)
    if any(is_within(name, root) for root in others):
        return
    try:
        with App(replace(settings, roots=others)) as app:
            count = app.forget(name, keep=others)
    except ContextError as error:
        say(f"warning: its text is still in the index: {error.in_one_line}")
        say(f"remove it with: context forget {name}")
        return
    if count:
        say(f"{plural(count, 'file')} forgotten")
        warn_of_set_aside(settings)


def file_of(settings: Settings) -> Path:
    """The configuration file that a change goes to."""
    from smart_context.settings import config

    return Path(settings.config_file or config.config_path())


def _name(folder: str) -> str:
    name = os.path.abspath(os.path.expanduser(folder))
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError("a configuration file cannot name a folder that is not UTF-8", hint="use --root") from None
    return name


def _check(path: Path) -> None:
    """Load the file as every command will, so that errors in it are reported now."""
    from smart_context.settings import config

    config.load({"config": str(path)})
