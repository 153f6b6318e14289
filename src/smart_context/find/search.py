"""Answer a search.

In: an index and a request.  Out: a `SearchPage`: one page of results, with how the query was read.
Always: the same request on the same index gives the same page; pages neither repeat nor lose a result; a file has at most three.

    filters.read → query.parse → plan.make → View.matches (candidates) → order (final order) → snippet.cut
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from smart_context import defaults
from smart_context.access.roots import Roots, shown
from smart_context.data import dataclass, field, replace
from smart_context.defaults import MAX_K
from smart_context.engine.expression import Expression, Filters, Group
from smart_context.engine.facts import Marked
from smart_context.engine.model import FileRow, Following
from smart_context.engine.port import Index, Record, View
from smart_context.errors import BadRequest, Unreachable
from smart_context.find import (
    beginning,
    filters,
    fold,
    kinds,
    labels,
    naming,
    notes,
    order,
    plan,
    present,
    query,
    safe,
    snippet,
    sorting,
    synonyms,
    when,
)
from smart_context.find.filters import Reading
from smart_context.find.model import NOTHING_INDEXED, SearchItem, SearchPage, SearchRequest
from smart_context.find.order import Placed
from smart_context.find.plan_model import Plan
from smart_context.find.query import Query
from smart_context.model import Stop
from smart_context.redact import Redactor
from smart_context.text import whole

if TYPE_CHECKING:
    from smart_context.meaning.meaning import Meaning

A_FILE = 3  # results of one file
_COUNTED = 1000  # matches up to which `total_estimate` is exact
_SAMPLED = 100  # best matches that it is extrapolated from beyond that
_PASTED = 7  # words from which a query may be a sentence pasted from some text, whatever filters and operators it seems to have
_FEW_PASS = 400  # matches that pass a year or type read from the query, up to which that filter is doubted:
_QUESTION = 4  # for a query of at least so many words,
_HARDLY, _MOST = 0.2, 0.5  # if the best match has less than this share of it, and the best unfiltered one that share,
_STATEMENT = 8  # or, for a query of at least so many words,
_FAR_MORE = 1.4  # if the best unfiltered one has so many times the share
_NAMED, _SHOWN = 50, 3  # files without text of a name that are looked at, and told of
_AHEAD = 60  # best matches among which copies of the shown files are looked for: a copy ranks like its original


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request as it will be answered."""

    reading: Reading
    plan: Plan
    limits: Filters
    listing: bool
    notes: tuple[str, ...] = field(default=())


def nothing(request: SearchRequest) -> SearchPage:
    """The page of an index that does not exist yet.

    Raises: BadRequest as `find` does.
    """
    _check(request)
    filters.given(request.exts, request.years)
    when.given(request.since, request.until, request.today)
    return SearchPage((), request.offset, 0, (NOTHING_INDEXED,), (NOTHING_INDEXED,))


def find(
    index: Index,
    request: SearchRequest,
    *,
    redactor: Redactor | None,
    stop: Stop,
    meaning: Meaning | None = None,
    roots: Roots | None = None,
    within: tuple[str, ...] | None = None,
    key: str = "",
) -> SearchPage:
    """Answer a request: by meaning too, if `meaning` is given; only with files that still exist, if `roots` are given.

    Without a redactor nothing is hidden. key: the caller's token, for a shared record.
    within: the folders that the caller may see, if not all: nothing in the answer depends on files elsewhere.

    Raises: BadRequest for an empty query, a `k` or `offset` out of range, a malformed filter.
    """
    _check(request)
    record, view = index.both(key)
    view = view if within is None else view.within(within)
    query, typed = whole.asked(request.query, view.having)
    request = replace(request, query=query)
    asked = _read(request, record, view, redactor)
    stop()
    ordering = _ordering(record, view, asked, request, stop, meaning, is_confined=within is not None)
    every = ordering.listing() if asked.listing else ordering.best()
    placed = beginning.first(every, asked.plan, record, view, asked.limits)
    full = ordering.full if placed is every else set()  # moving beginnings first needs every match of a file
    worth: list[Placed] | None = None
    if request.sort != defaults.SORT:
        worth, is_cut = sorting.results(placed, request.sort)
        placed = iter(worth)
        asked = replace(asked, notes=(*asked.notes, notes.of_order(request.sort, len(worth)))) if is_cut else asked
    wanted = ordering.wanted = request.offset + request.k
    folds = None if asked.listing or request.all_copies else fold.Folds()
    with present.Presence(roots, record) if roots is not None else nullcontext() as presence:
        is_there = partial(_is_there, presence, stop)
        apart = fold.results(placed, folds, full, is_there) if folds else (one for one in placed if is_there(one.file))
        reached = list(islice(_few_a_file(apart, full), min(wanted, sys.maxsize)))
        page = reached[request.offset :]
        leading = {one.file_id for one in ordering.leading(_AHEAD)} if folds and page else set()
        ahead = ordering.marks(leading.union(ordering.added)) if leading else []
        also = _also(page, ordering, folds, presence, ahead) if folds else {}
        bare = [] if asked.listing else _without_text(record, request, asked, within)
        bare = [file for file in bare if ordering.shows(file) and is_there(file)]
    stop()
    items = tuple(_items(record, page, ordering, asked.plan, redactor, typed, also))
    asked = replace(asked, notes=(*asked.notes, *notes.of_corrections(asked.plan, items)))
    total = len(reached)
    if total == wanted:
        is_folded = bool(folds) and not fold.are_apart(ahead)
        files = [one.file.file_id for one in worth] if worth else None
        total = _total(view, asked, ordering, total, files, ahead if is_folded else None)
    lines = tuple(whole.as_typed(line, typed) for line in _interpretation(asked))
    said = (
        *(whole.as_typed(line, typed) for line in asked.notes),
        *notes.of_addresses(query),
        *notes.of_files_without_text(bare),
        *lag(index.following(), is_confined=within is not None),
    )
    if meaning is not None and not asked.listing and within is None:
        said = (*said, *notes.of_vectors(len(meaning.vectors), view))
    return SearchPage(items, request.offset, total, lines, (*said, *notes.of_ocr(page, request.offset)))


def sought(view: View, text: str) -> snippet.Words:
    """The words of a query, for marking them in a text."""
    reading = filters.read(text, today="")
    plain = filters.read(text, today="", with_types=False) if reading.perhaps else reading
    if kinds.are_words(view, plain.text, reading.perhaps, Filters(), reading.text, Filters(reading.exts)):
        reading = plain
    tree = _tree(view, reading.text, Filters())
    return snippet.words(plan.make(tree, view).sought if tree else ())


def _check(request: SearchRequest) -> None:
    if not request.query.strip():
        raise BadRequest("the query must not be empty", hint="say what to look for, in plain language")
    if not 1 <= request.k <= MAX_K:
        raise BadRequest(f"`k` must be from 1 to {MAX_K}", hint="use `offset` to see more")
    if request.offset < 0:
        raise BadRequest("`offset` must not be negative", hint="it is the number of results to pass over")
    if request.sort not in defaults.SORTS:
        raise BadRequest("`sort` is not an order of results", hint=f"one of {', '.join(defaults.SORTS)}")


def _read(request: SearchRequest, record: Record, view: View, redactor: Redactor | None) -> _Asked:
    """Decide what the request means. Types, years, times and fields that the text names are dropped where they leave no match."""
    exts, years = filters.given(request.exts, request.years)
    times = when.given(request.since, request.until, request.today)
    folders = _folders(request.folders, view)

    def asked(reading: Reading) -> _Asked:
        among = labels.files(record, reading.times, reading.fields, redactor)
        return _asked(reading, Filters(reading.exts, reading.years, folders, among=among), view, request.query)

    def as_words(few: str) -> _Asked:
        words = asked(Reading(request.query, exts, years, times=times))
        given_up = f"{few} matches with {reading.told()}, so that the query was searched as words"
        return replace(words, notes=(given_up, *words.notes))

    def as_it_stands() -> _Asked | None:
        words = as_words("of the files that have the query as it was typed, none")
        return words if _stands(view, words, words.limits) and not _stands(view, words, found.limits) else None

    reading = filters.read(request.query, exts, years, times, request.today)
    found = asked(reading)
    if not reading.has_read:
        return found
    if not found.listing and len(request.query.split()) >= _PASTED and (pasted := as_it_stands()):
        return pasted
    if reading.perhaps and not found.listing:
        plain = filters.read(request.query, exts, years, times, request.today, with_types=False)
        other = asked(plain)
        if kinds.are_words(view, plain.text, reading.perhaps, other.limits, reading.text, found.limits):
            return replace(other, notes=(kinds.told(reading.perhaps), *other.notes))
    if not _any(view, found):
        less = reading.without_labels(request.query)
        if less != reading and filters.has_words(less.text) and _any(view, found := asked(less)):
            given_up = f"nothing matches with {reading.told()}; {_dropped(reading, less, request.query)}"
            return replace(found, notes=(given_up, *found.notes))
        return as_words("nothing")
    if filters.gives_way(reading, request.query) and _few_pass(view, found):
        words = as_words("hardly anything")
        passing, every = (_share(record, view, request.never_show, one) for one in (found, words))
        tells = len(found.plan.sought) >= _STATEMENT and every > _FAR_MORE * passing
        if tells or (passing < _HARDLY and every >= _MOST):
            return words
    return found


def _stands(view: View, asked: _Asked, limits: Filters) -> bool:
    """Whether a segment has the query verbatim, if it is a sentence."""
    return asked.plan.verbatim is not None and view.count(asked.plan.verbatim, limits) > 0


def _few_pass(view: View, asked: _Asked) -> bool:
    """Whether the filters read from a question let so few matches pass that they may hide the answer."""
    return len(asked.plan.sought) >= _QUESTION and view.count(asked.plan.wanted, asked.limits) <= _FEW_PASS


def _share(record: Record, view: View, never_show: Sequence[str], asked: _Asked) -> float:
    """The share of the query that the best match has, each word counted by its weight."""
    best = next(order.Ordering(record, view, asked.plan, asked.limits, never_show, lambda: None).best(), None)
    return float(best.made_of.made.found[best.made_of.row]) if best and best.made_of else 0.0


def _dropped(reading: Reading, less: Reading, typed: str) -> str:
    parts = replace(reading, read_exts=(), read_years=()).told()
    named = f", for '{named}' in the texts" if (named := reading.read_times.named(typed)) else ""
    return f"searched without {parts}" + (", with the other filters" if less.has_read else "") + named


def _asked(reading: Reading, limits: Filters, view: View, typed: str) -> _Asked:
    listing = reading.has_read and not filters.has_words(reading.text)
    tree = None if listing else _tree(view, reading.text, limits)
    listing = listing or (tree is None and bool(reading.exts or reading.years or reading.times))
    planned = (
        plan.make(tree, view, typed) if tree or listing else Plan(Group(), ())
    )  # neither a word nor a filter: nothing
    lost: tuple[str, ...] = ()
    if tree and planned.missing:
        looser = query.without_phrases(tree, frozenset(planned.missing))
        if looser is not tree:
            lost, tree = tuple(text for text in planned.missing if text.startswith('"')), looser
            planned = plan.make(tree, view, typed)
    said = (*notes.of_phrases(lost), *notes.of_query(reading, planned, query.excluded(tree)))
    return _Asked(reading, planned, limits, listing, said)


def _tree(view: View, text: str, limits: Filters) -> Query | None:
    """Read a text as a query; without operators, if it is long enough to be copied from a text, and some text has it so."""
    tree = query.parse(text)
    if tree is None or query.is_plain(tree) or isinstance(tree, query.Phrase) or len(text.split()) < _PASTED:
        return tree
    words = query.parse(text, is_text=True)
    verbatim = plan.make(words, view).verbatim
    return words if verbatim is not None and view.count(verbatim, limits) else tree


def _any(view: View, asked: _Asked) -> bool:
    return not asked.plan.nowhere and view.count(asked.plan.wanted, asked.limits) > 0


def _folders(folders: tuple[str, ...], view: View) -> tuple[str, ...]:
    """The folders to filter by; none if every segment is below them, because a filter costs time."""
    if not folders:
        return ()
    everything: Expression = plan.make(None, view).wanted
    return () if view.count(everything, Filters(folders=folders)) == view.segments else folders


def _ordering(
    record: Record,
    view: View,
    asked: _Asked,
    request: SearchRequest,
    stop: Stop,
    meaning: Meaning | None,
    *,
    is_confined: bool,
) -> order.Ordering:
    given = (record, view, asked.plan, asked.limits, request.never_show, stop)
    like = meaning.like(asked.plan.meant) if meaning and asked.plan.meant and not asked.listing else None
    if meaning is None or like is None:
        return order.Ordering(*given)
    likeness, known = like
    from smart_context.find import hybrid

    # A caller confined to some folders must not learn anything from the spread over all texts.
    spread = hybrid.SPREAD if is_confined else hybrid.spread(likeness)
    return hybrid.Fused(likeness, *given, alone=meaning.alone, spread=spread, known=known)


def _is_there(presence: present.Presence | None, stop: Stop, file: FileRow) -> bool:
    if presence is None or presence(file):
        return True
    stop()
    return False


def _few_a_file(placed: Iterator[Placed], full: set[int]) -> Iterator[Placed]:
    """At most three results per file; full: receives the files that have three."""
    seen: dict[int, int] = {}
    for one in placed:
        count = seen.get(one.file.file_id, 0)
        if count < A_FILE:
            seen[one.file.file_id] = count + 1
            if count + 1 == A_FILE:
                full.add(one.file.file_id)
            yield one


def _also(
    page: Sequence[Placed],
    ordering: order.Ordering,
    folds: fold.Folds,
    presence: present.Presence | None,
    ahead: Sequence[Marked],
) -> dict[int, tuple[FileRow, ...]]:
    """The copies of the files on a page, as far as they may be shown."""
    return fold.also(
        ordering.files, page, ahead, folds, lambda row: ordering.shows(row) and (presence is None or presence(row))
    )


def _without_text(
    record: Record, request: SearchRequest, asked: _Asked, within: tuple[str, ...] | None
) -> list[FileRow]:
    """The files that have no text and are called as was typed, below the folders asked for and those that the caller may see."""
    name = naming.without_text(request.query, asked.plan)
    try:
        found = record.without_text("/", _NAMED, os.path.basename(name)) if name else []
    except Unreachable:  # of a shared record that is away, the texts that it had shown are shown still
        return []
    found = [file for file in found if file.path.endswith(f"/{name}")]
    for folders in (within, request.folders or None):
        if folders is not None:
            found = [file for file in found if any(file.path.startswith(f"{one.rstrip('/')}/") for one in folders)]
    return found[:_SHOWN]


def _total(
    view: View,
    asked: _Asked,
    ordering: order.Ordering,
    reached: int,
    worth: Sequence[int] | None,
    ahead: Sequence[Marked] | None,
) -> int:
    """The total number of results, at least `reached`: exact where it can be counted, else extrapolated from the best matches.

    worth: the files of the results, if they were sorted by date or name. ahead: the marks of the best matches' files, if there are copies among them.
    """
    if asked.listing and worth is None:
        return view.file_count(asked.limits)
    count = ordering.matches.count if worth is None else 0
    best: Iterable[order.Leading]
    if worth is None and count <= _COUNTED:
        best = ordering.leading(max(count, 1))
        files = [*ordering.matches.files(count), *ordering.added] if count else []
    else:
        placed = [order.Leading(file_id, -place) for place, file_id in enumerate(worth or ())]
        best = list(ordering.leading(_SAMPLED)) if worth is None else placed
        files = [one.file_id for one in best]
    times = Counter(files)
    kept = sum(min(n, A_FILE) for n in times.values())
    if ahead is not None:
        kept = round(kept * fold.counted(best, times, ordering.record, A_FILE, ahead))
    return max(reached, kept if count <= _COUNTED else round(count * kept / len(files)))


def lag(following: Following, *, is_confined: bool) -> Iterator[str]:
    """Say that this machine lags behind the shared record; a caller confined to some folders is not told the number of files."""
    if following.is_away:
        yield "the shared record does not answer; this is what was known of it before"
    elif following.total and not is_confined:
        yield f"this machine is still taking in the shared record: {following.taken:,} of {following.total:,} files"
    elif following.total or following.is_late:
        yield "this machine is still taking in the shared record"


def _items(
    record: Record,
    page: Sequence[Placed],
    ordering: order.Ordering,
    planned: Plan,
    redactor: Redactor | None,
    typed: dict[str, str],
    also: Mapping[int, Sequence[FileRow]],
) -> Iterator[SearchItem]:
    words = snippet.words(planned.sought)
    passages = safe.passages(record, [(one.segment, one.file) for one in page], redactor)
    there = [one for one in page if one.segment.segment_id in passages]  # else replaced since the ranking was read
    cuts = snippet.cut_all([(passages[one.segment.segment_id], one.language) for one in there], words)
    for one, cut in zip(there, cuts, strict=True):
        row, file = one.segment, one.file
        modified = datetime.fromtimestamp(file.mtime_ns // 1_000_000_000, UTC).isoformat()[:19] + "Z"
        why = partial(_why, ordering, one, typed)
        others = tuple(shown(other.path) for other in also.get(file.file_id, ()))
        yield SearchItem(
            shown(file.path),
            row.pointer,
            cut.text,
            one.score,
            file.ext,
            modified,
            cut.highlights,
            others,
            file.dated,
            why,
        )


def _why(ordering: order.Ordering, one: Placed, typed: dict[str, str]) -> tuple[str, ...]:
    return tuple(whole.as_typed(line, typed) for line in one.why or ordering.explain(one))


def _interpretation(asked: _Asked) -> Iterator[str]:
    yield f"words: {', '.join(word.text for word in asked.plan.sought) or '(none)'}"
    if others := [other for word in asked.plan.sought if word.synonyms for other in synonyms.of(word.typed)]:
        yield f"in other words: {', '.join(dict.fromkeys(others))}"
    if asked.plan.left_out:
        yield f"left out: {', '.join(asked.plan.left_out)}"
    for name, values in (("types", asked.limits.exts), ("years", asked.limits.years), ("roots", asked.limits.folders)):
        if values:
            yield f"{name}: {', '.join(map(shown, values))}"
    if asked.reading.times:
        yield f"dates: {asked.reading.times.told()}"
    for each in asked.reading.fields:
        yield f"{each.name}: {each.value}"
    if asked.listing:
        yield "lists files by path"
    yield from asked.notes
