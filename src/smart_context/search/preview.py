"""Cut a safe preview out of a file's segments.

In: a file's segments in reading order, a pointer or none, and how many characters more on each side.  Out: `Preview`.
Always: the text is cleaned before it is cut, so that half a secret never shows; a preview is at most `MAX_BYTES` of UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from smart_context import pointer as grammar
from smart_context import redact
from smart_context.errors import BadRequest, NotFound
from smart_context.model import Part, Pointer
from smart_context.redact import Spans
from smart_context.search.model import Segment

MAX_BYTES = 2000
MAX_AROUND = 1000

_RANGES = ("lines", "rows", "paragraphs")
# A secret that begins outside of the window is only recognised with what stands around it.
_MARGIN = 4000


@dataclass(frozen=True, slots=True)
class Preview:
    """What `openFile` shows. `truncated`: the place holds more than is shown."""

    pointer: str
    text: str
    truncated: bool


def cut(segments: Sequence[Segment], pointer: str | None, before: int, after: int, spans: Spans) -> Preview:
    """Show the place that the pointer names, or the start of the file."""
    for name, value in (("before", before), ("after", after)):
        if value < 0:
            raise BadRequest(
                f"{name} must not be negative", hint=f"{name} is a number of characters from 0 to {MAX_AROUND}"
            )
    text, starts = _join(segments)
    if not pointer:
        shown = segments[0].pointer if segments else ""
        start, end = 0, len(text)
    else:
        shown = pointer
        start, end = _find(segments, starts, grammar.parse(pointer))
    start = max(0, start - min(before, MAX_AROUND))
    end = min(len(text), end + min(after, MAX_AROUND))
    body, whole = _clean(text, start, end, spans)
    return Preview(shown, body, truncated=not whole)


def _join(segments: Sequence[Segment]) -> tuple[str, list[int]]:
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for place, segment in enumerate(segments):
        # Pieces of one unit join without a seam; different places get a line of their own.
        if place and segment.pointer != segments[place - 1].pointer and not parts[-1].endswith("\n"):
            parts.append("\n")
            length += 1
        starts.append(length)
        parts.append(segment.text)
        length += len(segment.text)
    return "".join(parts), starts


def _find(segments: Sequence[Segment], starts: Sequence[int], wanted: Pointer) -> tuple[int, int]:
    """Give the range of the joined text that a pointer names."""
    frame, window = _split(wanted)
    found: list[tuple[int, int]] = []
    line = 1  # where the next piece of a place that is not numbered itself begins, as a page
    for segment, start in zip(segments, starts, strict=True):
        has_frame, has_window = _split(grammar.parse(segment.pointer)) if segment.pointer else ((), None)
        if has_frame[: len(frame)] != frame:
            continue
        if window is None:
            found.append((start, start + len(segment.text)))
        elif has_frame == frame:
            piece = _lines(segment.text, has_window or replace(window, first=line, last=1 << 60), window)
            line += segment.text.count("\n")
            if piece is not None:
                found.append((start + piece[0], start + piece[1]))
    if not found:
        raise NotFound(
            f"no {grammar.format(wanted)} in this file",
            hint="leave `pointer` out to see the start of the file, or take a pointer from searchFiles",
        )
    return found[0][0], found[-1][1]


def _split(pointer: Pointer) -> tuple[Pointer, Part | None]:
    """Part a pointer into what it stands in and the range at its end, if it has one."""
    if pointer and pointer[-1].kind in _RANGES:
        return pointer[:-1], pointer[-1]
    return pointer, None


def _lines(text: str, has: Part, wants: Part) -> tuple[int, int] | None:
    """Give the part of a segment's text whose lines are wanted; `has` numbers its first line."""
    if has.kind != wants.kind or wants.first > has.last or wants.last < has.first:
        return None
    start = end = None
    position = 0
    for number, line in enumerate(text.split("\n"), has.first):
        if wants.first <= number <= min(wants.last, has.last):
            start = position if start is None else start
            end = position + len(line)
        position += len(line) + 1
    return None if start is None or end is None else (start, end)


def _clean(text: str, start: int, end: int, spans: Spans) -> tuple[str, bool]:
    """Clean the window with what stands around it, then cut it to `MAX_BYTES`. The flag: nothing was cut off."""
    # No more than MAX_BYTES characters can show, and what is replaced may be longer than its replacement.
    reach = min(end, start + MAX_BYTES + _MARGIN)
    low, high = max(0, start - _MARGIN), min(len(text), reach + _MARGIN)
    around = text[low:high]
    cleaned = redact.part(around, spans(around), start - low, reach - low)
    cut = cleaned.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")
    return cut, reach == end and len(cut) == len(cleaned)
