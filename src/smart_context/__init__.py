"""Smart Context: answers from your own folders, searched or frozen into caches.

The public Python API is this module, and follows semantic versioning; everything below it may change between versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Built",
    "Cache",
    "Change",
    "Chosen",
    "ContextError",
    "Difference",
    "Excerpt",
    "IndexReport",
    "Packed",
    "Preview",
    "SearchIndex",
    "SearchItem",
    "SearchPage",
    "Selection",
    "Verified",
    "__version__",
    "build_cache",
    "diff",
    "freeze",
    "open_cache",
    "open_index",
    "pack",
    "verify_cache",
]

if TYPE_CHECKING:
    from smart_context.cache.api import Cache, build_cache, open_cache, pack, verify_cache
    from smart_context.cache.build import Built
    from smart_context.cache.pack.model import Excerpt, Packed
    from smart_context.cache.select import Chosen, Selection
    from smart_context.cache.verify import Verified
    from smart_context.errors import ContextError
    from smart_context.find.model import SearchItem, SearchPage
    from smart_context.frozen.api import diff
    from smart_context.frozen.diff import Difference
    from smart_context.frozen.replay import Change
    from smart_context.index.model import IndexReport
    from smart_context.library import Preview, SearchIndex, freeze, open_index
else:
    _HOMES = {
        "Built": "cache.build",
        "Cache": "cache.api",
        "Change": "frozen.replay",
        "Chosen": "cache.select",
        "ContextError": "errors",
        "Difference": "frozen.diff",
        "Excerpt": "cache.pack.model",
        "IndexReport": "index.model",
        "Packed": "cache.pack.model",
        "Preview": "library",
        "SearchIndex": "library",
        "SearchItem": "find.model",
        "SearchPage": "find.model",
        "Selection": "cache.select",
        "Verified": "cache.verify",
        "build_cache": "cache.api",
        "diff": "frozen.api",
        "freeze": "library",
        "open_cache": "cache.api",
        "open_index": "library",
        "pack": "cache.api",
        "verify_cache": "cache.api",
    }

    def __getattr__(name: str) -> object:
        # Lazily, so that `import smart_context` costs nothing until a name is used. A type checker sees the names themselves,
        # and tells of one that is not there.
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{home}"), name)

    def __dir__() -> list[str]:
        return __all__
