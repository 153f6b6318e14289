"""Show results at a glance: two lines each, so that ten fit a screen of 24 lines.

In: a page of results.  Out: lines for a terminal, cut to its width, or whole lines for a pipe.
Always: what comes from files is made harmless first; meaning never rests on colour.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from smart_context import plain
from smart_context.cli.show import highlighted, width_of

if TYPE_CHECKING:
    from smart_context.find.model import SearchItem, SearchPage

_LEAST = 40  # columns that are made use of, however narrow the terminal says it is
_WITH_DATE = 60  # columns from which there is room for the date
_INDENT = "     "
_ELLIPSIS = "…"


def lines(page: SearchPage, *, explain: bool = False, grouped: bool = False) -> Iterator[str]:
    """Every line of a page of results."""
    numbered = list(enumerate(page.items, page.offset + 1))
    if grouped:
        for path, items in groupby(
            sorted(numbered, key=lambda one: _first(numbered, one[1].path)), lambda o: o[1].path
        ):
            yield _linked(shortened(place(path), _columns()), path, 1, bold=True)
            for number, item in items:
                yield f"{number:>3}. {_facts(item, with_path=False)}"
                yield _passage(item)
                yield from _also(item)
        return
    for number, item in numbered:
        yield f"{number:>3}. {_facts(item, with_path=True)}"
        yield _passage(item)
        yield from _also(item)
        if explain:
            yield from (click.style(f"{_INDENT}  {line}", dim=True) for line in item.explanation)


def names(page: SearchPage) -> list[str]:
    """The files of a page, best first, each once."""
    return list(dict.fromkeys(place(item.path) for item in page.items))


def place(path: str) -> str:
    """A path as people type it here: below the working folder relative to it."""
    relative = os.path.relpath(path)
    return plain.line(relative if not relative.startswith(os.pardir) else path)


def _first(numbered: Sequence[tuple[int, SearchItem]], path: str) -> int:
    return next(number for number, item in numbered if item.path == path)


def _columns() -> int:
    return max(_LEAST, shutil.get_terminal_size().columns)


def _facts(item: SearchItem, *, with_path: bool) -> str:
    """What stands above a passage: where it is, from when, how good."""
    pointer, when = plain.line(item.pointer), item.modified[:10]
    after = f"  {when}  {item.score:.2f}" if _columns() >= _WITH_DATE else f"  {item.score:.2f}"
    if not sys.stdout.isatty():
        return (f"{place(item.path)}  " if with_path else "") + pointer + after
    room = _columns() - len(_INDENT) - len(after)
    pointer = shortened(pointer, max(8, room // 2 if with_path else room))
    told = click.style(pointer, fg="green")
    if with_path:
        path = shortened(place(item.path), max(12, room - width_of(pointer) - 2))
        told = f"{_linked(path, item.path, _page_of(item.pointer), bold=True)}  {told}"
    return told + click.style(after, dim=True)


def _page_of(pointer: str) -> int:
    kind, _, number = pointer.partition(" ")
    return int(number) if kind == "page" and number.isdecimal() else 1


def _linked(text: str, path: str, page: int, *, bold: bool) -> str:
    """A name that opens its file where a terminal follows links (OSC 8), at its page where the viewer can."""
    shown = click.style(text, fg="cyan", bold=bold)
    if not sys.stdout.isatty() or click.get_current_context().color is False:
        return shown
    address = f"file://{quote(os.fsencode(path))}" + (f"#page={page}" if page > 1 else "")
    return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\"


def _passage(item: SearchItem) -> str:
    """The line that answers: whole for a pipe, the stretch around the first match on a terminal."""
    text, marks = plain.masked(item.snippet.replace("\n", " ")), item.highlights
    if not sys.stdout.isatty():
        return _INDENT + text
    start, end = stretch(text, marks, _columns() - len(_INDENT))
    head, tail = (_ELLIPSIS if start else ""), (_ELLIPSIS if end < len(text) else "")
    return _INDENT + head + highlighted(text, start, end, marks) + tail


def _also(item: SearchItem) -> Iterator[str]:
    """Where else the same text stands."""
    if item.also:
        told = f"also in {', '.join(map(place, item.also))}"
        if sys.stdout.isatty():
            told = shortened(told, _columns() - len(_INDENT))
        yield _INDENT + click.style(told, dim=True)


def stretch(text: str, marks: Sequence[tuple[int, int]], room: int) -> tuple[int, int]:
    """Which part of a text to show in so many columns, so that its first match can be read; one is kept for each ellipsis."""
    start = _start(text, marks, room)
    end = start
    width = 1 if start else 0
    while end < len(text) and width + width_of(text[end]) < room:
        width += width_of(text[end])
        end += 1
    return start, end


def _start(text: str, marks: Sequence[tuple[int, int]], room: int) -> int:
    """Where a line begins that shows the first match with something before it."""
    if width_of(text) < room or not marks or width_of(text[: marks[0][1]]) < room // 2:
        return 0
    start = max(0, marks[0][0] - room // 4)
    space = text.find(" ", start, marks[0][0])
    return space + 1 if space >= 0 else start


def shortened(text: str, room: int) -> str:
    """Text cut in the middle, so that both its beginning and its end can be read."""
    if width_of(text) <= room:
        return text
    head = max(1, (room - 1) // 3)
    start, end = text[:head], text[-max(1, room - 1 - head) :]
    while len(end) > 1 and width_of(start + end) > room - 1:
        end = end[1:]
    return start + _ELLIPSIS + end
