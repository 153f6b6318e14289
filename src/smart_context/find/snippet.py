"""Cut the part of a segment that answers.

In: a segment's text with what of it must not show, and the words sought.  Out: a `Snippet`: plain
text of at most `MAX_CHARS` characters, and where the words stand in it.
Always: what must not show is replaced before anything is cut, so that half a secret never shows; a cut falls between words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from smart_context import redact
from smart_context.data import dataclass
from smart_context.engine.model import Passage
from smart_context.find import marking
from smart_context.find.marking import Hit, Words, words
from smart_context.redact import Span
from smart_context.text import analysis

__all__ = ["MAX_CHARS", "Snippet", "Words", "cut", "marks", "words"]

MAX_CHARS = 500
_ELLIPSIS = "…"
_REDACTED = re.compile(r"\[redacted:[a-z_]+\]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text around the best hit; `highlights` are (start, end) of words that were sought."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


def cut(passage: Passage, words: Words, language: str) -> Snippet:
    """Cut a snippet out of a segment."""
    plain = " ".join(_cleaned(passage).split())
    hits = _hits(plain, words, language)
    start, end = _window(plain, [hit for hit in hits if not hit.is_part] or hits, words.worth)
    head, tail = (_ELLIPSIS if start else ""), (_ELLIPSIS if end < len(plain) else "")
    shift = len(head) - start
    inside = [hit for hit in hits if start <= hit.start and hit.end <= end]
    return Snippet(head + plain[start:end] + tail, tuple((a + shift, b + shift) for a, b in _joined(inside)))


def marks(text: str, words: Words) -> tuple[tuple[int, int], ...]:
    """Where sought words stand in a text that may be shown."""
    return tuple(_joined(_hits(text, words, analysis.language(text, "en"))))


def _cleaned(passage: Passage) -> str:
    if not passage.hidden:
        return passage.text
    hidden = [Span(*stretch) for stretch in passage.hidden]
    return redact.part(passage.text, hidden, 0, len(passage.text))


def _hits(plain: str, words: Words, language: str) -> list[Hit]:
    """Where words that are sought stand, but for marks that stand for a secret."""
    found = marking.hits(plain, words, language)
    closed = [found.span() for found in _REDACTED.finditer(plain)] if "[redacted:" in plain else []
    return [hit for hit in found if not any(a <= hit.start < b for a, b in closed)] if closed else found


def _joined(hits: Iterable[Hit]) -> Iterator[tuple[int, int]]:
    """Where hits stand, those that overlap as one: pairs of characters do."""
    start = end = -1
    for hit in hits:
        if hit.start >= end:
            if end > 0:
                yield start, end
            start = hit.start
        end = max(end, hit.end)
    if end > 0:
        yield start, end


def _window(plain: str, hits: Sequence[Hit], telling: Sequence[int]) -> tuple[int, int]:
    """The stretch with the words that tell most, each counted once; of several, the one with more of them, then the first."""
    room = MAX_CHARS - 2 * len(_ELLIPSIS)
    if len(plain) <= MAX_CHARS:
        return 0, len(plain)
    best, first, last = (-1, 0), 0, 0
    inside: Counter[int] = Counter()  # how often each word stands between `at` and `upto`
    upto = told = 0
    for at, (start, _, number, _) in enumerate(hits):
        while upto < len(hits) and hits[upto][1] <= start + room * 2 // 3:
            told += telling[hits[upto].number] if not inside[hits[upto].number] else 0
            inside[hits[upto].number] += 1
            upto += 1
        worth = (told, upto - at)
        if upto > at and worth > best:
            best, first, last = worth, start, hits[upto - 1][1]
        if upto > at:
            inside[number] -= 1
            told -= telling[number] if not inside[number] else 0
        else:
            upto = at + 1
    spare = room - (last - first)
    start = max(0, min(first - spare // 3, len(plain) - room))
    return _at_words(plain, start, start + room, first, last)


def _at_words(plain: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Move the ends of a stretch to where words begin and end, without losing what stands from first to last."""
    if start > 0:
        space = plain.find(" ", start - 1, first)
        start = space + 1 if 0 <= space < start + 60 else start
    if end < len(plain):
        space = plain.rfind(" ", max(last, end - 60), end + 1)
        end = space if space > 0 else end
    # Without a space in reach, as in Chinese, any place does, but not inside of a mark that stands for a secret.
    for closed in _REDACTED.finditer(plain):
        if closed.start() < start < closed.end():
            start = closed.end()
        if closed.start() < end < closed.end():
            end = closed.start()
    return start, max(start, end)
