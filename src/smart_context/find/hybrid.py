"""Rank by words and by meaning together.

In: the input of `order`, and the cosines between a query and all segments.  Out: `Placed` segments in one fixed order.
Always: the required clauses of a query (operators, filters) hold here too; a segment without a vector ranks where its words alone
would put it among those that have one, and the fewer have one, the less meaning counts; the weights of both sides are set for each query by what both found,
never by earlier queries; candidates that are alike (`alike`), or share terms (`feedback`), raise each other as far as meaning can be trusted; the matches after the
best of both are ranked by words.

`docs/concepts/semantic.md` says how the numbers were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from smart_context.engine.expression import Everything, Filters, Group
from smart_context.engine.port import Candidate, Candidates, Record, View
from smart_context.find import feedback
from smart_context.find.alike import Alike
from smart_context.find.order import TIERS, Ordering, Placed, Ranked
from smart_context.find.plan_model import Plan
from smart_context.find.score import DIGITS, Scorer
from smart_context.model import Stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smart_context.engine.vectors import Likeness, Near

    Column = NDArray[np.float64]  # one value per candidate
    Value = TypeVar("Value", float, Column)

LEXICAL = 100  # best matches by words that are compared by meaning
DENSE = 100  # best segments by meaning that become candidates, with or without the words
WORDS = 2.1  # weight of words, in standard deviations of the cosines relative to the best cosine
FEW = 9  # words of a query from which words have full weight; fewer have it in proportion,
LEAST_WORDS = 0.4  # but not less than this;
KEYWORDS = 2  # words, at most, of a query that is no question: these have full weight
PEAK = 0.5  # by how much of the best score by words the tenth may be lower before words count more,
PEAKED = 8.0  # and the factor for what it lacks beyond that
SPREAD = 0.13  # standard deviation of the cosines, if there are too few to tell or the caller may not see all
_ENOUGH = 200  # vectors from which the spread is measured
UNKNOWN = 2.0  # the weight that meaning loses by tokens of the query unknown to the model: all if half are unknown
COMMON = 0.3  # the share of a text's likeness to its neighbours that is taken off its cosine
SHARED = 0.3  # the share of a score that comes from its neighbours
SAID = 0.1  # the weight of having the terms that the best have in common, for a question
LONG = 12  # of so many words; for a shorter one, in proportion
LEAST = 0.25  # the least cosine of a result that has none of the words
_ANY = 2.0  # above every score
_WIDER = 8  # times as many are compared if too few of the nearest pass,
_FURTHER = 16  # and so many more checked at a time, or half as many as were
_NEARLY_HALF = 0.4999  # of a last digit
_EACH = 64  # segments that are listed in the time in which one is checked for the required clauses


class Fused(Ordering):
    """All matches of a plan by words, and the nearest by meaning, in order."""

    def __init__(
        self,
        likeness: Likeness,
        record: Record,
        view: View,
        plan: Plan,
        limits: Filters,
        never_show: Sequence[str],
        stop: Stop,
        alone: bool = False,
        spread: float = SPREAD,
        known: float = 1.0,
    ) -> None:
        """`alone`: leave words out of the score. `spread`: how far apart the cosines of all segments are. `known`: the share of the query's tokens that the
        model knows."""
        super().__init__(record, view, plan, limits, never_show, stop)
        self._packed = _Packed(view)
        self._scorer = Scorer(plan, self._packed)
        self._likeness = likeness
        self._alone, self._spread, self._known = alone, spread, known
        self._share = 1.0  # of meaning in the score
        self._cosines: dict[int, float] = {}
        self._gained: dict[int, float] = {}  # from other candidates
        self._most = 0.0  # the best score by words

    def best(self) -> Iterator[Placed]:
        """Every result, best first."""
        count = self.matches.count
        tier, given = self._tier(self.matches, 0, LEXICAL) if count else (Candidates.of(()), 0)
        tier = self._with_verbatim(tier) if count else tier
        nearest = self._nearest({candidate.segment_id: candidate for candidate in tier})
        scored = self._leading = self._fused(tier, nearest)
        self.added = tuple(self._without_words(scored))
        yield from self._placed(scored)
        lowest = scored[-1].score if scored else 1.0
        seen = {*tier.segment_ids, *(candidate.segment_id for candidate in nearest)}
        for size in (size for size in TIERS if size > LEXICAL):
            if given >= count:
                return
            tier, given = self._tier(self.matches, given, size)
            after = self._scored(self._unseen(tier, seen), lowest)
            yield from self._placed(after)
            lowest = after[-1].score if after else lowest
        if given < count:
            yield from self._placed(self._rest(given, count, lowest, seen))

    def explain(self, one: Placed) -> tuple[str, ...]:
        """Why a segment has its rank, in lines."""
        if one.made_of is None or one.segment.segment_id not in self._cosines:
            return (*super().explain(one), "meaning: not compared")
        words, cosine = self._words(one.made_of.total), self._cosines[one.segment.segment_id]
        others = f"what is like it: {self._gained[one.segment.segment_id]:+.4f}"
        parts = f"words {words:.4f} × {1 - self._share:.2f}, meaning {cosine:.4f} × {self._share:.2f}"
        return (*super().explain(one), others, parts)

    def _without_words(self, scored: Ranked) -> Iterator[int]:
        """The files of segments that have no word of the query but stop words."""
        finds = [number for number, word in enumerate(self._plan.sought) if not word.is_stop_word]
        made, files = scored.scores.made, scored.candidates.file_ids
        is_every = len(finds) == len(self._plan.sought)
        for place in scored.order:
            if is_every and made.found[place] > 0:  # as nearly all have
                continue
            counts = made.times[place]
            if not any(counts if is_every else [counts[number] for number in finds]):
                yield files[place]

    def _nearest(self, known: Mapping[int, Candidate]) -> list[Candidate]:
        """The nearest segments that pass, without the known ones: those pass, because the required clauses were part of finding them."""
        looked_at: dict[int, Candidate | None] = dict(known)
        satisfying: dict[int, Candidate] | None = None
        looks = DENSE
        for wider in (1, _WIDER):
            near = self._likeness.nearest(DENSE * wider)
            if satisfying is None and self._few_satisfy(_EACH * looks):
                satisfying = self._satisfying()
            if satisfying is not None:
                looked_at |= {one.segment_id: satisfying.get(one.segment_id) for one in near}
            nearest = self._first(near, looked_at)
            if len(nearest) >= DENSE or len(near) < DENSE * wider:
                break
            looks = min(_WIDER, DENSE // max(1, len(nearest))) * DENSE  # at the rate so far
        else:  # hardly any of the nearest pass: compare those that do
            looked_at |= self._satisfying() if satisfying is None else satisfying
            nearest = self._likeness.nearest(DENSE, [one for one, found in looked_at.items() if found])
        edge = nearest[:DENSE][-1].cosine if nearest else 0.0
        wanted = [
            looked_at[one.segment_id]
            for one in nearest
            if one.cosine >= max(edge, LEAST) and one.segment_id not in known
        ]
        return [found for found in wanted if found]

    def _few_satisfy(self, most: int) -> bool:
        """Whether at most `most` segments satisfy the required clauses: then listing them is faster than checking each of the nearest."""
        required = self._plan.required
        binds = not isinstance(required, Everything) and (
            not isinstance(required, Group) or required.must or required.should
        )
        return bool(binds) and self._view.count(required, self._limits) <= most

    def _satisfying(self) -> dict[int, Candidate]:
        """Every segment that satisfies the required clauses."""
        return {c.segment_id: c for c in self._view.all_of(self._plan.required, self._limits)}

    def _first(self, near: Sequence[Near], looked_at: dict[int, Candidate | None]) -> list[Near]:
        """The first `DENSE` of the nearest that pass, and all that tie with the last; hardly more are checked than that needs."""
        out: list[Near] = []
        at, some = 0, DENSE
        while at < len(near) and (len(out) < DENSE or near[at].cosine >= out[DENSE - 1].cosine):
            several = near[at : at + some]
            self._look_at([one for one in several if one.segment_id not in looked_at], looked_at)
            out += [one for one in several if looked_at[one.segment_id]]
            at += some
            some = max(_FURTHER, 2 * (DENSE - len(out)), at // 2)
        return out

    def _look_at(self, near: Sequence[Near], looked_at: dict[int, Candidate | None]) -> None:
        """Find out which of these are in the index now, pass the filters, and satisfy the required clauses."""
        if not near:
            return
        wanted = {one.segment_id: one.file_id for one in near}
        looked_at.update(dict.fromkeys(wanted))
        for candidate in self._view.those(wanted, self._limits, self._plan.required):
            looked_at[candidate.segment_id] = candidate

    def _fused(self, tier: Candidates, nearest: Sequence[Candidate]) -> Ranked:
        """Score by words and meaning, best first."""
        both = tier + Candidates.of(nearest)
        segments = both.segment_ids
        alike = Alike(self._likeness, [] if self._alone else segments)
        self._cosines = alike.unlike_others(self._likeness.cosines(segments), COMMON)
        # A segment without a vector gets the median cosine of those found by words; if there are none, the lowest of
        # the nearest.
        by_words = [self._cosines[one] for one in tier.segment_ids if one in self._cosines]
        others = median(by_words) if by_words else min(self._cosines.values(), default=0.0)
        scored = self._scored(both, _ANY)
        self._most = scored.totals[0] if scored else 0.0
        trust = max(0.0, 1 - UNKNOWN * (1 - self._known)) * (len(by_words) / len(tier) if tier else 1.0)
        peak = _peak(scored.totals)
        # If even the nearest text is far from the question, meaning counts less.
        apart = self._spread / max(LEAST, max(self._cosines.values(), default=0.0))
        self._share = 1.0 if self._alone else trust / (1 + self._weight() * peak * apart)
        words = np.array(scored.scores.totals)
        likes = np.array([self._cosines.get(one, others) for one in segments])
        totals = (1 - self._share) * self._words(words) + self._share * np.maximum(likes, 0.0)
        agreed = self._agreed(alike, segments, totals, trust / peak)
        share = 0.0 if self._alone else self._share
        self._gained = dict(zip(segments, (agreed - totals).tolist(), strict=True))
        # A run of the words gains as it does by words alone: here for meaning's share of the score.
        runs = share * np.array(scored.scores.made.gained, np.float64) * np.maximum(1 - agreed, 0.0)
        final = rounded(np.minimum(agreed + runs, 1.0))
        return Ranked(both, scored.scores, final, scored.order)

    def _agreed(self, alike: Alike, segments: Sequence[int], totals: Column, trust: float) -> Column:
        """The scores with what other candidates add; less if there are few vectors, or the model hardly knows the words."""
        if self._alone or not trust or not segments:
            return totals
        scores = alike.shared(segments, totals, SHARED * trust)
        said = SAID * trust * min(1.0, len(self._plan.sought) / LONG)
        common = feedback.common(self._packed.known(segments), rounded(scores), self._view.average_length)
        return (scores + said * np.array(common)) / (1 + said)

    def _weight(self) -> float:
        """The weight of this query's words: it grows with their number, and is 0 if the index has none of them but stop words."""
        if self._plan.nowhere:
            return 0.0
        asked = sum(not word.is_stop_word for word in self._plan.sought)
        return WORDS * (min(1.0, max(LEAST_WORDS, asked / FEW)) if asked > KEYWORDS else 1.0)

    def _words(self, score: Value) -> Value:
        return score / (self._most or 1.0)


class _Packed:
    """Packed candidates, read once for their scores by words and for the terms that they have in common."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[int, bytes] = {}

    @property
    def average_length(self) -> float:
        return self._view.average_length

    def packed(self, candidates: Sequence[Candidate]) -> list[bytes]:
        known = self._known
        missing = [candidate for candidate in candidates if candidate.segment_id not in known]
        known.update(zip((c.segment_id for c in missing), self._view.packed(missing), strict=True))
        return self.known([candidate.segment_id for candidate in candidates])

    def known(self, segments: Sequence[int]) -> list[bytes]:
        """The packed segments that were read before."""
        return [self._known[segment_id] for segment_id in segments]


def _peak(by_words: Sequence[float]) -> float:
    """How far the best score by words stands out: 1 if it does not."""
    tenth = by_words[9] if len(by_words) > 9 else 0.0
    stands_out = 1 - tenth / by_words[0] if by_words and by_words[0] else 0.0
    return 1 + PEAKED * max(0.0, stands_out - PEAK)


def rounded(scores: Column) -> list[float]:
    """The scores rounded exactly as `round` does: those near a half, where NumPy may round the other way, one by one."""
    sharp = scores * 10**DIGITS
    whole = np.rint(sharp)
    out: list[float] = (whole / 10**DIGITS).tolist()
    for at in np.flatnonzero(np.abs(sharp - whole) > _NEARLY_HALF).tolist():
        out[at] = round(float(scores[at]), DIGITS)
    return out


def spread(likeness: Likeness) -> float:
    """The spread of the cosines of all segments, if there are enough to tell; else `SPREAD`."""
    return likeness.spread() if len(likeness) >= _ENOUGH else SPREAD
