"""Put candidates in their final order.

In: candidates of the ranking index, with their text.  Out: the same, each with an exact score, best first.
Always: a score depends on the query, the segment and the live content of the index, never on how the index was merged or
in which order files came; ties go by path, then pointer.

The score is BM25 over text and heads (file name, title, heading), with what is asked twice counted twice; neighbours in the query that are
neighbours in the text add to it, and what lacks words loses by it. `docs/concepts/ranking.md` says how the numbers were chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from smart_context.search import analysis
from smart_context.search.plan import PART, Plan, Sought
from smart_context.search.ranking import COMPOUNDING

K1 = 1.2  # how soon a word that is repeated stops counting
B = 0.75  # how much a long segment must repeat it
HEAD = 1.0  # what standing in a head is worth, in repetitions
NEAR = 0.4  # what two neighbours of the query are worth when they are neighbours in the text
WINDOW = 8  # words within which they are
WHOLE = 2.0  # how much lacking words costs: the fewer were asked, the more
DIGITS = 6  # of a score


@dataclass(frozen=True, slots=True)
class Body:
    """What of a segment is scored."""

    text: str
    language: str
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A segment's score, and what it is made of: for each word its share, the share of neighbours, the share of words found."""

    total: float
    words: tuple[tuple[str, float, float], ...] = ()  # text, times found, share
    near: float = 0.0
    found: float = 0.0


class Scorer:
    """One query, ready to score any number of segments."""

    def __init__(self, plan: Plan, average_length: float) -> None:
        self._sought = plan.sought
        self._average = average_length or 1.0
        self._by_term: dict[str, tuple[int, ...]] = {}
        for number, word in enumerate(plan.sought):
            for term in word.terms:
                self._by_term[term] = (*self._by_term.get(term, ()), number)
        self._partial = [(number, word) for number, word in enumerate(plan.sought) if word.parts]
        self._worth = [word.idf * word.times for word in plan.sought]
        self._pairs = [min(a.idf, b.idf) for a, b in zip(plan.sought, plan.sought[1:], strict=False)]
        self._most = (K1 + 1) * (sum(self._worth) + NEAR * sum(self._pairs)) or 1.0
        self._whole = WHOLE / max(2, len(plan.sought))

    def score(self, body: Body) -> Score:
        """Score one segment; the total is from 0 to 1."""
        terms = analysis.terms(body.text, body.language)
        line = terms.line.split()
        by_term = self._by_term
        places = [(place, number) for place, term in enumerate(line) if term in by_term for number in by_term[term]]
        times = self._times(places, terms.also, line, body)
        for head in body.heads:
            for number in self._in_head(head, body.language):
                times[number] = times.get(number, 0.0) + HEAD
        room = K1 * (1 - B + B * len(line) / self._average)
        shares = {n: self._worth[n] * (K1 + 1) * t / (t + room) for n, t in times.items()}
        near = self._near(places, room)
        found = sum(self._worth[n] for n in sorted(times)) / (sum(self._worth) or 1.0)
        total = (sum(shares[n] for n in sorted(shares)) + near) / self._most * found**self._whole
        words = tuple((self._sought[n].text, times[n], shares[n] / self._most) for n in sorted(shares))
        return Score(round(min(total, 1.0), DIGITS), words, near / self._most, found)

    def _times(self, places: Sequence[tuple[int, int]], also: str, line: list[str], body: Body) -> dict[int, float]:
        times: dict[int, float] = {}
        for _, number in places:
            times[number] = times.get(number, 0.0) + 1.0
        if also:
            extra: dict[int, float] = {}
            for term in also.split():
                for number in self._by_term.get(term, ()):
                    extra[number] = extra.get(number, 0.0) + 1.0
            times = {**extra, **times}
        for number, word in self._partial:
            if number not in times and (count := _partly(word, line, body)):
                times[number] = count
        return times

    def _in_head(self, head: str, language: str) -> set[int]:
        terms = _head_terms(head, language)
        return {number for term in terms if term in self._by_term for number in self._by_term[term]}

    def _near(self, places: Sequence[tuple[int, int]], room: float) -> float:
        """What neighbours of the query that stand within a window are worth."""
        close: dict[int, float] = {}
        for at, (place, number) in enumerate(places):
            for other_place, other in places[at + 1 :]:
                apart = other_place - place
                if apart > WINDOW:
                    break
                if apart and abs(other - number) == 1:
                    pair = min(number, other)
                    close[pair] = close.get(pair, 0.0) + 1.0 / (apart * apart)
        return sum(NEAR * self._pairs[p] * (K1 + 1) * c / (c + room) for p, c in sorted(close.items()))


@lru_cache(maxsize=8192)
def _head_terms(head: str, language: str) -> frozenset[str]:
    terms = analysis.terms(head, language)
    return frozenset(terms.line.split()) | frozenset(terms.also.split())


def _partly(word: Sought, line: Iterable[str], body: Body) -> float:
    """How often a text has terms that hold a word: as a beginning, or inside compounds."""
    count = 0.0
    for part in word.parts:
        if part.where == "prefix":
            count += sum(term.startswith(part.text) for term in line)
        elif part.where == "head" and body.language in COMPOUNDING:
            count += PART * sum(part.text in surface for surface in analysis.surfaces(body.text))
    return count
