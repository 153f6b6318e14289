"""Plan, make and undo the change to a client's configuration.

In: a client and the command that starts our server.  Out: a `Plan` (before, after, the difference), then the file written.
Always: what we write parses, differs from what was there by our entry alone, replaces the file in one step, and a copy of
the old file stays beside it.
"""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from smart_context.clients import codex_toml, jsonc
from smart_context.clients.known import Client, Places
from smart_context.errors import ConfigError, IoError

NAME = "smart-context"
BACKUP_SUFFIX = ".before-smart-context"


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
    entry: dict[str, object] = {**dict(client.fields), "command": command[0], "args": list(command[1:])}
    return _plan(client, places, entry)


def is_connected(client: Client, places: Places) -> bool:
    """Say whether our entry stands in the client's settings."""
    file = client.settings(places)
    servers = _load(client, file, _read(file) or "").get(client.path[0])
    return isinstance(servers, dict) and NAME in servers


def remove(client: Client, places: Places) -> Plan:
    """Plan to remove our entry."""
    return _plan(client, places, None)


def _plan(client: Client, places: Places, entry: dict[str, object] | None) -> Plan:
    file = client.settings(places)
    before = _read(file)
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
        import tomllib

        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
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


def _read(file: Path) -> str | None:
    try:
        # Bytes, so that line endings stay as they are.
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", hint="save it as UTF-8, then run this again") from error
    except OSError as error:
        raise IoError(f"cannot read {file}", reason=error.strerror) from error


def write(plan: Plan) -> Path | None:
    """Write the planned text in one step; return the copy of the old file, if there was one."""
    if _read(plan.file) != plan.before:
        raise IoError(f"{plan.file} has changed meanwhile", hint="run this again")
    # A settings file may be a link into a folder of dotfiles: change its target, keep the link.
    target = Path(os.path.realpath(plan.file))
    backup = target.with_name(target.name + BACKUP_SUFFIX) if plan.before is not None else None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if backup:
            shutil.copy2(target, backup)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(plan.after.encode())
                out.flush()
                os.fsync(out.fileno())
            if backup:
                shutil.copymode(target, name)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise IoError(f"cannot write {plan.file}", reason=error.strerror, hint="nothing has been changed") from error
    return backup
