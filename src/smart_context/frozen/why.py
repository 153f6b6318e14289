"""Explain what `resolve` selects: for every document its rank, its cost, and what took its room.

In: a cache directory, a query, a budget.  Out: a `Reason` for each document, best first.
Always: rank, score and choice are those of `resolve`, computed by the same functions.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from smart_context.cache import folder, resolve, select, verify
from smart_context.cache.exact_json import decimal, string
from smart_context.errors import NotFound

if TYPE_CHECKING:
    from smart_context.cache.folder import Folder
    from smart_context.model import Stop

_SHOWN = 5  # documents named that took the room of another


class Reason(NamedTuple):
    """Why a document is selected or not.

    rank: from 1.  left: tokens of the budget that were left when its turn came.  instead: of the documents that were taken before it, the
    largest, as id and tokens; empty unless they took its room.
    """

    id: str
    rank: int
    score: float
    term_matches: int
    total_words: int
    tokens: int
    left: int
    is_taken: bool
    instead: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """The reason in a sentence."""
        matches = "it matches nothing" if not self.term_matches else ""
        if self.is_taken:
            return f"taken, though {matches}" if matches else "taken"
        room = f"it has {self.tokens} tokens, and {self.left} were left"
        return f"not taken: {room}" + (f"; {matches}" if matches else "")


def reasons(cache: str | os.PathLike[str], query: str, budget: int, *, stop: Stop | None = None) -> list[Reason]:
    """Return a reason for every document, in the order in which `resolve` looks at them.

    Raises: InvalidQuery, InvalidBudget, CacheMissing, CacheInvalid, IoError; whatever `stop` raises.
    """
    resolve.check(query, budget)
    terms = frozenset(select.query_of(query).terms)
    return folder.read(cache, lambda opened: _reasons(opened, terms, budget, stop))


def about(found: list[Reason], document_id: str) -> Reason:
    """Return the reason of one document. Raises: NotFound."""
    for one in found:
        if one.id == document_id:
            return one
    import difflib

    near = difflib.get_close_matches(document_id, [one.id for one in found], n=1)
    raise NotFound(f"no document {document_id!r} in the cache", hint=f"did you mean {near[0]!r}?" if near else None)


def to_json(found: list[Reason], query: str, budget: int) -> bytes:
    """Return the reasons as compact JSON with a newline at the end."""
    rows = ",".join(
        f'{{"id":{string(one.id)},"rank":{one.rank},"score":{decimal(one.score)},"term_matches":{one.term_matches}'
        f',"total_words":{one.total_words},"tokens":{one.tokens},"taken":{"true" if one.is_taken else "false"}'
        f',"tokens_left":{one.left},"reason":{string(one.words)},"instead":['
        + ",".join(f'{{"id":{string(other)},"tokens":{tokens}}}' for other, tokens in one.instead)
        + "]}"
        for one in found
    )
    return f'{{"query":{string(query)},"budget":{budget},"documents":[{rows}]}}\n'.encode()


def _reasons(opened: Folder, terms: frozenset[str], budget: int, stop: Stop | None) -> list[Reason]:
    listed = verify.manifest(opened)
    hits, totals, scores, tokens = [], [], [], []
    for content in verify.contents(opened, listed, stop=stop):
        matches, words = select.matches(content.text, terms)
        hits.append(matches)
        totals.append(words)
        scores.append(select.score(matches, words))
        tokens.append(select.tokens_of(content.size))
    taken = set(select.fill(scores, tokens, budget)[0])
    out: list[Reason] = []
    left = budget
    before: list[tuple[str, int]] = []  # the largest of what was taken, largest first
    for rank, number in enumerate(sorted(range(len(scores)), key=scores.__getitem__, reverse=True), 1):
        entry = listed.documents[number]
        is_taken = number in taken
        blamed = tuple(before) if not is_taken and tokens[number] <= budget else ()
        out.append(
            Reason(entry.id, rank, scores[number], hits[number], totals[number], tokens[number], left, is_taken, blamed)
        )
        if is_taken:
            left -= tokens[number]
            before = sorted([*before, (entry.id, tokens[number])], key=lambda one: (-one[1], one[0]))[:_SHOWN]
    return out
