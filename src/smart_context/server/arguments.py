"""Read the arguments of a Smart File Search tool.

In: what the client sent, and the name of an argument.  Out: its value, of the right type and within its range.
Always: a fault is `BadRequest`, naming the argument and never repeating its value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from smart_context.errors import BadRequest
from smart_context.server.tools import Arguments
from smart_context.tool_schemas import Schema

_Default = TypeVar("_Default")
_Word = TypeVar("_Word", bound=str)
_MAX_INTEGER = 2**63 - 1


def everything(arguments: Arguments, schema: Schema) -> list[Any]:
    """The arguments of a schema of `tool_schemas`, in its order: defaults for what is missing or null; others are dropped."""
    only(arguments, schema["properties"])
    needed = schema.get("required", ())
    given = {name: value for name, value in arguments.items() if value is not None or name in needed}
    return [_value(given, name, kind) for name, kind in schema["properties"].items()]


def _value(arguments: Arguments, name: str, kind: Schema) -> Any:
    match kind["type"]:
        case "boolean":
            return flag(arguments, name, kind["default"])
        case "integer":
            most = kind.get("maximum", _MAX_INTEGER)
            return whole(arguments, name, kind.get("default"), least=kind["minimum"], most=most)
        case "array":
            return texts(arguments, name) if kind["items"]["type"] == "string" else results(arguments, name)
        case _ if "enum" in kind:
            return choice(arguments, name, kind["default"], kind["enum"])
        case _:
            return text(arguments, name) if "minLength" in kind else optional_text(arguments, name)


def only(arguments: Arguments, known: Collection[str]) -> None:
    """Refuse an argument that the tool does not have."""
    for name in sorted(arguments.keys() - set(known)):
        raise BadRequest(f"unknown argument '{name}'", hint=f"this tool takes {_listed(known)}")


def text(arguments: Arguments, name: str) -> str:
    """A required string that is not blank."""
    if name not in arguments:
        raise BadRequest(f"'{name}' is missing", hint=f"give '{name}' as a string")
    value = _string(arguments[name], name)
    if not value.strip():
        raise BadRequest(f"'{name}' is empty", hint=f"give '{name}' as a string that is not empty")
    return value


def optional_text(arguments: Arguments, name: str) -> str | None:
    """A string, if it is there."""
    return _string(arguments[name], name) if name in arguments else None


def whole(
    arguments: Arguments, name: str, default: _Default, *, least: int, most: int = _MAX_INTEGER
) -> int | _Default:
    """An integer within its range, however it is written: 5.0 is 5."""
    if name not in arguments:
        return default
    value = arguments[name]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        is_huge = isinstance(value, int) and value > most
        wanted = (
            f"an integer from {least} to {most}" if is_huge or most < _MAX_INTEGER else f"an integer, at least {least}"
        )
        raise BadRequest(f"'{name}' must be {wanted}", hint=f"give '{name}' as {wanted}, or leave it out")
    return value


def flag(arguments: Arguments, name: str, default: bool) -> bool:
    """True or false."""
    value = arguments.get(name, default)
    if not isinstance(value, bool):
        raise BadRequest(f"'{name}' must be true or false", hint=f"give '{name}' as true or false, or leave it out")
    return value


def choice(arguments: Arguments, name: str, default: _Word, among: Sequence[_Word]) -> _Word:
    """One of a few words."""
    value = arguments.get(name, default)
    if value not in among:
        raise BadRequest(f"'{name}' must be one of {_listed(among)}", hint=f"'{default}' is taken when it is left out")
    return among[among.index(value)]


def texts(arguments: Arguments, name: str) -> tuple[str, ...]:
    """A list of strings; empty when it is not there."""
    values = arguments.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadRequest(f"'{name}' must be a list of strings", hint=f"give '{name}' as a list, or leave it out")
    return tuple(values)


def results(arguments: Arguments, name: str) -> list[dict[str, str]]:
    """Search results with their path and snippet; of other keys only the pointer is kept."""
    values = arguments.get(name)
    if not isinstance(values, list) or not values:
        raise BadRequest(f"'{name}' must be a list of at least one result", hint="give items of searchFiles")
    return [_result(value, f"{name}[{n}]") for n, value in enumerate(values)]


def _result(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise BadRequest(f"'{where}' must be an object", hint="an item has 'path' and 'snippet'")
    for key in ("path", "snippet"):
        if not isinstance(value.get(key), str):
            raise BadRequest(f"'{where}.{key}' must be a string", hint="an item has 'path' and 'snippet'")
    kept = {"path": value["path"], "snippet": value["snippet"]}
    if isinstance(value.get("pointer"), str):
        kept["pointer"] = value["pointer"]
    return kept


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise BadRequest(f"'{name}' must be a string", hint=f"give '{name}' as a string")
    return value


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "no arguments"
