"""Give candidates their final score.

In: packed segments, and the words sought.  Out: a score from 0 to 1 for each, and what it is made of.
Always: a score depends on the query, the segment and the live content of the index, never on how the index was merged or
in which order files came.

The score is BM25 over text and heads (file name, title, heading), with a word that was typed twice counted twice; words that are neighbours
in the query and in the text add to it, and lacking words lower it. `docs/concepts/ranking.md` says how the numbers were chosen.

Segments are scored in C (`_score.c`), or by `score_each` without the compiled module: the same numbers, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, overload

from smart_context.data import NamedTuple, dataclass
from smart_context.engine.port import Candidate, segment_ids
from smart_context.find import proximity
from smart_context.find.clauses import PART
from smart_context.find.plan_model import Plan
from smart_context.text import analysis, codes, languages

try:
    from smart_context.find import _score as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

K1 = 1.4  # of BM25: how soon repetitions of a word stop counting
B = 0.65  # of BM25: how much more often a long segment must repeat it
HEAD = 1.0  # the worth of a word in a head, in repetitions
NAME = 8.0  # the worth of being the file of that name, in repetitions: more than a text can reach
NEAR = 0.6  # the worth of two neighbours in the query that are neighbours in the text
FEW = 5  # words from which a lacking word costs only its own worth; in a shorter query it costs more
VERBATIM = 0.7  # the share of its distance to 1 that a segment gains if it has the typed sentence verbatim,
RUN = 0.3  # or all words of it but the stop words, in a run
NEARLY = 6  # exponent of the share of the words in the run: half of them gain nothing
LINK = 2  # how many words further the next word of a run may be: a stop word of another language may be between
LEAST_RUN = 4  # the least words of a run that counts; in a sentence of three, all three
OTHER = 0.5  # the share that a word loses, at most, in another form than the typed one; divided by the number of words, except for a few in a large index
LISTED = 0.25  # the share that a list, a table or an index loses for a question: all of it without stop words,
PROSE = 0.35  # none of it if this share of its words are stop words, as in sentences
DIGITS = 6  # decimal places of a score


class Rows:
    """A table inside a wider one: `wide` numbers per row, rows `apart` numbers apart."""

    __slots__ = ("_apart", "_numbers", "_wide")

    def __init__(self, numbers: memoryview[float], wide: int, apart: int) -> None:
        self._numbers, self._wide, self._apart = numbers, wide, apart

    def __getitem__(self, row: int) -> memoryview[float]:
        return self._numbers[row * self._apart : row * self._apart + self._wide]


if TYPE_CHECKING:
    Table = list[list[float]] | Rows  # one row per segment, one column per word
    Column = list[float] | memoryview[float]  # one value per segment


class Score(NamedTuple):
    """A segment's score, and what it is made of: how often each word (by its number) was found and its share, the share of
    neighbours, the share of the query that was found, the gain of its longest run, and the factor for its sentences."""

    total: float
    made: Made
    row: int

    @property
    def times(self) -> dict[int, float]:
        """How often each word was found, by its number; only those that were."""
        return {n: t for n, t in enumerate(self.made.times[self.row]) if t}


@dataclass(frozen=True, slots=True)
class Made:
    """What the scores of many segments are made of: one row per segment, one column per word."""

    times: Table
    shares: Table
    near: Column
    found: Column
    gained: Column
    told: Column


class Scores(Sequence[Score]):
    """The scores of many segments: a `Score` is made on access, because of most only the total is needed."""

    __slots__ = ("made", "totals")

    def __init__(self, totals: list[float], made: Made) -> None:
        self.totals, self.made = totals, made

    def __len__(self) -> int:
        return len(self.totals)

    @overload
    def __getitem__(self, at: int) -> Score: ...
    @overload
    def __getitem__(self, at: slice) -> list[Score]: ...
    def __getitem__(self, at: int | slice) -> Score | list[Score]:
        if isinstance(at, slice):
            return [self[row] for row in range(len(self))[at]]
        row = range(len(self.totals))[at]
        return Score(self.totals[row], self.made, row)


class Weighed:
    """The weights of a query's words, by their numbers: all that scores depend on besides the segments."""

    def __init__(self, plan: Plan, average: float) -> None:
        self.average = average or 1.0
        self.words = words = len(plan.sought)
        self.numbers: dict[str, tuple[int, ...]] = {}
        self.there: list[str] = []  # words as they are written, then stop words
        self.stop: list[int] = []  # the word numbers of these stop words
        for number, word in enumerate(plan.sought):
            plain = analysis.fold(word.typed)
            for term in word.terms:
                own = (number, 2 * words + number) if term.partition(analysis.TAG)[0] == plain else (number,)
                self.numbers[term] = (*self.numbers.get(term, ()), *own)
            numbers, own = self.numbers, (words + number,)  # numbered after the words: the first is a part of word 0
            for term in word.parts:  # hundreds, and hardly any of another word too
                numbers[term] = numbers[term] + own if term in numbers else own
            self.there.append(analysis.form(word.typed) if word.typed else "")
        for number, word in enumerate(plan.sought):
            if word.typed and word.typed in languages.ANY_STOP_WORD:
                self.there += sorted(word.terms)
                self.stop += [number] * len(word.terms)
        self.worth = [word.idf * word.times for word in plan.sought]
        standing = [word for word in plan.sought if word.stands]
        self.neighbours = proximity.of(standing)
        self.all = summed(self.worth) or 1.0
        self.most = (K1 + 1) * (summed(self.worth) + NEAR * summed(self.neighbours.worth)) or 1.0
        self.whole = plan.lacking * max(0.0, (FEW - len(standing)) / (FEW - 1))
        self.standing = len(standing)
        self.least_run = min(LEAST_RUN, max(3, len(standing)))
        self.is_sentence = plan.verbatim is not None
        self.listed = LISTED if plan.asks else 0.0
        is_few = plan.lacking > 1 and len(standing) < FEW
        self.other = 1 - OTHER / (1.0 if is_few else max(1.0, len(standing)))
        self.heads = 2 * [NAME if word.name else HEAD for word in plan.sought]
        self.is_typed = [bool(word.typed) for word in plan.sought]
        self.is_joined = [word.is_joined for word in plan.sought]
        # A file name with `times` above 1 is the whole query.
        self.covers = [number for number, word in enumerate(plan.sought) if word.name and word.times > 1]

    @cached_property
    def columns(self) -> tuple[Sequence[float], ...]:
        """The same as arguments of the C module: columns of integers, then of floats, with the constants of the score."""
        every = zip(codes.numbers(self.numbers), self.numbers.values(), strict=True)
        table = sorted([(code, number) for code, own in every for number in own])
        near = self.neighbours
        return (
            [code for code, _ in table],
            [number for _, number in table],
            [codes.number(term) & 0xFFFF for term in self.there],
            self.stop,
            self.covers,
            self.is_typed,
            self.is_joined,
            near.places or (),
            (self.words, self.standing, self.least_run, LINK, self.is_sentence, near.places is not None),
            self.worth,
            self.heads,
            near.worth,
            near.close,
            (
                *(self.average, self.all, self.most, self.whole, self.listed, self.other),
                summed(self.worth[: self.standing]) or 1.0,
                *(K1, B, NEAR, RUN, VERBATIM, NEARLY, OTHER, PROSE, PART, 10.0**DIGITS),
            ),
        )


def summed(values: Sequence[float]) -> float:
    """The sum, added up in the order of the C module, so that it is the same to the last bit."""
    size = len(values)
    if size > 128:
        half = size // 2 - size // 2 % 8
        return summed(values[:half]) + summed(values[half:])
    out, whole = 0.0, 0
    if size >= 8:
        whole = size - size % 8
        eight = list(values[:8])
        for at in range(8, whole):
            eight[at % 8] += values[at]
        a, b, c, d, e, f, g, h = eight
        out = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for value in values[whole:]:  # not `sum`, which is more exact
        out += value
    return out


class Segments(Protocol):
    """The part of a view that scoring needs."""

    @property
    def average_length(self) -> float:
        """The mean number of words in a segment."""

    def packed(self, candidates: Sequence[Candidate]) -> list[bytes]:
        """The packed text of each candidate."""


class Scorer:
    """One query, ready to score any number of segments."""

    def __init__(self, plan: Plan, view: Segments) -> None:
        self._sought = plan.sought
        self._view = view
        self._weighed = Weighed(plan, view.average_length)

    def scores(self, candidates: Sequence[Candidate], verbatim: Set[int] = frozenset()) -> Scores:
        """Score candidates; `verbatim`: the segments that have the typed sentence."""
        if not candidates:
            return Scores([], Made([], [], [], [], [], []))
        packed = self._view.packed(candidates)
        has_all = [segment_id in verbatim for segment_id in segment_ids(candidates)] if verbatim else []
        if compiled and (found := compiled.scores(packed, has_all, self._weighed.columns)):
            return _read(*found, self._weighed.words)
        from smart_context.find import score_each

        return score_each.scores(self._weighed, packed, has_all)

    def explain(self, score: Score) -> tuple[str, ...]:
        """What a score is made of, in lines."""
        made, row = score.made, score.row
        return (
            *(f"{self._sought[n].text} × {times:g}: {made.shares[row][n]:.4f}" for n, times in score.times.items()),
            f"neighbours: {made.near[row]:.4f}",
            f"share of the query found: {made.found[row]:.2f}",
            *([f"few sentences: × {made.told[row]:.2f}"] if made.told[row] < 1 else []),
            *([f"word after word: {made.gained[row]:.2f} of the rest"] if made.gained[row] else []),
        )


def _read(totals: list[float], data: bytes, words: int) -> Scores:
    """Read the result of the C module, one row per segment: the times of each word, its shares, then the other columns."""
    numbers, apart = memoryview(data).cast("d"), 2 * words + 4
    near, found, gained, told = (numbers[2 * words + at :: apart] for at in range(4))
    return Scores(
        totals, Made(Rows(numbers, words, apart), Rows(numbers[words:], words, apart), near, found, gained, told)
    )
