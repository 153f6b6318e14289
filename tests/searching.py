"""Index a folder as the program does, and search it: for tests of the whole path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smart_context import redact
from smart_context.access.roots import Roots
from smart_context.engine.local.index import Index
from smart_context.find.model import SearchPage, SearchRequest
from smart_context.find.search import find
from smart_context.index import indexer


def no_stop() -> None:
    pass


class Searched:
    """An index of one folder."""

    def __init__(self, index: Index, root: Path) -> None:
        self.index = index
        self.root = root

    def update(self, *, full: bool = False) -> None:
        indexer.run(self.index, Roots([str(self.root)]), str(self.root), indexer.Options(workers=1), full=full)
        self.index.ranking.reload()

    def page(self, query: str, k: int = 10, offset: int = 0, **more: tuple[str, ...]) -> SearchPage:
        return find(self.index, SearchRequest(query, k, offset, **more), redactor=redact.Redactor(), stop=no_stop)

    def names(self, query: str, k: int = 10, **more: tuple[str, ...]) -> list[str]:
        """The files found, best first, by their names below the root."""
        found = [str(Path(item.path).relative_to(self.root)) for item in self.page(query, k, **more).items]
        return list(dict.fromkeys(found))


@contextmanager
def indexed(root: Path, data: Path) -> Iterator[Searched]:
    with Index.open(data, writable=True) as index:
        searched = Searched(index, root)
        searched.update()
        yield searched
