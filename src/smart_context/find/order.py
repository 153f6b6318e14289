"""Yield all matches, best first.

In: a plan, a view, the record.  Out: `Placed` segments in one fixed order, computed lazily.
Always: the order is the same however far it is read, so that pages fit together; ties go by path, then pointer.

Matches come in tiers by the engine's rough score: a tier is scored exactly and sorted before its first match is yielded, the
first tier is small because most searches want ten, and no tier cuts through matches of equal rough score.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property, partial
from itertools import islice, repeat, takewhile
from typing import overload

from smart_context.data import NamedTuple, dataclass, replace
from smart_context.engine import names
from smart_context.engine.expression import Filters
from smart_context.engine.facts import Marked
from smart_context.engine.model import FileRow, SegmentRow
from smart_context.engine.port import Candidate, Candidates, Matches, Record, View
from smart_context.find.exact import Spelling
from smart_context.find.plan_model import Plan
from smart_context.find.score import DIGITS, Score, Scorer, Scores
from smart_context.model import Stop
from smart_context.sources import ignore
from smart_context.text import whole

TIERS = (400, 1500)  # where tiers end, in matches by rough score: a tier is scored exactly when it is asked for
_ALL_AT_ONCE = 1000  # matches up to which all are scored, or listed, together
_EQUAL = 0.002  # rough scores this close count as equal
_MOST_EQUAL = 5000
_MOST_VERBATIM = 50  # segments with the typed sentence that are added to the first tier
_MOST_NAMED = 200  # segments up to which files of one name are told apart by its spelling
SPELT = 0.3  # the share of a name's worth that depends on its spelling
AS_TYPED = 0.9  # the share of its distance to 1 that a segment gains if it has an identifier exactly as typed,
_READ = (20, 200)  # looked for in the text of so many of the best; in more if none of fewer has it
_ROWS = 8  # rows read from the record at a time, after the first batch
_MOST_ROWS = 64  # rows in the first batch, at most


@dataclass(frozen=True, slots=True)
class Placed:
    """A segment in the final order."""

    segment: SegmentRow
    file: FileRow
    language: str
    score: float
    made_of: Score | None = None
    why: tuple[str, ...] = ()  # if it is other than the parts of the score


class Scored(NamedTuple):
    """A candidate with its exact score."""

    candidate: Candidate
    score: float
    made_of: Score | None = None


class Ranked(Sequence[Scored]):
    """Candidates by exact score, best first. A `Scored` is made on access, because a search has hundreds and shows a few."""

    def __init__(
        self, candidates: Candidates, scores: Scores, totals: Sequence[float], order: Iterable[int] | None = None
    ) -> None:
        """totals: the scores to sort by; order: that of ties, else the engine's."""
        self.candidates, self.scores = candidates, scores
        places = range(len(totals)) if order is None else order
        self.order = sorted(places, key=totals.__getitem__, reverse=True)
        self.totals = list(map(totals.__getitem__, self.order))

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, at: int) -> Scored: ...
    @overload
    def __getitem__(self, at: slice) -> list[Scored]: ...
    def __getitem__(self, at: int | slice) -> Scored | list[Scored]:
        if isinstance(at, slice):
            places = self.order[at]
            some = (self.candidates.only(places), self.totals[at], map(self.scores.__getitem__, places))
            return list(map(tuple.__new__, repeat(Scored), zip(*some, strict=True)))
        place = self.order[at]
        return Scored(self.candidates[place], self.totals[at], self.scores[place])


class Leading(NamedTuple):
    """A match among the best: its file, and its final score."""

    file_id: int
    score: float


class Ordering:
    """All matches of one plan, in order. `added`: the files of results that do not match it, if any. `full`: files of which the caller wants no more
    results; the caller adds to it while reading, and their matches are skipped before their rows are read. `wanted`: how many results the caller wants."""

    added: tuple[int, ...] = ()

    def __init__(
        self, record: Record, view: View, plan: Plan, limits: Filters, never_show: Sequence[str], stop: Stop
    ) -> None:
        self.record = record
        self._view = view
        self._plan = plan
        self._limits = limits
        self._stop = stop
        self._hides = ignore.hider(never_show) if never_show else None
        self._scorer = Scorer(plan, view)
        self.full: set[int] = set()
        self.wanted = _ROWS
        self._verbatim: frozenset[int] = frozenset()
        self._leading: Ranked | None = None
        # The segments that have the identifier exactly as typed; None until they were looked for.
        self._as_typed: Set[int] | None = None
        self._files: dict[int, FileRow] = {}
        self._segments: dict[int, SegmentRow] = {}

    @cached_property
    def matches(self) -> Matches:
        """What the plan matches."""
        return self._view.matches(self._plan.wanted, self._limits)

    def listing(self) -> Iterator[Placed]:
        """One segment of each file, by path."""
        return self._by_path(self._view.first_segments, self._view.file_count(self._limits), 1.0)

    def best(self) -> Iterator[Placed]:
        """Every match, best first."""
        count = self.matches.count
        if not self._plan.sought:  # no words to score by
            yield from self._by_path(partial(self._view.all_of, self._plan.wanted), count, 0.0)
            return
        given, lowest = 0, 1.0
        seen: frozenset[int] = frozenset()
        last: list[Scored] = []  # the last ties of a tier wait for the next one, whose best may score the same
        for size in TIERS if count > _ALL_AT_ONCE else (count,):
            tier, given = self._tier(self.matches, given, size)
            tier = self._unseen(tier, seen) if seen else self._with_verbatim(tier)
            ranked = self._scored(tier, lowest)
            self._leading = self._leading or ranked
            scored: Sequence[Scored] = [*last, *ranked] if last else ranked
            lowest = scored[-1].score if scored else lowest
            higher = len(scored)
            while higher and scored[higher - 1].score == lowest:
                higher -= 1
            last = list(scored[higher:])
            yield from self._placed(scored, higher)
            if given >= count:
                break
            seen = seen or frozenset(tier.segment_ids)
        yield from self._placed(last + (self._rest(given, count, lowest, seen) if given < count else []))

    def leading(self, limit: int) -> Iterable[Leading]:
        """The best `limit` matches by final score, and all that tie with the last; only after a result was read."""
        best = self._leading
        if not best:  # no words to score by
            return (Leading(one.file.file_id, one.score) for one in islice(self.best(), limit))
        totals, end = best.totals, min(limit, len(best))
        while end < len(totals) and totals[end] >= totals[end - 1]:
            end += 1
        files = map(best.candidates.file_ids.__getitem__, best.order[:end])
        return map(tuple.__new__, repeat(Leading), zip(files, totals, strict=False))

    def files(self, file_ids: Sequence[int]) -> dict[int, FileRow]:
        """The rows of files, most of which are cached from the ordering; missing files are left out."""
        missing = [file_id for file_id in file_ids if file_id not in self._files]
        if missing:
            self._files.update(self.record.files(missing))
        return {file_id: self._files[file_id] for file_id in file_ids if file_id in self._files}

    def marks(self, file_ids: set[int]) -> list[Marked]:
        """The marks that identify copies, ordered by file id; those of rows read for the ordering are cached."""
        known = [Marked(i, row.same_text, row.like_text) for i in file_ids if (row := self._files.get(i))]
        return sorted((*known, *self.record.marks(file_ids.difference(self._files))))

    def explain(self, one: Placed) -> tuple[str, ...]:
        """Why a segment has its rank, in lines."""
        if not one.made_of:
            return ()
        is_as_typed = one.segment.segment_id in (self._as_typed or ())
        gained = [f"spelt as typed: {AS_TYPED:.2f} of the rest"] if is_as_typed else []
        return (*self._scorer.explain(one.made_of), *gained)

    def _by_path(self, look: Callable[[Filters], Sequence[Candidate]], count: int, score: float) -> Iterator[Placed]:
        """All segments that `look` finds, by path; if there are many, a few files at a time, because most are never read."""
        files = self.record.by_path() if count > _ALL_AT_ONCE else [()]
        for some in files:
            found = look(replace(self._limits, files=tuple(some)))
            yield from self._placed([Scored(candidate, score) for candidate in found], full=frozenset())

    def _tier(self, matches: Matches, given: int, size: int) -> tuple[Candidates, int]:
        """The candidates from `given` to about `size`: more if the next ones tie with the last."""
        count = matches.count
        room = max(size, given) + max(size, given) // 4
        while True:
            scores = matches.scores(min(count, room))
            last = min(max(size, given), len(scores))
            floor = scores[last - 1] * (1 - _EQUAL) if last else 0.0
            while last < len(scores) and scores[last] >= floor:
                last += 1
            if last < len(scores) or len(scores) >= count or room >= _MOST_EQUAL:
                return matches.top(last, given), last
            room *= 4

    def _scored(self, tier: Candidates, most: float) -> Ranked:
        self._stop()
        scores = self._scorer.scores(tier, self._verbatim)
        self._spell(tier, scores)
        if self._plan.identifier and self._as_typed is None:
            self._read(tier, scores)
        totals = scores.totals
        if totals and max(totals) > most:
            totals = [min(total, most) for total in totals]
        return Ranked(tier, scores, totals)

    def _spell(self, tier: Candidates, scores: Scores) -> None:
        """Lower the scores of files whose name is another spelling of the typed one, if some file has the typed spelling."""
        times, totals = scores.made.times, scores.totals
        for number, word in enumerate(self._plan.sought):
            if not word.name or word.count > _MOST_NAMED:
                continue
            named = [at for at in range(len(totals)) if times[at][number]]
            self._files.update(self.record.files({tier.file_ids[at] for at in named}.difference(self._files)))
            spelt = [at for at in named if self._is_spelt(tier.file_ids[at], word.name)]
            if "." in word.name or not word.name.islower():  # of names that differ only in case, the typed one
                spelt = [at for at in spelt if self._is_spelt(tier.file_ids[at], word.name, cased=True)] or spelt
            if spelt:
                for at in set(named).difference(spelt):
                    totals[at] = round(totals[at] - SPELT * float(scores.made.shares[at][number]), DIGITS)

    def _read(self, tier: Candidates, scores: Scores) -> None:
        """Raise the scores of those of the best that have the identifier exactly as typed, unless all of them do; read more texts if none does."""
        totals = scores.totals
        for most in _READ:
            best = _best(totals, most)
            having = self._having_it(tier, scores, best)
            if having:
                break
        self._as_typed = frozenset(tier.segment_ids[at] for at in having) if len(having) < len(best) else frozenset()
        for at in having if self._as_typed else ():
            totals[at] = round(totals[at] + AS_TYPED * (1 - totals[at]), DIGITS)

    def _having_it(self, tier: Candidates, scores: Scores, best: list[int]) -> list[int]:
        """Those of the best whose text, heading or file name has the identifier exactly as typed."""
        several = [tier[at] for at in best]
        self._learn(several)
        spelling = Spelling(self._plan.identifier)
        texts = {
            segment_id: whole.left(passage.text, passage.hidden)
            for segment_id, passage in self.record.passages(one.segment_id for one in several).items()
        }
        named = [number for number, word in enumerate(self._plan.sought) if word.name]

        def has_it(at: int, stands_in: Callable[[str], bool] = spelling.stands_in) -> bool:
            candidate, made = tier[at], scores.made
            file, row = self._files.get(candidate.file_id), self._segments.get(candidate.segment_id)
            text = f"{row.heading if row else ''}\n{texts.get(candidate.segment_id, '')}"
            is_named = any(made.times[at][number] for number in named)
            return stands_in(text) or (is_named and file is not None and spelling.names(file.path))

        having = list(filter(has_it, best))
        if not spelling.may_be_option:
            return having
        # If most have it as a word, an option of that name is another thing; else the option may be meant.
        apart = [at for at in having if has_it(at, spelling.stands_apart_in)]
        return apart if 2 * len(apart) > len(having) else having

    def _is_spelt(self, file_id: int, name: str, *, cased: bool = False) -> bool:
        file = self._files.get(file_id)
        return file is not None and names.is_spelt(file.path, name, cased=cased)

    def _with_verbatim(self, tier: Candidates) -> Candidates:
        """A tier, with the segments that have the typed sentence: by rough score, many matches of its common words may come before them."""
        if self._plan.verbatim is None:
            return tier
        found, _ = self._tier(self._view.matches(self._plan.verbatim, self._limits), 0, _MOST_VERBATIM)
        self._verbatim = frozenset(found.segment_ids)
        return tier + self._unseen(found, set(tier.segment_ids))

    def _unseen(self, tier: Candidates, seen: Set[int]) -> Candidates:
        return tier.only(at for at, segment_id in enumerate(tier.segment_ids) if segment_id not in seen)

    def _rest(self, given: int, count: int, most: float, seen: Set[int]) -> list[Scored]:
        """The matches after the last tier, in the engine's order: hardly anybody reads this far."""
        found = self._unseen(self.matches.top(count, given), seen)
        top = found[0].score if found and found[0].score > 0 else 1.0
        return [Scored(c, round(most * min(1.0, c.score / top), DIGITS)) for c in found]

    def _placed(
        self, scored: Sequence[Scored], upto: int | None = None, full: Set[int] | None = None
    ) -> Iterator[Placed]:
        """Order ties, among the first `upto`. Rows are read lazily, because most are not needed; full: files whose matches are skipped."""
        full = self.full if full is None else full
        at, end = 0, len(scored) if upto is None else upto
        step = first = min(self.wanted + 1, _MOST_ROWS)  # one more than wanted, because it may tie with the last
        ahead: list[Scored] = []
        known = 0  # of those, the rows that were read
        while ahead or at < end:
            while at < end and (not ahead or ahead[-1].score == ahead[0].score == scored[at].score):
                more = scored[at : min(at + max(step, len(ahead)), end)]
                at, step = at + len(more), _ROWS
                ahead += [one for one in more if one.candidate.file_id not in full] if full else more
            if not ahead:
                return
            score = ahead[0].score
            tied = list(takewhile(lambda one: one.score == score, ahead))  # noqa: B023  # taken at once
            if known < len(tied) <= _MOST_ROWS:
                self._learn([one.candidate for one in ahead[known:_MOST_ROWS]])
                known = min(len(ahead), _MOST_ROWS)
            ahead, known = ahead[len(tied) :], max(0, known - len(tied))
            for some in [tied] if len(tied) <= _MOST_ROWS else self._by_file(tied, first, full):
                placed = [
                    Placed(row, self._files[c.file_id], c.language, score, one.made_of)
                    for one in some
                    if (c := one.candidate) and (row := self._segments.get(c.segment_id)) and self._shows(c)
                ]
                yield from (
                    sorted(placed, key=lambda one: (os.fsencode(one.file.path), one.segment.pointer, one.segment.seq))
                    if len(placed) > 1
                    else placed
                )

    def _by_file(self, tied: Sequence[Scored], some: int, full: Set[int]) -> Iterator[list[Scored]]:
        """Many ties, those of a few files at a time, in the order of paths: of a heading that a thousand pages have, the rows of a few are read."""
        of_file: dict[int, list[Scored]] = {}
        for one in tied:
            of_file.setdefault(one.candidate.file_id, []).append(one)
        rows = self.files([*of_file])
        ahead: list[Scored] = []
        for file_id in sorted(rows, key=lambda file_id: os.fsencode(rows[file_id].path)):
            ahead += of_file[file_id] if file_id not in full else []
            if len(ahead) >= some:
                self._learn([one.candidate for one in ahead])
                yield ahead
                ahead = []
        self._learn([one.candidate for one in ahead])
        yield ahead

    def _learn(self, several: Sequence[Candidate]) -> None:
        segments = [one.segment_id for one in several if one.segment_id not in self._segments]
        if not segments:
            return
        self._stop()
        self._segments.update(self.record.segments(segments))
        missing = {one.file_id for one in several}.difference(self._files)
        if missing:
            self._files.update(self.record.files(missing))

    def _shows(self, candidate: Candidate) -> bool:
        file = self._files.get(candidate.file_id)
        return file is not None and self.shows(file)

    def shows(self, file: FileRow) -> bool:
        """Whether the request lets a file be shown."""
        return not (self._hides and self._hides(file.path, file.root))


def _best(totals: Sequence[float], most: int) -> list[int]:
    """The positions of the best, at most `most`; of ties, all or none."""
    order = sorted(range(len(totals)), key=lambda at: -totals[at])
    if len(order) <= most:
        return order
    edge = totals[order[most]]
    return [at for at in order[:most] if totals[at] > edge]
