"""Plan, make and undo the change to a client's configuration.

In: a client and the command that starts our server.  Out: a `Plan` (before, after, the difference), then the file written.
Always: what we write parses, differs from what was there by our entry alone, and replaces the file in one step; owner, group and
mode stay. Copies stay beside it: of the file before our first change, for ever, and before the last one.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from smart_context import regular
from smart_context.clients import codex_toml, jsonc
from smart_context.clients.known import Client, Places
from smart_context.data import dataclass
from smart_context.errors import ConfigError, IoError
from smart_context.settings import toml_lines

NAME = "smart-context"
FIRST, LAST = ".before-smart-context", ".last-before-smart-context"  # endings of the copies
_MOST_BYTES = {"json": 16_000_000, "jsonc": 16_000_000, "toml": 500_000}


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that has not been made. `before` is None where there is no file yet."""

    client: Client
    file: Path
    before: str | None
    after: str

    @property
    def is_empty(self) -> bool:
        """Nothing would change."""
        return self.before == self.after or (self.before is None and not self.after)

    def difference(self) -> str:
        """Show the change as a unified diff."""
        old = (self.before or "").splitlines(keepends=True)
        rows = difflib.unified_diff(old, self.after.splitlines(keepends=True), str(self.file), str(self.file))
        return "".join(row if row.endswith("\n") else row + "\n" for row in rows)


def add(client: Client, places: Places, command: Sequence[str]) -> Plan:
    """Plan to add our entry, or to bring it up to date."""
    if any(not _is_text(word) for word in command):
        raise ConfigError(
            f"the settings of {client.title} cannot name a path that is not UTF-8",
            hint="rename the folder, or serve the one above it",
        )
    return _plan(client, places, client.entry(command))


def _is_text(word: str) -> bool:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def command_of(client: Client, places: Places) -> list[str] | None:
    """Give the command of our entry in the client's settings; None without one, empty for one that starts nothing."""
    file = client.settings(places)
    servers = _load(client, file, _read(client, file) or "").get(client.path[0])
    entry = servers.get(NAME) if isinstance(servers, dict) else None
    if entry is None:
        return None
    command, args = (entry.get("command"), entry.get("args", [])) if isinstance(entry, dict) else ("", [])
    words = [*command, *args] if isinstance(command, list) and isinstance(args, list) else [command, *(args or [])]
    return words if all(isinstance(word, str) and word for word in words) else []


def remove(client: Client, places: Places) -> Plan:
    """Plan to remove our entry."""
    return _plan(client, places, None)


def _plan(client: Client, places: Places, entry: dict[str, object] | None) -> Plan:
    file = client.settings(places)
    before = _read(client, file)
    data = _load(client, file, before or "")
    if client.format == "toml":
        after = (
            codex_toml.drop(before or "", client.path[0], NAME)
            if entry is None
            else codex_toml.put(before or "", client.path[0], NAME, entry)
        )
    else:
        try:
            path = (*client.path, NAME)
            after = jsonc.drop(before or "", path) if entry is None else jsonc.put(before or "", path, entry)
        except jsonc.Broken as error:
            raise _unreadable(client, file, str(error)) from error
        if before is None and after and not after.endswith("\n"):
            after += "\n"
    _check(client, file, data, after, entry)
    return Plan(client, file, before, after)


def _check(client: Client, file: Path, old: dict[str, object], after: str, entry: dict[str, object] | None) -> None:
    """Refuse to write anything but the old settings with our entry changed: a layout we misread must not cost a setting."""
    servers = old.get(client.path[0], {})
    if not isinstance(servers, dict):
        raise _unreadable(client, file, f"{client.path[0]!r} is not a table of servers")
    wanted = {k: v for k, v in servers.items() if k != NAME} | ({} if entry is None else {NAME: entry})
    new = _load(client, file, after)
    rest = {k: v for k, v in old.items() if k != client.path[0]}
    if {k: v for k, v in new.items() if k != client.path[0]} != rest or new.get(client.path[0], {}) != wanted:
        raise ConfigError(
            f"{file} is laid out in a way that cannot be changed safely",
            hint=f"add the entry by hand: `context connect {client.name} --print` shows it",
        )


def _load(client: Client, file: Path, text: str) -> dict[str, object]:
    if client.format == "toml":
        try:
            return toml_lines.loads(text)
        except ValueError as error:
            raise _unreadable(client, file, str(error)) from error
    try:
        data = jsonc.loads(text)
    except jsonc.Broken as error:
        raise _unreadable(client, file, str(error)) from error
    if not isinstance(data, dict):
        raise _unreadable(client, file, "it is not an object")
    return data


def _unreadable(client: Client, file: Path, why: str) -> ConfigError:
    return ConfigError(
        f"cannot read the settings of {client.title}: {file}",
        reason=why,
        hint="mend the file (nothing has been changed), then run this again",
    )


def _read(client: Client, file: Path) -> str | None:
    try:
        # Bytes, so that line endings stay as they are.
        return regular.read(file, _MOST_BYTES[client.format]).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _unreadable(client, file, "it is not UTF-8 text") from error
    except OSError as error:
        raise _unreadable(client, file, error.strerror or str(error)) from error


def write(plan: Plan, places: Places) -> Path | None:
    """Write the planned text in one step; return the copy of what was there just before, if anything was."""
    try:
        with regular.as_owner_of(plan.client.owner_folder(places), plan.file):
            if _read(plan.client, plan.file) != plan.before:
                raise IoError(f"{plan.file} has changed meanwhile", hint="run this again")
            # A settings file may be a link into a folder of dotfiles: change its target, keep the link.
            target = Path(os.path.realpath(plan.file))
            target.parent.mkdir(parents=True, exist_ok=True)
            backup = None if plan.before is None else _kept(target, plan.before.encode())
            regular.replace(target, plan.after.encode())
    except OSError as error:
        raise IoError(f"cannot write {plan.file}", reason=error.strerror, hint="nothing has been changed") from error
    return backup


def _kept(target: Path, before: bytes) -> Path:
    first = target.with_name(target.name + FIRST)
    backup = target.with_name(target.name + LAST) if os.path.isfile(first) and not os.path.islink(first) else first
    regular.replace(backup, before, os.stat(target).st_mode & 0o777)
    return backup
