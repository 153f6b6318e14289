"""Fit text to the terminal that shows it.

In: text, and how many columns there are.  Out: lines that fit, broken between words; tables; names cut in the middle.
Always: a path, a link and a command to copy are never broken by a new line. A pipe has no columns (0): it gets everything, on whole lines.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from typing import TextIO

from smart_context import later
from smart_context.cli import screen

WIDEST = 100  # columns that a message takes at most, however wide the terminal is
ELLIPSIS = "…"
_LEAST_NAME = 16  # columns that a name needs in a table; with fewer it gets a line of its own
# Never broken, because it is copied as a whole: a command at the end of a sentence, an option with its value.
_WHOLE = later.pattern(r"(?:(?<=: )|(?<=→ ))context .*$|--[\w-]+ [A-Z0-9]+\b[^ ]*|[^ ]+")


def columns(stream: TextIO | None) -> int:
    """How wide the terminal behind a stream is; 0 where there is none."""
    if not is_terminal(stream):
        return 0
    told = screen((0, 0)).columns  # `COLUMNS`, or the terminal behind stdout
    try:
        return told or (os.get_terminal_size(stream.fileno()).columns if stream else 0) or 80
    except OSError:
        return 80


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; one that was closed before we began is not."""
    return stream is not None and stream.isatty()


def fitted(text: str, room: int, hang: str = "  ") -> str:
    """Text whose lines are no wider than `room` (0: however wide), those that go on indented by `hang`."""
    if not room or all(width_of(line) <= room for line in text.split("\n")):
        return text
    return "\n".join(piece for line in text.split("\n") for piece in _broken(line, room, hang))


def _broken(line: str, room: int, hang: str) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip(" "))]
    now, end = "", 0
    for match in _WHOLE.finditer(line, len(indent)):
        longer = now + line[end : match.start()] + match[0] if now else indent + match[0]
        if now and width_of(longer) > room:
            yield now
            longer = indent + hang + match[0]
        now, end = longer, match.end()
    yield now


def with_home(text: str) -> str:
    """A sentence whose paths below one's own folder begin with `~`."""
    own = os.path.expanduser("~").rstrip("/")
    return re.sub(rf"(?<![^\s=:(]){re.escape(own)}(?=/)", "~", text) if own else text


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shortened(text: str, room: int) -> str:
    """Text cut in the middle, so that both its beginning and its end can be read."""
    return _cut(text, room, max(1, (room - 1) // 3))


def shortened_path(path: str, room: int) -> str:
    """A path cut in the middle, its last name whole as long as there is room for it."""
    name = path.rpartition("/")[2]
    if width_of(name) >= room:
        return shortened(name, room)
    return _cut(path, room, min((room - 1) // 3, room - 1 - width_of(name)))


def _cut(text: str, room: int, head: int) -> str:
    if width_of(text) <= room:
        return text
    start, end = text[:head], text[-max(1, room - 1 - head) :]
    while len(end) > 1 and width_of(start + end) > room - 1:
        end = end[1:]
    return start + ELLIPSIS + end


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Container[int] = (0,),
    *,
    names: Sequence[int] = (),
    room: int = 0,
) -> list[str]:
    """Lay out rows in columns: those whose numbers are in `left` to the left, the others to the right.

    Where that is wider than `room`, `names` (the numbers of columns) are cut in the middle, or put on lines of their own below the rest.
    """
    whole = _widths(head, rows)
    over = sum(whole) + 2 * (len(whole) - 1) - room
    if not room or over <= 0:
        return _lines(head, rows, left, "  ")
    if names:
        widest = max(names, key=lambda i: whole[i])
        if whole[widest] - over >= _LEAST_NAME:
            short = [[shortened(c, whole[i] - over) if i == widest else c for i, c in enumerate(row)] for row in rows]
            return _lines(head, short, left, "  ")
    kept = [i for i in range(len(head)) if i not in names]
    beside = [[row[i] for i in kept] for row in rows]
    heads = [head[i].replace(" ", "\n") for i in kept]
    first, *others = _widths(heads, beside)
    most = max(8, room - sum(others) - len(others))
    if first > most:
        beside = [[shortened(cells[0], most), *cells[1:]] for cells in beside]
    lines = _lines([head[i] for i in kept], beside, [n for n, i in enumerate(kept) if i in left], " ", stack=True)
    below = [[f"  {shortened(row[i], room - 2)}" for i in names if row[i]] for row in rows]
    return [lines[0], *("\n".join([line, *more]) for line, more in zip(lines[1:], below, strict=True))]


def _widths(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(width_of(part) for row in (head, *rows) for part in row[i].split("\n")) for i in range(len(head))]


def _lines(
    head: Sequence[str], rows: Sequence[Sequence[str]], left: Container[int], gap: str, *, stack: bool = False
) -> list[str]:
    """One line for each row, the first for the head; `stack`: the head's words stand on top of each other."""
    heads = _stacked(head) if stack else [list(head)]
    widths = _widths(head if not stack else [name.replace(" ", "\n") for name in head], rows)
    lines = []
    for row in (*heads, *rows):
        cells = [
            cell + " " * (width - width_of(cell)) if i in left else " " * (width - width_of(cell)) + cell
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(gap.join(cells).rstrip())
    return ["\n".join(lines[: len(heads)]), *lines[len(heads) :]]


def _stacked(head: Sequence[str]) -> list[list[str]]:
    words = [name.split(" ") for name in head]
    most = max(map(len, words))
    padded = [[""] * (most - len(of)) + of for of in words]
    return [[of[n] for of in padded] for n in range(most)]
