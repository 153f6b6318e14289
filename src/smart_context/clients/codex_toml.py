"""Change one `[mcp_servers.NAME]` table of a TOML file, and leave every other line as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""


def put(text: str, table: str, name: str, entry: dict[str, object]) -> str:
    """Set the table of one server, in place where there is one, else at the end."""
    lines = _render(table, name, entry)
    start, end = _find(text, table, name)
    if start == end:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return text + gap + lines
    tail = text[end:]
    return text[:start] + lines + ("\n" if tail else "") + tail


def drop(text: str, table: str, name: str) -> str:
    """Remove the table of one server with its sub-tables; the text as it is when there is none."""
    start, end = _find(text, table, name)
    if start == end:
        return text
    head, tail = text[:start].rstrip("\n"), text[end:].lstrip("\n")
    return (head + ("\n\n" if tail else "\n") if head else "") + tail


def _render(table: str, name: str, entry: dict[str, object]) -> str:
    rows = [f"[{table}.{_bare(name)}]"]
    rows += [f"{key} = {_value(value)}" for key, value in entry.items()]
    return "\n".join(rows) + "\n"


def _bare(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _value(value: object) -> str:
    # A JSON string with these escapes is a TOML basic string; U+007F is the one character TOML wants escaped besides.
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _find(text: str, table: str, name: str) -> tuple[int, int]:
    """Give the range of the server's table and its sub-tables, without the comments that lead to the next table."""
    heads = [
        (m.start(), _parts(m.group(1)))
        for m in re.finditer(rf"^[ \t]*\[\[?\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]", text, re.MULTILINE)
    ]
    own = [table, name]
    for place, (start, parts) in enumerate(heads):
        if parts[:2] != own:
            continue
        following = [at for at, other in heads[place + 1 :] if other[:2] != own]
        end = following[0] if following else len(text)
        if following:
            end = start + len(_without_lead(text[start:end]))
        return start, end
    return len(text), len(text)


def _parts(header: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_KEY, header)]


def _without_lead(block: str) -> str:
    """Leave the blank lines and comments before the next table to that table."""
    lines: Sequence[str] = block.splitlines(keepends=True)
    keep = len(lines)
    while keep > 1 and (not lines[keep - 1].strip() or lines[keep - 1].lstrip().startswith("#")):
        keep -= 1
    return "".join(lines[:keep])
