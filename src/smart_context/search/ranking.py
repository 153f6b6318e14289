"""The ranking index: which segments may answer, and how well, roughly. The only module that knows the engine, tantivy.

In: files with their segments' text; expressions.  Out: candidates, best first, and exact counts of live segments.
Always: what a commit holds is seen whole or not at all; `generation` never claims more than the index has; everything here can be built
anew from the record. Scores given here depend on how the index was merged: `rank.py` makes the final ones.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.errors import SearchFailed, StorageFailed
from smart_context.search import entry, expression, languages, ranking_state
from smart_context.search.expression import Expression, Filters
from smart_context.search.model import RankedFile, RankedSegment

if TYPE_CHECKING:
    import tantivy

_HEAP = 64_000_000  # bytes the writer may hold before it writes a part of the index

_LEAST_BEFORE = 3  # letters before a part that is not in front
_PREPARED = 300  # matches looked for at once
_MANY = 500  # terms from which their common beginning is quicker than a set of them
_ALL = Filters()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A segment that may answer, with the engine's own score."""

    segment_id: int
    file_id: int
    language: str
    score: float
    place: tantivy.DocAddress


class Ranking:
    """The open index. One instance writes, from one thread; any number read."""

    def __init__(self, index: tantivy.Index, folder: Path, *, writable: bool) -> None:
        self._index = index
        self._folder = folder
        self._writable = writable
        self._writer: tantivy.IndexWriter | None = None
        self._is_pending = False  # something was added or deleted since the last commit
        self._view: View | None = None
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path, *, writable: bool) -> Ranking:
        """Open the index in a folder; a writer creates it.

        Raises: SearchFailed when it is absent, cannot be read, or was made by another analysis (rebuild it then).
        """
        with _translated(folder):
            import tantivy

            if writable:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not tantivy.Index.exists(str(folder)):
                    ranking_state.write(folder, 0)
                    tantivy.Index(_schema(), str(folder))
            ranking_state.read(folder)
            index = tantivy.Index.open(str(folder))
            index.config_reader("manual")
            return cls(index, folder, writable=writable)

    @property
    def generation(self) -> int:
        """The generation of the last commit; what is in the index is at least that."""
        with _translated(self._folder):
            return ranking_state.read(self._folder)

    # Writing

    def add(self, file: RankedFile, segments: Sequence[RankedSegment]) -> None:
        """Put a file's segments in place of those it had."""
        import tantivy

        writer, self._is_pending = self._open_writer(), True
        with _translated(self._folder):
            writer.delete_documents_by_term("file_id", file.file_id)
            whole = entry.language_of(segments)
            folders = entry.folder_keys(file.path)
            for number, segment in enumerate(segments):
                doc = tantivy.Document()
                doc.add_unsigned("first", int(number == 0))
                doc.add_unsigned("segment_id", segment.segment_id)
                doc.add_integer("file_id", file.file_id)
                doc.add_text("ext", file.ext)
                doc.add_text("year", " ".join(file.years))
                for key in folders:
                    doc.add_text("folder", key)
                _add_entry(doc, entry.make(file, segment, whole))
                writer.add_document(doc)

    def delete(self, file_ids: Iterable[int]) -> None:
        """Take files out."""
        writer, self._is_pending = self._open_writer(), True
        with _translated(self._folder):
            for file_id in file_ids:
                writer.delete_documents_by_term("file_id", file_id)

    def clear(self) -> None:
        """Take everything out."""
        writer, self._is_pending = self._open_writer(), True
        with _translated(self._folder):
            writer.delete_all_documents()

    def commit(self, generation: int) -> None:
        """Make what was added and deleted last, under a generation number."""
        with _translated(self._folder):
            if self._writer is not None:
                self._writer.commit()
                self._is_pending = False
            # After the commit, so that a crash between the two leaves a number that is too small: the record then
            # repeats its last files, which is harmless, because adding a file replaces it.
            ranking_state.write(self._folder, generation)

    def merge(self) -> None:
        """Let merges under way finish, and remove files that nothing needs."""
        with _translated(self._folder):
            if self._writer is not None:
                self._writer.wait_merging_threads()
                self._writer = None
            self._open_writer().garbage_collect_files()

    def close(self) -> None:
        """Close; what was not committed is forgotten."""
        writer, self._writer = self._writer, None
        if writer is not None:
            # A worker that died has told so when it was given work; what it held was not committed.
            with _translated(self._folder), suppress(ValueError):
                if self._is_pending:  # only then: it would throw away merges under way, too
                    writer.rollback()
                writer.wait_merging_threads()
        self._view = None

    def _open_writer(self) -> tantivy.IndexWriter:
        if not self._writable:
            raise SearchFailed(f"the ranking index {self._folder} is open for reading only")
        if self._writer is None:
            with _translated(self._folder):
                self._writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        return self._writer

    # Reading

    def reload(self) -> None:
        """See the last commit from now on."""
        with _translated(self._folder), self._lock:
            self._index.reload()
            self._view = None

    def view(self) -> View:
        """The index as of the last reload; it stays as it is while others write."""
        with _translated(self._folder), self._lock:
            if self._view is None:
                self._view = View(self._index, self._folder)
            return self._view

    @property
    def segment_count(self) -> int:
        """How many segments the last reload saw."""
        return self.view().segments

    def file_ids(self) -> set[int]:
        """Every file that has a segment in the index."""
        return self.view().file_ids()


class View:
    """One committed state of the index. Counts are of live segments only, and remembered."""

    def __init__(self, index: tantivy.Index, folder: Path) -> None:
        self._searcher = index.searcher()
        self._schema = index.schema
        self._folder = folder
        self.segments: int = self._searcher.num_docs
        self._counts: dict[tuple[Expression, Filters], int] = {}
        self._average = -1.0
        self._languages: tuple[str, ...] | None = None
        self._compounds: str | None = None
        self._prepared: tuple[object, list[tuple[float, tantivy.DocAddress]]] = (None, [])

    @property
    def average_length(self) -> float:
        """The mean number of words in a segment."""
        if self._average < 0:
            with _translated(self._folder):
                total = self._searcher.aggregate(_q().all_query(), {"words": {"sum": {"field": "length"}}})
            self._average = total["words"]["value"] / self.segments if self.segments else 0.0
        return self._average

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that segments here are in."""
        if self._languages is None:
            with _translated(self._folder):
                self._languages = tuple(
                    code
                    for number, code in enumerate(languages.CODES)
                    if self._count(_q().term_query(self._schema, "language", number))
                )
        return self._languages

    def count(self, wanted: Expression, filters: Filters = _ALL) -> int:
        """How many segments match, exactly."""
        key = (wanted, filters)
        if key not in self._counts:
            if len(self._counts) > 20_000:
                self._counts.clear()
            with _translated(self._folder):
                self._counts[key] = self._count(self._narrowed(self._query(wanted), filters))
        return self._counts[key]

    def prepare(self, wanted: Expression, filters: Filters) -> None:
        """Look once for what will be asked several times: how many match, and the first of them."""
        key = (wanted, filters)
        with _translated(self._folder):
            query = self._narrowed(self._query(wanted), filters)
            found = self._searcher.search(query, limit=_PREPARED, count=True)
        self._counts[key] = found.count  # type: ignore[attr-defined]  # not in its stub
        self._prepared = (key, found.hits)

    def top(self, wanted: Expression, filters: Filters, limit: int) -> list[Candidate]:
        """The best candidates, best first."""
        with _translated(self._folder):
            return self._described(self._hits(wanted, filters, limit))

    def _hits(self, wanted: Expression, filters: Filters, limit: int) -> list[tuple[float, tantivy.DocAddress]]:
        key, prepared = self._prepared
        if key == (wanted, filters) and (limit <= _PREPARED or len(prepared) < _PREPARED):
            return prepared[: max(0, limit)]
        query = self._narrowed(self._query(wanted), filters)
        return self._searcher.search(query, limit=limit, count=False).hits if limit > 0 else []

    def all_of(self, wanted: Expression, filters: Filters) -> list[Candidate]:
        """Every match, in no order."""
        with _translated(self._folder):
            query = self._narrowed(_q().const_score_query(self._query(wanted), 1.0), filters)
            return self._candidates(query, self._count(query))

    def packed(self, candidates: Sequence[Candidate]) -> list[bytes]:
        """What each candidate says, as `forward` packed it."""
        with _translated(self._folder):
            doc = self._searcher.doc
            return [bytes(doc(candidate.place).get_first("packed") or b"") for candidate in candidates]

    def files_of(self, wanted: Expression, filters: Filters, limit: int) -> list[int]:
        """The file of each of the best candidates."""
        with _translated(self._folder):
            places = [place for _, place in self._hits(wanted, filters, limit)]
            return [int(i or 0) for i in self._searcher.fast_field_values("file_id", places)]

    def first_segments(self, filters: Filters) -> list[Candidate]:
        """The first segment of every file, in no order."""
        with _translated(self._folder):
            return self._candidates(self._narrowed(self._first(), filters), self.segments)

    def file_count(self, filters: Filters) -> int:
        """How many files have a segment."""
        with _translated(self._folder):
            return self._count(self._narrowed(self._first(), filters))

    def _first(self) -> tantivy.Query:
        return _q().term_query(self._schema, "first", 1)

    def _candidates(self, query: tantivy.Query, limit: int) -> list[Candidate]:
        return self._described(self._searcher.search(query, limit=limit, count=False).hits) if limit > 0 else []

    def _described(self, found: list[tuple[float, tantivy.DocAddress]]) -> list[Candidate]:
        places = [place for _, place in found]
        segment_ids = self._searcher.fast_field_values("segment_id", places)
        file_ids = self._searcher.fast_field_values("file_id", places)
        codes = self._searcher.fast_field_values("language", places)
        return [
            Candidate(int(s or 0), int(f or 0), languages.CODES[int(code or 0)], score, place)
            for (score, place), s, f, code in zip(found, segment_ids, file_ids, codes, strict=True)
        ]

    def compounds(self, part: str) -> list[str]:
        """The long words, of languages that compound, that hold a part: in front, at the end, or between."""
        if self._compounds is None:
            with _translated(self._folder):
                found = self._searcher.terms_with_prefix("compounds", "")
            self._compounds = "\n".join(["", *sorted(word for word, _ in found), ""])
        # One search through one long string: quicker than asking each word.
        words, out, at = self._compounds, [], self._compounds.find(part)
        while at >= 0:
            start, end = words.rfind("\n", 0, at) + 1, words.find("\n", at)
            if at - start == 0 or at - start >= _LEAST_BEFORE:
                out.append(words[start:end])
            at = words.find(part, end)
        return out

    def terms(self, beginning: str) -> list[str]:
        """Every term that begins so, sorted; some may stand in deleted segments only."""
        with _translated(self._folder):
            return sorted(term for term, _ in self._searcher.terms_with_prefix("text", beginning))

    def file_ids(self) -> set[int]:
        """Every file that has a segment here."""
        with _translated(self._folder):
            found = self._searcher.search(_q().all_query(), limit=max(1, self.segments), count=False).hits
            return {int(i or 0) for i in self._searcher.fast_field_values("file_id", [place for _, place in found])}

    def _count(self, query: tantivy.Query) -> int:
        found: int = self._searcher.search(query, limit=1, count=True).count  # type: ignore[attr-defined]  # not in its stub
        return found

    # Expressions into the engine's queries

    def _narrowed(self, query: tantivy.Query, filters: Filters) -> tantivy.Query:
        limits = [
            _q().term_set_query(self._schema, field, list(values))
            for field, values in (
                ("file_id", filters.files),
                ("ext", filters.exts),
                ("year", filters.years),
                ("folder", [entry.folder_key(folder) for folder in filters.folders]),
            )
            if values
        ]
        if not limits:
            return query
        must = _occur().Must
        return _q().boolean_query([(must, query), *((must, _q().const_score_query(q, 0.0)) for q in limits)])

    def _query(self, wanted: Expression) -> tantivy.Query:
        match wanted:
            case expression.Term():
                return self._any(self._term(wanted))
            case expression.AnyOf(terms=terms, weight=weight, beginning=beginning):
                if beginning and len(terms) > _MANY:
                    fields = [
                        _q().regex_query(self._schema, field, f"{re.escape(beginning)}.*") for field in ("text", "also")
                    ]
                    return _q().const_score_query(self._any(fields), weight)
                sets = [_q().term_set_query(self._schema, field, list(terms)) for field in ("text", "also")]
                return _q().const_score_query(self._any(sets), weight)
            case expression.Sequence(terms=terms, slop=slop):
                if len(terms) == 1:
                    return self._query(expression.Term(terms[0]))
                return _q().phrase_query(self._schema, "text", list(terms), slop) if terms else _q().empty_query()
            case expression.Group():
                return self._group(wanted)
            case expression.Everything():
                return _q().const_score_query(_q().all_query(), 1.0)

    def _term(self, wanted: expression.Term) -> list[tantivy.Query]:
        found = [
            _q().term_query(self._schema, field, wanted.text, "freq")
            for field in ("text", "also")
            if self._searcher.doc_freq(field, wanted.text)
        ]
        return found if wanted.weight == 1.0 else [_q().boost_query(query, wanted.weight) for query in found]

    def _group(self, wanted: expression.Group) -> tantivy.Query:
        occur = _occur()
        should: list[tantivy.Query] = []
        for item in wanted.should:
            # Terms side by side, not nested: the engine skips ahead in a flat list of terms only.
            if isinstance(item, expression.Term):
                should += self._term(item)
            else:
                should.append(self._query(item))
        clauses = [(occur.Must, self._query(item)) for item in wanted.must]
        clauses += [(occur.Should, query) for query in should]
        clauses += [(occur.MustNot, self._query(item)) for item in wanted.must_not]
        if wanted.must_not and not wanted.must and not wanted.should:
            clauses.append((occur.Must, _q().const_score_query(_q().all_query(), 1.0)))
        elif not wanted.must and not should:
            return _q().empty_query()
        return _q().boolean_query(clauses)

    def _any(self, queries: list[tantivy.Query]) -> tantivy.Query:
        if len(queries) == 1:
            return queries[0]
        return _q().boolean_query([(_occur().Should, q) for q in queries]) if queries else _q().empty_query()


def _q() -> type[tantivy.Query]:
    import tantivy

    return tantivy.Query


def _occur() -> type[tantivy.Occur]:
    import tantivy

    return tantivy.Occur


def _add_entry(doc: tantivy.Document, made: entry.Entry) -> None:
    doc.add_text("text", made.text)
    for field, text in (("also", made.also), ("compounds", made.compounds)):
        if text:
            doc.add_text(field, text)
    doc.add_bytes("packed", made.packed)
    doc.add_unsigned("length", made.length)
    doc.add_unsigned("language", languages.CODES.index(made.language))


@lru_cache(maxsize=1)
def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="position")
    builder.add_text_field("also", tokenizer_name="whitespace", index_option="freq")
    for field in ("compounds", "year"):
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="basic")
    for field in ("ext", "folder"):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    # Signed: the engine deletes by an integer term, and an unsigned field would not match it.
    builder.add_integer_field("file_id", indexed=True, fast=True)
    builder.add_unsigned_field("language", indexed=True, fast=True)
    builder.add_unsigned_field("first", indexed=True)
    builder.add_bytes_field("packed", stored=True)
    for field in ("segment_id", "length"):
        builder.add_unsigned_field(field, fast=True)
    return builder.build()


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    """Turn what the engine and the disk say into errors of ours."""
    try:
        yield
    except (ValueError, RuntimeError) as error:  # what the engine raises
        raise SearchFailed(
            f"the ranking index {folder} cannot be used",
            reason=str(error).splitlines()[0][:200],
            hint=ranking_state.REBUILD,
        ) from error
    except OSError as error:
        raise StorageFailed(
            f"the ranking index {folder} cannot be written or read", reason=error.strerror or str(error)
        ) from error
