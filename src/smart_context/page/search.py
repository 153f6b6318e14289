"""The view of a search: what is asked in an address becomes results, filters with counts, and the pages around them.

In: the parameters of a request.  Out: data for the template.
Always: the address alone brings back the same view; a count says what it counts, and how many results were looked at.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from starlette.datastructures import QueryParams

from smart_context import defaults
from smart_context.access.roots import is_within
from smart_context.find import when
from smart_context.find.model import NOTHING_INDEXED, SearchItem, SearchPage, SearchRequest
from smart_context.model import Caller, Stop
from smart_context.page.render import query
from smart_context.text import years

if TYPE_CHECKING:
    from smart_context.api import App

SHOWN = 20  # results of a page
TYPED = 10  # results while one types: what a screen shows; each costs a snippet
LOOKED_AT = 60  # results that are counted: each costs a snippet, and the page is to be there at once
_MOST_CHOICES = 8
Pieces = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """The parameters of a view, from its address."""

    q: str = ""
    kinds: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    by_date: bool = False
    offset: int = 0
    since: str = ""
    until: str = ""

    def address(self, **changed: object) -> str:
        """The address of this view, or of one that differs from it; a difference starts on the first page."""
        view = replace(self, **{"offset": 0, **changed}) if changed else self  # type: ignore[arg-type]  # fields by name
        return "/?" + query(view.fields())

    @property
    def is_narrowed(self) -> bool:
        """Whether a filter is on."""
        return bool(self.kinds or self.folders or self.years or self.since or self.until)

    def fields(self, *, with_query: bool = True) -> list[tuple[str, str]]:
        """Names and values of the address."""
        found = [("q", self.q)] if with_query else []
        found += [("kind", kind) for kind in self.kinds] + [("in", folder) for folder in self.folders]
        found += [("year", year) for year in self.years] + [("since", self.since), ("until", self.until)]
        return [*found, ("sort", "date" if self.by_date else ""), ("from", str(self.offset) if self.offset else "")]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a filter: its address adds it, or takes it away."""

    label: str
    count: int | None
    address: str
    is_on: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """One way to narrow a search."""

    title: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """One result, ready to be shown. also: other files with the same text, each with its address."""

    name: str
    folder: str
    path: str
    pointer: str
    kind: str
    date: str
    modified: str
    pieces: Pieces
    address: str
    also: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchView:
    """What the template shows. looked_at: how many results were counted; 0: none were, while somebody types."""

    asked: SearchParameters
    results: tuple[Result, ...] = ()
    total: int = 0
    is_estimate: bool = False
    notes: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    looked_at: int = 0
    before: str = ""
    after: str = ""
    roots: tuple[str, ...] = ()
    is_indexed: bool = True


def asked(params: QueryParams) -> SearchParameters:
    """Read an address; what cannot be read is left out."""
    number = params.get("from", "")
    return SearchParameters(
        params.get("q", "").strip(),
        tuple(filter(None, params.getlist("kind"))),
        tuple(filter(None, params.getlist("in"))),
        tuple(filter(None, params.getlist("year"))),
        params.get("sort") == "date",
        int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 0,
        *(day if when.period(day := params.get(name, "").strip()) else "" for name in ("since", "until")),
    )


def welcome(app: App, wanted: SearchParameters, caller: Caller) -> SearchView:
    """The view before anything is asked.

    Raises: SearchFailed where there is no root.
    """
    return SearchView(wanted, roots=tuple(app.list_roots(caller=caller)["roots"]))


def view(app: App, wanted: SearchParameters, caller: Caller, stop: Stop, *, is_typed: bool = False) -> SearchView:
    """Search. Typed: only the first results, at once.

    Raises: what `App.find` raises.
    """
    roots = app.list_roots(caller=caller)["roots"]
    if is_typed:
        found = _find(app, wanted, TYPED, 0, caller, stop)
        return _shown(wanted, found, found.items, roots)
    first = _find(app, wanted, LOOKED_AT, 0, caller, stop)
    page: Sequence[SearchItem] = first.items[wanted.offset : wanted.offset + SHOWN]
    if wanted.offset + SHOWN > LOOKED_AT:
        page = _find(app, wanted, SHOWN, wanted.offset, caller, stop).items
    shown = _shown(wanted, first, page, roots)
    after = wanted.offset + len(page)
    return replace(
        shown,
        filters=tuple(_filters(wanted, first.items, roots)),
        looked_at=len(first.items),
        before=wanted.address(offset=max(0, wanted.offset - SHOWN)) if wanted.offset else "",
        after=wanted.address(offset=after) if page and after < first.total_estimate else "",
    )


def _find(app: App, wanted: SearchParameters, k: int, offset: int, caller: Caller, stop: Stop) -> SearchPage:
    sort = "date" if wanted.by_date else defaults.SORT
    filters = (wanted.kinds, wanted.years, wanted.folders)
    request = SearchRequest(wanted.q, k, offset, *filters, since=wanted.since, until=wanted.until, sort=sort)
    return app.find(request, stop=stop, caller=caller)


def _shown(
    wanted: SearchParameters, found: SearchPage, items: Iterable[SearchItem], roots: Sequence[str]
) -> SearchView:
    results = tuple(_result(item, wanted, roots) for item in items)
    is_estimate = found.total_estimate > len(found.items)
    is_indexed = NOTHING_INDEXED not in found.notes
    return SearchView(wanted, results, found.total_estimate, is_estimate, found.notes, is_indexed=is_indexed)


def _result(item: SearchItem, wanted: SearchParameters, roots: Sequence[str]) -> Result:
    folder, name = os.path.split(item.path)
    see = "/see?" + query([("path", item.path), ("pointer", item.pointer), *wanted.fields()])
    return Result(
        name, below_root(folder, roots), item.path, item.pointer, item.ext.lstrip("."), item.modified[:10], item.modified,
        pieces(item.snippet, item.highlights), see, tuple(_copy(path, wanted, roots) for path in item.also),
    )  # fmt: skip


def _copy(path: str, wanted: SearchParameters, roots: Sequence[str]) -> tuple[str, str]:
    """Another file with the same text, as people call it, and where it is seen."""
    return below_root(path, roots), "/see?" + query([("path", path), ("pointer", ""), *wanted.fields()])


def pieces(text: str, marks: Iterable[tuple[int, int]]) -> Pieces:
    """Cut a text at its marks: each piece, and whether it is marked."""
    found: list[tuple[str, bool]] = []
    at = 0
    for start, end in sorted(marks):
        if start < at:
            continue
        found += [(text[at:start], False), (text[start:end], True)]
        at = end
    return tuple(piece for piece in (*found, (text[at:], False)) if piece[0])


def _filters(wanted: SearchParameters, items: Sequence[SearchItem], roots: Sequence[str]) -> Iterable[Filter]:
    kinds = Counter(item.ext for item in items if item.ext)
    yield _filter("Kind", "kinds", wanted, wanted.kinds, kinds, lambda ext: ext.lstrip("."))
    folders = Counter(filter(None, (_below(item.path, wanted.folders or roots) for item in items)))
    yield _filter("Folder", "folders", wanted, wanted.folders, folders, lambda path: _label(path, roots))
    named = Counter(year for item in items for year in years.named_in([os.path.basename(item.path), item.snippet]))
    yield _filter("Year named", "years", wanted, wanted.years, named, str)


def _filter(
    title: str,
    field: str,
    wanted: SearchParameters,
    chosen: Sequence[str],
    counts: Counter[str],
    label: Callable[[str], str],
) -> Filter:
    on = [Choice(label(value), None, wanted.address(**{field: ()}), is_on=True) for value in chosen]
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_MOST_CHOICES]
    off = [
        Choice(label(value), count, wanted.address(**{field: (value,)}))
        for value, count in (sorted(most, reverse=True) if field == "years" else most)
        if value not in chosen
    ]
    return Filter(title, (*on, *(off if len(off) > 1 or chosen else ())))


def below_root(path: str, roots: Sequence[str]) -> str:
    """A path for people: the name of its root, and the path below it."""
    for root in sorted(roots, key=len, reverse=True):
        if is_within(path, root):
            names = path.removeprefix(root).strip("/").split("/")
            return " / ".join(filter(None, (os.path.basename(root.rstrip("/")) or root, *names)))
    return path


def _below(path: str, folders: Sequence[str]) -> str:
    """The direct subfolder of one of these that a file lies in; "" if none."""
    for folder in sorted(folders, key=len, reverse=True):
        start = folder.rstrip("/") + "/"
        if path.startswith(start):
            name, slash, _ = path.removeprefix(start).partition("/")
            return start + name if slash else ""
    return ""


def _label(path: str, roots: Sequence[str]) -> str:
    """A folder as a filter calls it: below its root, with the root's name only where there are several."""
    found = below_root(path, roots)
    return found.partition(" / ")[2] or found if len(roots) == 1 else found
