"""Judge a file as a whole: which parts of each segment must be hidden.

In: a file's segments in reading order.  Out: the same, each with what is hidden in it; or their texts as one.
Always: neither pages nor borders between segments change what is hidden; a stretch that crosses a border is hidden on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from smart_context import later
from smart_context import pointer as grammar
from smart_context.data import dataclass
from smart_context.model import Hidden, Part, Pointer, Segment
from smart_context.redact import repeats
from smart_context.redact.gate import Redactor, Span, merged, part

_SECRET = 4  # characters that a secret has at least; fewer stand in any title
_CUT = 190  # characters from which on a title or heading may have been cut by its reader
_BESIDE_LINES = " \t\r>|*#"  # what stands beside a secret that a line break cuts, and is no part of it
_RANGE = later.pattern(r"(?:(.*) )?(lines|rows|paragraphs) ([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.DOTALL)
_LINES_OF = {"sheet": "rows", "section": "paragraphs"}  # what the lines of a place are called; elsewhere, lines


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment in the joined text: where it begins, the place that it stands in, and its lines there."""

    start: int
    text: str
    frame: Pointer
    lines: Part
    is_numbered: bool  # by its pointer; else its lines are counted, and may be called rows or paragraphs as well
    certainty: int | None = None  # as the segment has it: what OCR read begins anew

    @property
    def end(self) -> int:
        """Where it ends in the joined text."""
        return self.start + len(self.text)


def judged(segments: Sequence[Segment], redactor: Redactor) -> list[Segment]:
    """Judge a file: its segments, each with what is hidden in it, and with a heading that may be shown."""
    starts = _starts(segments)
    text = _joined(segments, starts)
    hidden = _parted(repeats.with_repeats(text, redactor.spans(text)), segments, starts)
    headings = {heading: _clean(redactor, heading) for heading in {one.heading: None for one in segments} if heading}
    told = _told(headings, _values(segments, hidden)) if headings else []
    if told:
        headings = {heading: _without(told, heading, clean) for heading, clean in headings.items()}
    return [
        one if one.hidden == own and heading == one.heading
        else Segment(one.seq, one.pointer, heading, one.text, own, one.certainty)
        for one, own in zip(segments, hidden, strict=True)
        for heading in (headings.get(one.heading, ""),)
    ]  # fmt: skip


def head(text: str, segments: Sequence[Segment], redactor: Redactor) -> str:
    """A title or an author of a judged file as it may be shown: without what is hidden in it, or as a secret anywhere in the file."""
    if not text:
        return ""
    told = _told([text], _values(segments, [segment.hidden for segment in segments]))
    return _without(told, text, redactor.clean(text))


def join(segments: Sequence[Segment]) -> tuple[str, list[Piece]]:
    """A file's text as one, and where each segment stands in it."""
    starts = _starts(segments)
    pieces: list[Piece] = []
    before: Segment | None = None
    for segment, start in zip(segments, starts, strict=True):
        frame, lines = _place(segment.pointer)
        goes_on = before is not None and _goes_on(before, segment)
        first = pieces[-1].lines.first + pieces[-1].text.count("\n") if goes_on else 1
        own = lines or _counted(frame, first, segment.text)
        pieces.append(Piece(start, segment.text, frame, own, bool(lines), segment.certainty))
        before = segment
    return _joined(segments, starts), pieces


def _starts(segments: Sequence[Segment]) -> list[int]:
    """Lay segments end to end: a line that goes on is joined without a seam; what begins anew gets a line of its own."""
    starts: list[int] = []
    last: Segment | None = None
    length = 0
    for segment in segments:
        if last is not None and not last.text.endswith("\n") and not _goes_on(last, segment):
            length += 1
        starts.append(length)
        length += len(segment.text)
        last = segment
    return starts


def _goes_on(last: Segment, segment: Segment) -> bool:
    """Whether a segment begins in the line in which the last one ended: it stands in the same, and its first line is the last one of that."""
    if last.certainty != segment.certainty:
        return False
    frame, _, end = _bounds(last.pointer)
    return (frame, end) == _bounds(segment.pointer)[:2]


def _bounds(pointer: str) -> tuple[str, str, str]:
    """What a pointer stands in, its first line and its last, as they are written: for that, no pointer need be parsed."""
    head, _, lines = pointer.rpartition(" ")
    frame, _, kind = head.rpartition(" ")
    if kind not in grammar.RANGES or lines.endswith("'"):  # a name may end as a range does
        return pointer, "", ""
    first, _, last = lines.partition("-")
    return frame, first, last or first


def _joined(segments: Sequence[Segment], starts: Sequence[int]) -> str:
    parts: list[str] = []
    length = 0
    for segment, start in zip(segments, starts, strict=True):
        if start > length:
            parts.append("\n")
        parts.append(segment.text)
        length = start + len(segment.text)
    return "".join(parts)


def hidden_in(segments: Sequence[Segment], pieces: Sequence[Piece]) -> list[Span]:
    """What is hidden in the joined text of judged segments; the parts of a stretch that was cut are one again."""
    found: list[Span] = []
    for segment, piece in zip(segments, pieces, strict=True):
        for start, end, kind in segment.hidden:
            last = found[-1] if found else None
            if last and last.kind == kind and last.end == piece.start + start:
                found[-1] = Span(last.start, piece.start + end, kind)
            else:
                found.append(Span(piece.start + start, piece.start + end, kind))
    return found


def _values(segments: Sequence[Segment], hidden: Sequence[Hidden]) -> Iterator[tuple[str, str]]:
    """What is hidden in segments, and its kind."""
    for segment, own in zip(segments, hidden, strict=True):
        for start, end, kind in own:
            yield segment.text[start:end], kind


def _told(heads: Iterable[str], values: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The lines of what is hidden that may stand in a title or heading, by how they begin: the first `repeats.SOUGHT`."""
    begins: set[str] = set()
    found: dict[str, str] = {}
    for value, kind in values:
        if not begins:
            read = [text for head in heads for text in (head, *repeats.plain(head))]
            begins = {text[at : at + _SECRET] for text in read for at in range(len(text))}
        for line in value.splitlines():
            bare = line.strip(_BESIDE_LINES)
            for one in (bare, *repeats.plain(bare)):
                if len(one) >= _SECRET and one[:_SECRET] in begins:
                    found.setdefault(one, kind)
    return list(islice(found.items(), repeats.SOUGHT))


def _without(told: Sequence[tuple[str, str]], head: str, clean: str) -> str:
    """A title or heading that is clean by itself, without what is hidden in its file; of one that may have been cut, without the beginning of that at its end."""
    for value, kind in told:
        if kind not in repeats.PUBLIC:
            clean = clean.replace(value, f"[redacted:{kind}]")
            escaped = [Span(*place, kind) for place in repeats.written(clean, [value])]
            clean = part(clean, merged(escaped), 0, len(clean))
        if len(head) < _CUT:
            continue
        at = clean.find(value[:_SECRET], max(0, len(clean) - len(value)))
        while at >= 0 and not value.startswith(clean[at:]):
            at = clean.find(value[:_SECRET], at + 1)
        clean = clean if at < 0 else f"{clean[:at]}[redacted:{kind}]"
    return clean


@lru_cache(maxsize=2048)  # files of one kind share their headings
def _clean(redactor: Redactor, heading: str) -> str:
    return redactor.clean(heading)


def split(pointer: Pointer) -> tuple[Pointer, Part | None]:
    """Part a pointer into what it stands in and the range at its end, if it has one."""
    if pointer and pointer[-1].kind in grammar.RANGES:
        return pointer[:-1], pointer[-1]
    return pointer, None


_parsed = lru_cache(maxsize=64)(grammar.parse)


def _place(pointer: str) -> tuple[Pointer, Part | None]:
    """What `split` makes of a pointer. Most have a range at their end, each another one, behind a frame that many share: only that is parsed."""
    found = _RANGE.fullmatch(pointer)
    if found:
        frame, kind, first, last = _parsed(found[1] or ""), found[2], int(found[3]), int(found[4])
        if first <= last and not (frame and frame[-1].kind in grammar.RANGES):
            return frame, Part(kind, first=first, last=last)
    return split(_parsed(pointer))


def _counted(frame: Pointer, first: int, text: str) -> Part:
    last = first + text.count("\n") - text.endswith("\n")
    return Part(_LINES_OF.get(frame[-1].kind, "lines") if frame else "lines", first=first, last=max(first, last))


def _parted(spans: Sequence[Span], segments: Sequence[Segment], starts: Sequence[int]) -> list[Hidden]:
    """What of the spans falls into each segment."""
    hidden: list[Hidden] = []
    at = 0
    for segment, first in zip(segments, starts, strict=True):
        if at == len(spans):
            break
        last = first + len(segment.text)
        own: list[tuple[int, int, str]] = []
        while at < len(spans) and spans[at].start < last:
            span = spans[at]
            start, end = max(span.start, first), min(span.end, last)
            if start < end:
                own.append((start - first, end - first, span.kind))
            if span.end > last:
                break
            at += 1
        hidden.append(tuple(own))
    return hidden + [()] * (len(segments) - len(hidden))
