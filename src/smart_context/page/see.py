"""The view of a place in a file: its text as lines, table or prose, the picture of a PDF's page, and the ways on.

In: a path, a pointer and the search it came from.  Out: data for the template.
Always: what is shown went through `App.look_at` and `App.picture_of`; where there is no picture, the view says why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context.errors import NotFound
from smart_context.model import Caller, Stop
from smart_context.page.render import query
from smart_context.page.search import Asked, Pieces, below_root, pieces

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.find.look import Look

_TABLES = (".csv", ".tsv")
Row = tuple[Pieces, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the template shows. Of rows, lines and prose one is there. picture: its address; no_picture: why there is none."""

    name: str
    folder: str
    path: str
    pointer: str
    before: str
    after: str
    rows: tuple[Row, ...] = ()
    lines: tuple[tuple[int, Pieces], ...] = ()
    prose: Pieces = ()
    page: int = 0
    picture: str = ""
    no_picture: str = ""
    left_out: int = 0


def view(app: App, path: str, pointer: str, asked: Asked, caller: Caller, stop: Stop) -> Seen:
    """Look at a place.

    Raises: as `App.look_at`.
    """
    look = app.look_at(path, pointer or None, asked.q, stop=stop, caller=caller)
    folder, name = os.path.split(look.path)
    rows, lines, prose = _shaped(look)
    picture, why, left_out = "", "", 0
    if look.page:
        try:
            left_out = app.picture_of(path, look.page, asked.q, stop=stop, caller=caller).left_out
            picture = "/picture?" + query([("path", look.path), ("page", str(look.page)), ("q", asked.q)])
        except NotFound as error:
            why = error.message
    return Seen(
        name,
        below_root(folder, app.list_roots(caller=caller)["roots"]),
        look.path,
        look.pointer,
        _address(look.path, look.before, asked) if look.before else "",
        _address(look.path, look.after, asked) if look.after else "",
        rows,
        lines,
        prose,
        look.page,
        picture,
        why,
        left_out,
    )


def _address(path: str, pointer: str, asked: Asked) -> str:
    return "/see?" + query([("path", path), ("pointer", pointer), *asked.fields()])


def _shaped(look: Look) -> tuple[tuple[Row, ...], tuple[tuple[int, Pieces], ...], Pieces]:
    """The text as rows, as lines, or as it stands."""
    whole = pieces(look.text.rstrip("\n"), look.marks)
    if look.pointer.startswith("sheet ") or look.path.lower().endswith(_TABLES):
        between = "\t" if "\t" in look.text else ","
        return tuple(tuple(_parted(line, between)) for line in _parted(whole, "\n")), (), ()
    if look.numbers:
        return (), tuple(zip(look.numbers, _parted(whole, "\n"), strict=False)), ()
    return (), (), whole


def _parted(text: Sequence[tuple[str, bool]], between: str) -> Iterator[Pieces]:
    """Part a marked text where a character stands."""
    held: list[tuple[str, bool]] = []
    for part, is_marked in text:
        first, *others = part.split(between)
        held.append((first, is_marked))
        for other in others:
            yield tuple(piece for piece in held if piece[0])
            held = [(other, is_marked)]
    yield tuple(piece for piece in held if piece[0])
