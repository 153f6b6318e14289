"""Sort results by date or name instead of relevance.

In: results, best first.  Out: the best of them, by date or by name.
Always: only results with at least half of the best score, up to a bound: a new file that matches one of many words is no answer. Ties
go by path and position, so that pages fit together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime

from smart_context.engine.model import FileRow
from smart_context.find.order import Placed

MOST = 1500
_WORTH = 0.5  # of the best score


def results(placed: Iterable[Placed], how: str) -> tuple[list[Placed], bool]:
    """The results by date, newest first, or by name; and whether others were left out."""
    taken: list[Placed] = []
    is_cut = False
    for one in placed:
        if len(taken) >= MOST or (taken and one.score < _WORTH * taken[0].score):
            is_cut = True
            break
        taken.append(one)
    taken.sort(key=lambda one: (os.fsencode(one.file.path), one.segment.seq))
    if how == "date":
        taken.sort(key=lambda one: date(one.file), reverse=True)  # stable, in both directions
    elif how == "name":
        taken.sort(key=lambda one: os.path.basename(one.file.path).casefold().encode("utf-8", "surrogateescape"))
    return taken, is_cut


def date(file: FileRow) -> str:
    """When a file is from: the day that it gives itself, else the time of its last change."""
    return file.dated or datetime.fromtimestamp(file.mtime_ns / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
