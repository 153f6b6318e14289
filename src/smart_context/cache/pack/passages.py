"""Cut a document into passages.

In: a document's text.  Out: `Passage`s in text order.
Always: the passages hold all of the text but white space, in order and without overlap. None is longer than `MOST` bytes; a passage ends
at a paragraph, a line or a sentence if one ends within reach. A heading begins a passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smart_context.data import NamedTuple

LEAST = 160  # bytes; a shorter piece is joined with the next one of its section
MOST = 480

# Written out: what Python takes for white space may change with its version.
_SPACES = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACE = re.escape(_SPACES)
_VISIBLE = re.compile(f"[^{_SPACE}]")
_BREAK = re.compile(r"\n(?:[ \t\r]*\n)+|\n(?=#{1,6}[ \t])")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]+([^\n]*)")
# Up to the last seam: after a sentence or a line, else after a word.
_SEAMS = (
    re.compile(f"(?s:.*)(?:[.!?…][\"'”’)\\]]*[{_SPACE}]+|[。！？｡]|\n)"),
    re.compile(f"(?s:.*)[{_SPACE}、，；：]"),
)


class Passage(NamedTuple):
    """A part of a document: where it begins and ends in the text, in characters, and the heading that it stands under."""

    start: int
    end: int
    heading: str


class Span(NamedTuple):
    """The span of a passage in a text, and that of its heading."""

    start: int
    end: int
    heading_start: int
    heading_end: int


def cut(text: str) -> list[Passage]:
    """Return the passages of a text."""
    return [Passage(one.start, one.end, text[one.heading_start : one.heading_end]) for one in spans(text)]


def spans(text: str) -> list[Span]:
    """Return where the passages of a text stand."""
    found: list[Span] = []
    heading = (0, 0)
    is_code = False
    has_code = "```" in text or "~~~" in text
    for start, end in _paragraphs(text):
        begins_section = None if is_code else _HEADING.match(text, start, end)
        if begins_section:
            heading = _bare(text, *begins_section.span(1))
        is_code ^= has_code and len(_FENCE.findall(text, start, end)) % 2 == 1
        for begin, stop in _pieces(text, start, end):
            begins = begins_section is not None and begin == start
            if found and not begins and _are_one(text, found[-1], stop):
                found[-1] = Span(found[-1].start, stop, *heading)
            else:
                found.append(Span(begin, stop, *heading))
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where paragraphs begin and end; a heading belongs to the paragraph after it."""
    start = at = 0
    for gap in _BREAK.finditer(text):
        is_heading = _HEADING.fullmatch(text, at, gap.start())
        at = gap.end()
        if not is_heading or _HEADING.match(text, at):
            yield start, gap.start()
            start = at
    yield start, len(text)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a paragraph into pieces of at most `MOST` bytes, without the white space between them."""
    while visible := _VISIBLE.search(text, start, end):
        if visible.start() > start:  # white space before the first word of a line is indentation
            start = max(start, text.rfind("\n", start, visible.start()) + 1)
        stop = _seam(text, start, end)
        yield start, _end(text, start, stop)
        start = stop


def _seam(text: str, start: int, end: int) -> int:
    """Return where the piece that begins at `start` ends, white space after it included."""
    room = MOST
    if end - start <= 3 * MOST:
        size = _bytes(text, start, end)
        if size <= MOST:
            return end
        # The last pieces are about equal, so that a full one is not followed by a tiny one; a quarter more leaves a choice of seams.
        even = size // -(-size // MOST)
        room = min(MOST, even + even // 4)
    part = text[start : start + room]
    reach = start + (len(part) if part.isascii() else len(part.encode()[:room].decode(errors="ignore")))
    for seam in _SEAMS:
        found = seam.match(text, start, reach)
        if found and 3 * (found.end() - start) > reach - start:
            return found.end()
    return reach


def _end(text: str, start: int, stop: int) -> int:
    return start + len(text[start:stop].rstrip(_SPACES))


def _bare(text: str, start: int, stop: int) -> tuple[int, int]:
    """The span of a part of a text without the white space around it."""
    stop = _end(text, start, stop)
    return stop - len(text[start:stop].lstrip(_SPACES)), stop


def _are_one(text: str, last: Span, end: int) -> bool:
    """Whether the last passage is so short that the piece after it, which ends there, belongs to it."""
    return (
        last.end - last.start < LEAST
        and end - last.start <= MOST
        and _bytes(text, last.start, last.end) < LEAST
        and _bytes(text, last.start, end) <= MOST
    )


def _bytes(text: str, start: int, end: int) -> int:
    part = text[start:end]
    return end - start if part.isascii() else len(part.encode())
