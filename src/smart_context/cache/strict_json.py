"""Read untrusted JSON, exactly as RFC 8259 defines it.

In: bytes.  Out: a `Value`: objects are tuples of (key, value) pairs so that repeated keys stay visible, arrays are lists, and
numbers that are not 64-bit integers are `OTHER`, since no field of a cache holds one.
Always: any bytes give a value or `Malformed`, on every Python alike, however deep or long.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json.decoder import JSONDecoder
from typing import TypeAlias, Union


class Other:
    """A number that is no 64-bit integer: no field of a cache can have it."""

    __slots__ = ()


Object: TypeAlias = "tuple[tuple[str, Value], ...]"
Value: TypeAlias = Union[str, int, bool, Other, Object, "list[Value]", None]
AsObject: TypeAlias = "Callable[[list[tuple[str, Value]]], Value]"

OTHER = Other()
_LONGEST_INTEGER = 20  # characters of 2^64 - 1, and of -2^63
_LEVELS = 100  # nesting that the fast parser takes from any caller on any Python
_NESTING = r'(?s:"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}])'


class Malformed(ValueError):
    """The bytes are not one JSON value; the message says why."""


def parse(data: bytes) -> Value:
    """Return the one JSON value that the bytes hold. Raises: Malformed."""
    return _parse(decoded(data), _DECODER)


def parse_many(text: str, as_object: AsObject) -> Value:
    """Return the one JSON value of a text with many objects, each as `as_object` makes it, at once. Raises: Malformed."""
    return _parse(text, _decoder(as_object))


def decoded(data: bytes) -> str:
    """Return the text of the bytes. Raises: Malformed."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 at byte {error.start}") from error


def _parse(text: str, decoder: JSONDecoder) -> Value:
    try:
        return _decode(text, decoder)
    except RecursionError:
        return _decode(_flattened(text), decoder)


def _decode(text: str, decoder: JSONDecoder) -> Value:
    try:
        value: Value = decoder.decode(text)
    except ValueError as error:
        raise Malformed(f"not JSON: {error}") from error
    return value


def _flattened(text: str) -> str:
    """Check every container that opens at a multiple of `_LEVELS` and put a 0 in its place.

    How deep the fast parser goes is its interpreter's business; no field of a cache is that deep, so only validity matters.
    """
    open_parts: list[list[str]] = [[]]
    depth = done = 0
    for match in re.finditer(_NESTING, text):
        if match[0] in "[{":
            depth += 1
            if depth % _LEVELS == 0:
                open_parts[-1].append(text[done : match.start()])
                open_parts.append([])
                done = match.start()
        elif match[0] in "]}":
            if depth > 0 and depth % _LEVELS == 0:
                _decode("".join(open_parts.pop()) + text[done : match.end()], _DECODER)
                open_parts[-1].append("0")
                done = match.end()
            depth -= 1
    if len(open_parts) > 1:
        raise Malformed("not JSON: brackets are left open")
    return "".join(open_parts[0]) + text[done:]


def _integer(digits: str) -> int | Other:
    # "-0" is no integer to the format's first reader, and Python refuses to convert very long digits.
    return OTHER if len(digits) > _LONGEST_INTEGER or digits == "-0" else int(digits)


def _float(_digits: str) -> Other:
    return OTHER


def _refuse(constant: str) -> Value:
    raise ValueError(f"{constant} is no JSON")


def _decoder(as_object: AsObject) -> JSONDecoder:
    return JSONDecoder(
        object_pairs_hook=as_object, parse_int=_integer, parse_float=_float, parse_constant=_refuse, strict=True
    )


_DECODER = _decoder(tuple)
