"""`context uninstall`: remove what this program has put on the machine, but for the program itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smart_context.cli import Command
from smart_context.cli.options import settings_options
from smart_context.cli.show import size
from smart_context.errors import ConfigError, Conflict

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

# What lies in a data folder by our doing. Whatever else is there is somebody else's, and stays.
_OURS = (
    "record.sqlite*", "ranking*", "vectors-*.bin", "node", "write.lock", "embed.lock", "set-aside-*",
    "audit.jsonl*", "rates", "tokens.json*", "http-token", "llm-usage.json*", "models", "ui", "shown.json",
    "last-search.json",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Step:
    """One thing to remove: what it is, where, and how."""

    what: str
    where: str
    remove: Callable[[], object]


@click.command(cls=Command)
@click.option("--yes", is_flag=True, help="Remove it; without this, only say what would be removed.")
@settings_options
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

    if who := engine.at(settings.data_dir, settings.engine, settings.engine_places).writer():
        raise Conflict(f"the index is being written by {who}", hint="end that first, then run this again")
    steps = [*_clients(), *_data(settings), *_configuration(settings)]
    for step in steps:
        click.echo(f"{'removed' if yes else 'would remove'} {step.what}: {step.where}")
        if yes:
            step.remove()
    if not steps:
        click.echo("there is nothing to remove", err=True)
    elif not yes:
        click.echo("nothing was removed; do it with: context uninstall --yes", err=True)
    if settings.cache_root and os.path.isdir(settings.cache_root):
        click.echo(f"your caches stay in {settings.cache_root}", err=True)


def _clients() -> Iterator[_Step]:
    from smart_context.clients import change
    from smart_context.clients.known import CLIENTS, Places
    from smart_context.settings import config

    places = Places(Path(config.home_folder()), Path(config.applications_folder()), moved=config.moved_folders())
    for client in CLIENTS.values():
        try:
            if change.command_of(client, places) is None:
                continue
            plan = change.remove(client, places)
        except ConfigError as error:
            click.echo(f"left as it is: {error.in_one_line}", err=True)
            continue
        yield _Step(f"the entry of {client.title}", str(plan.file), partial(change.write, plan, places))


def _data(settings: Settings) -> Iterator[_Step]:
    folder = Path(settings.data_dir)
    found = sorted({path for pattern in _OURS for path in folder.glob(pattern)})
    audit = Path(settings.audit_path())
    if audit.parent != folder:
        found += sorted(audit.parent.glob(f"{audit.name}*"))
    for path in found:
        yield _Step(_kind(path), f"{path} ({size(_bytes(path))})", partial(_remove, path))
    if folder.is_dir():
        yield _Step("the data folder, if it is empty then", str(folder), lambda: _remove_empty(folder))


def _configuration(settings: Settings) -> Iterator[_Step]:
    if settings.config_file:
        path = Path(settings.config_file)
        yield _Step("the configuration", str(path), lambda: path.unlink(missing_ok=True))
        yield _Step("its folder, if it is empty then", str(path.parent), lambda: _remove_empty(path.parent))


def _kind(path: Path) -> str:
    if path.name.startswith("audit"):
        return "the audit log"
    if path.name.startswith(("tokens", "http-token")):
        return "tokens"
    if path.name == "models":
        return "models"
    return "the index" if path.name.startswith(("record", "ranking", "vectors", "node")) else "what belongs to it"


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
