"""Smart Context: answers from your own folders, searched or frozen into caches.

The public Python API is this module; everything below it may change between versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from smart_context.errors import ContextError

__all__ = ["ContextError", "__version__"]

_HOMES = {"ContextError": "errors"}


def __getattr__(name: str) -> Any:
    # Lazily, so that `import smart_context` costs nothing until a name is used.
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)
