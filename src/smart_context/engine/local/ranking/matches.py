"""The matches of a query in one committed state: how many segments, and the best of them, read lazily.

In: a view, and a query of the engine.  Out: candidates, best first.
Always: one query of the engine serves most searches; there is another only if more matches are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smart_context.engine.port import Candidates

if TYPE_CHECKING:
    import tantivy

    from smart_context.engine.local.ranking.view import Match, View

_AHEAD = 500  # matches looked for at once: as many as a search scores before its first page


class Matches:
    """What a query matches: how many segments, and the best of them. It belongs to one search."""

    def __init__(self, view: View, query: tantivy.Query) -> None:
        self._view = view
        self._query = query
        self._first, self.count = view.look(query, _AHEAD)

    def top(self, limit: int, start: int = 0) -> Candidates:
        """The best candidates, best first, from the offset `start`."""
        return self._view.described(self._hits(limit)[start:])

    def scores(self, limit: int) -> list[float]:
        """The rough scores of the best candidates, best first."""
        return [score for score, _ in self._hits(limit)]

    def files(self, limit: int) -> list[int]:
        """The file of each of the best candidates."""
        return self._view.files_of(self._hits(limit))

    def _hits(self, limit: int) -> Sequence[Match]:
        if len(self._first) < min(limit, self.count):
            self._first, _ = self._view.look(self._query, limit)
        return self._first[: max(0, limit)]
