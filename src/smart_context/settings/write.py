"""Change the `roots` of a configuration file and nothing else in it.

In: the file and a folder.  Out: the file with that folder in `roots`, or without it.
Always: comments, order and spacing of everything else stay; the new text is read back and must mean exactly the change, or
the file is left alone; it is replaced in one step.
"""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smart_context.errors import ConfigError, IoError

# One token of an array of strings: what may hold a bracket that does not end it.
_TOKEN = re.compile(r"""("(?:\\.|[^"\\\n])*"|'[^'\n]*')|(#[^\n]*)|([\[\],])|[^"'#\[\],]+""")
_KEY = re.compile(r"^[ \t]*(?:roots|\"roots\"|'roots')[ \t]*=[ \t]*\[", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def add_root(path: Path, folder: str) -> bool:
    """Add a folder to the file's roots, making the file where there is none; False if it was there already."""
    return _change(path, folder, lambda roots: [*roots, folder] if folder not in roots else roots, _with)


def remove_root(path: Path, folder: str) -> bool:
    """Take a folder out of the file's roots; False if it was not there."""
    return _change(path, folder, lambda roots: [r for r in roots if _expanded(r) != folder], _without)


def _expanded(name: object) -> str:
    return os.path.abspath(os.path.expanduser(str(name)))


def _change(path: Path, folder: str, wanted: Callable[[list[str]], list[str]], edit: Callable[[str, str], str]) -> bool:
    text = _read(path)
    meaning = _parsed(path, text)
    before = meaning.get("roots", [])
    if not isinstance(before, list):
        raise ConfigError(f"{path}: `roots` is not a list", hint="correct it by hand first")
    after = wanted(before)
    if after == before:
        return False
    changed = edit(text, folder)
    if _parsed(path, changed) != {**meaning, "roots": after}:
        raise ConfigError(f"{path}: `roots` is written in a way that cannot be changed safely", hint="edit it by hand")
    _replace(path, changed)
    return True


def _with(text: str, folder: str) -> str:
    quoted = _quoted(folder)
    found = _KEY.search(text)
    if found is None:
        table = _TABLE.search(text)
        at = table.start() if table else len(text)
        before = text[:at]
        gap = "" if not before or before.endswith("\n") else "\n"
        return f"{before}{gap}roots = [{quoted}]\n" + ("\n" if table else "") + text[at:]
    items, end = _array(text, found.end())
    if not items:
        return f"{text[:end]}{quoted}{text[end:]}"
    # Right behind the last item, in its style: on a line of its own where that one is.
    last_start, last_end = items[-1]
    line = text[text.rfind("\n", 0, last_start) + 1 : last_start]
    seam = f",\n{line}" if not line.strip() else ", "
    return f"{text[:last_end]}{seam}{quoted}{text[last_end:]}"


def _without(text: str, folder: str) -> str:
    found = _KEY.search(text)
    if found is None:
        return text
    items, _end = _array(text, found.end())
    for start, end in reversed(items):
        if _expanded(tomllib.loads(f"x = {text[start:end]}")["x"]) == folder:
            text = _cut(text, start, end)
    return text


def _cut(text: str, start: int, end: int) -> str:
    comma = re.compile(r"[ \t]*,[ \t]*").match(text, end)
    if comma:
        end = comma.end()
    elif before := re.search(r",[ \t\n]*$", text[:start]):
        start = before.start()
    if not text[text.rfind("\n", 0, start) + 1 : start].strip() and text.startswith("\n", end):
        start, end = text.rfind("\n", 0, start) + 1, end + 1
    return text[:start] + text[end:]


def _array(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """Where the strings of an array stand, and where its closing bracket does."""
    items = []
    while found := _TOKEN.match(text, at):
        if found[1]:
            items.append(found.span())
        if found[3] == "]":
            break
        at = found.end()
    return items, at


def _quoted(folder: str) -> str:
    escaped = "".join(
        f"\\u{ord(c):04X}" if ord(c) < 0x20 or ord(c) == 0x7F else f"\\{c}" if c in '"\\' else c for c in folder
    )
    return f'"{escaped}"'


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8", hint="correct it by hand first") from error
    except OSError as error:
        raise IoError(f"cannot read {path}", reason=error.strerror) from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML", reason=str(error), hint="correct it by hand first") from error


def _replace(path: Path, text: str) -> None:
    # A linked file (dotfiles kept elsewhere) is changed where it is.
    real = Path(os.path.realpath(path))
    try:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, beside = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
        try:
            with open(fd, "wb") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(fd)
            os.chmod(beside, real.stat().st_mode & 0o777 if real.exists() else 0o600)
            os.replace(beside, real)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise IoError(f"cannot write {path}", reason=error.strerror) from error
