"""Frozen data of a search: what is asked, and what is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smart_context import defaults
from smart_context.data import dataclass, field, replace

NOTHING_INDEXED = "nothing is indexed yet"
NOT_INDEXED = "not searched, because it was never indexed: "
NOT_REACHED = "cannot be reached now, so that its last index answers: "
NOT_THERE = "not searched, because it is not there and was never indexed: "


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked for, before filters are read from the text of the query.

    folders: the search stays below them. never_show: patterns of files to leave out. all_copies: show a text in every file that has it, not once. since, until: days,
    months or years; sort: one of `defaults.SORTS`; today: the day, for words such as "yesterday", which stay words without it.
    """

    query: str
    k: int = defaults.K
    offset: int = 0
    exts: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    never_show: tuple[str, ...] = ()
    all_copies: bool = False
    since: str = ""
    until: str = ""
    sort: str = defaults.SORT
    today: str = ""


@dataclass(frozen=True, slots=True)
class SearchItem:
    """One result. `highlights`: the positions of sought words in the snippet; `also`: other files with the same text, or nearly; `dated`:
    the date that the file itself has, or ""; `why`: makes the explanation, when it is needed."""

    path: str
    pointer: str
    snippet: str
    score: float
    ext: str
    modified: str
    highlights: tuple[tuple[int, int], ...] = ()
    also: tuple[str, ...] = ()
    dated: str = ""
    why: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False, repr=False)

    @property
    def explanation(self) -> tuple[str, ...]:
        """Why it has its rank, in lines."""
        return self.why()

    def answer(self) -> dict[str, Any]:
        """The result as `searchFiles` answers it; empty highlights, copies and dates are left out."""
        out = {name: getattr(self, name) for name in ("path", "pointer", "snippet", "score", "ext", "modified")}
        more = {"highlights": [list(pair) for pair in self.highlights], "also": list(self.also), "dated": self.dated}
        return {**out, **{name: value for name, value in more.items() if value}}


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page. `interpretation`: how the query was read, in lines; `notes`: what changed the answer, in sentences."""

    items: tuple[SearchItem, ...]
    offset: int
    total_estimate: int
    interpretation: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def answer(self) -> dict[str, Any]:
        """The page as `searchFiles` answers it; empty notes are left out."""
        counts = {"offset": self.offset, "returned": len(self.items), "total_estimate": self.total_estimate}
        notes = {"notes": list(self.notes)} if self.notes else {}
        return {"items": [item.answer() for item in self.items], "pagination": counts, **notes}

    def explained(self) -> dict[str, Any]:
        """The same with how the query was read, and why each result has its rank."""
        items = [{**item.answer(), "explanation": list(item.explanation)} for item in self.items]
        return {"interpretation": list(self.interpretation), **self.answer(), "items": items}


def naming_filters(page: SearchPage, request: SearchRequest) -> SearchPage:
    """The page; where nothing was found and no note says why, with one that names the filters of the request."""
    days = {"since": request.since, "until": request.until}
    given = {"exts": request.exts, "years": request.years, "roots": request.folders, **days}
    narrowed = " or ".join(f"`{name}`" for name, value in given.items() if value)
    if page.notes or page.total_estimate or not narrowed:
        return page
    return replace(page, notes=(f"other files may have it: search without {narrowed}",))
