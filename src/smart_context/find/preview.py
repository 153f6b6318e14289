"""Cut a safe preview out of a file's segments.

In: a file's segments in reading order, a pointer or none, and how many characters more on each side.  Out: `Preview`.
Always: the text is cleaned before it is cut, so that half a secret never shows; a preview is at most `MAX_BYTES` of UTF-8; where it
ends before the place does, its pointer names the lines that it shows, so that a caller can ask for those that follow.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from smart_context import pointer as grammar
from smart_context import redact
from smart_context.errors import BadRequest, NotFound
from smart_context.model import Part, Pointer, Segment
from smart_context.redact import Spans

MAX_BYTES = 2000
MAX_AROUND = 1000

_LINES_OF = {"sheet": "rows", "section": "paragraphs"}  # what the lines of a place are called; elsewhere, lines
# A secret that begins outside of the window is only recognised with what stands around it.
_MARGIN = 4000


@dataclass(frozen=True, slots=True)
class Preview:
    """What `openFile` shows. `truncated`: the place holds more than is shown, and `pointer` names what is."""

    pointer: str
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A segment in the joined text: where it begins, the place that it stands in, and its lines there."""

    start: int
    text: str
    frame: Pointer
    lines: Part
    is_numbered: bool  # by its pointer; else its lines are counted, and may be called rows or paragraphs as well

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def cut(segments: Sequence[Segment], pointer: str | None, before: int, after: int, spans: Spans) -> Preview:
    """Show the place that the pointer names, or the start of the file."""
    for name, value in (("before", before), ("after", after)):
        if value < 0:
            raise BadRequest(
                f"`{name}` must not be negative", hint=f"it is a number of characters from 0 to {MAX_AROUND}"
            )
    text, pieces = _join(segments)
    start, end = _find(pieces, grammar.parse(pointer)) if pointer else (0, len(text))
    start = max(0, start - min(before, MAX_AROUND))
    end = min(len(text), end + min(after, MAX_AROUND))
    shown, reached = _clean(text, start, end, spans)
    if pointer and reached == end:
        return Preview(pointer, shown, truncated=False)
    asked = pointer or (segments[0].pointer if segments else "")
    return Preview(_where(pieces, start, reached) or asked, shown, truncated=reached < end)


def _join(segments: Sequence[Segment]) -> tuple[str, list[_Piece]]:
    parts: list[str] = []
    pieces: list[_Piece] = []
    length = 0
    for segment in segments:
        last = pieces[-1] if pieces else None
        frame, lines = _split(grammar.parse(segment.pointer))
        goes_on = last is not None and _goes_on(last, frame, lines)
        # A line that goes on is joined without a seam; what begins anew gets a line of its own.
        if last and not goes_on and not last.text.endswith("\n"):
            parts.append("\n")
            length += 1
        first = last.lines.first + last.text.count("\n") if last and goes_on else 1
        pieces.append(_Piece(length, segment.text, frame, lines or _counted(frame, first, segment.text), bool(lines)))
        parts.append(segment.text)
        length += len(segment.text)
    return "".join(parts), pieces


def _split(pointer: Pointer) -> tuple[Pointer, Part | None]:
    """Part a pointer into what it stands in and the range at its end, if it has one."""
    if pointer and pointer[-1].kind in grammar.RANGES:
        return pointer[:-1], pointer[-1]
    return pointer, None


def _goes_on(last: _Piece, frame: Pointer, lines: Part | None) -> bool:
    """Whether the piece of a place, with these lines of it, begins in the line in which the last one ended."""
    if last.frame != frame or last.is_numbered != bool(lines):
        return False
    return lines is None or lines.first == last.lines.last


def _counted(frame: Pointer, first: int, text: str) -> Part:
    last = first + text.count("\n") - text.endswith("\n")
    return Part(_LINES_OF.get(frame[-1].kind, "lines") if frame else "lines", first=first, last=max(first, last))


def _find(pieces: Sequence[_Piece], wanted: Pointer) -> tuple[int, int]:
    """Give the range of the joined text that a pointer names."""
    frame, lines = _split(wanted)
    found: list[tuple[int, int]] = []
    for piece in pieces:
        if lines is None and piece.frame[: len(frame)] == frame:
            found.append((piece.start, piece.end))
        elif lines is not None and piece.frame == frame:
            found += _of_lines(piece, lines)
    if not found:
        raise NotFound(
            f"no {grammar.format(wanted)} in this file",
            hint="leave `pointer` out to see the start of the file, or take a pointer from `searchFiles`",
        )
    return found[0][0], found[-1][1]


def _of_lines(piece: _Piece, wanted: Part) -> list[tuple[int, int]]:
    """The part of a piece that holds the wanted lines, if it has any of them."""
    has, texts = piece.lines, piece.text.split("\n")
    first, last = max(wanted.first, has.first), min(wanted.last, has.last, has.first + len(texts) - 1)
    if first > last or (piece.is_numbered and has.kind != wanted.kind):
        return []
    begin = piece.start + sum(len(text) + 1 for text in texts[: first - has.first])
    length = sum(len(text) + 1 for text in texts[first - has.first : last - has.first + 1]) - 1
    return [(begin, begin + length)]


def _clean(text: str, start: int, end: int, spans: Spans) -> tuple[str, int]:
    """Clean the window with what stands around it, then cut it to `MAX_BYTES`; and how far in the text that reaches."""
    # No more than MAX_BYTES characters can show, and what is replaced may be longer than its replacement.
    reach = min(end, start + MAX_BYTES + _MARGIN)
    low, high = max(0, start - _MARGIN), min(len(text), reach + _MARGIN)
    around = text[low:high]
    hidden = spans(around)

    def cleaned(until: int) -> str:
        return redact.part(around, hidden, start - low, until - low)

    whole = cleaned(reach)
    shown = whole.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")
    if len(shown) == len(whole):
        return shown, reach
    ends = range(start, reach + 1)
    return shown, ends[bisect_right(ends, len(shown), key=lambda until: len(cleaned(until))) - 1]


def _where(pieces: Sequence[_Piece], start: int, end: int) -> str | None:
    """The pointer of a stretch of the joined text; None where it lies in several places."""
    inside = [piece for piece in pieces if piece.start < end and piece.end > start]
    if len({piece.frame for piece in inside}) != 1:
        return None
    first, last = inside[0], inside[-1]
    place = [piece for piece in pieces if piece.frame == first.frame]
    if first.frame and start <= place[0].start and place[-1].end <= end:
        return grammar.format(first.frame)
    from_line = first.lines.first + first.text.count("\n", 0, max(0, start - first.start))
    shown = last.text[: end - last.start]
    is_cut = not shown.endswith("\n") and last.text[len(shown) :][:1] not in {"", "\n"}
    to_line = last.lines.first + shown.count("\n") - (is_cut or shown.endswith("\n"))
    lines = Part(first.lines.kind, first=from_line, last=max(from_line, to_line))
    return grammar.format((*first.frame, lines))
