"""Count every word of every document once, so that later queries read none of them.

In: documents' contents in the order of ids.  Out: for any terms, each document's matches, words and tokens.
Always: the numbers are those that reading the documents again would give.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from smart_context.cache import select, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK = 4096  # documents a block: their numbers fit 16 bits, and sorting a block takes little memory
_BLOCK_WORDS = 8 * 1024 * 1024
_STRIDE = 256
_WORD_BYTES = 130  # a word in the vocabulary: the string, its number, its slot


class _Block(NamedTuple):
    """The words of consecutive documents: for `terms[i]`, the documents and counts in `[starts[i], starts[i + 1])`."""

    first: int
    size: int
    terms: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    documents: NDArray[np.uint16]
    counts: NDArray[np.unsignedinteger]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.documents.nbytes + self.counts.nbytes


class Inverted:
    """The words of a cache. `add` every document, `finish`, then ask."""

    def __init__(self) -> None:
        self._vocabulary: defaultdict[str, int] = defaultdict()
        self._vocabulary.default_factory = self._vocabulary.__len__
        self._blocks: list[_Block] = []
        self._pending_words = array("I")
        self._pending_totals = array("I")
        self._totals = array("Q")
        self._tokens = array("Q")

    def add(self, content: str, size: int) -> None:
        """Take in the next document, of so many bytes."""
        found = words.of(content)
        if len(found) > 1:  # the fastest way through a dictionary that there is
            self._pending_words.fromlist(list(itemgetter(*found)(self._vocabulary)))
        else:
            self._pending_words.extend(self._vocabulary[word] for word in found)
        self._pending_totals.append(len(found))
        self._totals.append(len(found))
        self._tokens.append(select.tokens_of(size))
        if len(self._pending_totals) == _BLOCK or len(self._pending_words) > _BLOCK_WORDS:
            self._close_block()

    def finish(self) -> None:
        """Take in no more."""
        import numpy as np

        self._close_block()
        self._vocabulary.default_factory = None
        self.totals: NDArray[np.uint64] = np.frombuffer(self._totals, dtype=np.uint64)
        self.tokens: NDArray[np.uint64] = np.frombuffer(self._tokens, dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        """The memory that this takes, about."""
        arrays = (self._totals, self._tokens, self._pending_words, self._pending_totals)
        return (
            sum(block.nbytes for block in self._blocks)
            + sum(one.itemsize * len(one) for one in arrays)
            + _WORD_BYTES * len(self._vocabulary)
        )

    def matches(self, terms: Iterable[str]) -> NDArray[np.float64]:
        """Return how many words of each document are among the distinct terms."""
        import numpy as np

        known = [self._vocabulary[term] for term in terms if term in self._vocabulary]
        wanted = np.array(sorted(known), dtype=np.uint32)
        hits = np.zeros(len(self.totals))
        for block in self._blocks:
            at = np.searchsorted(block.terms, wanted)
            present = at[(at < len(block.terms)) & (block.terms.take(at, mode="clip") == wanted)]
            if not len(present):
                continue
            spans = [slice(block.starts[i], block.starts[i + 1]) for i in present.tolist()]
            hits[block.first : block.first + block.size] = np.bincount(
                np.concatenate([block.documents[span] for span in spans]),
                np.concatenate([block.counts[span] for span in spans]),
                block.size,
            )
        return hits

    def scores(self, hits: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the documents' scores for so many matches each."""
        import numpy as np

        scores = np.zeros(len(hits), dtype=np.float32)
        np.divide(hits.astype(np.float32), self.totals.astype(np.float32), out=scores, where=self.totals > 0)
        return scores

    def _close_block(self) -> None:
        import numpy as np

        size = len(self._pending_totals)
        if not size:
            return
        owners = np.repeat(np.arange(size, dtype=np.uint64), self._pending_totals)
        # One number a word, the term above the document: sorted, equal ones stand together, term by term.
        pairs = (np.frombuffer(self._pending_words, dtype=np.uint32).astype(np.uint64) << np.uint64(16)) | owners
        pairs, counts = np.unique(pairs, return_counts=True)
        terms, starts = np.unique((pairs >> np.uint64(16)).astype(np.uint32), return_index=True)
        self._blocks.append(
            _Block(
                len(self._totals) - size,
                size,
                terms,
                np.append(starts, len(pairs)).astype(np.uint32),
                (pairs & np.uint64(0xFFFF)).astype(np.uint16),
                counts.astype(np.min_scalar_type(int(counts.max(initial=0)))),
            )
        )
        self._pending_words = array("I")
        self._pending_totals = array("I")


def fill(scores: NDArray[np.float32], tokens: NDArray[np.uint64], budget: int) -> tuple[list[int], int]:
    """Choose as `select.fill` does, without looking at documents that are too large for what is left of the budget."""
    import numpy as np

    if budget == 0:
        return [], 0
    matching = np.flatnonzero(scores)
    best_first = matching[np.argsort(-scores[matching], kind="stable")]
    order = np.concatenate([best_first, np.flatnonzero(scores == 0)])
    costs = tokens[order]
    cheapest = np.minimum.accumulate(costs[::-1])[::-1]
    taken, left = [], budget
    for at in range(0, len(order), _STRIDE):
        if int(cheapest[at]) > left:
            break
        stride = slice(at, at + _STRIDE)
        for number, cost in zip(order[stride].tolist(), costs[stride].tolist(), strict=True):
            if cost <= left:
                taken.append(number)
                left -= cost
    return taken, budget - left
