"""Show a place in a file to a person: its text with the hits marked, line numbers, and links to what is before and after it.

In: a file's segments with what is hidden in them, a pointer or none, the words sought.  Out: a `FileView`.
Always: the text is a preview (`preview.cut`), with its guarantees; following `after` from the start shows the whole file. Lines keep their numbers;
lines that no segment has are shown empty. Redacted text is neither marked nor linked to as a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from smart_context import pointer as grammar
from smart_context import redact
from smart_context.find import preview, snippet
from smart_context.find.picture import page_of
from smart_context.model import Segment
from smart_context.redact import document

_PDF = ".pdf"
_MOST_EMPTY = 20  # lines in a row that are shown empty
_MOST_SEARCHED = 2000  # segments that are searched for the next match
_ALONE = {"page", "slide", "message", "sheet", "attachment", "entry"}  # kinds of places that are shown one at a time


@dataclass(frozen=True, slots=True)
class FileView:
    """A place in a file. before, after: pointers to the places beside it, "" at the ends. numbers: the line number of each line of the text, if the file
    has lines.

    page: the page number in a PDF, of which there may be a picture; else 0. heading: that of the place.
    match_before, match_after: pointers to the nearest places with a hit, or "".
    inside: the attachments of a message that can be opened, by name, each with its pointer.
    """

    path: str
    pointer: str
    text: str
    marks: tuple[tuple[int, int], ...]
    before: str
    after: str
    numbers: tuple[int, ...]
    page: int
    heading: str = ""
    match_before: str = ""
    match_after: str = ""
    inside: tuple[tuple[str, str], ...] = ()


def at(
    path: str, segments: Sequence[Segment], pointer: str | None, caps: preview.Caps, words: snippet.Words | None
) -> FileView:
    """Show a place.

    Raises: as `preview.cut`.
    """
    places = list(dict.fromkeys(segment.pointer for segment in segments))
    if not pointer and places and (first := grammar.parse(places[0])) and first[0].kind in _ALONE:
        pointer = places[0]
    shown = preview.cut(segments, pointer, 0, 0, caps)
    at_place = _number(places, pointer or shown.pointer)
    behind = _number(places, shown.next) if shown.next else len(places)
    before, after = _matches(segments, places, at_place, behind, words) if words else ("", "")
    lines = list(_numbered(segments, shown.pointer))
    text = "\n".join(line for _, line in lines)[: caps.preview_bytes] if lines else shown.text
    return FileView(
        path,
        shown.pointer,
        text,
        snippet.marks(text, words) if words else (),
        places[at_place - 1] if at_place > 0 else "",
        shown.next,
        tuple(number for number, _ in lines),
        page_of(shown.pointer) if path.lower().endswith(_PDF) else 0,
        next((segment.heading for segment in segments if segment.pointer == shown.pointer), ""),
        before,
        after,
        _inside(places, shown.pointer),
    )


def _matches(
    segments: Sequence[Segment], places: Sequence[str], first: int, behind: int, words: snippet.Words
) -> tuple[str, str]:
    """The nearest places with a hit: before place number `first`, and from place number `behind` on."""
    numbers = {place: number for number, place in enumerate(places)}

    def nearest(some: Iterable[Segment]) -> str:
        return next((segment.pointer for segment in islice(some, _MOST_SEARCHED) if _is_match(segment, words)), "")

    return (
        nearest(segment for segment in reversed(segments) if numbers[segment.pointer] < first),
        nearest(segment for segment in segments if numbers[segment.pointer] >= behind),
    )


def _is_match(segment: Segment, words: snippet.Words) -> bool:
    hidden = [redact.Span(*stretch) for stretch in segment.hidden]
    return bool(snippet.marks(redact.part(segment.text, hidden, 0, len(segment.text)), words))


def _inside(places: Sequence[str], pointer: str) -> tuple[tuple[str, str], ...]:
    """The attachments of the message that is shown: names, each with the pointer to its start."""
    own = document.split(grammar.parse(pointer))[0]
    if not own or own[-1].kind != "message":
        return ()
    frame = own[:-1]
    found: dict[str, str] = {}
    for place in places:
        parts = grammar.parse(place)
        if len(parts) > len(frame) and parts[: len(frame)] == frame and parts[len(frame)].kind == "attachment":
            found.setdefault(parts[len(frame)].name, place)
    return tuple(found.items())


def _numbered(segments: Sequence[Segment], pointer: str) -> Iterator[tuple[int, str]]:
    """The lines that a pointer to lines names, redacted, each with its number; none for other pointers."""
    wanted = document.split(grammar.parse(pointer))[1]
    if not wanted or wanted.kind != "lines" or pointer != grammar.format((wanted,)):
        return
    whole, pieces = document.join(segments)
    hidden = document.hidden_in(segments, pieces)
    last = 0
    for piece in pieces:
        start = piece.start
        for number, line in enumerate(piece.text.removesuffix("\n").split("\n"), piece.lines.first):
            end = start + len(line)
            if wanted.first <= number <= wanted.last and not piece.frame:
                if 0 < number - last - 1 <= _MOST_EMPTY and last:
                    yield from ((empty, "") for empty in range(last + 1, number))
                shown = redact.part(whole, hidden, start, end)
                yield (number if number > last else 0), shown
                last = number
            start = end + 1


def _number(places: Sequence[str], pointer: str) -> int:
    """The number of the place that a pointer names, or begins in."""
    if pointer in places:
        return places.index(pointer)
    frame, lines = document.split(grammar.parse(pointer))
    found = 0
    for number, place in enumerate(places):
        own, range_ = document.split(grammar.parse(place))
        if own[: len(frame)] == frame and (not lines or not range_ or range_.first <= lines.first):
            if not lines:
                return number
            found = number
    return found
