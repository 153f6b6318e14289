"""The tools of `context serve`, over one app.

In: an open app.  Out: the tools, and what they share.
Always: every process that answers calls has the same tools, with the same limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from smart_context.api import App
from smart_context.data import dataclass
from smart_context.server import search_tools
from smart_context.server.context_tools import Caches
from smart_context.server.tools import Tool
from smart_context.tool_table import Offer

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Table:
    """The tools, and what they work on. clean: redacts error messages."""

    app: App
    caches: Caches
    tools: tuple[Tool, ...]
    clean: Callable[[str], str]


@contextmanager
def of(app: App) -> Iterator[Table]:
    """The tools, until the block ends."""

    def clean(text: str) -> str:
        return app.redactor.clean(text)  # made when the first error needs it

    settings = app.settings
    root = settings.cache_root or None
    own: tuple[Offer, ...] = ("files", "freeze") if root and settings.cache.freeze else ("files",)
    with Caches(root, settings.cache.memory_mb * _MB) as caches:
        tools = (
            *search_tools.table(app, clean, settings.timeout, *own),
            *caches.table("pack", "caches", seconds=settings.timeout("default")),
        )
        yield Table(app, caches, tools, clean)
