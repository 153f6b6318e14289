"""Read one configuration file, and check values wherever they come from.

In: a TOML file, or text of a variable or flag.  Out: values by dotted name, of the right type, paths absolute.
Always: the first thing wrong is a `ConfigError` that names the place: file and line, variable, or flag.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from smart_context import regular
from smart_context.data import dataclass
from smart_context.errors import ConfigError

_MAX_BYTES = 1_000_000
_TYPES = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "tuple[str, ...]": "a list of strings",
}
_FOUND = {
    bool: "true or false",
    int: "a whole number",
    float: "a fraction",
    str: "a string",
    list: "a list",
    dict: "a table",
}
_ENV_BOOLS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be set: its dotted name, type, default, what it is for, its variable, and its bounds."""

    name: str
    kind: str
    default: Any
    help: str
    env: str
    least: float = 0
    most: float | None = None
    choices: tuple[str, ...] = ()
    is_path: bool = False
    is_regex: bool = False
    starts: tuple[str, ...] = ()


def file(path: str, settings: Mapping[str, Setting]) -> dict[str, object]:
    """Read and check a configuration file.

    Raises: ConfigError.
    """
    text = _text(path)
    place = _Places(path, text)
    values: dict[str, object] = {}
    tables = {name.rpartition(".")[0] for name in settings} - {""}
    for name, value in _walk((), _parsed(path, text), tables):
        dotted = ".".join(name)
        if dotted in tables and not isinstance(value, dict):
            raise ConfigError(f"{place.of(name)}: '{dotted}' must be a table, not {_FOUND.get(type(value), 'a date')}")
        if dotted not in settings:
            _unknown(dotted, place.of(name), settings, tables)
        values[dotted] = checked(settings[dotted], value, place.of(name), os.path.dirname(path))
    return values


def checked(setting: Setting, value: object, place: str, folder: str) -> object:
    """Check a value's type and range; make its paths absolute, from `folder`.

    Raises: ConfigError.
    """
    kind = setting.kind
    name = setting.name
    if kind == "tuple[str, ...]":
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            _wrong_type(setting, value, place)
        return tuple(_checked_text(setting, item, place, folder) for item in value)
    if kind == "str":
        if not isinstance(value, str):
            _wrong_type(setting, value, place)
        return _checked_text(setting, value, place, folder) if value else value
    if kind == "bool":
        if not isinstance(value, bool):
            _wrong_type(setting, value, place)
        return value
    if isinstance(value, bool) or not isinstance(value, int if kind == "int" else int | float):
        _wrong_type(setting, value, place)
    if not setting.least <= value <= (2**63 - 1 if setting.most is None else setting.most):
        most = "" if setting.most is None else f" and at most {setting.most:,}"
        raise ConfigError(f"{place}: '{name}' must be at least {setting.least:,}{most}")
    return value if kind == "int" else float(value)


def from_text(setting: Setting, text: str) -> object:
    """Read the text of a variable as its setting's type; what does not fit stays text, for `checked` to refuse."""
    if setting.kind == "tuple[str, ...]":
        return [item for item in text.split(os.pathsep if setting.is_path else ",") if item]
    if setting.kind == "bool":
        return _ENV_BOOLS.get(text.strip().lower(), text)
    try:
        return int(text) if setting.kind == "int" else float(text) if setting.kind == "float" else text
    except ValueError:
        return text


def _text(path: str) -> str:
    try:
        data = regular.read(path, _MAX_BYTES)
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}", reason=error.strerror) from error
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text", hint="save the file as UTF-8") from error


def _parsed(path: str, text: str) -> dict[str, Any]:
    from smart_context.settings import toml_lines

    try:
        return toml_lines.loads(text)
    except ValueError as error:
        message, _, where = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", where)
        line = int(found[1]) if found else text.count("\n") + 1
        raise ConfigError(
            f"{path}:{line}: {message[:1].lower()}{message[1:]}", hint="mend that line; the file is TOML"
        ) from error


def _walk(
    above: tuple[str, ...], table: Mapping[str, Any], tables: set[str]
) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in table.items():
        name = (*above, key)
        if isinstance(value, dict) and ".".join(name) in tables:
            yield from _walk(name, value, tables)
        else:
            yield name, value


class _Places:
    """The line of each key in a file, found only when there is an error to report."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text

    def of(self, name: tuple[str, ...]) -> str:
        return f"{self._path}:{self._line(name)}" if name else self._path

    def _line(self, name: tuple[str, ...]) -> int:
        from smart_context.settings import toml_lines

        lines = toml_lines.find(self._text)
        return next((lines[name[:end]] for end in range(len(name), 0, -1) if name[:end] in lines), 1)


def _unknown(dotted: str, place: str, settings: Mapping[str, Setting], tables: set[str]) -> NoReturn:
    import difflib

    near = difflib.get_close_matches(dotted, [*settings, *tables], n=1, cutoff=0.6)
    raise ConfigError(f"{place}: unknown key '{dotted}'" + (f" (did you mean '{near[0]}'?)" if near else ""))


def _wrong_type(setting: Setting, value: object, place: str) -> NoReturn:
    found = _FOUND.get(type(value), "a date")
    if isinstance(value, list | tuple) and setting.kind == "tuple[str, ...]":
        found = "a list of other things"
    raise ConfigError(f"{place}: '{setting.name}' must be {_TYPES[setting.kind]}, not {found}")


def _checked_text(setting: Setting, text: str, place: str, folder: str) -> str:
    if setting.choices and text not in setting.choices:
        raise ConfigError(f"{place}: '{setting.name}' must be one of {', '.join(setting.choices)}, not '{text}'")
    if setting.starts and not text.startswith(setting.starts):
        raise ConfigError(f"{place}: '{setting.name}' must start with {' or '.join(setting.starts)}")
    if setting.is_path:
        if not text or "\0" in text:
            raise ConfigError(f"{place}: '{setting.name}' holds no path")
        return os.path.normpath(os.path.join(folder, os.path.expanduser(text)))
    if setting.is_regex:
        try:
            re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise ConfigError(f"{place}: '{setting.name}' is not a regular expression", reason=str(error)) from error
    return text
