"""Resolve a query against a cache: verify, score, select, write.

In: a cache directory, a query, a budget.  Out: the selection, or its exact JSON.
Always: no answer comes from a cache that does not verify, and memory follows the largest documents and what is selected.
"""

from __future__ import annotations

import os
from array import array
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from smart_context.cache import folder, select, selection_json, verify
from smart_context.cache.select import Chosen, Selection
from smart_context.errors import InvalidBudget, InvalidQuery

if TYPE_CHECKING:
    from smart_context.cache.folder import Folder
    from smart_context.cache.select import Query
    from smart_context.model import Stop

LARGEST_BUDGET = 2**64 - 1
_KEPT_BYTES = 32 * 1024 * 1024


def to_json(cache: str | os.PathLike[str], query: str, budget: int, *, pretty: bool = False) -> bytes:
    """Return the selection as JSON with a newline at the end. Raises: what `selection` raises."""
    return selection_json.render(selection(cache, query, budget), pretty=pretty)


def selection(cache: str | os.PathLike[str], query: str, budget: int, *, stop: Stop | None = None) -> Selection:
    """Return what the cache holds for the query within the budget.

    Raises: InvalidQuery, InvalidBudget, CacheMissing, CacheInvalid, IoError; whatever `stop` raises.
    """
    check(query, budget)
    return folder.read(cache, lambda opened: _selection(opened, select.query_of(query), budget, stop))


def check(query: str, budget: int) -> None:
    """Check a request before any disk is touched. Raises: InvalidQuery, InvalidBudget."""
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise InvalidQuery("the query is not valid UTF-8") from error
    if not 0 <= budget <= LARGEST_BUDGET:
        raise InvalidBudget(f"the budget {budget} is not between 0 and 2^64 - 1")


def budget_of(text: str) -> int:
    """Read a budget as people write it: ASCII digits, perhaps with a plus. Raises: InvalidBudget."""
    digits = text.removeprefix("+")
    significant = digits.lstrip("0")
    if digits.isascii() and digits.isdigit() and len(significant) <= len(str(LARGEST_BUDGET)):
        budget = int(significant or "0")
        if budget <= LARGEST_BUDGET:
            return budget
    raise InvalidBudget(f"invalid budget {text!r}", reason="it must be an integer from 0 to 2^64 - 1")


def _selection(opened: Folder, query: Query, budget: int, stop: Stop | None) -> Selection:
    terms = frozenset(query.terms)
    scores, tokens, hits, totals = array("f"), array("Q"), array("Q"), array("Q")
    kept = _Kept(budget)
    listed = verify.manifest(opened)
    for number, content in enumerate(verify.contents(opened, listed, stop=stop)):
        term_matches, total_words = select.matches(content.text, terms)
        score = select.score(term_matches, total_words)
        hits.append(term_matches)
        totals.append(total_words)
        scores.append(score)
        tokens.append(select.tokens_of(content.size))
        kept.offer(score, number, content)
    taken, used = select.fill(scores, tokens, budget)
    chosen = []
    for number in taken:
        entry = listed.documents[number]
        text = kept.texts.get(number) or verify.content(opened, entry)[0]
        chosen.append(
            Chosen(entry.id, entry.version, text, scores[number], tokens[number], hits[number], totals[number])
        )
    return Selection(chosen, query, budget, used, len(listed.documents))


class _Kept:
    """The contents that will be selected as far as one can tell: the best so far that fill the budget.

    What turns out to be selected and is not here is read again; so this saves time, and decides nothing.
    """

    def __init__(self, budget: int) -> None:
        self.texts: dict[int, str] = {}
        self._room = min(4 * budget, _KEPT_BYTES)
        self._worst: list[tuple[float, int, int]] = []  # a heap: lowest score first, then highest number
        self._bytes = 0

    def offer(self, score: float, number: int, content: verify.Content) -> None:
        """Keep a content if it is among the best, and drop those that it displaces."""
        if content.size > self._room or not self._room:
            return
        full = self._bytes >= self._room
        if full and (score, -number) < self._worst[0][:2]:
            return
        heappush(self._worst, (score, -number, content.size))
        self.texts[number] = content.text
        self._bytes += content.size
        while self._bytes - self._worst[0][2] >= self._room:
            _, worst, size = heappop(self._worst)
            del self.texts[-worst]
            self._bytes -= size
