"""`context uninstall`: remove what this program has put on the machine, but for the program itself."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smart_context.cli import say
from smart_context.cli.layout import columns, fitted, shortened_path
from smart_context.cli.options import forgiving_settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import home, size, waiting
from smart_context.errors import ConfigError, Conflict, ContextError, IoError

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

# Files that this program puts into a data folder, and what they are. Other files stay.
_OURS = {
    "record.sqlite*": "the index", "ranking*": "the index", "vectors-*.bin": "the index", "node": "the index",
    "set-aside-*": "a damaged index", "write.lock": "a lock", "embed.lock": "a lock", "models": "models", "forget.unfinished": "a note of `context forget`",
    "audit.jsonl*": "the audit log", "rates": "counts of calls", "tokens.json*": "tokens", "http-token": "tokens",
    "llm-usage.json*": "counts of tokens", "ui": "the page's files", "shown.json": "the last search", "last-search.json": "the last search",
    # Temporary files of processes that were killed.
    "vectors-*.new": "the index", "tokens.new": "tokens", ".last-search.json.*": "the last search",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Step:
    """One thing to remove: what it is, where, and how."""

    what: str
    where: str
    remove: Callable[[], object]


@click.command(cls=Command)
@click.option("--yes", is_flag=True, help="Remove it; without this, only say what would be removed.")
@forgiving_settings_options
def uninstall(yes: bool, settings: Settings) -> None:
    """Remove the index, the audit log, the tokens, the models, the entries in clients' settings and the configuration.

    Caches are yours: they lie where you made them, and stay. The program itself goes as it came: `pipx uninstall
    smart-file-context`, or remove its environment.

    \b
    Examples:
      context uninstall
      context uninstall --yes
    """
    from smart_context import engine

    # A server first: what writes the index may be a process of its own, and ending that alone would not help.
    if used := _used_by(settings.data_dir):
        what = f"{', '.join(used)} {'uses' if len(used) == 1 else 'use'} the index, and would make another"
    elif who := engine.at(settings.data_dir, settings.engine, settings.engine_places).writer():
        what = f"the index is being written by {who}"
    else:
        what = ""
    if what and yes:
        raise Conflict(what, hint="end it first, or quit the client that started it; then run this again")
    if what:
        say(f"end this first: {what}")
    steps = [*_clients(), *_data(settings), *_configuration(settings)]
    done = [_done(step, yes=yes) for step in steps]
    if not steps:
        say("there is nothing to remove")
    elif not yes:
        say("nothing was removed; do it with: context uninstall --yes")
    if settings.cache_root and os.path.isdir(settings.cache_root):
        say(f"your caches stay in {settings.cache_root}")
    if not all(done):
        raise IoError("not everything could be removed", hint="mend what is named above, then run this again")


def _used_by(data_dir: str) -> list[str]:
    """The processes that have a file of the data folder open (Linux): servers, which would index everything again."""
    inside = os.path.realpath(data_dir) + os.sep
    found = []
    for number in sorted(int(name) for name in _names("/proc") if name.isdigit()):
        held = _names(f"/proc/{number}/fd") if number != os.getpid() else ()
        if any(_target(f"/proc/{number}/fd/{name}").startswith(inside) for name in held):
            found.append(f"process {number}")
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # another system, another user's, or it has just ended
        return []


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _done(step: _Step, *, yes: bool) -> bool:
    """Do a step, or only say that it would be done. Returns whether it succeeded."""
    if yes:
        try:
            with waiting(f"removing {step.what}"):
                step.remove()
        except (OSError, ContextError) as error:
            why = error.in_one_line if isinstance(error, ContextError) else error.strerror
            say(f"could not remove {step.what}: {step.where}: {why}")
            return False
    room = columns(sys.stdout)
    where = shortened_path(step.where, room - 2) if room else step.where
    click.echo(fitted(f"{'removed' if yes else 'would remove'} {step.what}: {where}", room))
    return True


def _clients() -> Iterator[_Step]:
    from smart_context.clients import change
    from smart_context.clients.known import CLIENTS, Places

    places = Places.of_this_user()
    for client in CLIENTS.values():
        try:
            if change.command_of(client, places) is None:
                continue
            plan = change.remove(client, places)
        except ConfigError as error:
            say(f"left as it is: {error.in_one_line}")
            continue
        yield _Step(f"the entry of {client.title}", home(str(plan.file)), partial(change.write, plan, places))


def _data(settings: Settings) -> Iterator[_Step]:
    folder, audit = Path(settings.data_dir), Path(settings.audit_path())
    found = [(path, kind) for pattern, kind in _OURS.items() for path in sorted(folder.glob(pattern))]
    if audit.parent != folder:
        found += [(path, "the audit log") for path in sorted(audit.parent.glob(f"{glob.escape(audit.name)}*"))]
    for path, kind in found:
        yield _Step(f"{kind} ({size(_bytes(path))})", home(str(path)), partial(_remove, path))
    if folder.is_dir():
        yield _Step("the data folder, if it is empty then", home(str(folder)), lambda: _remove_empty(folder))


def _configuration(settings: Settings) -> Iterator[_Step]:
    if settings.config_file:
        path = Path(settings.config_file)
        yield _Step("the configuration", home(str(path)), lambda: path.unlink(missing_ok=True))
        yield _Step("its folder, if it is empty then", home(str(path.parent)), lambda: _remove_empty(path.parent))


def _bytes(path: Path) -> int:
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size
    return sum(inner.lstat().st_size for inner in path.rglob("*"))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()
