"""Walk through all that matches, best first.

In: a plan, a view, the record.  Out: `Placed` segments in one fixed order, made as far as they are asked for.
Always: the order is the same however far it is read, so that pages fit together.

Matches come in tiers by the engine's rough score: a tier is scored exactly and sorted before its first is given out, the
first tier is small because most searches want ten, and no tier cuts through matches of equal rough score.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from smart_context.model import Stop
from smart_context.search.expression import Filters
from smart_context.search.model import FileRow
from smart_context.search.plan import Plan
from smart_context.search.rank import DIGITS, Body, Score, Scorer
from smart_context.search.ranking import Candidate, View, words_of_name
from smart_context.search.record import Record
from smart_context.sources import ignore

_TIERS = (60, 300, 1000)  # matches by rough score that are scored exactly, as more are asked for
_ALL_AT_ONCE = 120  # so few are scored together
_EQUAL = 0.002  # rough scores this close count as equal
_MOST_EQUAL = 4000
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Placed:
    """A segment in its place."""

    segment_id: int
    file_id: int
    path: str
    pointer: str
    language: str
    score: float
    made_of: Score | None = None


class Ordering:
    """All matches of one plan, in order."""

    def __init__(
        self, record: Record, view: View, plan: Plan, limits: Filters, never_show: Sequence[str], stop: Stop
    ) -> None:
        self._record = record
        self._view = view
        self._plan = plan
        self._limits = limits
        self._stop = stop
        self._hides = _hider(never_show)
        self._files: dict[int, FileRow] = {}
        self._scorer = Scorer(plan, view.average_length)

    def explain(self, one: Placed) -> tuple[str, ...]:
        """Why a segment stands where it does, in lines."""
        return self._scorer.explain(one.made_of) if one.made_of else ()

    def listing(self) -> Iterator[Placed]:
        """One segment of each file, by path."""
        found = self._view.first_segments(self._limits)
        self._learn(found)
        rows = self._record.segments(candidate.segment_id for candidate in found)
        placed = [
            Placed(c.segment_id, c.file_id, self._files[c.file_id].path, rows[c.segment_id].pointer, c.language, 1.0)
            for c in found
            if c.segment_id in rows and self._shows(c)
        ]
        yield from sorted(placed, key=lambda one: (one.path, one.pointer))

    def best(self) -> Iterator[Placed]:
        """Every match, best first."""
        count = self._view.count(self._plan.wanted, self._limits)
        given, lowest = 0, 1.0
        for size in _TIERS if count > _ALL_AT_ONCE else (count,):
            tier, given = self._tier(given, size, count)
            placed = self._scored(tier, lowest)
            yield from placed
            lowest = min([lowest, *(one.score for one in placed)])
            if given >= count:
                return
        yield from self._rest(given, count, lowest)

    def _tier(self, given: int, size: int, count: int) -> tuple[list[Candidate], int]:
        """The candidates from `given` to about `size`: further where the next ones score the same."""
        room = size
        while True:
            room = min(count, max(room * 2, given))
            found = self._view.top(self._plan.wanted, self._limits, room)
            last = min(max(size, given), len(found))
            floor = found[last - 1].score * (1 - _EQUAL) if last else 0.0
            while last < len(found) and found[last].score >= floor:
                last += 1
            if last < len(found) or room >= min(count, _MOST_EQUAL):
                return found[given:last], last

    def _scored(self, tier: Sequence[Candidate], most: float) -> list[Placed]:
        self._learn(tier)
        shown = [candidate for candidate in tier if self._shows(candidate)]
        ids = [candidate.segment_id for candidate in shown]
        texts, rows = self._record.texts(ids), self._record.segments(ids)
        self._stop()
        live = [c for c in shown if c.segment_id in rows and c.segment_id in texts]  # others were replaced just now
        files = [self._files[candidate.file_id] for candidate in live]
        bodies = [
            Body(texts[c.segment_id], c.language, _heads(file, rows[c.segment_id].heading))
            for c, file in zip(live, files, strict=True)
        ]
        placed = [
            Placed(c.segment_id, c.file_id, f.path, rows[c.segment_id].pointer, c.language, min(s.total, most), s)
            for c, f, s in zip(live, files, self._scorer.scores(bodies), strict=True)
        ]
        return sorted(placed, key=lambda one: (-one.score, one.path, one.pointer))

    def _rest(self, given: int, count: int, most: float) -> Iterator[Placed]:
        """What nobody reads this far for: in the engine's order, equal scores by path and pointer."""
        found = self._view.top(self._plan.wanted, self._limits, count)[given:]
        top = found[0].score if found else 1.0
        for start in range(0, len(found), _CHUNK):
            self._stop()
            chunk = found[start : start + _CHUNK]
            self._learn(chunk)
            rows = self._record.segments(candidate.segment_id for candidate in chunk)
            placed = [
                Placed(
                    c.segment_id,
                    c.file_id,
                    self._files[c.file_id].path,
                    rows[c.segment_id].pointer,
                    c.language,
                    round(most * c.score / top, DIGITS) if top else 0.0,
                )
                for c in chunk
                if c.segment_id in rows and self._shows(c)
            ]
            yield from sorted(placed, key=lambda one: (-one.score, one.path, one.pointer))

    def _learn(self, candidates: Sequence[Candidate]) -> None:
        missing = {candidate.file_id for candidate in candidates}.difference(self._files)
        if missing:
            self._files.update(self._record.files(missing))

    def _shows(self, candidate: Candidate) -> bool:
        file = self._files.get(candidate.file_id)
        return file is not None and not (self._hides and self._hides(file))


def _heads(file: FileRow, heading: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (words_of_name(file.path), file.title, heading))))


def _hider(patterns: Sequence[str]) -> Callable[[FileRow], bool] | None:
    if not patterns:
        return None
    rules = ignore.parse("\n".join(patterns))

    def hides(file: FileRow) -> bool:
        return ignore.leaves_out(rules, tuple(os.path.relpath(file.path, file.root).split(os.sep)))

    return hides
