"""Smart Context: answers from your own folders, searched or frozen into caches.

The public Python API is this module; everything below it may change between versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from smart_context.cache.api import Cache, build_cache, open_cache, verify_cache
    from smart_context.cache.select import Selection
    from smart_context.errors import ContextError

__all__ = ["Cache", "ContextError", "Selection", "__version__", "build_cache", "open_cache", "verify_cache"]

_HOMES = {
    "Cache": "cache.api",
    "ContextError": "errors",
    "Selection": "cache.select",
    "build_cache": "cache.api",
    "open_cache": "cache.api",
    "verify_cache": "cache.api",
}


def __getattr__(name: str) -> Any:
    # Lazily, so that `import smart_context` costs nothing until a name is used.
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)
