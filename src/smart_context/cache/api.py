"""Caches from Python: build one, open it, resolve queries, verify it.

In: paths, queries, budgets.  Out: what a cache holds, as data or as the exact JSON that the command prints.
Always: the same rules, checks and bytes as on the command line.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Literal

from smart_context.cache import build, selection_json, verify
from smart_context.closes import Closes

if TYPE_CHECKING:
    from smart_context.cache.build import Built
    from smart_context.cache.pack.model import Packed
    from smart_context.cache.select import Selection
    from smart_context.cache.sources import OnLeftOut, OnSkipped
    from smart_context.cache.verify import Verified
    from smart_context.model import OnProgress

_MAX_BYTES = 1024 * 1024 * 1024


def build_cache(
    sources: str | os.PathLike[str],
    cache: str | os.PathLike[str],
    *,
    force: bool = False,
    fail_if_empty: bool = False,
    on_skipped: OnSkipped | None = None,
    on_left_out: OnLeftOut | None = None,
    on_progress: OnProgress | None = None,
) -> Built:
    """Freeze the Markdown files below a folder into a cache; `force` replaces an old one.

    A folder without any gives an empty cache, or with `fail_if_empty` an IoError and nothing on disk.
    `on_skipped` is told the path of a link that is left out, and why; `on_left_out` how many files are no
    Markdown, without hidden ones; `on_progress` how far the build is.

    Raises: SameId, IoError.
    """
    created_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return build.cache(
        sources,
        cache,
        created_at=created_at,
        force=force,
        fail_if_empty=fail_if_empty,
        on_skipped=on_skipped,
        on_left_out=on_left_out,
        on_progress=on_progress,
    )


def verify_cache(cache: str | os.PathLike[str], *, on_progress: OnProgress | None = None) -> Verified:
    """Check every byte of a cache that matters. Raises: CacheMissing, CacheInvalid, IoError."""
    return verify.cache(cache, on_progress=on_progress)


def pack(cache: str | os.PathLike[str], query: str, budget: int, *, tokens: str = "bytes4") -> Packed:
    """Return the passages of a cache that answer a query within a budget; for many queries, open the cache once.

    Raises: InvalidQuery, InvalidBudget, UsageError, CacheMissing, CacheInvalid, IoError.
    """
    from smart_context.cache.pack import pack as stage

    return stage.packed(cache, query, budget, counting=tokens)


def open_cache(cache: str | os.PathLike[str], *, max_bytes: int = _MAX_BYTES) -> Cache:
    """Open a cache for many queries; close it, or use it in a `with`. One that would take more than `max_bytes` of memory is read
    anew for each query.

    Raises: CacheMissing, CacheInvalid, IoError.
    """
    opened = Cache(cache, max_bytes)
    opened.resolve("", 0)
    return opened


class Cache(Closes):
    """A cache held in memory. A change on disk is noticed by the next query."""

    def __init__(self, cache: str | os.PathLike[str], max_bytes: int) -> None:
        from smart_context.cache.resident import Residents

        self.path = os.fspath(cache)
        self._residents = Residents(max_bytes)

    def resolve(self, query: str, budget: int) -> Selection:
        """Return the documents for a query within a budget of tokens, and why.

        Raises: InvalidQuery, InvalidBudget, CacheMissing, CacheInvalid, IoError.
        """
        return self._residents.selection(self.path, query, budget)

    def resolve_json(self, query: str, budget: int, *, pretty: bool = False) -> bytes:
        """Return the bytes that `context resolve` prints. Raises: what `resolve` raises."""
        return selection_json.render(self.resolve(query, budget), pretty=pretty)

    def pack(self, query: str, budget: int, *, tokens: str = "bytes4") -> Packed:
        """Return the passages that answer a query within a budget of tokens, headings included.

        `tokens` names how they are counted: as `resolve` does, or `o200k` or `cl100k`, with the extra `[tokens]`.

        Raises: InvalidQuery, InvalidBudget, UsageError, CacheMissing, CacheInvalid, IoError.
        """
        return self._residents.packed(self.path, query, budget, counting=tokens)

    def pack_bytes(
        self, query: str, budget: int, *, tokens: str = "bytes4", form: Literal["markdown", "json"] = "markdown"
    ) -> bytes:
        """Return the bytes that `context pack` prints. Raises: what `pack` raises."""
        from smart_context.cache.pack import pack

        return pack.FORMATS[form](self.pack(query, budget, tokens=tokens))

    def close(self) -> None:
        """Let go of the memory."""
        self._residents.close()
