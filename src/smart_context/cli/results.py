"""Show results at a glance: two lines each, so that ten fit a screen of 24 lines.

In: a page of results.  Out: lines for a terminal, cut to its width, or whole lines for a pipe.
Always: text from files is escaped first; meaning never rests on colour.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from smart_context import plain
from smart_context.access.roots import parsed
from smart_context.cli import has_colours, screen, style
from smart_context.cli.layout import ELLIPSIS, is_terminal, shortened, shortened_path, width_of
from smart_context.cli.show import highlighted, home

if TYPE_CHECKING:
    from smart_context.find.model import SearchItem, SearchPage

_LEAST = 20  # columns that are used at least, however narrow the terminal
_WITH_PLACE = 40  # columns from which there is room for the place in the file, and the score
_WITH_DATE = 60  # columns from which there is room for the date
_BESIDE_RESULTS = 4  # lines of a screen: notes, what is said after the results, and the next command
_INDENT = "     "


def lines(page: SearchPage, *, explain: bool = False, grouped: bool = False) -> Iterator[str]:
    """Every line of a page of results."""
    numbered = list(enumerate(page.items, page.offset + 1))
    whole = _has_room_for_copies(page)
    if grouped:
        for path, items in groupby(
            sorted(numbered, key=lambda one: _first(numbered, one[1].path)), lambda o: o[1].path
        ):
            yield _linked(_path(path, _columns()), path, 1, bold=True)
            for number, item in items:
                yield f"{number:>3}. {_facts(item, with_path=False, whole=whole)}"
                yield _passage(item)
                yield from _also(item) if whole else ()
        return
    for number, item in numbered:
        yield f"{number:>3}. {_facts(item, with_path=True, whole=whole)}"
        yield _passage(item)
        yield from _also(item) if whole else ()
        if explain:
            yield from (style(f"{_INDENT}  {line}", dim=True) for line in item.explanation)


def _has_room_for_copies(page: SearchPage) -> bool:
    """Whether all results fit the screen with a line for the copies of each; a pipe has room for everything."""
    needed = 2 * len(page.items) + sum(bool(item.also) for item in page.items) + _BESIDE_RESULTS
    return not is_terminal(sys.stdout) or needed <= screen().lines


def names(page: SearchPage) -> list[str]:
    """The files of a page, best first, each once."""
    return list(dict.fromkeys(place(item.path) for item in page.items))


def paths(page: SearchPage) -> list[str]:
    """The same files, each as it can be given to another program from here."""
    return list(dict.fromkeys(_here(item.path) for item in page.items))


def place(path: str) -> str:
    """A path as people type it here: below the working folder relative to it."""
    return plain.line(_here(path))


def _here(path: str) -> str:
    try:
        relative = os.path.relpath(path)
    except OSError:  # the working folder was removed
        return path
    return relative if not relative.startswith(os.pardir) else path


def _path(path: str, room: int) -> str:
    return shortened_path(home(place(path)), room)


def _first(numbered: Sequence[tuple[int, SearchItem]], path: str) -> int:
    return next(number for number, item in numbered if item.path == path)


def _columns() -> int:
    return max(_LEAST, screen().columns)


def _facts(item: SearchItem, *, with_path: bool, whole: bool) -> str:
    """The line above a passage: its place, date and score; the number of copies, if they have no line of their own."""
    pointer, when = plain.line(item.pointer), item.modified[:10]
    after = f"  {when}  {item.score:.2f}" if _columns() >= _WITH_DATE else f"  {item.score:.2f}"
    if not is_terminal(sys.stdout):
        return "  ".join(part for part in (place(item.path) if with_path else "", pointer) if part) + after
    if not whole and item.also:
        after += f"  +{len(item.also)} like it" if _columns() >= _WITH_DATE else f" +{len(item.also)}"
    if _columns() < _WITH_PLACE:
        after, pointer = "", "" if with_path else pointer
    room = _columns() - len(_INDENT) - len(after)
    pointer = shortened(pointer, max(8, room // 2 if with_path else room))
    told = style(pointer, "green")
    if with_path:
        path = _path(item.path, max(12, room - (width_of(pointer) + 2 if pointer else 0)))
        told = _linked(path, item.path, _page_of(item.pointer), bold=True) + (f"  {told}" if pointer else "")
    return told + style(after, dim=True)


def _page_of(pointer: str) -> int:
    kind, _, number = pointer.partition(" ")
    return int(number) if kind == "page" and number.isdecimal() else 1


def _linked(text: str, path: str, page: int, *, bold: bool) -> str:
    """A name that opens its file where a terminal follows links (OSC 8), at its page where the viewer can."""
    shown = style(text, "cyan", bold=bold)
    if not is_terminal(sys.stdout) or not has_colours():
        return shown
    from urllib.parse import quote

    address = f"file://{quote(os.fsencode(parsed(path)))}" + (f"#page={page}" if page > 1 else "")
    return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\"


def _passage(item: SearchItem) -> str:
    """The line that answers: whole for a pipe, the stretch around the first match on a terminal."""
    text, marks = plain.masked(item.snippet.replace("\n", " ")), item.highlights
    if not is_terminal(sys.stdout):
        return _INDENT + text
    start, end = stretch(text, marks, _columns() - len(_INDENT))
    head, tail = (ELLIPSIS if start else ""), (ELLIPSIS if end < len(text) else "")
    return _INDENT + head + highlighted(text, start, end, marks) + tail


def _also(item: SearchItem) -> Iterator[str]:
    """The other files with the same text."""
    if item.also:
        told = f"also in {', '.join(place(path) for path in item.also)}"
        if is_terminal(sys.stdout):
            told = shortened(told, _columns() - len(_INDENT))
        yield _INDENT + style(told, dim=True)


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
