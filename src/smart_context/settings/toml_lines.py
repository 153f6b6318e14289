"""Find the line of every key in a TOML text, which the standard parser does not tell.

In: text that is valid TOML.  Out: the line of each table and key, by its path.
Always: only statements count: what looks like a key inside a string, a comment or an array is none.
"""

from __future__ import annotations

import re
import tomllib

_TOKEN = re.compile(
    r'''
      (?P<string> """(?:[^\\]|\\.)*?"""+ | \'\'\'.*?\'\'\'+ | "(?:[^"\\\n]|\\.)*" | '[^'\n]*' )
    | (?P<comment> \#[^\n]* )
    | (?P<open> [\[{] ) | (?P<close> [\]}] ) | (?P<equals> = ) | (?P<newline> \n )
    | (?P<other> [^"'\#\[\]{}=\n]+ )
    ''',
    re.VERBOSE | re.DOTALL,
)


def find(text: str) -> dict[tuple[str, ...], int]:
    """Return the line of each key path; the first one where a table is named several times."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for kind, source, line in _statements(text):
        if kind == "table":
            table = _path(source)
        for end in range(1, len(_path(source)) + 1):
            lines.setdefault((table if kind == "key" else ()) + _path(source)[:end], line)
    return lines


def _statements(text: str) -> list[tuple[str, str, int]]:
    """The table headers and keys, as they are written, with their lines."""
    found: list[tuple[str, str, int]] = []
    written, start, line, depth = "", 1, 1, 0
    is_value = is_header = False
    for token in _TOKEN.finditer(text):
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
