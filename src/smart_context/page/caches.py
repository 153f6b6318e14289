"""The views of caches: which there are, what a query selects within a budget and what just misses, and how two differ.

In: names, a query, a budget.  Out: data for the templates.
Always: a cache is named below the cache root, and read by the same code as `context resolve`, `why`, `pack` and `diff`; what is shown of one was
verified to the byte, or the view says that it is not valid.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams

from smart_context.errors import BadRequest
from smart_context.frozen.collect import Picked
from smart_context.page.desk import Desk, Visit
from smart_context.page.search import SearchParameters

if TYPE_CHECKING:
    from smart_context.frozen.diff import Difference
    from smart_context.frozen.signer import Signer
    from smart_context.frozen.why import Reason

BUDGET = 4000
MOST_BUDGET = 32_000  # that the slider reaches; the address takes any
_LISTED = 100
_MISSED = 8
_FROZEN = 100  # passages at most
_LARGEST = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Listed:
    """One cache of the list; valid: its manifest can be read."""

    path: str
    version: str
    documents: int
    valid: bool


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a query selects. missed: the best that did not fit."""

    cache: str
    query: str
    budget: int
    taken: tuple[Reason, ...]
    missed: tuple[Reason, ...]
    used: int
    considered: int


async def listed(desk: Desk, visit: Visit) -> tuple[Listed, ...]:
    """The caches below the cache root. Raises: ContextError where there is none."""
    found = await desk.tool(visit, "context.list_caches", {})
    paths = [cache["path"] for cache in found["caches"] if cache["has_manifest"]][:_LISTED]
    caches: list[Listed] = []
    for path in paths:
        facts: dict[str, Any] = await desk.tool(visit, "context.inspect_cache", {"cache": path})
        caches.append(Listed(path, facts["cache_version"], facts["document_count"], facts["valid"]))
    return tuple(caches)


async def resolved(desk: Desk, visit: Visit, cache: str, query: str, budget: int) -> Resolved:
    """Say what `context resolve` selects, and why. Raises: ContextError."""
    from smart_context.frozen import why

    arguments = {"cache": cache, "query": query, "budget": budget}
    reasons: Sequence[Reason] = await desk.call(
        visit,
        "context.resolve",
        arguments,
        lambda stop: why.reasons(desk.cache(visit.caller, cache), query, budget, stop=stop),
    )
    taken = tuple(reason for reason in reasons if reason.is_taken)
    missed = tuple(reason for reason in reasons if not reason.is_taken)[:_MISSED]
    return Resolved(cache, query, budget, taken, missed, sum(reason.tokens for reason in taken), len(reasons))


async def signer(desk: Desk, visit: Visit, cache: str) -> Signer:
    """Who signed a cache. Raises: ContextError."""
    from smart_context.frozen import signer as found

    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    trusted = desk.app.settings.cache.keys
    return await desk.call(
        visit,
        "context.inspect_cache",
        {"cache": cache},
        lambda _stop: found.of(desk.cache(visit.caller, cache), trusted, now=now),
    )


async def packed(desk: Desk, visit: Visit, cache: str, query: str, budget: int) -> str:
    """The passages that `context pack` chooses, as Markdown. Raises: ContextError."""
    from smart_context.cache.pack import pack

    arguments = {"cache": cache, "query": query, "budget": budget}

    def verb(_stop: object) -> str:
        return pack.FORMATS["markdown"](pack.packed(desk.cache(visit.caller, cache), query, budget)).decode()

    return await desk.call(visit, "context.pack", arguments, verb)


async def compared(desk: Desk, visit: Visit, old: str, new: str) -> Difference:
    """How two caches differ. Raises: ContextError."""
    from smart_context.frozen import diff

    def verb(_stop: object) -> Difference:
        return diff.caches(desk.cache(visit.caller, old), desk.cache(visit.caller, new))

    return await desk.call(visit, "context.inspect_cache", {"cache": new}, verb)


def may_freeze(desk: Desk, visit: Visit) -> bool:
    """Whether the caller may write what a search finds into a cache."""
    settings = desk.app.settings
    return visit.caller.is_owner and bool(settings.cache_root) and settings.cache.freeze


async def freeze(desk: Desk, visit: Visit, asked: SearchParameters, name: str, chosen: Sequence[str]) -> None:
    """Freeze results that were chosen, or the whole search. Raises: ContextError."""
    picked = tuple(_picked(one) for one in chosen)
    await desk.call(
        visit,
        "freezeSearch",
        {"query": asked.q, "cache": name},
        lambda stop: desk.app.freeze_search(
            asked.q,
            name,
            _FROZEN,
            asked.kinds,
            asked.years,
            asked.folders,
            since=asked.since,
            until=asked.until,
            picked=picked,
            stop=stop,
            caller=visit.caller,
        ),
    )


def budget_of(text: str) -> int:
    """Read a budget from an address. Raises: BadRequest."""
    if not text:
        return BUDGET
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) <= _LARGEST):
        raise BadRequest("the budget is not a whole number of tokens")
    return int(text)


def _picked(text: str) -> Picked:
    place = QueryParams(text)
    return Picked(place.get("path", ""), place.get("pointer") or None, 0.0)
