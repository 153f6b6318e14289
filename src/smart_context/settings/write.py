"""Change the `roots` of a configuration file and nothing else in it.

In: the file and a folder.  Out: the file with that folder in `roots`, or without it.
Always: comments, order and spacing of everything else stay; the new text is read back and must mean exactly the change, or
the file is left alone; it is replaced in one step, and keeps owner and mode.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smart_context import regular
from smart_context.errors import ConfigError, IoError
from smart_context.settings import config, toml_lines

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_MAX_BYTES = 1_000_000


def add_root(path: Path, folder: str) -> bool:
    """Add a folder to the file's roots, making the file where there is none; False if it was there already."""
    return _change(path, lambda roots: [*roots, folder] if folder not in roots else roots)


def remove_root(path: Path, folder: str) -> bool:
    """Take a folder out of the file's roots; False if it was not there."""
    return _change(path, lambda roots: [root for root in roots if _expanded(root) != folder])


def _expanded(name: object) -> str:
    return os.path.abspath(os.path.expanduser(str(name)))


def _change(path: Path, wanted: Callable[[list[Any]], list[Any]]) -> bool:
    text = _read(path)
    meaning = _parsed(path, text)
    before = meaning.get("roots", [])
    if not isinstance(before, list):
        raise ConfigError(f"{path}: `roots` is not a list", hint="correct it by hand first")
    after = wanted(before)
    if after == before:
        return False
    changed = _edited(path, text, before, after)
    if _parsed(path, changed) != {**meaning, "roots": after}:
        raise ConfigError(f"{path}: `roots` is written in a way that cannot be changed safely", hint="edit it by hand")
    _replace(path, changed)
    return True


def _edited(path: Path, text: str, before: list[Any], after: list[Any]) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    mark = toml_lines.MARK if text.startswith(toml_lines.MARK) else ""
    try:
        document: TOMLDocument = tomlkit.parse(text.removeprefix(mark))
        if "roots" not in document:
            document["roots"] = after
        else:
            roots: Any = document["roots"]
            for at in reversed(range(len(before))):
                if before[at] not in after:
                    del roots[at]
            for root in after[len(roots) :]:
                roots.append(root)
        return mark + tomlkit.dumps(document)
    except (TOMLKitError, ValueError, LookupError, RecursionError) as error:
        raise ConfigError(f"{path}: `roots` cannot be changed", reason=str(error), hint="edit it by hand") from error


def _read(path: Path) -> str:
    try:
        return regular.read(path, _MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8", hint="correct it by hand first") from error
    except OSError as error:
        raise IoError(f"cannot read {path}", reason=error.strerror) from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return toml_lines.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path} is not valid TOML", reason=str(error), hint="correct it by hand first") from error


def _replace(path: Path, text: str) -> None:
    # A linked file (dotfiles kept elsewhere) is changed where it is.
    real = Path(os.path.realpath(path))
    try:
        with regular.as_owner_of(config.home_folder(), path):
            real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            regular.replace(real, text.encode("utf-8"))
    except OSError as error:
        raise IoError(
            f"cannot write {path}",
            reason=error.strerror,
            hint="name another file with --config FILE, or the folder with --root DIR",
        ) from error
