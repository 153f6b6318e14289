"""Cut the part of a segment that answers.

In: a segment's text with what of it must not show, and the words sought.  Out: a `Snippet`: plain
text of at most `MAX_CHARS` characters, in one part or two, and where the words stand in it.
Always: what must not show is replaced before anything is cut, so that half a secret never shows; a cut falls between words.
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
from smart_context.find.sought import Sought
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
_FIRST = 300  # characters of the first part, where there are two
_GAP = 40  # characters between two parts that are shown too, rather than left out
AGAIN = 0.5  # what a word is worth in the second part that stands in the first
SECOND = 0.3  # what a second part must tell, of what the first does
EVERYWHERE = 0.6  # what of its worth a word loses, at most, that every sentence has
# What ends a sentence, and then the same where a space need not follow.
_MARKS = (". ", "? ", "! ", '." ', ".) ", ":: ")
_WIDE_MARKS = ("。", "！", "？", "… ", ".” ")
_REDACTED = re.compile(r"\[redacted:[a-z_]+\]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text around the best hit; `highlights` are (start, end) of words that were sought."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


def words(sought: Sequence[Sought]) -> Words:
    """What marks the words of a query, for any number of texts. Words that say the same find a passage; what of it answers, the words of the question tell better."""
    plain = [replace(word, parts=word.parts - word.alike) if word.alike else word for word in sought]
    return marking.words([replace(word, terms=frozenset()) if word.is_empty else word for word in plain])


def cut(passage: Passage, words: Words, language: str) -> Snippet:
    """Cut a snippet out of a segment."""
    return cut_all([(passage, language)], words)[0]


def cut_all(segments: Sequence[tuple[Passage, str]], words: Words) -> list[Snippet]:
    """Cut a snippet out of each segment, which has a language: those of a page together, because they share most of their words."""
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
    """Where sought words stand in a text that may be shown."""
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
    """Where words that are sought stand, but for marks that stand for a secret."""
    closed = [found.span() for found in _REDACTED.finditer(plain)] if "[redacted:" in plain else []
    return [hit for hit in hits if not any(a <= hit.start < b for a, b in closed)] if closed else hits


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


def _parts(plain: str, hits: Sequence[Hit], telling: Sequence[float]) -> list[tuple[int, int]]:
    """The stretches that are shown: the one that tells most, or a shorter one and what else tells much of what was sought."""
    if len(plain) <= MAX_CHARS:
        return [(0, len(plain))]
    begins = compiled.begins(plain) if compiled else sorted([0, *_seams(plain)])
    sentences = [bisect_right(begins, hit.start) for hit in hits]
    room = MAX_CHARS - 2 * len(_ELLIPSIS)
    if len({hit[2] for hit in hits}) > 1:  # else a second part tells nothing
        first = _window(plain, begins, hits, sentences, telling, _FIRST)
        beside = [at for at, hit in enumerate(hits) if hit.end <= first[0] or hit.start >= first[1]]
        others = [hits[at] for at in beside]
        told = {hit.number for hit in hits if first[0] <= hit.start and hit.end <= first[1]}
        left = [AGAIN * worth if number in told else worth for number, worth in enumerate(telling)]
        enough = SECOND * sum(telling[number] for number in sorted(told))
        if _tells({hit.number for hit in others}, left, enough):  # else no part of it does
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
    """The stretch of a size that tells most: it begins with a sentence, if one begins not far before the words."""
    reach = room * 2 // 3
    quickly = compiled.best(hits, sentences, telling, EVERYWHERE, reach) if compiled else None
    first, last = quickly or _best(hits, sentences, _told(hits, sentences, telling), reach)
    before = (room - (last - first)) // 3
    sentence = begins[bisect_right(begins, first) - 1]
    start = max(0, min(sentence if first - sentence <= before else first - before, len(plain) - room))
    return _at_words(plain, start, start + room, first, last)


def _seams(plain: str) -> Iterator[int]:
    """Where sentences begin after another one. Each mark is looked for by itself, which is quicker than a pattern."""
    for mark in _MARKS if plain.isascii() else (*_MARKS, *_WIDE_MARKS):
        at = plain.find(mark)
        while at >= 0:
            yield at + len(mark)
            at = plain.find(mark, at + len(mark))


class _Told(NamedTuple):
    """What each word tells here, and what the sentence that tells most does, each of its words counted once."""

    worth: Mapping[int, int]
    most: int


def _told(hits: Sequence[Hit], sentences: Sequence[int], telling: Sequence[float]) -> _Told:
    """A word tells less, the more sentences have it, for then it tells the text from others and not its parts."""
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
    """Where the words that tell most stand together, each counted once, and those of one sentence once more; of several, where more of them
    stand, then the first."""
    worth, cap = here
    total = len(hits)
    ends = [hit[1] for hit in hits]
    keys = [(hit[2], sentence) for hit, sentence in zip(hits, sentences, strict=True)]
    most, many, first, last = -1, 0, 0, 0
    inside = dict.fromkeys(worth, 0)  # how often each word stands between `at` and `upto`,
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
        if upto == at:  # longer than what is looked at
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
    """Move the ends of a stretch to where words begin and end, without losing what stands from first to last."""
    if start > 0:
        space = plain.find(" ", start - 1, first)
        start = space + 1 if 0 <= space < start + 60 else start
    if end < len(plain):
        space = plain.rfind(" ", max(last, end - 60), end + 1)
        end = space if space > 0 else end
    # Without a space in reach, as in Chinese, any place does, but not inside of a mark that stands for a secret.
    for closed in _REDACTED.finditer(plain) if "[redacted:" in plain else ():
        if closed.start() < start < closed.end():
            start = closed.end()
        if closed.start() < end < closed.end():
            end = closed.start()
    return start, max(start, end)
