"""Put candidates in their final order.

In: candidates of the ranking index, with their text.  Out: the same, each with an exact score, best first.
Always: a score depends on the query, the segment and the live content of the index, never on how the index was merged or
in which order files came; ties go by path, then pointer.

The score is BM25 over text and heads (file name, title, heading), with what is asked twice counted twice; neighbours in the query that are
neighbours in the text add to it, and what lacks words loses by it. `docs/concepts/ranking.md` says how the numbers were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from smart_context.search import analysis
from smart_context.search.analysis import Hits
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
    """A segment's score, and what it is made of: how often each word (by its number) was found and its share, the share of
    neighbours, the share of the query that was found."""

    total: float
    times: dict[int, float]
    shares: dict[int, float]
    near: float
    found: float


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
        self._all = sum(self._worth) or 1.0
        self._most = (K1 + 1) * (sum(self._worth) + NEAR * sum(self._pairs)) or 1.0
        self._whole = WHOLE / max(2, len(plan.sought))

    def scores(self, bodies: Sequence[Body]) -> list[Score]:
        """Score segments; totals are from 0 to 1."""
        # What can be a hit is looked up once for all the texts of a language: their words repeat.
        runs = [body.text.split() for body in bodies]
        hits: dict[str, dict[str, Hits]] = {}
        for language in {body.language for body in bodies}:
            met = {
                run for body, several in zip(bodies, runs, strict=True) if body.language == language for run in several
            }
            hits[language] = analysis.hits(met, language, self._by_term)
        return [self._score(body, several, hits[body.language]) for body, several in zip(bodies, runs, strict=True)]

    def _score(self, body: Body, runs: list[str], hits: dict[str, Hits]) -> Score:
        size, places, extra = self._found(body, runs, hits)
        times: dict[int, float] = {}
        for _, number in places:
            times[number] = times.get(number, 0.0) + 1.0
        times = {**extra, **times}
        for number, word in self._partial:
            if number not in times and (count := _partly(word, body)):
                times[number] = count
        for head in body.heads:
            for number in self._in_head(head, body.language):
                times[number] = times.get(number, 0.0) + HEAD
        room = K1 * (1 - B + B * size / self._average)
        shares = {n: self._worth[n] * (K1 + 1) * times[n] / (times[n] + room) for n in sorted(times)}
        near = self._near(places, room)
        found = sum(self._worth[n] for n in shares) / self._all
        total = (sum(shares.values()) + near) / self._most * found**self._whole
        return Score(round(min(total, 1.0), DIGITS), times, shares, near, found)

    def _found(
        self, body: Body, runs: list[str], hits: dict[str, Hits]
    ) -> tuple[int, list[tuple[int, int]], dict[int, float]]:
        """How long a text is, where it has what is sought, and how often it is found by other forms."""
        extra: dict[int, float] = {}
        places: list[tuple[int, int]] = []
        wide = analysis.has_no_spaces(body.text)
        at = 0
        for place, run in enumerate(runs) if wide else [(place, run) for place, run in enumerate(runs) if run in hits]:
            found = hits.get(run)
            if found:
                start = at if wide else place
                places += [(start + inside, number) for inside, number in found.places]
                for number in found.also:
                    extra[number] = extra.get(number, 0.0) + 1.0
            if wide:
                at += analysis.terms(run, body.language).line.count(" ") + 1
        return (at if wide else len(runs)), places, extra

    def explain(self, score: Score) -> tuple[str, ...]:
        """What a score is made of, in lines."""
        words = (
            f"{self._sought[n].text} × {score.times[n]:g}: {share / self._most:.4f}"
            for n, share in score.shares.items()
        )
        return (
            *words,
            f"neighbours: {score.near / self._most:.4f}",
            f"share of the query found: {score.found:.2f}",
        )

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


def _partly(word: Sought, body: Body) -> float:
    """How often a text has words that hold another: as a beginning, or inside compounds."""
    count = 0.0
    for part in word.parts:
        if part.where == "prefix":
            line = analysis.terms(body.text, body.language).line.split()
            count += sum(term.startswith(part.text) for term in line)
        elif part.where == "head" and body.language in COMPOUNDING:
            count += PART * sum(part.text in surface for surface in analysis.surfaces(body.text))
    return count
