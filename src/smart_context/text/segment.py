"""Cut extracted text into segments.

In: one `Extracted`.  Out: `Segment`s in reading order, each with a pointer to its place.
Always: the segments of a unit, joined, are its text; none is longer than asked; none spans two units. A unit without a
visible character has none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from smart_context import pointer
from smart_context.model import Extracted, Segment, Unit

# Where prose may be cut, best first; the next piece begins where the match ends.
_SEAMS = (
    re.compile(r"\n[ \t\r]*\n+"),
    re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？｡]+|\n"),
    re.compile(r"\s+|[、，；：]"),
)
_MARKS = 16  # how far a cut inside a word backs off to keep accents with their letter
_FILES = frozenset({"attachment", "entry"})  # parts that name a file, not a place in it


def cut(doc: Extracted, max_chars: int) -> Iterator[Segment]:
    """Yield the document's segments in reading order."""
    seq = 0
    for unit in doc.units:
        if not unit.text or unit.text.isspace():
            continue
        for where, text in _pieces(unit, max_chars):
            yield Segment(seq, where, unit.heading, text, (), unit.certainty)
            seq += 1


def _pieces(unit: Unit, room: int) -> Iterator[tuple[str, str]]:
    """The pieces of a unit, each with its pointer."""
    where = pointer.format(unit.pointer)
    names_a_place = bool(unit.pointer) and unit.pointer[-1].kind not in _FILES
    if unit.divisible is None:
        for text in _prose(unit.text, room):
            yield where, text
    elif names_a_place and len(unit.text) <= room:
        yield where, unit.text
    else:
        before = f"{where} {unit.divisible} " if where else f"{unit.divisible} "
        for first, last, text in _blocks(unit.text, unit.first, room):
            yield f"{before}{first}-{last}", text


def _blocks(text: str, number: int, room: int) -> Iterator[tuple[int, int, str]]:
    """Cut between lines: (first line, last line, text). A line longer than the room is cut and keeps its number."""
    start = 0
    while start < len(text):
        end = _line_seam(text, start, room)
        if end:
            count = text.count("\n", start, end) + (not text.endswith("\n", start, end))
            yield number, number + count - 1, text[start:end]
        else:
            end = text.find("\n", start) + 1 or len(text)
            count = 1
            for piece in _prose(text[start:end], room):
                yield number, number, piece
        number += count
        start = end


def _line_seam(text: str, start: int, room: int) -> int:
    """Where the block that begins at `start` ends; 0 if its first line is too long for the room."""
    left = len(text) - start
    if left <= room:
        return len(text)
    size = _share(left, room)
    blank = text.rfind("\n\n", start + size // 2, start + size)
    if blank >= 0:
        return blank + 2
    return text.rfind("\n", start, start + size) + 1 or text.rfind("\n", start, start + room) + 1


def _prose(text: str, room: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _prose_seam(text, start, room)
        yield text[start:end]
        start = end


def _prose_seam(text: str, start: int, room: int) -> int:
    left = len(text) - start
    if left <= room:
        return len(text)
    size = _share(left, room)
    for seam in _SEAMS:
        ends = [found.end() for found in seam.finditer(text, start + size // 2, start + size)]
        if ends:
            return ends[-1]
    end = start + size
    for _ in range(min(_MARKS, size - 1)):
        if not unicodedata.category(text[end]).startswith("M"):
            break
        end -= 1
    return end


def _share(left: int, room: int) -> int:
    # Even pieces rank better than a full one and a tiny rest, so the last cuts aim at equal parts, with some tolerance to reach a seam.
    pieces = -(-left // room)
    even = -(-left // pieces)
    return min(room, even + even // 4)
