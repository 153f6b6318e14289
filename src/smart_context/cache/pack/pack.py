"""Pack the passages that answer a question: verify, count, rank, choose.

In: a cache directory, a query, a budget.  Out: `Packed`, or its bytes.
Always: no answer comes from a cache that does not verify; the same cache, query, budget and rule of counting give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from smart_context.cache import folder, resolve, verify
from smart_context.cache.pack import choose, count, normal, passages, question, render, score, tokens
from smart_context.cache.pack.model import Packed

if TYPE_CHECKING:
    from smart_context.cache.folder import Folder
    from smart_context.cache.manifest import Manifest
    from smart_context.model import Stop

FORMATS: dict[str, Callable[[Packed], bytes]] = {"markdown": render.markdown, "json": render.json}


def packed(
    cache: str | os.PathLike[str], query: str, budget: int, *, counting: str = tokens.DEFAULT, stop: Stop | None = None
) -> Packed:
    """Return the passages of a cache that answer the query within the budget.

    Raises: InvalidQuery, InvalidBudget, UsageError, CacheMissing, CacheInvalid, IoError; whatever `stop` raises.
    """
    resolve.check(query, budget)
    tokens.counting(counting)
    return folder.read(cache, lambda opened: _packed(opened, query, budget, counting, stop))


def counted_words(document_id: str, text: str) -> bytes:
    """Return the words of a document that are counted: its name's and its first heading's once more than they stand in the text."""
    heading = text[: text.find("\n") + 1 or len(text)] if text.startswith("#") else ""
    return normal.words(f"{document_id.removesuffix('.md')}\n{heading}\n{text}")


def chosen(
    opened: Folder,
    listed: Manifest,
    counter: count.Counter,
    best_first: Iterable[tuple[int, int]],
    weights: list[int],
    request: tuple[str, int, str],
    matching: int,
    stop: Stop | None,
    cutter: choose.Cutter = lambda ranked: passages.cut(ranked.text),
) -> Packed:
    """Choose among documents, given as number and score, best first.

    The counter has counted every document; `request` is the query, the budget, the rule of counting.
    """
    query, budget, counting = request
    found = _read(opened, listed, best_first, stop)
    excerpts = choose.excerpts(found, counter, weights, budget, tokens.counting(counting), cutter)
    used = sum(one.tokens for one in excerpts)
    return Packed(excerpts, listed.cache_version, query, budget, counting, used, len(listed.documents), matching)


def _packed(opened: Folder, query: str, budget: int, counting: str, stop: Stop | None) -> Packed:
    asked = question.read(query)
    counter = count.Counter(asked)
    listed = verify.manifest(opened)
    found: list[tuple[int, int, dict[int, int]]] = []  # number, size, counts
    having = [0] * len(asked.terms)
    sizes = 0
    for number, content in enumerate(verify.contents(opened, listed, stop=stop)):
        sizes += content.size
        counts = counter.count(counted_words(content.entry.id, content.text))
        if counts:
            found.append((number, content.size, counts))
            for term in counts:
                having[term] += 1
    weights = score.weights((term.weight for term in asked.terms), having, len(listed.documents))
    ranked = sorted(
        (-score.text(counts, weights, score.drag(size, sizes, len(listed.documents))), number)
        for number, size, counts in found
    )
    best_first = ((number, -minus) for minus, number in ranked)
    return chosen(opened, listed, counter, best_first, weights, (query, budget, counting), len(found), stop)


def _read(
    opened: Folder, listed: Manifest, ranked: Iterable[tuple[int, int]], stop: Stop | None
) -> Iterator[choose.Ranked]:
    for number, scored in ranked:
        if stop:
            stop()
        entry = listed.documents[number]
        text, _ = verify.content(opened, entry)
        yield choose.Ranked(number, entry.id, entry.version, scored, text)
