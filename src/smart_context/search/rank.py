"""Give candidates their final score.

In: what segments have of the words sought.  Out: a score from 0 to 1 for each, and what it is made of.
Always: a score depends on the query, the segment and the live content of the index, never on how the index was merged or
in which order files came.

The score is BM25 over text and heads (file name, title, heading), with what is asked twice counted twice; neighbours in the query that are
neighbours in the text add to it, and what lacks words loses by it. `docs/concepts/ranking.md` says how the numbers were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from smart_context.search import analysis, forward
from smart_context.search.forward import Found
from smart_context.search.plan import PART, Plan, Sought
from smart_context.search.ranking import COMPOUNDING, Candidate, View

K1 = 1.2  # how soon a word that is repeated stops counting
B = 0.75  # how much a long segment must repeat it
HEAD = 1.0  # what standing in a head is worth, in repetitions
NEAR = 0.4  # what two neighbours of the query are worth when they are neighbours in the text
WINDOW = 8  # words within which they are
WHOLE = 2.0  # how much lacking words costs: the fewer were asked, the more
DIGITS = 6  # of a score

Texts = Callable[[Sequence[int]], Mapping[int, str]]
"""The text of segments by their ids."""


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

    def __init__(self, plan: Plan, view: View, texts: Texts) -> None:
        self._sought = plan.sought
        self._view = view
        self._texts = texts
        self._average = view.average_length or 1.0
        self._numbers: dict[str, tuple[int, ...]] = {}
        for number, word in enumerate(plan.sought):
            for term in word.terms:
                self._numbers[term] = (*self._numbers.get(term, ()), number)
        self._partial = [(number, word) for number, word in enumerate(plan.sought) if word.parts]
        self._worth = [word.idf * word.times for word in plan.sought]
        self._pairs = [min(a.idf, b.idf) for a, b in zip(plan.sought, plan.sought[1:], strict=False)]
        self._all = sum(self._worth) or 1.0
        self._most = (K1 + 1) * (sum(self._worth) + NEAR * sum(self._pairs)) or 1.0
        self._whole = WHOLE / max(2, len(plan.sought))

    def scores(self, candidates: Sequence[Candidate]) -> list[Score]:
        """Score candidates."""
        found = forward.scan(self._view.packed(candidates), self._numbers)
        partly = self._partly(candidates, found) if self._partial else {}
        return [self._score(one, partly.get(at, {})) for at, one in enumerate(found)]

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

    def _score(self, found: Found, partly: dict[int, float]) -> Score:
        times: dict[int, float] = {}
        for _, number in found.places:
            times[number] = times.get(number, 0.0) + 1.0
        # Other forms count where the word itself does not stand, lest one word count twice.
        times = {**partly, **found.also, **times}
        for number, count in found.heads.items():
            times[number] = times.get(number, 0.0) + HEAD * count
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
                if apart and abs(other - number) == 1:
                    pair = min(number, other)
                    close[pair] = close.get(pair, 0.0) + 1.0 / (apart * apart)
        return sum(NEAR * self._pairs[p] * (K1 + 1) * c / (c + room) for p, c in sorted(close.items()))

    def _partly(self, candidates: Sequence[Candidate], found: Sequence[Found]) -> dict[int, dict[int, float]]:
        """For segments that lack a word, how often they have words that hold it. This needs their text."""
        lacking: dict[int, list[tuple[int, Sought]]] = {}
        for at, (candidate, one) in enumerate(zip(candidates, found, strict=True)):
            has = {number for _, number in one.places}.union(one.also)
            wanted = [(n, word) for n, word in self._partial if n not in has and _may_hold(word, candidate.language)]
            if wanted:
                lacking[at] = wanted
        texts = self._texts([candidates[at].segment_id for at in lacking])
        out: dict[int, dict[int, float]] = {}
        for at, wanted in lacking.items():
            text, language = texts.get(candidates[at].segment_id, ""), candidates[at].language
            counts = {number: _holding(word, text, language) for number, word in wanted}
            out[at] = {number: count for number, count in counts.items() if count}
        return out


def _may_hold(word: Sought, language: str) -> bool:
    return language in COMPOUNDING or any(part.where == "prefix" for part in word.parts)


def _holding(word: Sought, text: str, language: str) -> float:
    """How often a text has words that hold another: as a beginning, or inside compounds."""
    count = 0.0
    for part in word.parts:
        if part.where == "prefix":
            count += sum(term.startswith(part.text) for term in analysis.terms(text, language).line.split())
        elif part.where == "head" and language in COMPOUNDING:
            count += PART * sum(part.text in surface for surface in analysis.surfaces(text))
    return count
