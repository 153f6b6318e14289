"""Give candidates their final score.

In: what segments have of the words sought.  Out: a score from 0 to 1 for each, and what it is made of.
Always: a score depends on the query, the segment and the live content of the index, never on how the index was merged or
in which order files came.

The score is BM25 over text and heads (file name, title, heading), with what is asked twice counted twice; neighbours in the query that are
neighbours in the text add to it, and what lacks words loses by it. `docs/concepts/ranking.md` says how the numbers were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smart_context.data import dataclass
from smart_context.engine.port import Candidate, View
from smart_context.find.plan import PART
from smart_context.find.sought import Plan
from smart_context.text import analysis, forward, languages
from smart_context.text.forward import ALSO, TEXT, Found
from smart_context.text.forward import HEAD as IN_HEAD

K1 = 1.4  # how soon a word that is repeated stops counting
B = 0.65  # how much a long segment must repeat it
HEAD = 1.0  # what standing in a head is worth, in repetitions
NAME = 8.0  # what being the file of that name is worth, in repetitions: more than a text can say it
NEAR = 0.6  # what two neighbours of the query are worth when they are neighbours in the text
WINDOW = 5  # words within which they are
FEW = 4  # words from which lacking some costs nothing but their worth; of fewer, it costs more
VERBATIM = 0.7  # what of the rest a segment gains that has all that was typed, where that is a sentence
RUN = 0.3  # what of the rest it gains that has all but the stop words one after the other
NEARLY = 6  # how soon that falls where not all of them are in the run: half of them gain nothing
LINK = 2  # words further that the next word of a run may stand: stop words of another language may be between
LEAST_RUN = 4  # words of a run that counts; of a sentence that has no more, all
OTHER = 0.5  # what a word loses, at most, where it stands in another form than the one typed; less, the more words there are
DIGITS = 6  # of a score


Table = NDArray[np.float64]  # a row a segment, a column a word
Column = NDArray[np.float64]  # a value a segment


class Score(NamedTuple):
    """A segment's score, and what it is made of: how often each word (by its number) was found and its share, the share of
    neighbours, the share of the query that was found, and what its longest run gained. A tuple, because a search makes hundreds."""

    total: float
    made: Made
    row: int

    @property
    def times(self) -> dict[int, float]:
        """How often each word that was found was found."""
        return {n: float(t) for n, t in enumerate(self.made.times[self.row]) if t}


@dataclass(frozen=True, slots=True)
class Made:
    """What the scores of many segments are made of: a row a segment, a column a word."""

    times: Table
    shares: Table
    near: Column
    found: Column
    gained: Column


class Scorer:
    """One query, ready to score any number of segments."""

    def __init__(self, plan: Plan, view: View) -> None:
        self._sought = plan.sought
        self._view = view
        self._average = view.average_length or 1.0
        words = len(plan.sought)
        self._numbers: dict[str, tuple[int, ...]] = {}
        self._there: list[str] = []  # words as they are written, then stop words
        self._stop: list[int] = []  # the numbers of those
        for number, word in enumerate(plan.sought):
            plain = analysis.fold(word.typed)
            for term in word.terms:
                own = (number, 2 * words + number) if term.partition(analysis.TAG)[0] == plain else (number,)
                self._numbers[term] = (*self._numbers.get(term, ()), *own)
            for term in word.parts:  # numbered after the words: the first is a part of word 0
                self._numbers[term] = (*self._numbers.get(term, ()), words + number)
            self._there.append(analysis.form(word.typed) if word.typed else "")
        for number, word in enumerate(plan.sought):
            if word.typed and word.typed in languages.ANY_STOP_WORD:
                self._there += sorted(word.terms)
                self._stop += [number] * len(word.terms)
        self._worth = np.array([word.idf * word.times for word in plan.sought])
        standing = [word for word in plan.sought if word.stands]
        # Pairs of characters overlap: that they follow each other is in the pairs already.
        apart = [
            not (analysis.has_no_spaces(a.typed) and analysis.has_no_spaces(b.typed)) for a, b in pairwise(standing)
        ]
        worth = [min(a.idf * min(a.times, 1.0), b.idf * min(b.times, 1.0)) for a, b in pairwise(standing)]
        self._pairs = np.array([one if free else 0.0 for one, free in zip(worth, apart, strict=True)])
        self._all = float(self._worth.sum()) or 1.0
        self._most = (K1 + 1) * float(self._worth.sum() + NEAR * self._pairs.sum()) or 1.0
        self._whole = max(0.0, (FEW - len(standing)) / (FEW - 1))
        self._standing = len(standing)
        self._least_run = min(LEAST_RUN, max(3, len(standing)))
        self._is_sentence = plan.verbatim is not None
        self._other = 1 - OTHER / max(1.0, len(standing))
        heads = [NAME if word.name else HEAD for word in plan.sought]
        self._heads = np.array([*heads, *heads])
        self._is_typed = np.array([bool(word.typed) for word in plan.sought], np.bool_)
        self._is_joined = np.array([word.is_joined for word in plan.sought], np.bool_)
        # A name that is worth more than a word is all that was typed.
        self._covers = [number for number, word in enumerate(plan.sought) if word.name and word.times > 1]

    def scores(self, candidates: Sequence[Candidate], verbatim: Set[int] = frozenset()) -> list[Score]:
        """Score candidates; `verbatim`: the segments that have all that was typed."""
        if not candidates:
            return []
        found = forward.scan(self._view.packed(candidates), self._numbers, self._there)
        counted = self._counts(found)
        times = self._times(found, counted)
        room = K1 * (1 - B + B * found.sizes.astype(np.float64) / self._average)
        shares = self._worth * (K1 + 1) * times / (times + room[:, None]) * self._typed(found, counted)
        near = self._near(found, room)
        share = np.where(times > 0, self._worth, 0.0).sum(axis=1) / self._all
        share[(times[:, self._covers] > 0).any(axis=1)] = 1.0
        totals = np.minimum((shares.sum(axis=1) + near) / self._most * share**self._whole, 1.0)
        runs = self._runs(found)
        gained = RUN * runs**NEARLY
        if verbatim:
            gained[[candidate.segment_id in verbatim for candidate in candidates]] = VERBATIM
        totals += gained * (1 - totals)
        made = Made(times, shares / self._most, near / self._most, share, gained)
        rounded = totals.round(DIGITS).tolist()
        return [Score(total, made, row) for row, total in enumerate(rounded)]

    def explain(self, score: Score) -> tuple[str, ...]:
        """What a score is made of, in lines."""
        made, row = score.made, score.row
        return (
            *(f"{self._sought[n].text} × {times:g}: {made.shares[row, n]:.4f}" for n, times in score.times.items()),
            f"neighbours: {made.near[row]:.4f}",
            f"share of the query found: {made.found[row]:.2f}",
            *([f"word after word: {made.gained[row]:.2f} of the rest"] if made.gained[row] else []),
        )

    def _times(self, found: Found, counted: NDArray[np.float64]) -> Table:
        """How often each segment has each word."""
        words = len(self._sought)
        text, also, head = counted[TEXT], counted[ALSO], counted[IN_HEAD]
        # Other forms count where the word itself does not stand, lest one word count twice; and compounds where neither does.
        counts = np.where(text > 0, text, also) + self._heads * head
        for column, number in enumerate(self._stop, words):  # a stop word is there or not
            counts[:, number] = np.maximum(counts[:, number], found.present[:, column])
        times: Table = np.where(counts[:, :words] > 0, counts[:, :words], PART * counts[:, words : 2 * words])
        return times

    def _typed(self, found: Found, counted: NDArray[np.float64]) -> Table:
        """What each word is worth in each segment by its form: less where it does not stand as it was typed."""
        words = len(self._sought)
        as_typed = found.present[:, :words].copy()
        mine = (found.numbers >= 2 * words) & (found.as_written | (found.kinds == IN_HEAD))
        as_typed[found.owners[mine], found.numbers[mine] - 2 * words] = True
        worth = np.where(as_typed | ~self._is_typed, 1.0, self._other)
        # Several words typed as one thing stand among the other forms, however they are joined; as a word they are written without.
        apart = (counted[ALSO] + counted[IN_HEAD])[:, :words] > 0
        worth[self._is_joined & ~apart] = 1 - OTHER
        return worth

    def _counts(self, found: Found) -> NDArray[np.float64]:
        """How often each segment has each word and its compounds: in its text, by other forms, in its heads."""
        rows, columns = len(found.sizes), 2 * len(self._sought)
        mine = found.numbers < columns
        kinds, owners, numbers = found.kinds[mine], found.owners[mine], found.numbers[mine]
        flat = np.bincount((kinds * rows + owners) * columns + numbers, minlength=3 * rows * columns)
        return flat.astype(np.float64).reshape(3, rows, columns)

    def _near(self, found: Found, room: Column) -> Column:
        """What neighbours of the query that stand within a window are worth."""
        pairs = len(self._pairs)
        if pairs < 1:
            return np.zeros(len(room))
        mine = (found.kinds == TEXT) & (found.numbers <= pairs)
        owners, places, numbers = found.owners[mine], found.places[mine], found.numbers[mine]
        close = np.zeros(len(room) * pairs)
        for ahead in range(1, 2 * WINDOW + 1):
            apart = places[ahead:] - places[:-ahead]
            inside = (owners[ahead:] == owners[:-ahead]) & (apart <= WINDOW)
            if not inside.any():
                break  # what stands further ahead is further away
            first, second = numbers[:-ahead], numbers[ahead:]
            near = inside & (apart > 0) & (abs(second - first) == 1)
            if near.any():
                key = owners[:-ahead][near] * pairs + np.minimum(first, second)[near]
                close += np.bincount(key, weights=1.0 / apart[near] ** 2, minlength=len(close))
        table = close.reshape(len(room), pairs)
        worth: Column = (NEAR * self._pairs * (K1 + 1) * table / (table + room[:, None])).sum(axis=1)
        return worth

    def _runs(self, found: Found) -> Column:
        """The share of the query, by worth, that stands in each segment as one run: its words in their order, one after the other."""
        out: Column = np.zeros(len(found.sizes))
        if not self._is_sentence:
            return out
        mine = (found.kinds == TEXT) & (found.numbers < self._standing)
        owners, places, numbers = found.owners[mine], found.places[mine], found.numbers[mine]
        ahead = places[1:] - places[:-1]
        links = (owners[1:] == owners[:-1]) & (ahead > 0) & (ahead <= LINK) & (numbers[1:] - numbers[:-1] == 1)
        if not links.any():
            return out
        which = np.concatenate(([0], np.cumsum(~links)))
        sizes = np.bincount(which)
        long = np.flatnonzero(sizes >= self._least_run)
        worth = np.bincount(which, weights=self._worth[numbers])[long] / self._worth[: self._standing].sum()
        first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        np.maximum.at(out, owners[first[long]], worth)
        return out
