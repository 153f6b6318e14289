"""Cut a safe preview out of a file's segments.

In: a file's segments in reading order with what is hidden in them, a pointer or none, and how many characters more on each side.  Out: `Preview`.
Always: a redacted span is replaced as a whole, wherever the cut falls; the preview has the beginning of the place that was asked for, and
at most `Caps.preview_bytes` bytes of UTF-8; if it shows less than was asked for, `pointer` names what is shown; `next`
names what follows, so that a caller who follows it sees the whole file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from smart_context import defaults, redact
from smart_context import pointer as grammar
from smart_context.errors import BadRequest, NotFound
from smart_context.model import Part, Pointer, Segment
from smart_context.redact import Span, document
from smart_context.redact.document import Piece


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that one call shows: bytes of UTF-8, and characters before or after the place asked for."""

    preview_bytes: int = defaults.PREVIEW_BYTES
    around_chars: int = defaults.AROUND_CHARS


@dataclass(frozen=True, slots=True)
class Preview:
    """What `openFile` shows. `truncated`: more was asked for than is shown, and `pointer` names what is; `next`: what goes on after it."""

    pointer: str
    text: str
    truncated: bool
    next: str = ""


@dataclass(frozen=True, slots=True)
class _Text:
    """A file's text as one, what is hidden in it, and its pieces."""

    whole: str
    hidden: Sequence[Span]
    pieces: Sequence[Piece]


def cut(segments: Sequence[Segment], pointer: str | None, before: int, after: int, caps: Caps | None = None) -> Preview:
    """Show the place that the pointer names, or the start of the file."""
    caps = caps or Caps()
    for name, value in (("before", before), ("after", after)):
        if value < 0:
            raise BadRequest(
                f"`{name}` must not be negative", hint=f"it is a number of characters from 0 to {caps.around_chars}"
            )
    whole, pieces = document.join(segments)
    text = _Text(whole, document.hidden_in(segments, pieces), pieces)
    first, last = _find(pieces, grammar.parse(pointer)) if pointer else (0, len(whole))
    low = max(0, first - min(before, caps.around_chars))
    high = min(len(whole), last + min(after, caps.around_chars))
    start, end = _window(text, first, last, low, high, caps.preview_bytes)
    shown = redact.part(whole, text.hidden, start, end)
    is_cut = start > low or end < high
    more = _goes_on_at(text, start, end)
    if pointer and not is_cut:
        return Preview(pointer, shown, truncated=False, next=more)
    asked = pointer or (segments[0].pointer if segments else "")
    return Preview(_where(pieces, start, end) or asked, shown, is_cut, more)


def text_of(segments: Sequence[Segment], pointer: str | None, *, redacted: bool) -> str:
    """Everything that a pointer names, or the whole file: for its owner, who may ask to have nothing hidden.

    Raises: BadRequest for a pointer that cannot be read; NotFound for one that names nothing here.
    """
    whole, pieces = document.join(segments)
    first, last = _find(pieces, grammar.parse(pointer)) if pointer else (0, len(whole))
    return redact.part(whole, document.hidden_in(segments, pieces) if redacted else (), first, last)


def _find(pieces: Sequence[Piece], wanted: Pointer) -> tuple[int, int]:
    """Give the range of the joined text that a pointer names."""
    frame, lines = document.split(wanted)
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


def _of_lines(piece: Piece, wanted: Part) -> list[tuple[int, int]]:
    """The part of a piece that holds the wanted lines, if it has any of them."""
    has, texts = piece.lines, piece.text.split("\n")
    first, last = max(wanted.first, has.first), min(wanted.last, has.last, has.first + len(texts) - 1)
    if first > last or (piece.is_numbered and has.kind != wanted.kind):
        return []
    begin = piece.start + sum(len(text) + 1 for text in texts[: first - has.first])
    length = sum(len(text) + 1 for text in texts[first - has.first : last - has.first + 1]) - 1
    return [(begin, begin + length)]


def _window(text: _Text, first: int, last: int, low: int, high: int, most: int) -> tuple[int, int]:
    """The range that fits: the place itself from its beginning, then the text around it; what one side does not need, the other may use."""
    end, used = _forward(text, first, last, most)
    if end < last:
        return first, end
    room = most - used
    _, after = _forward(text, last, high, room)
    start, before = _backward(text, low, first, max(room // 2, room - after))
    return start, _forward(text, last, high, room - before)[0]


def _forward(text: _Text, start: int, end: int, most: int) -> tuple[int, int]:
    """The end of `most` bytes from `start`, with redacted spans counted by their marks; and the bytes used."""
    used = 0
    for a, b, mark in _stretches(text, start, end):
        size = mark or _size(text.whole[a : min(b, a + most + 1)])
        if used + size > most:
            return a if mark else a + _fitting(text.whole[a:b], most - used), most
        used += size
    return end, used


def _backward(text: _Text, start: int, end: int, most: int) -> tuple[int, int]:
    """The start of `most` bytes before `end`; and the bytes used."""
    used = 0
    for a, b, mark in reversed(list(_stretches(text, start, end))):
        size = mark or _size(text.whole[max(a, b - most - 1) : b])
        if used + size > most:
            return b if mark else b - _fitting(text.whole[max(a, b - most - 1) : b][::-1], most - used), most
        used += size
    return start, used


def _stretches(text: _Text, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """A range of the text in pieces: (start, end, size of the mark that replaces it, or 0)."""
    at, number = start, bisect_right(text.hidden, start, key=lambda span: span.end)
    while at < end:
        span = text.hidden[number] if number < len(text.hidden) else None
        if span is None or span.start >= end:
            yield at, end, 0
            return
        if span.start > at:
            yield at, span.start, 0
        yield max(at, span.start), min(end, span.end), len(f"[redacted:{span.kind}]")
        at, number = span.end, number + 1


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _fitting(text: str, room: int) -> int:
    """How many of a text's first characters fit into `room` bytes."""
    return len(text[:room].encode("utf-8", "replace")[:room].decode("utf-8", "ignore"))


def _goes_on_at(text: _Text, start: int, end: int) -> str:
    """The pointer from where a preview ended to the end of that place, or of the next one; "" at the end of the file."""
    whole, resume = text.whole, end
    if whole[end - 1 : end] != "\n" and whole[end : end + 1] not in {"", "\n"}:
        # In the middle of a line: from its beginning, unless it is longer than a preview; then the next one is all that a pointer can name.
        line = whole.rfind("\n", start, end) + 1
        resume = line if line > start else whole.find("\n", end) + 1 or len(whole)
    elif whole[end - 1 : end] != "\n":
        resume = end + 1
    rest = [piece for piece in text.pieces if piece.end > resume]
    if not rest:
        return ""
    place = [piece for piece in rest if piece.frame == rest[0].frame]
    return _where(text.pieces, max(resume, rest[0].start), place[-1].end) or ""


def _where(pieces: Sequence[Piece], start: int, end: int) -> str | None:
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
