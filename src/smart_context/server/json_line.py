"""Read one line of JSON.

In: the bytes of a line, without its newline.  Out: the value it holds.
Always: numbers stay as they were written (`1.0` never becomes `1`, nor `-0` an integer); what is not JSON, or not text, is no value.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

# A pair of surrogate escapes is one character; half a pair (the named group) is no character at all. The last branch eats
# every other escape, so that a backslash that is itself escaped never starts one.
_ESCAPE = r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
_MAX_DIGITS = 4000  # Python refuses to read integers not far above; nobody means one


def read(line: bytes) -> object:
    """The value of a line. Raises: ValueError, RecursionError."""
    text = line.decode("utf-8")
    value: object = _DECODER.decode(text)
    if "\\u" in text and any(match["lone"] for match in re.finditer(_ESCAPE, text, re.DOTALL)):
        raise ValueError("lone surrogate")
    return value


def _integer(digits: str) -> int | float:
    # Minus zero is no integer either: `+0`, `0` and nothing else are zero where only digits count.
    return int(digits) if len(digits) < _MAX_DIGITS and digits != "-0" else float(digits)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)
