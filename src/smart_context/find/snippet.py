"""Cut a snippet out of a segment: the part that answers.

In: a segment's text with its redacted spans, and the words sought.  Out: a `Snippet`: plain
text of at most `MAX_CHARS` characters, in one part or two, and where the words are in it.
Always: secrets are redacted before anything is cut, so that half a secret never shows; a cut falls between words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from math import log

from smart_context import redact
from smart_context.data import NamedTuple, dataclass, replace
from smart_context.engine.model import Passage
from smart_context.find import marking
from smart_context.find.marking import Hit, Words
from smart_context.find.plan_model import Sought
from smart_context.redact import Span
from smart_context.text import analysis

try:
    from smart_context.find import _snippet as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

__all__ = ["MAX_CHARS", "Snippet", "Words", "cut", "cut_all", "marks", "words"]

MAX_CHARS = 500
_ELLIPSIS = "…"
_BETWEEN = " … "
_FIRST = 300  # characters of the first of two parts
_GAP = 40  # characters, at most, between two parts that are shown rather than left out
AGAIN = 0.5  # the weight in the second part of a word that the first part has
SECOND = 0.3  # the least weight of a second part, as a share of the first's
EVERYWHERE = 0.6  # the share of its weight that a word loses, at most, if every sentence has it
# Ends of a sentence; then those in other scripts, where a space need not follow.
_MARKS = (". ", "? ", "! ", '." ', ".) ", ":: ")
_WIDE_MARKS = ("。", "！", "？", "… ", ".” ")
_REDACTED = re.compile(r"\[redacted:[a-z_]+\]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text around the best hit; `highlights` are (start, end) of words that were sought."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


def words(sought: Sequence[Sought]) -> Words:
    """The words of a query, for marking them in any number of texts. Without synonyms: they help to find a passage, but the typed words show better what answers."""
    plain = [replace(word, parts=word.parts - word.synonyms) if word.synonyms else word for word in sought]
    return marking.words([replace(word, terms=frozenset()) if word.is_stop_word else word for word in plain])


def cut(passage: Passage, words: Words, language: str) -> Snippet:
    """Cut a snippet out of a segment."""
    return cut_all([(passage, language)], words)[0]


def cut_all(segments: Sequence[tuple[Passage, str]], words: Words) -> list[Snippet]:
    """Cut a snippet out of each segment, given with its language: all of a page together, because they share most of their words."""
    texts = [(_spaced(_cleaned(passage)), language) for passage, language in segments]
    found = marking.every(texts, words)
    return [_cut(plain, _open(plain, hits), words.worth) for (plain, _), hits in zip(texts, found, strict=True)]


def _cut(plain: str, hits: list[Hit], worth: Sequence[float]) -> Snippet:
    text, highlights = "", []
    parts = _parts(plain, [hit for hit in hits if not hit.is_part] or hits, worth)
    for start, end in parts:
        text += _BETWEEN if text else _ELLIPSIS if start else ""
        shift = len(text) - start
        inside = [hit for hit in hits if start <= hit.start and hit.end <= end]
        highlights += [(a + shift, b + shift) for a, b in _joined(inside)]
        text += plain[start:end]
    return Snippet(text + (_ELLIPSIS if parts[-1][1] < len(plain) else ""), tuple(highlights))


def marks(text: str, words: Words) -> tuple[tuple[int, int], ...]:
    """The positions of sought words in a text that may be shown."""
    return tuple(_joined(_open(text, marking.hits(text, words, analysis.language(text, "en")))))


def _cleaned(passage: Passage) -> str:
    if not passage.hidden:
        return passage.text
    hidden = [Span(*stretch) for stretch in passage.hidden]
    return redact.part(passage.text, hidden, 0, len(passage.text))


def _spaced(text: str) -> str:
    """A text with one space between its words."""
    return compiled.joined(text) if compiled else " ".join(text.split())


def _open(plain: str, hits: list[Hit]) -> list[Hit]:
    """The hits outside of redaction marks."""
    closed = [found.span() for found in _REDACTED.finditer(plain)] if "[redacted:" in plain else []
    return [hit for hit in hits if not any(a <= hit.start < b for a, b in closed)] if closed else hits


def _joined(hits: Iterable[Hit]) -> Iterator[tuple[int, int]]:
    """The spans of hits, overlapping ones joined, as pairs of characters are."""
    start = end = -1
    for hit in hits:
        if hit.start >= end:
            if end > 0:
                yield start, end
            start = hit.start
        end = max(end, hit.end)
    if end > 0:
        yield start, end


def _parts(plain: str, hits: Sequence[Hit], telling: Sequence[float]) -> list[tuple[int, int]]:
    """The spans that are shown: the best one, or a shorter one and a second one that has much of the other words."""
    if len(plain) <= MAX_CHARS:
        return [(0, len(plain))]
    begins = compiled.begins(plain) if compiled else sorted([0, *_seams(plain)])
    sentences = [bisect_right(begins, hit.start) for hit in hits]
    room = MAX_CHARS - 2 * len(_ELLIPSIS)
    if len({hit[2] for hit in hits}) > 1:  # else a second part adds nothing
        first = _window(plain, begins, hits, sentences, telling, _FIRST)
        beside = [at for at, hit in enumerate(hits) if hit.end <= first[0] or hit.start >= first[1]]
        others = [hits[at] for at in beside]
        told = {hit.number for hit in hits if first[0] <= hit.start and hit.end <= first[1]}
        left = [AGAIN * worth if number in told else worth for number, worth in enumerate(telling)]
        enough = SECOND * sum(telling[number] for number in sorted(told))
        if _tells({hit.number for hit in others}, left, enough):  # else no window of it can
            where = [sentences[at] for at in beside]
            second = _window(plain, begins, others, where, left, room - _FIRST - len(_BETWEEN))
            more = {hit.number for hit in others if second[0] <= hit.start and hit.end <= second[1]}
            parts = sorted((first, second))
            if _tells(more, left, enough) and parts[1][0] - parts[0][1] > _GAP:
                return parts
    return [_window(plain, begins, hits, sentences, telling, room)]


def _tells(numbers: Set[int], left: Sequence[float], enough: float) -> bool:
    return len(numbers) > 1 and sum(left[number] for number in sorted(numbers)) >= enough


def _window(
    plain: str,
    begins: Sequence[int],
    hits: Sequence[Hit],
    sentences: Sequence[int],
    telling: Sequence[float],
    room: int,
) -> tuple[int, int]:
    """The best span of a size: it begins with a sentence, if one begins not far before the words."""
    reach = room * 2 // 3
    quickly = compiled.best(hits, sentences, telling, EVERYWHERE, reach) if compiled else None
    first, last = quickly or _best(hits, sentences, _told(hits, sentences, telling), reach)
    before = (room - (last - first)) // 3
    sentence = begins[bisect_right(begins, first) - 1]
    start = max(0, min(sentence if first - sentence <= before else first - before, len(plain) - room))
    return _at_words(plain, start, start + room, first, last)


def _seams(plain: str) -> Iterator[int]:
    """Where sentences begin, but for the first. Each mark is searched for by itself, which is faster than a regular expression."""
    for mark in _MARKS if plain.isascii() else (*_MARKS, *_WIDE_MARKS):
        at = plain.find(mark)
        while at >= 0:
            yield at + len(mark)
            at = plain.find(mark, at + len(mark))


class _Told(NamedTuple):
    """The weight of each word in this text, and that of the best sentence, each of its words counted once."""

    worth: Mapping[int, int]
    most: int


def _told(hits: Sequence[Hit], sentences: Sequence[int], telling: Sequence[float]) -> _Told:
    """Weigh words by the number of sentences that have them: a word in many sentences tells this text from others, but not its parts from each other."""
    both = set(zip((hit[2] for hit in hits), sentences, strict=True))
    having: dict[int, int] = {}
    for number, _ in both:
        having[number] = having.get(number, 0) + 1
    count = sentences[-1] if sentences else 1
    parts = {times: 1 - EVERYWHERE + EVERYWHERE * log(1 + count / times) / log(1 + count) for times in having.values()}
    worth = {number: round(telling[number] * parts[times]) for number, times in having.items()}
    own: dict[int, int] = {}
    for number, sentence in both:
        own[sentence] = own.get(sentence, 0) + worth[number]
    return _Told(worth, max(own.values(), default=0))


def _best(hits: Sequence[Hit], sentences: Sequence[int], here: _Told, reach: int) -> tuple[int, int]:
    """The window with the highest weight: each word counted once, and those of its best sentence once more; of ties, the one with more hits,
    then the first."""
    worth, cap = here
    total = len(hits)
    ends = [hit[1] for hit in hits]
    keys = [(hit[2], sentence) for hit, sentence in zip(hits, sentences, strict=True)]
    most, many, first, last = -1, 0, 0, 0
    inside = dict.fromkeys(worth, 0)  # how often each word occurs between `at` and `upto`,
    times = dict.fromkeys(keys, 0)  # and in each sentence there;
    own = dict.fromkeys(sentences, 0)  # what the words of each sentence there are worth
    upto = told = 0
    for at, (number, sentence) in enumerate(keys):
        start = hits[at][0]
        while upto < total and ends[upto] <= start + reach:
            key = met, where = keys[upto]
            if not inside[met]:
                told += worth[met]
            if not times[key]:
                own[where] += worth[met]
            inside[met] += 1
            times[key] += 1
            upto += 1
        if upto == at:  # longer than the window
            upto = at + 1
            continue
        if told + min(told, cap) >= most:  # else its best sentence cannot make up for it
            value = told + max(own.values())
            if value > most or (value == most and upto - at > many):
                most, many, first, last = value, upto - at, start, ends[upto - 1]
        inside[number] -= 1
        if not inside[number]:
            told -= worth[number]
        times[number, sentence] -= 1
        if not times[number, sentence]:
            own[sentence] -= worth[number]
    return first, last


def _at_words(plain: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Move the ends of a span to word boundaries, without losing the range from first to last."""
    if start > 0:
        space = plain.find(" ", start - 1, first)
        start = space + 1 if 0 <= space < start + 60 else start
    if end < len(plain):
        space = plain.rfind(" ", max(last, end - 60), end + 1)
        end = space if space > 0 else end
    # Without a space in reach, as in Chinese, a cut may fall anywhere but inside of a redaction mark.
    for closed in _REDACTED.finditer(plain) if "[redacted:" in plain else ():
        if closed.start() < start < closed.end():
            start = closed.end()
        if closed.start() < end < closed.end():
            end = closed.start()
    return start, max(start, end)
