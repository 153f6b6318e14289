"""The tools of Context: resolve, list and inspect the caches below one root, and pack, which `mcp-context-server` does not have.

In: arguments as the client sent them.  Out: the engine's bytes as text, unchanged.
Always: arguments are checked in the order cache, query, budget, before the disk is touched; an error shows its code and
canonical message, and nothing else.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context import tool_table
from smart_context.closes import Closes
from smart_context.errors import CANONICAL_MESSAGES, CacheMissing, ContextError, InvalidBudget, InvalidQuery
from smart_context.model import Caller
from smart_context.server.tools import Arguments, Reply, Tool, Work
from smart_context.tool_table import Offer

if TYPE_CHECKING:
    from smart_context.cache.place import Place
    from smart_context.cache.resident import Residents

_MAX_BUDGET = 2**64 - 1


class Caches(Closes):
    """The caches below a root, of which `max_bytes` are held in memory. Close it, or use it in a `with`."""

    def __init__(self, root: str | None, max_bytes: int) -> None:
        self._root = Path(root).absolute() if root else None
        self._max_bytes = max_bytes
        self._residents: Residents | None = None
        self._opening = threading.Lock()

    def table(self, *offers: Offer, seconds: float) -> tuple[Tool, ...]:
        """The tools of these offers over the caches; a call may take `seconds`."""
        return tuple(Tool.of(row, getattr(self, row.verb), _refuse, seconds) for row in tool_table.offered(*offers))

    def close(self) -> None:
        """Let go of what is held."""
        with self._opening:
            if self._residents is not None:
                self._residents.close()

    def resolve(self, arguments: Arguments, work: Work) -> Reply:
        """Answer with the bytes of `context resolve`."""
        name, query, budget = _request(arguments)
        return Reply(self._held().resolve(self.inside(name, work.caller), query, budget, stop=work.stop).decode())

    def pack(self, arguments: Arguments, work: Work) -> Reply:
        """Answer with the bytes of `context pack`."""
        from smart_context.cache.pack import pack, tokens

        name, query, budget = _request(arguments)
        style = arguments.get("format") or "markdown"
        if not isinstance(style, str) or style not in pack.FORMATS:
            raise InvalidQuery("format is neither markdown nor json")
        packed = self._held().packed(
            self.inside(name, work.caller), query, budget, counting=tokens.DEFAULT, stop=work.stop
        )
        return Reply(pack.FORMATS[style](packed).decode())

    def list_caches(self, arguments: Arguments, work: Work) -> Reply:
        """Name what may be a cache."""
        from smart_context.cache import listing

        asked = arguments.get("root")
        if "root" in arguments and not isinstance(asked, str):
            raise CacheMissing("root is not a string")
        return _with_object(listing.to_json(self._root_for(work.caller), asked))

    def inspect_cache(self, arguments: Arguments, work: Work) -> Reply:
        """Say what a cache is, by its manifest."""
        from smart_context.cache import inspect

        return _with_object(inspect.tool_json(self.inside(_cache_name(arguments), work.caller)))

    def inside(self, name: str, caller: Caller) -> Place:
        """Where a cache is. Raises: CacheMissing for whatever the caller may not see."""
        from smart_context.cache import place

        return place.inside(self._root_for(caller), name)

    def _root_for(self, caller: Caller) -> Path:
        """The cache root, for a caller that may see all of it."""
        if self._root is None:
            raise CacheMissing("no cache root is configured")
        if caller.roots is not None and not any(self._root.resolve().is_relative_to(root) for root in caller.roots):
            raise CacheMissing("this caller may not see the cache root")
        return self._root

    def _held(self) -> Residents:
        from smart_context.cache.resident import Residents

        with self._opening:
            if self._residents is None:
                self._residents = Residents(self._max_bytes)
            return self._residents


def _cache_name(arguments: Arguments) -> str:
    name = arguments.get("cache")
    if not isinstance(name, str):
        raise CacheMissing("cache is missing or not a string")
    return name


def _request(arguments: Arguments) -> tuple[str, str, int]:
    """Check cache, query and budget, in this order."""
    name = _cache_name(arguments)
    query, budget = arguments.get("query"), arguments.get("budget")
    if not isinstance(query, str):
        raise InvalidQuery("query is missing or not a string")
    if not isinstance(budget, int) or isinstance(budget, bool) or not 0 <= budget <= _MAX_BUDGET:
        raise InvalidBudget("budget is missing or not an integer from 0 to 2^64 - 1")
    return name, query, budget


def _with_object(document: bytes) -> Reply:
    return Reply(document.decode(), structured=json.loads(document))


def _refuse(error: ContextError) -> Reply:
    code = error.code if error.code in CANONICAL_MESSAGES else "internal_error"
    body = {"error": {"code": code, "message": CANONICAL_MESSAGES[code]}}
    return Reply(json.dumps(body, separators=(",", ":")) + "\n", code=code)
