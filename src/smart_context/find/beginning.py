"""Show the beginning of a file first if its name is the whole query: a name means the file, not the passage that repeats it most often.

In: results in order, and their plan.  Out: the same; before the first result of each file of that name comes its first passage that is more than a title.
Always: no result is lost or comes twice, and scores stay in descending order; the results of other queries are unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smart_context.data import replace
from smart_context.engine import names
from smart_context.engine.expression import Filters
from smart_context.engine.port import Record, View
from smart_context.find.order import Placed
from smart_context.find.plan_model import Plan, Sought

_DIGIT = re.compile("[0-9]")
_WHY = ("the beginning of a file of the name that was typed",)
_LOOKED_AT, _TITLE = (
    3,
    8,
)  # passages of which the first is taken that has so many words: a web page's first is often its title alone
_FILES = 50  # of that name, at most: of thousands that share a name, nobody means a later one
_STEP = 0.000001  # by which the beginning scores more than the next result, because ties are ordered by pointer


def first(placed: Iterator[Placed], plan: Plan, record: Record, view: View, limits: Filters) -> Iterator[Placed]:
    """The results, with the beginnings of files moved first if the query is a file name."""
    # A file name with `times` above 1 is the whole query. A plain word may be meant as a word; `rfc3901` is none.
    alone = [
        word for word in plan.sought if word.times > 1 and (names.LIKE.search(word.name) or _DIGIT.search(word.name))
    ]
    return _first(placed, alone[0], record, view, limits) if alone else placed


def _first(placed: Iterator[Placed], word: Sought, record: Record, view: View, limits: Filters) -> Iterator[Placed]:
    most = 1.0
    given: dict[int, int] = {}  # by file, the segment that was moved forward; 0 for none
    for one in placed:
        file_id = one.file.file_id
        if file_id not in given:
            ahead = _beginning(one, record, view, limits) if len(given) < _FILES and _is_meant(one, word) else None
            given[file_id] = ahead.segment.segment_id if ahead else 0
            if ahead and ahead.segment.segment_id != one.segment.segment_id:
                most = min(most, round(one.score + _STEP, 6))
                yield replace(ahead, score=most)
            else:
                given[file_id] = 0
        if given[file_id] != one.segment.segment_id:
            most = one.score
            yield one


def _is_meant(one: Placed, word: Sought) -> bool:
    """Whether a file has exactly the name that was typed, or the one that a mistyped name stands for."""
    path = one.file.path
    return names.is_spelt(path, word.name) or bool(word.instead and word.terms.intersection(names.of_file(path)))


def _beginning(one: Placed, record: Record, view: View, limits: Filters) -> Placed | None:
    for found in view.first_segments(replace(limits, files=(one.file.file_id,))):
        rows = record.segments(range(found.segment_id, found.segment_id + _LOOKED_AT))
        own = [row for row in rows.values() if row.file_id == one.file.file_id]
        texts = record.passages(row.segment_id for row in own)
        says = [row for row in own if len(texts[row.segment_id].text.split()) >= _TITLE]
        row = next(iter(says or own), None)
        return Placed(row, one.file, found.language, one.score, why=_WHY) if row else None
    return None
