"""Read TOML text, and find the line of every key, which the standard parser does not tell.

In: TOML text.  Out: its meaning; the line of each table and key, by its path.
Always: time and memory grow with the text, whatever it nests; only statements count: what looks like a key inside a string, a
comment or an array is none.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

MARK = "\ufeff"  # before the text of a UTF-8 file, as editors on Windows write it
_MAX_PARTS = 64
# More than that many parts of a key in a row: the parser's time grows with their square, and what it makes nests too deep to compare.
_LONG_KEY = r"""(?<![\w"'-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*')[ \t]*+\.[ \t]*+){%d}"""
_LEXEME = r'''
      (?P<string> """(?:[^\\]|\\.)*?"""+ | \'\'\'.*?\'\'\'+ | "(?:[^"\\\n]|\\.)*" | '[^'\n]*' )
    | (?P<comment> \#[^\n]* )
    | (?P<open> [\[{] ) | (?P<close> [\]}] ) | (?P<equals> = ) | (?P<newline> \n )
    | (?P<other> [^"'\#\[\]{}=\n]+ )
'''


def loads(text: str) -> dict[str, Any]:
    """Read TOML.

    Raises: ValueError that says what is wrong; the line is in it where the parser knows it.
    """
    if found := _compiled(_LONG_KEY % _MAX_PARTS).search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"A key has more than {_MAX_PARTS} parts (at line {line})")
    try:
        return tomllib.loads(text.removeprefix(MARK))
    except RecursionError as error:
        raise ValueError("Nested too deep") from error


def find(text: str) -> dict[tuple[str, ...], int]:
    """Return the line of each key path; the first one where a table is named several times."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for kind, source, line in _statements(text.removeprefix(MARK)):
        path = _path(source)
        if kind == "table":
            table = path
        for end in range(1, len(path) + 1):
            lines.setdefault((table if kind == "key" else ()) + path[:end], line)
    return lines


def _statements(text: str) -> list[tuple[str, str, int]]:
    """The table headers and keys, as they are written, with their lines."""
    found: list[tuple[str, str, int]] = []
    written, start, line, depth = "", 1, 1, 0
    is_value = is_header = False
    for token in _compiled(_LEXEME, re.VERBOSE | re.DOTALL).finditer(text):
        kind = token.lastgroup
        if kind == "newline" and depth == 0:
            written, is_value, is_header = "", False, False
        elif kind == "open" and not is_value and not written.strip():
            is_header = True
        elif is_header and kind == "close":
            if written.strip():
                found.append(("table", written.strip(), start))
            written, is_value, is_header = "", True, False
        elif kind == "equals" and not is_value:
            found.append(("key", written.strip(), start))
            is_value = True
        elif is_value and kind in {"open", "close"}:
            depth = max(0, depth + (1 if kind == "open" else -1))
        elif not is_value and kind in {"string", "other"}:
            start = start if written.strip() else line
            written += token[0]
        line += token[0].count("\n")
    return found


def _path(source: str) -> tuple[str, ...]:
    """The parts of a key as it is written: the parser itself reads it, quotes, dots, escapes and all."""
    value: object = tomllib.loads(f"{source} = 0")
    path: list[str] = []
    while isinstance(value, dict):
        ((key, value),) = value.items()
        path.append(key)
    return tuple(path)


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)  # when it is used: a command that only reads its settings needs one of them
