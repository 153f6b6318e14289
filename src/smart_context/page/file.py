"""The view of a place in a file: its text as lines, table, slide, mail or prose, the picture of a PDF's page, and links to what is around it.

In: a path, a pointer and the search it came from.  Out: data for the template.
Always: what is shown went through `App.view_file` and `App.picture_of`; where there is no picture, the view says why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smart_context.errors import NotFound
from smart_context.model import SLIDE_NOTES, Caller, Stop
from smart_context.page.render import query
from smart_context.page.search import Pieces, SearchParameters, below_root, pieces

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.find.file_view import FileView

_TABLES = (".csv", ".tsv")
_HEADERS = {
    "From",
    "To",
    "Cc",
    "Date",
    "Subject",
    "Attachments",
}  # as the readers of mail write them, before the first empty line
Row = tuple[Pieces, ...]


@dataclass(frozen=True, slots=True)
class PlaceView:
    """What the template shows. Of rows, lines and prose one is there. picture: its address; no_picture: why there is none.

    title, notes: of a slide.  headers, attached: of a mail; an attachment that holds text has an address.
    """

    name: str
    folder: str
    path: str
    pointer: str
    before: str = ""
    after: str = ""
    rows: tuple[Row, ...] = ()
    lines: tuple[tuple[int, Pieces], ...] = ()
    prose: Pieces = ()
    is_slide: bool = False
    title: Pieces = ()
    notes: Pieces = ()
    headers: tuple[tuple[str, Pieces], ...] = ()
    attached: tuple[tuple[str, str], ...] = ()
    match_before: str = ""
    match_after: str = ""
    page: int = 0
    picture: str = ""
    no_picture: str = ""
    left_out: int = 0


def view(app: App, path: str, pointer: str, asked: SearchParameters, caller: Caller, stop: Stop) -> PlaceView:
    """Look at a place.

    Raises: as `App.view_file`.
    """
    found = app.view_file(path, pointer or None, asked.q, stop=stop, caller=caller)
    folder, name = os.path.split(found.path)
    picture, why, left_out = "", "", 0
    if found.page:
        try:
            left_out = app.picture_of(path, found.page, asked.q, stop=stop, caller=caller).left_out
            picture = "/picture?" + query([("path", found.path), ("page", str(found.page)), ("q", asked.q)])
        except NotFound as error:
            why = error.message
    return replace(
        _shaped(found, asked),
        name=name,
        folder=below_root(folder, app.list_roots(caller=caller)["roots"]),
        before=_address(found.path, found.before, asked),
        after=_address(found.path, found.after, asked),
        match_before=_address(found.path, found.match_before, asked),
        match_after=_address(found.path, found.match_after, asked),
        page=found.page,
        picture=picture,
        no_picture=why,
        left_out=left_out,
    )


def _address(path: str, pointer: str, asked: SearchParameters) -> str:
    return "/see?" + query([("path", path), ("pointer", pointer), *asked.fields()]) if pointer else ""


def _shaped(found: FileView, asked: SearchParameters) -> PlaceView:
    """The text as rows, lines, a slide, a mail, or plain."""
    whole = pieces(found.text.rstrip("\n"), found.marks)
    seen = PlaceView("", "", found.path, found.pointer)
    place = found.pointer.partition(" ")[0]
    if place == "sheet" or found.path.lower().endswith(_TABLES):
        between = "\t" if "\t" in found.text else ","
        return replace(seen, rows=tuple(tuple(_parted(line, between)) for line in _parted(whole, "\n")))
    if found.numbers:
        return replace(seen, lines=tuple(zip(found.numbers, _parted(whole, "\n"), strict=False)))
    if place == "slide":
        first, *others = _parted(whole, "\n")
        has_title = bool(found.heading) and _plain(first).strip() == found.heading.strip()
        body = others if has_title else [first, *others]
        at = next((number for number, line in enumerate(body) if _plain(line) == SLIDE_NOTES), len(body))
        title = first if has_title else ()
        return replace(seen, is_slide=True, title=title, prose=_joined(body[:at]), notes=_joined(body[at + 1 :]))
    if found.pointer.endswith("message"):
        return _mail(seen, tuple(_parted(whole, "\n")), found, asked)
    return replace(seen, prose=whole)


def _mail(seen: PlaceView, lines: Sequence[Pieces], found: FileView, asked: SearchParameters) -> PlaceView:
    headers: dict[str, Pieces] = {}
    for line in lines:
        name, colon, _ = _plain(line).partition(": ")
        if not colon or name not in _HEADERS or name in headers:
            break
        headers[name] = _without(line, len(name) + 2)
    body = lines[len(headers) :]
    named = _plain(headers.pop("Attachments", ()))
    linked = dict(found.inside)
    others = [name for name in named.split(", ") if name and name not in linked]
    attached = [(name, _address(found.path, pointer, asked)) for name, pointer in linked.items()]
    return replace(
        seen,
        headers=tuple(headers.items()),
        attached=(*attached, *((name, "") for name in others)),
        prose=_joined(body[1:] if headers and body and not body[0] else body),
    )


def _plain(text: Pieces) -> str:
    return "".join(part for part, _ in text)


def _without(text: Pieces, count: int) -> Pieces:
    """A marked text without its first characters."""
    found: list[tuple[str, bool]] = []
    for part, is_marked in text:
        found.append((part[count:], is_marked))
        count = max(0, count - len(part))
    return tuple(piece for piece in found if piece[0])


def _joined(lines: Sequence[Pieces]) -> Pieces:
    return tuple(
        piece for number, line in enumerate(lines) for piece in ((("\n", False),) if number else ()) + tuple(line)
    )


def _parted(text: Sequence[tuple[str, bool]], between: str) -> Iterator[Pieces]:
    """Split a marked text at a character."""
    held: list[tuple[str, bool]] = []
    for part, is_marked in text:
        first, *others = part.split(between)
        held.append((first, is_marked))
        for other in others:
            yield tuple(piece for piece in held if piece[0])
            held = [(other, is_marked)]
    yield tuple(piece for piece in held if piece[0])
