"""One committed state as if only the files below some folders existed.

In: a view, folders.  Out: a `View` of them: matches, counts, lengths, languages and words are those of an index that holds them alone.
Always: nothing that can be told from an answer, a score or a suggestion depends on what lies elsewhere; only the rough order, in which
candidates are scored and in which those beyond the best ones stay, comes from the whole index.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from smart_context.engine import entry
from smart_context.engine.local.ranking import engine
from smart_context.engine.local.ranking.view import View

if TYPE_CHECKING:
    import tantivy

    from smart_context.engine.local.ranking.view import Match


_RARE = 500  # segments that have a term, up to which their files are looked at


class Narrowed(View):
    """A view of some folders."""

    def __init__(self, whole: View, folders: tuple[str, ...]) -> None:
        super().__init__(whole.index, whole.folder, whole)
        keys = [entry.folder_key(folder) for folder in folders]
        with engine.translated(self.folder):
            self._limit = engine.query().const_score_query(self._having_one("folder", keys), 0.0)
        self.segments = self._count(engine.query().all_query())

    def look(self, query: tantivy.Query, limit: int) -> tuple[list[Match], int]:
        """The best matches of a query, best first, and how many there are in all."""
        must = engine.occur().Must
        return super().look(engine.query().boolean_query([(must, query), (must, self._limit)]), limit)

    def _everything(self) -> tantivy.Query:
        return self._limit

    def _exactly(self, term: str, fields: Sequence[str], most: int) -> int:
        query = self._any(self._term_in(fields, term))
        if most > _RARE:
            return self._count(query)
        found = self._searcher.search(query, limit=max(1, most), count=False).hits
        return sum(map(self._files.__contains__, self._searcher.fast_field_values("file_id", [at for _, at in found])))

    @cached_property
    def _files(self) -> frozenset[int]:
        with engine.translated(self.folder):
            return frozenset(self.files_of(self._all_hits(self._first())))

    def compounds(self, part: str) -> list[str]:
        """The long words that contain a part, of those in these folders."""
        with engine.translated(self.folder):
            return [
                word
                for word in super().compounds(part)
                if self._exactly(word, ["compounds"], self._searcher.doc_freq("compounds", word))
            ]

    def terms(self, prefix: str, *, rough: bool = False) -> list[str]:
        """Every term with a prefix, the commonest first; `rough`: those of other folders too, in any order."""
        if rough:
            return super().terms(prefix)
        with engine.translated(self.folder):
            counts = {term: self._exactly(term, ["text"], most) for term, most in self._with_prefix(prefix)}
        return sorted((term for term in counts if counts[term]), key=lambda term: (-counts[term], term))
