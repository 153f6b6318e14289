"""One committed state as if there were nothing in it but what lies below some folders.

In: a view, folders.  Out: a `View` of them: matches, counts, lengths, languages and words are those of an index that holds them alone.
Always: nothing that can be told from an answer, a score or a suggestion depends on what lies elsewhere; only the rough order in which
candidates are taken up, and of those beyond the best ones, comes from the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smart_context.engine import entry
from smart_context.engine.local.ranking import engine
from smart_context.engine.local.ranking.view import Known, View

if TYPE_CHECKING:
    import tantivy

    from smart_context.engine.local.ranking.view import Match


class Narrowed(View):
    """A view of some folders."""

    def __init__(self, whole: View, folders: tuple[str, ...]) -> None:
        super().__init__(whole.index, whole.folder, whole)
        keys = [entry.folder_key(folder) for folder in folders]
        with engine.translated(self.folder):
            limit = engine.query().term_set_query(self._schema, "folder", keys)
            self._limit = engine.query().const_score_query(limit, 0.0)
        self.segments = self._count(engine.query().all_query())

    def look(self, query: tantivy.Query, limit: int) -> tuple[list[Match], int]:
        """The best matches of a query, best first, and how many there are in all."""
        must = engine.occur().Must
        return super().look(engine.query().boolean_query([(must, query), (must, self._limit)]), limit)

    def _everything(self) -> tantivy.Query:
        return self._limit

    def _look_up(self, term: str) -> Known:
        fields = tuple(field for field in ("text", "also") if self._count(self._any(self._term_in([field], term))))
        return Known(fields, self._count(self._any(self._term_in(fields, term))) if fields else 0)

    def compounds(self, part: str) -> list[str]:
        """The long words that hold a part, of those that stand here."""
        found = super().compounds(part)
        with engine.translated(self.folder):
            return [word for word in found if self._count(engine.query().term_query(self._schema, "compounds", word))]

    def terms(self, beginning: str, *, rough: bool = False) -> list[str]:
        """Every term that begins so, the commonest first; `rough`: those that stand elsewhere too, in any order."""
        found = super().terms(beginning)
        if rough:
            return found
        with engine.translated(self.folder):
            counts = {term: self._count(self._any(self._term_in(["text"], term))) for term in found}
        return sorted((term for term in found if counts[term]), key=lambda term: (-counts[term], term))
