"""Give candidates their final score.

In: what segments have of the words sought.  Out: a score from 0 to 1 for each, and what it is made of.
Always: a score depends on the query, the segment and the live content of the index, never on how the index was merged or
in which order files came.

The score is BM25 over text and heads (file name, title, heading), with what is asked twice counted twice; neighbours in the query that are
neighbours in the text add to it, and what lacks words loses by it. `docs/concepts/ranking.md` says how the numbers were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smart_context.search import forward
from smart_context.search.forward import Found
from smart_context.search.plan import PART, Plan
from smart_context.search.ranking import Candidate, View

K1 = 1.4  # how soon a word that is repeated stops counting
B = 0.65  # how much a long segment must repeat it
HEAD = 1.0  # what standing in a head is worth, in repetitions
NEAR = 0.6  # what two neighbours of the query are worth when they are neighbours in the text
WINDOW = 8  # words within which they are
FEW = 6  # words from which lacking some costs nothing but their worth; of fewer, each lacking one costs more
DIGITS = 6  # of a score


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

    def __init__(self, plan: Plan, view: View) -> None:
        self._sought = plan.sought
        self._view = view
        self._average = view.average_length or 1.0
        self._numbers: dict[str, tuple[int, ...]] = {}
        for number, word in enumerate(plan.sought):
            for term in word.terms:
                self._numbers[term] = (*self._numbers.get(term, ()), number)
            for term in word.parts:  # numbered from below: -1 is a part of word 0
                self._numbers[term] = (*self._numbers.get(term, ()), -1 - number)
        self._worth = [word.idf * word.times for word in plan.sought]
        self._pairs = [min(a.idf, b.idf) for a, b in zip(plan.sought, plan.sought[1:], strict=False)]
        self._all = sum(self._worth) or 1.0
        self._most = (K1 + 1) * (sum(self._worth) + NEAR * sum(self._pairs)) or 1.0
        self._whole = max(0.0, (FEW - len(plan.sought)) / (FEW - 1))

    def scores(self, candidates: Sequence[Candidate]) -> list[Score]:
        """Score candidates."""
        found = forward.scan(self._view.packed(candidates), self._numbers)
        return [self._score(one) for one in found]

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

    def _score(self, found: Found) -> Score:
        times: dict[int, float] = {}
        for _, number in found.places:
            times[number] = times.get(number, 0.0) + 1.0
        # Other forms count where the word itself does not stand, lest one word count twice.
        times = {**found.also, **times}
        for number, count in found.heads.items():
            times[number] = times.get(number, 0.0) + HEAD * count
        for number in [number for number in times if number < 0]:
            partly = PART * times.pop(number)
            times.setdefault(-1 - number, partly)
        room = K1 * (1 - B + B * found.size / self._average)
        shares = {n: self._worth[n] * (K1 + 1) * times[n] / (times[n] + room) for n in sorted(times)}
        near = self._near(found.places, room)
        share = sum(self._worth[n] for n in shares) / self._all
        total = (sum(shares.values()) + near) / self._most * share**self._whole
        return Score(round(min(total, 1.0), DIGITS), times, shares, near, share)

    def _near(self, places: Sequence[tuple[int, int]], room: float) -> float:
        """What neighbours of the query that stand within a window are worth."""
        close: dict[int, float] = {}
        for at, (place, number) in enumerate(places):
            for other_place, other in places[at + 1 : at + 1 + 2 * WINDOW]:
                apart = other_place - place
                if apart > WINDOW:
                    break
                if apart and abs(other - number) == 1 and number >= 0 and other >= 0:
                    pair = min(number, other)
                    close[pair] = close.get(pair, 0.0) + 1.0 / (apart * apart)
        return sum(NEAR * self._pairs[p] * (K1 + 1) * c / (c + room) for p, c in sorted(close.items()))
