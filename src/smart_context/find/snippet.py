"""Cut the part of a segment that answers.

In: a segment's text with what of it must not show, and the words sought.  Out: a `Snippet`: plain
text of at most `MAX_CHARS` characters, and where the words stand in it.
Always: what must not show is replaced before anything is cut, so that half a secret never shows; a cut falls between words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from smart_context import redact
from smart_context.engine.model import Passage
from smart_context.find.sought import Sought
from smart_context.redact import Span
from smart_context.text import analysis

MAX_CHARS = 500
_SHORTEST, _CHANGED = (
    3,
    2,
)  # letters that all forms of a word begin with at least; letters at the end of a stem that they may not have
_ELLIPSIS = "…"
_WORD_END = re.compile(r"\w+")
_REDACTED = re.compile(r"\[redacted:[a-z_]+\]")


@dataclass(frozen=True, slots=True)
class Words:
    """The terms that are sought, each with the number of its word, and how they begin.

    met: by language, the words of passages that were looked at, each with the number of the word it stands for, or -1.
    """

    numbers: Mapping[str, tuple[int, ...]]
    beginnings: tuple[str, ...]
    met: dict[str, dict[str, int]] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text around the best hit; `highlights` are (start, end) of words that were sought."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


def words(sought: Sequence[Sought]) -> Words:
    """What marks the words of a query, for any number of snippets."""
    numbers: dict[str, tuple[int, ...]] = {}
    for number, word in enumerate(sought):
        for term in word.terms | word.parts:
            numbers.setdefault(term, (number,))
    return Words(numbers, tuple(sorted(set(map(_common, numbers)))))


def _common(term: str) -> str:
    """What every word of a term begins with, near enough: `hop` of `hope`, for `hoping`."""
    stem = term.partition(analysis.TAG)[0]
    return stem[: max(_SHORTEST, len(stem) - _CHANGED)]


def cut(passage: Passage, words: Words, language: str) -> Snippet:
    """Cut a snippet out of a segment."""
    plain = " ".join(_cleaned(passage).split())
    hits = _hits(plain, words, language)
    start, end = _window(plain, hits)
    head, tail = (_ELLIPSIS if start else ""), (_ELLIPSIS if end < len(plain) else "")
    shift = len(head) - start
    marks = tuple((a + shift, b + shift) for a, b, _ in hits if start <= a and b <= end)
    return Snippet(head + plain[start:end] + tail, marks)


def marks(text: str, words: Words) -> tuple[tuple[int, int], ...]:
    """Where sought words stand in a text that may be shown."""
    return tuple((start, end) for start, end, _ in _hits(text, words, analysis.language(text, "en")))


def _cleaned(passage: Passage) -> str:
    if not passage.hidden:
        return passage.text
    hidden = [Span(*stretch) for stretch in passage.hidden]
    return redact.part(passage.text, hidden, 0, len(passage.text))


def _hits(plain: str, words: Words, language: str) -> list[tuple[int, int, int]]:
    """Where words that are sought stand: (start, end, number of the word)."""
    if not words.numbers:
        return []
    wide = analysis.has_no_spaces(plain)
    which: dict[str, int] = {}
    if plain.isascii():
        which = _which(set(_beginning(plain, words.beginnings)), words, language)
    if not which:
        which = _which(set(_pairs(plain)) if wide else set(analysis.WORD.findall(plain)), words, language)
    hits: list[tuple[int, int, int]] = []
    for token, number in which.items():
        at = plain.find(token)
        while at >= 0:
            end = at + len(token)
            if wide or not (plain[at - 1 : at].isalnum() or plain[end : end + 1].isalnum()):
                hits.append((at, end, number))
            at = plain.find(token, end)
    closed = [found.span() for found in _REDACTED.finditer(plain)] if "[redacted:" in plain else []
    return sorted(hit for hit in hits if not any(a <= hit[0] < b for a, b in closed))


def _beginning(plain: str, beginnings: Sequence[str]) -> Iterator[str]:
    """The words that begin in one of these ways: the others need no analysis."""
    lower = plain.lower()
    for beginning in beginnings:
        at = lower.find(beginning)
        while at >= 0:
            found = _WORD_END.match(plain, at)
            if found and not lower[at - 1 : at].isalnum():
                yield found[0]
            at = lower.find(beginning, at + 1)


def _which(tokens: set[str], words: Words, language: str) -> dict[str, int]:
    """For each token that is a hit, the number of the word. The passages of a page share most of theirs."""
    met = words.met.setdefault(language, {})
    if fresh := tokens - met.keys():
        found = analysis.hits(fresh, language, words.numbers)
        for token in fresh:
            hit = found.get(token)
            met[token] = -1 if hit is None else hit.places[0][1] if hit.places else min(hit.also)
    return {token: met[token] for token in sorted(tokens) if met[token] >= 0}


def _pairs(plain: str) -> Iterator[str]:
    """The words of a text; of scripts without spaces, every two characters, and every one."""
    for word in analysis.WORD.findall(plain):
        if analysis.has_no_spaces(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
            yield from word
        else:
            yield word


def _window(plain: str, hits: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    """The stretch with the most different words; of several, the first."""
    room = MAX_CHARS - 2 * len(_ELLIPSIS)
    if len(plain) <= MAX_CHARS:
        return 0, len(plain)
    best, first, last = (-1, 0), 0, 0
    inside: Counter[int] = Counter()  # how often each word stands between `at` and `upto`
    upto = 0
    for at, (start, _, number) in enumerate(hits):
        while upto < len(hits) and hits[upto][1] <= start + room * 2 // 3:
            inside[hits[upto][2]] += 1
            upto += 1
        worth = (len(inside), upto - at)
        if upto > at and worth > best:
            best, first, last = worth, start, hits[upto - 1][1]
        if upto > at:
            inside[number] -= 1
            if not inside[number]:
                del inside[number]
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
