"""One committed state of the ranking index, to look things up in.

In: expressions and filters.  Out: candidates, best first, and exact counts of live segments.
Always: what it sees stays as it is while others write. Its scores depend on how the index was merged: `find.score` computes
the final ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from smart_context.data import dataclass, replace
from smart_context.engine import entry, expression
from smart_context.engine.expression import Expression, Filters
from smart_context.engine.local.ranking import engine, holding, packed, parts, unions
from smart_context.engine.local.ranking.compounds import Compounds
from smart_context.engine.local.ranking.matches import Matches
from smart_context.engine.port import Candidate, Candidates, segment_ids
from smart_context.text import languages
from smart_context.text.analysis import TAG

if TYPE_CHECKING:
    import tantivy

    Match = tuple[float, tantivy.DocAddress]  # as the engine gives it: score and address

_AT_ONCE = 2000  # matches asked for if all are wanted and their number is unknown
_TERMS = 10_000  # cached with their counts
_TOGETHER = 4  # forms of one stem from which listing all terms with that prefix is faster than looking up each
_EXPRESSIONS = 100  # cached with their counts: fewer, because they are larger and mostly repeat within one search
_FEW_VALUES = 8  # of a filter that are queried one by one
_FEW_FILES = 200  # the same for files, each of which has few segments
_MANY = 500  # terms from which a query by their common prefix is faster than by a set of them
_FIELDS = ("text", "also")
_ALL = Filters()
_EVERYTHING = expression.Everything()
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Known:
    """The fields that have a term, and how many segments do."""

    fields: tuple[str, ...]
    count: int


_NOWHERE = Known((), 0)


class View:
    """One committed state of the index. Counts are of live segments only, and cached."""

    def __init__(self, index: tantivy.Index, folder: Path, same: View | None = None) -> None:
        """same: another view of the same state."""
        self.index = index
        self.folder = folder
        self._searcher: tantivy.Searcher = same._searcher if same else index.searcher()
        if not same:
            parts.check(folder)
        self._schema = index.schema
        # After the searcher: the packed segments that it shows were written before its commit.
        self._packed: packed.Reader = same._packed if same else packed.Reader(folder)
        self.segments: int = self._searcher.num_docs
        # The engine's own counts include deleted segments, and are exact if there are none.
        self.dead: int = sum(self._searcher.doc_freq("first", number) for number in (0, 1)) - self.segments
        self._counts: dict[tuple[Expression, Filters], int] = {}
        self._terms: dict[str, Known] = {}
        self._average = -1.0
        self._languages: tuple[str, ...] | None = None
        self._compounds: Compounds | None = None
        self._beginnings: unions.Beginnings = {}
        self._parts: dict[tuple[str, ...], View] = {}
        self._met: Sequence[tantivy.DocAddress] = ()  # addresses of the last hits,
        self._last: dict[int, int] = {}  # and for each part the highest address known to exist

    def within(self, folders: tuple[str, ...]) -> View:
        """The same state as if only the files below some folders existed."""
        found = self._parts.get(folders)
        if found is None:
            from smart_context.engine.local.ranking.narrowed import Narrowed

            found = Narrowed(self, folders)
            _remember(self._parts, folders, found, _EXPRESSIONS)
        return self if found.segments == self.segments else found

    @property
    def average_length(self) -> float:
        """The mean number of words in a segment."""
        if self._average < 0:
            with engine.translated(self.folder):
                total = self._searcher.aggregate(self._everything(), {"words": {"sum": {"field": "length"}}})
            self._average = total["words"]["value"] / self.segments if self.segments else 0.0
        return self._average

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that segments here are in."""
        if self._languages is None:
            with engine.translated(self.folder):
                self._languages = tuple(
                    code
                    for number, code in enumerate(languages.CODES)
                    if self._count(engine.query().term_query(self._schema, "language", number))
                )
        return self._languages

    def having(self, term: str) -> int:
        """How many segments have a term."""
        return (self._terms.get(term) or self._look_up(term)).count

    def _known(self, term: str) -> Known:
        return self._terms.get(term) or self._look_up(term)

    def standing(self, terms: Collection[str]) -> list[str]:
        """Those of the terms that any segment has. The forms of a word in all languages share a few stems: the terms of a stem with several forms are
        listed at once."""
        groups: dict[str, list[str]] = {}
        for term in terms:
            if term not in self._terms:
                stem, tag, _ = term.partition(TAG)
                groups.setdefault(stem + tag, []).append(term)
        with engine.translated(self.folder):
            count, listed = self._searcher.doc_freq, self._searcher.terms_with_prefix
            for prefix, several in groups.items():
                if len(several) >= _TOGETHER:
                    text, also = dict(listed("text", prefix)), dict(listed("also", prefix))
                    found = [(text.get(term, 0), also.get(term, 0)) for term in several]
                else:
                    found = [(count("text", term), count("also", term)) for term in several]
                for term, (in_text, beside) in zip(several, found, strict=True):
                    self._learn(term, in_text, beside)
        return [term for term in terms if (self._terms.get(term) or self._look_up(term)).count]

    def _look_up(self, term: str) -> Known:
        with engine.translated(self.folder):
            return self._learn(term, self._searcher.doc_freq("text", term), self._searcher.doc_freq("also", term))

    def _learn(self, term: str, text: int, also: int) -> Known:
        """Cache a term, given the engine's own counts of both fields."""
        found = _NOWHERE
        if text or also:  # false for most forms of a word
            fields = ("text", "also") if text and also else ("text",) if text else ("also",)
            found = Known(fields, self._exactly(term, fields, text + also))
        _remember(self._terms, term, found, _TERMS)
        return found

    def _exactly(self, term: str, fields: Sequence[str], most: int) -> int:
        """How many segments have a term in some fields; most: the sum of the engine's own counts."""
        if self.dead:
            return self._count(self._any(self._term_in(fields, term)))
        # A segment with the term in both fields counts once: the intersection is far smaller to read than either list.
        return most - (self._count(self._every(self._term_in(fields, term))) if len(fields) > 1 else 0)

    def _everything(self) -> tantivy.Query:
        return engine.query().all_query()

    def count(self, wanted: Expression, filters: Filters = _ALL) -> int:
        """How many segments match, exactly."""
        if isinstance(wanted, expression.Term) and filters == _ALL:
            return self.having(wanted.text)
        key = (wanted, filters)
        found = self._counts.get(key)
        if found is None:
            with engine.translated(self.folder):
                found = self._count(self._narrowed(self._query(wanted), filters))
            _remember(self._counts, key, found, _EXPRESSIONS)
        return found

    def matches(self, wanted: Expression, filters: Filters) -> Matches:
        """The matches, searched once for several questions: how many there are, and the best of them."""
        with engine.translated(self.folder):
            return Matches(self, self._narrowed(self._query(wanted), filters))

    def all_of(self, wanted: Expression, filters: Filters, among: Set[int] | None = None) -> Candidates:
        """Every match, in no order; only of the segments in `among`, if given."""
        with engine.translated(self.folder):
            query = self._narrowed(engine.query().const_score_query(self._query(wanted), 1.0), filters)
            found = self._all_hits(query)
            if among is not None:
                ids = self._searcher.fast_field_values("segment_id", [place for _, place in found])
                found = [hit for hit, i in zip(found, ids, strict=True) if i in among]
            return self.described(found)

    def those(self, wanted: Mapping[int, int], filters: Filters, required: Expression = _EVERYTHING) -> list[Candidate]:
        """Those of the segments, given by id with their files, that are here, pass the filters and match, in no order.

        File ids are indexed, segment ids are not: but a file's first segment is mostly followed by the others, so their addresses are guessed and checked.
        All segments of a file are read where a guess fails, and where `required` has more than terms, which would be searched again for each segment.
        """
        limits = replace(filters, files=tuple(sorted(set(wanted.values()))))
        if not holding.is_of_terms(required):
            every = self.all_of(required, limits, wanted.keys())
            return [candidate for candidate in every if wanted[candidate.segment_id] == candidate.file_id]
        with engine.translated(self.folder):
            found, _ = self.look(self._narrowed(self._first(), limits), max(1, len(limits.files)))
            firsts = [place for _, place in found]
            ids = self._values("segment_id", firsts)
            starts = {
                file: (place.segment_ord, place.doc, segment)
                for file, place, segment in zip(self.files_of(found), firsts, ids, strict=True)
            }
            there = {one: file for one, file in wanted.items() if file in starts and one >= starts[file][2]}
            self._learn_last(firsts)
            places = self._guessed(there, starts)
            guessed = zip(self.described([(1.0, place) for place in places.values()]), places.items(), strict=True)
            known = [(c, place) for c, (one, place) in guessed if (c.segment_id, c.file_id) == (one, there[one])]
            is_any = isinstance(required, expression.Everything)
            matching = [c for c, place in known if is_any or holding.is_match(required, partial(self._has, place))]
        missing = there.keys() - {candidate.segment_id for candidate, _ in known}
        rest = tuple(sorted({there[one] for one in missing}))
        others = self.all_of(required, replace(filters, files=rest), missing) if rest else []
        return matching + [candidate for candidate in others if there[candidate.segment_id] == candidate.file_id]

    def _has(self, place: tantivy.DocAddress, term: str) -> bool:
        """Whether one segment has a term."""
        found = self._term_in(self._known(term).fields, term)
        return any(holding.is_found(query, self._searcher, place) for query in found)

    def _guessed(
        self, there: Mapping[int, int], starts: Mapping[int, tuple[int, int, int]]
    ) -> dict[int, tantivy.DocAddress]:
        """The addresses of segments, if each is as far after the first of its file as its id."""
        import tantivy

        places = {}
        for one, file in there.items():
            part, doc, first = starts[file]
            if doc + one - first <= self._last[part]:
                places[one] = tantivy.DocAddress(part, doc + one - first)
        return places

    def _learn_last(self, firsts: Sequence[tantivy.DocAddress]) -> None:
        """Update the highest address known in each part: beyond the last one that any search has met there may be none."""
        if self._searcher.num_segments == 1:  # the only part has at least as many as live
            self._last[0] = max(0, self._searcher.num_docs - 1)
        for place in (*firsts, *self._met):
            if place.doc > self._last.get(place.segment_ord, -1):
                self._last[place.segment_ord] = place.doc

    def _values(self, field: str, places: Sequence[tantivy.DocAddress]) -> list[int]:
        return [int(i or 0) for i in self._searcher.fast_field_values(field, list(places))]

    def packed(self, candidates: Sequence[Candidate]) -> list[bytes]:
        """The data of each candidate for exact scoring, as `codes` packed it."""
        with engine.translated(self.folder):
            return self._packed.of(segment_ids(candidates))

    def read_all(self) -> None:
        """Read the packed data of every segment.

        Raises: SearchFailed if it is damaged.
        """
        with engine.translated(self.folder):
            self._packed.check(self.segment_ids())

    def first_segments(self, filters: Filters) -> Candidates:
        """The first segment of every file, in no order."""
        with engine.translated(self.folder):
            return self.described(self._all_hits(self._narrowed(self._first(), filters)))

    def file_count(self, filters: Filters) -> int:
        """How many files have a segment."""
        with engine.translated(self.folder):
            return self._count(self._narrowed(self._first(), filters))

    def _first(self) -> tantivy.Query:
        return engine.query().term_query(self._schema, "first", 1)

    def _all_hits(self, query: tantivy.Query) -> list[Match]:
        found, count = self.look(query, _AT_ONCE)
        return found if len(found) == count else self.look(query, count)[0]

    def described(self, found: Sequence[Match]) -> Candidates:
        """Hits of the engine as candidates.

        Raises: SearchFailed if a damaged file has something else than numbers.
        """
        places = [place for _, place in found]
        self._met = places if len(places) <= _AT_ONCE else self._met
        with engine.translated(self.folder):
            numbers, files, codes = (
                cast("list[int]", self._searcher.fast_field_values(field, places))
                for field in ("segment_id", "file_id", "language")
            )
            try:
                spoken = [languages.CODES[code or 0] for code in codes]
            except IndexError:
                spoken = []
            if None in numbers or None in files or len(spoken) < len(codes):
                raise ValueError("a segment has no number, file or language")
        return Candidates(numbers, files, spoken, [score for score, _ in found])

    def compounds(self, part: str) -> list[str]:
        """The long words, of languages that compound, that contain a part: at the start, at the end, or between."""
        if self._compounds is None:
            with engine.translated(self.folder):
                found = self._searcher.terms_with_prefix("compounds", "")
            self._compounds = Compounds(word for word, _ in found)
        return self._compounds.holding(part)

    def terms(self, prefix: str, *, rough: bool = False) -> list[str]:
        """Every term with a prefix, the commonest first; some may be in deleted segments only."""
        return [term for term, _ in self._with_prefix(prefix)]

    def _with_prefix(self, prefix: str) -> list[tuple[str, int]]:
        """The terms with a prefix, with the engine's own counts."""
        with engine.translated(self.folder):
            return self._searcher.terms_with_prefix("text", prefix)

    def segment_ids(self) -> list[int]:
        """Every live segment."""
        with engine.translated(self.folder):
            found = self._searcher.search(engine.query().all_query(), limit=max(1, self.segments), count=False).hits
            return [int(i or 0) for i in self._searcher.fast_field_values("segment_id", [place for _, place in found])]

    def file_ids(self) -> set[int]:
        """Every file that has a segment here."""
        with engine.translated(self.folder):
            found = self._searcher.search(engine.query().all_query(), limit=max(1, self.segments), count=False).hits
            return {int(i or 0) for i in self._searcher.fast_field_values("file_id", [place for _, place in found])}

    def beside_others(self) -> list[int]:
        """The files of the smallest part of the index that has several files: if one of them is removed, the part stays."""
        with engine.translated(self.folder):
            found, _ = self.look(engine.query().const_score_query(self._first(), 1.0), max(1, self.segments))
            times = Counter(place.segment_ord for _, place in found)
            least = min((count for count in times.values() if count > 1), default=0)
            return self.files_of([hit for hit in found if times[hit[1].segment_ord] == least])

    def look(self, query: tantivy.Query, limit: int) -> tuple[list[Match], int]:
        """The best matches of a query, best first, and how many there are in all."""
        with engine.translated(self.folder):
            found = self._searcher.search(query, limit=limit, count=True)
            return found.hits, found.count  # type: ignore[attr-defined]  # not in its stub

    def files_of(self, found: Sequence[Match]) -> list[int]:
        """The file of each hit."""
        with engine.translated(self.folder):
            return [int(i or 0) for i in self._searcher.fast_field_values("file_id", [place for _, place in found])]

    def _count(self, query: tantivy.Query) -> int:
        return self.look(query, 1)[1]

    # Expressions into the engine's queries

    def _narrowed(self, query: tantivy.Query, filters: Filters) -> tantivy.Query:
        if filters.among is not None and not filters.among:
            return engine.query().empty_query()
        limits = [
            self._having_one(field, values)
            for field, values in (
                ("file_id", filters.files),
                ("file_id", filters.among or ()),
                ("ext", filters.exts),
                ("year", sorted({key for year in filters.years for key in entry.keys_of_year(year)})),
                ("folder", [entry.folder_key(folder) for folder in filters.folders]),
            )
            if values
        ]
        if not limits:
            return query
        must = engine.occur().Must
        return engine.query().boolean_query(
            [(must, query), *((must, engine.query().const_score_query(q, 0.0)) for q in limits)]
        )

    def _having_one(self, field: str, values: Sequence[str] | Sequence[int]) -> tantivy.Query:
        """A query for any of these values. Few are term queries, which can skip ahead; many are a set, whose matches are collected first."""
        if len(values) > (_FEW_FILES if field == "file_id" else _FEW_VALUES):
            return engine.query().term_set_query(self._schema, field, list(values))
        return self._any([engine.query().term_query(self._schema, field, value, "basic") for value in values])

    def _query(self, wanted: Expression) -> tantivy.Query:
        match wanted:
            case expression.Term():
                return self._any(self._term(wanted))
            case expression.AnyOf(terms=terms, weight=weight, prefix=prefix):
                if prefix and len(terms) > _MANY:
                    found = [unions.beginning(self._schema, field, prefix, self._beginnings) for field in _FIELDS]
                else:
                    found = [q for field in _FIELDS for q in unions.terms(self._searcher, self._schema, field, terms)]
                return engine.query().const_score_query(self._any(found), weight)
            case expression.Sequence(terms=terms, slop=slop):
                if len(terms) == 1:
                    return self._query(expression.Term(terms[0]))
                return self._any([*self._phrase("text", terms, slop), *([] if slop else self._across(terms))])
            case expression.Group():
                return self._group(wanted)
            case expression.Everything():
                return engine.query().const_score_query(engine.query().all_query(), 1.0)

    def _phrase(self, field: str, terms: Sequence[str], slop: int = 0) -> list[tantivy.Query]:
        return [engine.query().phrase_query(self._schema, field, list(terms), slop)] if terms else []

    def _across(self, terms: Sequence[str]) -> list[tantivy.Query]:
        """Queries for the segment in which a phrase begins that continues in the next one."""
        cuts = range(max(1, len(terms) - entry.REACH), min(len(terms) - 1, entry.REACH) + 1)
        return [q for cut in cuts for q in self._phrase("border", [*terms[:cut], entry.BREAK, *terms[cut:]])]

    def _term(self, wanted: expression.Term) -> list[tantivy.Query]:
        found = self._term_in(self._known(wanted.text).fields, wanted.text)
        return found if wanted.weight == 1.0 else [engine.query().boost_query(query, wanted.weight) for query in found]

    def _term_in(self, fields: Sequence[str], term: str) -> list[tantivy.Query]:
        return [engine.query().term_query(self._schema, field, term, "freq") for field in fields]

    def _group(self, wanted: expression.Group) -> tantivy.Query:
        occur = engine.occur()
        should: list[tantivy.Query] = []
        for item in wanted.should:
            # Terms side by side, not nested: the engine skips ahead only in a flat list of terms.
            if isinstance(item, expression.Term):
                should += self._term(item)
            else:
                should.append(self._query(item))
        clauses = [(occur.Must, self._query(item)) for item in wanted.must]
        clauses += [(occur.Should, query) for query in should]
        clauses += [(occur.MustNot, self._query(item)) for item in wanted.must_not]
        if wanted.must_not and not wanted.must and not wanted.should:
            clauses.append((occur.Must, engine.query().const_score_query(engine.query().all_query(), 1.0)))
        elif not wanted.must and not should:
            return engine.query().empty_query()
        return engine.query().boolean_query(clauses)

    def _every(self, queries: list[tantivy.Query]) -> tantivy.Query:
        all_of = engine.query().boolean_query([(engine.occur().Must, q) for q in queries])
        return engine.query().const_score_query(all_of, 1.0)

    def _any(self, queries: list[tantivy.Query]) -> tantivy.Query:
        if len(queries) == 1:
            return queries[0]
        return (
            engine.query().boolean_query([(engine.occur().Should, q) for q in queries])
            if queries
            else engine.query().empty_query()
        )


def _remember(known: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    if len(known) >= most:
        known.clear()
    known[key] = value
