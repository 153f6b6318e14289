"""Order by words and by meaning together.

In: what `order` orders, and how like a query's meaning every segment is.  Out: `Placed` segments in one fixed order.
Always: what binds in a query (operators, filters) binds here too; a segment that has no vector yet stands where its words alone
would put it among those that have one, and the fewer have one, the less meaning counts; how much each side counts is decided for each query by what both found,
never by what was asked before; candidates that are alike (`alike`), or say the same (`feedback`), speak for each other as far as meaning can be trusted; what comes after the best of both follows by its words.

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
from smart_context.find.score import DIGITS, Scorer
from smart_context.find.sought import Plan
from smart_context.model import Stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smart_context.engine.vectors import Likeness, Near

    Column = NDArray[np.float64]  # a value a candidate
    Value = TypeVar("Value", float, Column)

LEXICAL = 100  # the best by words, which are compared by meaning
DENSE = 100  # the best by meaning, which are taken in with or without the words
WORDS = 2.1  # what words count, against cosines that are a standard deviation apart, as a part of the best of them
FEW = 9  # words of a query from which its words count fully; of fewer, in proportion,
LEAST_WORDS = 0.4  # but not less than this;
KEYWORDS = 2  # so few are no question
PEAK = 0.5  # of the best score by words, what the tenth may lack before words count more,
PEAKED = 8.0  # by so much for all that it lacks beyond
SPREAD = 0.13  # of the cosines, where there are too few to tell or not all may be known of
_ENOUGH = 200  # vectors
UNKNOWN = 2.0  # what meaning loses by tokens of the query that the model does not know: all where half are unknown
COMMON = 0.3  # of how like a text is to its neighbours, what its cosine is less by
SHARED = 0.3  # of a score, what those of its neighbours make
SAID = 0.1  # what a text gains that says all that the best have in common, for a question
LONG = 12  # of so many words; for a shorter one, in proportion
LEAST = 0.25  # cosine from which a segment without any of the words is a result
_ANY = 2.0  # above every score
_WIDER = 8  # times as many are compared when too few of the nearest will do,
_FURTHER = 16  # and so many more looked at, or half as many as were
_NEARLY_HALF = 0.4999  # of a last digit
_EACH = 64  # segments that are found at once in about the time in which one is asked for what binds


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
        """`alone`: leave words out of the score. `spread`: how far apart the cosines of all segments are. `known`: the share of the query that the
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
        """Why a segment stands where it does, in lines."""
        if one.made_of is None or one.segment.segment_id not in self._cosines:
            return (*super().explain(one), "meaning: not compared")
        words, cosine = self._words(one.made_of.total), self._cosines[one.segment.segment_id]
        others = f"what is like it: {self._gained[one.segment.segment_id]:+.4f}"
        parts = f"words {words:.4f} × {1 - self._share:.2f}, meaning {cosine:.4f} × {self._share:.2f}"
        return (*super().explain(one), others, parts)

    def _without_words(self, scored: Ranked) -> Iterator[int]:
        """The files of segments that have no word that finds."""
        finds = [number for number, word in enumerate(self._plan.sought) if not word.is_empty]
        made, files = scored.scores.made, scored.candidates.file_ids
        is_every = len(finds) == len(self._plan.sought)
        for place in scored.order:
            if is_every and made.found[place] > 0:  # as nearly all have
                continue
            counts = made.times[place]
            if not any(counts if is_every else [counts[number] for number in finds]):
                yield files[place]

    def _nearest(self, known: Mapping[int, Candidate]) -> list[Candidate]:
        """The nearest segments that will do, without those that are known already: these do, because they were found by what binds too."""
        looked_at: dict[int, Candidate | None] = dict(known)
        bound: dict[int, Candidate] | None = None
        looks = DENSE
        for wider in (1, _WIDER):
            near = self._likeness.nearest(DENSE * wider)
            if bound is None and self._are_bound_at_most(_EACH * looks):
                bound = self._all_bound()
            if bound is not None:
                looked_at |= {one.segment_id: bound.get(one.segment_id) for one in near}
            nearest = self._first(near, looked_at)
            if len(nearest) >= DENSE or len(near) < DENSE * wider:
                break
            looks = min(_WIDER, DENSE // max(1, len(nearest))) * DENSE  # as it went so far
        else:  # hardly any of the nearest will do: compare those that will
            looked_at |= self._all_bound() if bound is None else bound
            nearest = self._likeness.nearest(DENSE, [one for one, found in looked_at.items() if found])
        edge = nearest[:DENSE][-1].cosine if nearest else 0.0
        wanted = [
            looked_at[one.segment_id]
            for one in nearest
            if one.cosine >= max(edge, LEAST) and one.segment_id not in known
        ]
        return [found for found in wanted if found]

    def _are_bound_at_most(self, most: int) -> bool:
        """Whether no more segments than these have what binds: then it is quicker to know all of them than to ask each of the nearest."""
        binding = self._plan.binding
        binds = not isinstance(binding, Everything) and (
            not isinstance(binding, Group) or binding.must or binding.should
        )
        return bool(binds) and self._view.count(binding, self._limits) <= most

    def _all_bound(self) -> dict[int, Candidate]:
        """Every segment that has what binds."""
        return {c.segment_id: c for c in self._view.all_of(self._plan.binding, self._limits)}

    def _first(self, near: Sequence[Near], looked_at: dict[int, Candidate | None]) -> list[Near]:
        """The first of the nearest that will do, as many as are wanted, and all that equal the last of them; no more are looked at than that needs, nearly."""
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
        """Learn which of these are in the index now, pass the filters, and have what binds."""
        if not near:
            return
        wanted = {one.segment_id: one.file_id for one in near}
        looked_at.update(dict.fromkeys(wanted))
        for candidate in self._view.those(wanted, self._limits, self._plan.binding):
            looked_at[candidate.segment_id] = candidate

    def _fused(self, tier: Candidates, nearest: Sequence[Candidate]) -> Ranked:
        """Score by words and meaning, best first."""
        both = tier + Candidates.of(nearest)
        segments = both.segment_ids
        alike = Alike(self._likeness, [] if self._alone else segments)
        self._cosines = alike.unlike_others(self._likeness.cosines(segments), COMMON)
        # What has no vector yet is taken to be as like as others that were found by their words; failing those, as the last of
        # the nearest.
        by_words = [self._cosines[one] for one in tier.segment_ids if one in self._cosines]
        others = median(by_words) if by_words else min(self._cosines.values(), default=0.0)
        scored = self._scored(both, _ANY)
        self._most = scored.totals[0] if scored else 0.0
        trust = max(0.0, 1 - UNKNOWN * (1 - self._known)) * (len(by_words) / len(tier) if tier else 1.0)
        peak = _peak(scored.totals)
        # Where even the nearest text is far from the question, the model has little to say about it.
        apart = self._spread / max(LEAST, max(self._cosines.values(), default=0.0))
        self._share = 1.0 if self._alone else trust / (1 + self._weight() * peak * apart)
        words = np.array(scored.scores.totals)
        likes = np.array([self._cosines.get(one, others) for one in segments])
        totals = (1 - self._share) * self._words(words) + self._share * np.maximum(likes, 0.0)
        agreed = self._agreed(alike, segments, totals, trust / peak)
        share = 0.0 if self._alone else self._share
        self._gained = dict(zip(segments, (agreed - totals).tolist(), strict=True))
        # What has the words one after the other gains as by words alone, for the share that words have no part in.
        runs = share * np.array(scored.scores.made.gained, np.float64) * np.maximum(1 - agreed, 0.0)
        final = rounded(np.minimum(agreed + runs, 1.0))
        return Ranked(both, scored.scores, final, scored.order)

    def _agreed(self, alike: Alike, segments: Sequence[int], totals: Column, trust: float) -> Column:
        """The scores, with what other candidates add to them. Few vectors, or a model that hardly knows the words, have little to say about what is alike."""
        if self._alone or not trust or not segments:
            return totals
        scores = alike.shared(segments, totals, SHARED * trust)
        said = SAID * trust * min(1.0, len(self._plan.sought) / LONG)
        common = feedback.common(self._packed.known(segments), rounded(scores), self._view.average_length)
        return (scores + said * np.array(common)) / (1 + said)

    def _weight(self) -> float:
        """What the words of this query count: more, the more of them there are; nothing where none stands anywhere but what says nothing."""
        if self._plan.nowhere:
            return 0.0
        asked = sum(not word.is_empty for word in self._plan.sought)
        return WORDS * (min(1.0, max(LEAST_WORDS, asked / FEW)) if asked > KEYWORDS else 1.0)

    def _words(self, score: Value) -> Value:
        return score / (self._most or 1.0)


class _Packed:
    """What candidates say, read once for their scores by words and for what they have in common."""

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
        """The same of those that were read."""
        return [self._known[segment_id] for segment_id in segments]


def _peak(by_words: Sequence[float]) -> float:
    """How far the best of all scores by words stands out: 1 where it does not."""
    tenth = by_words[9] if len(by_words) > 9 else 0.0
    stands_out = 1 - tenth / by_words[0] if by_words and by_words[0] else 0.0
    return 1 + PEAKED * max(0.0, stands_out - PEAK)


def rounded(scores: Column) -> list[float]:
    """The scores with as many digits as count, as `round` gives each: where an array may round another way, by itself."""
    sharp = scores * 10**DIGITS
    whole = np.rint(sharp)
    out: list[float] = (whole / 10**DIGITS).tolist()
    for at in np.flatnonzero(np.abs(sharp - whole) > _NEARLY_HALF).tolist():
        out[at] = round(float(scores[at]), DIGITS)
    return out


def spread(likeness: Likeness) -> float:
    """How far apart the cosines of all segments are, where there are enough to tell."""
    return likeness.spread() if len(likeness) >= _ENOUGH else SPREAD
