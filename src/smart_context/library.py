"""The Python API for search: open an index over folders, update it, search it, open what was found.

In: folders, queries, paths.  Out: the answers of the tools, as data.
Always: the same configuration, rules, redaction and order as on the command line and over MCP.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smart_context import defaults
from smart_context.closes import Closes

if TYPE_CHECKING:
    from smart_context.cache.build import Built
    from smart_context.find.model import SearchPage
    from smart_context.frozen.replay import Change
    from smart_context.index.model import IndexReport
    from smart_context.model import OnProgress

Folder = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Preview:
    """A part of a file, redacted. `next`: the pointer to what follows, or "" at the end of the file."""

    path: str
    pointer: str
    text: str
    truncated: bool
    next: str = ""


def open_index(
    roots: Iterable[Folder] = (), *, data_dir: Folder | None = None, config_file: Folder | None = None
) -> SearchIndex:
    """Open an index over folders; close it, or use it in a `with`.

    Nothing is read or written before the first call of a method. Files are left out as configured for the command line.

    Raises: ConfigError for an invalid setting.
    """
    from smart_context.api import App
    from smart_context.settings import config

    flags: dict[str, Any] = {
        "roots": tuple(os.path.abspath(os.fspath(root)) for root in roots),
        "data_dir": None if data_dir is None else os.path.abspath(os.fspath(data_dir)),
        "config": None if config_file is None else os.fspath(config_file),
    }
    return SearchIndex(App(config.load(flags)))


def freeze(
    query: str,
    cache: Folder,
    *,
    roots: Iterable[Folder] = (),
    data_dir: Folder | None = None,
    k: int = defaults.FREEZE_K,
    whole_files: bool = False,
    force: bool = False,
) -> Built:
    """Freeze what a query finds in indexed folders into a cache; `SearchIndex.freeze` takes filters too.

    Raises: InvalidQuery when nothing is found; ConfigError, NotFound without an index, SameId, IoError.
    """
    with open_index(roots, data_dir=data_dir) as index:
        return index.freeze(query, cache, k=k, whole_files=whole_files, force=force)


class SearchIndex(Closes):
    """An index over folders. Any thread may search; one process at a time updates it."""

    def __init__(self, app: Any) -> None:
        self._app = app

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that may be read."""
        names: tuple[str, ...] = self._app.roots.names
        return names

    def update(
        self, folder: Folder | None = None, *, full: bool = False, on_progress: OnProgress | None = None
    ) -> list[IndexReport]:
        """Update the index for a folder, or for every root; return a report for each.

        Raises: Forbidden outside the roots; NotFound when a folder is not there; Conflict when another process writes.
        """
        folders = self.roots if folder is None else (os.path.abspath(os.fspath(folder)),)
        tell = on_progress or (lambda _step: None)
        return [self._app.index_here(one, full=full, on_progress=tell) for one in folders]

    def search(
        self,
        query: str,
        *,
        k: int = defaults.K,
        offset: int = 0,
        exts: Iterable[str] = (),
        years: Iterable[str] = (),
        roots: Iterable[Folder] = (),
        since: str = "",
        until: str = "",
        sort: str = defaults.SORT,
        all_copies: bool = False,
    ) -> SearchPage:
        """Search; one page of results. since, until: a day, month or year (`2024-03`); sort: `relevance`, `date` or `name`;
        `all_copies` shows a text in every file that holds it.

        Raises: BadRequest for an empty query or an invalid filter; Forbidden for a folder outside the roots.
        """
        from smart_context.find.model import SearchRequest

        request = SearchRequest(
            query,
            k,
            offset,
            exts=tuple(exts),
            years=tuple(years),
            folders=tuple(os.fspath(root) for root in roots),
            all_copies=all_copies,
            since=since,
            until=until,
            sort=sort,
        )
        page: SearchPage = self._app.find(request)
        return page

    def open(self, path: Folder, pointer: str | None = None, *, before: int = 0, after: int = 0) -> Preview:
        """Show a part of a file: from the index, or from the file itself if that has changed since.

        Raises: Forbidden outside the roots; NotFound for what is absent; BadRequest for an invalid pointer.
        """
        answer = self._app.open_file(os.fspath(path), pointer, before, after)
        return Preview(
            answer["path"], answer["pointer"], answer["preview"], answer["truncated"], answer.get("next", "")
        )

    def freeze(
        self,
        query: str,
        cache: Folder,
        *,
        k: int = defaults.FREEZE_K,
        exts: Iterable[str] = (),
        years: Iterable[str] = (),
        roots: Iterable[Folder] = (),
        since: str = "",
        until: str = "",
        whole_files: bool = False,
        unredacted: bool = False,
        force: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Built:
        """Freeze what a query finds into a cache: passages, or whole files; `force` replaces an old cache. since, until: as for `search`.

        Raises: InvalidQuery when nothing is found; BadRequest, Forbidden, NotFound without an index, SameId, IoError.
        """
        from smart_context.frozen.provenance import Question
        from smart_context.frozen.verbs import FreezeOptions

        folders = tuple(os.fspath(root) for root in roots)
        question = Question(query, k, tuple(exts), tuple(years), folders, since=since, until=until)
        how = FreezeOptions(None, whole_files, unredacted, force)
        tell = on_progress or (lambda _step: None)
        built: Built = self._app.freeze(question, os.fspath(cache), how, on_progress=tell)
        return built

    def replay(self, cache: Folder) -> list[Change]:
        """Run the query of a frozen cache again; return how each document has changed since.

        Raises: CacheMissing, CacheInvalid where the cache was not frozen from a search, IoError, NotFound without an index.
        """
        found: list[Change] = self._app.replay(os.fspath(cache))[1]
        return found

    def close(self) -> None:
        """Close the index."""
        self._app.close()
