"""Hold the words of a cache in memory, so that a server packs without reading it again.

In: a cache's documents, once; then questions.  Out: what `pack` gives, from the same counts.
Always: the numbers are those of counting in the texts; only the documents that may be given are read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from smart_context.cache import inverted
from smart_context.cache.pack import count, normal, pack, passages, question, score
from smart_context.cache.pack.passages import Passage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smart_context.cache.folder import Folder
    from smart_context.cache.manifest import Manifest
    from smart_context.cache.pack.choose import Ranked
    from smart_context.cache.pack.model import Packed
    from smart_context.cache.pack.question import Term
    from smart_context.model import Stop

_WORD_BYTES = 60  # a word of the vocabulary, with its place in the list
_FIRST = 128  # documents that are put in order first: mostly nobody asks for more


class Held:
    """The words of a cache. `add` every document, `finish`, then ask."""

    def __init__(self) -> None:
        self._words = inverted.Inverted()
        self._met: set[bytes] = set()
        self._vocabulary: list[bytes] = []
        self._sizes: list[int] = []
        self._spans = array("I")  # where the passages of all documents stand, one after the other
        self._ends = array("Q", [0])  # where those of each document end in it

    def add(self, document_id: str, text: str, size: int) -> None:
        """Add the next document, and its size in bytes."""
        words = _counted_apart(pack.counted_words(document_id, text))
        self._met.update(words.split())
        self._words.add_words(words, size)
        self._sizes.append(size)
        for span in passages.spans(text):
            self._spans.extend(span)
        self._ends.append(len(self._spans))

    def finish(self) -> None:
        """Take in no more."""
        self._words.finish()
        self._vocabulary = sorted(self._met)
        self._met = set()
        sizes = sum(self._sizes)
        self._drags: NDArray[np.int64] = np.array(
            [score.drag(size, sizes, len(self._sizes)) for size in self._sizes], dtype=np.int64
        )

    @property
    def nbytes(self) -> int:
        """The memory that this takes, about."""
        words = len(self._met) + len(self._vocabulary)
        spans = self._spans.itemsize * len(self._spans)
        return self._words.nbytes + _WORD_BYTES * words + spans + 16 * len(self._sizes)

    def packed(self, opened: Folder, listed: Manifest, request: tuple[str, int, str], stop: Stop | None) -> Packed:
        """Return what `pack.packed` returns. Raises: CacheInvalid, IoError; whatever `stop` raises."""
        asked = question.read(request[0])
        counter = count.Counter(asked)
        found = self._words.found([self._forms(term, counter) for term in asked.terms])
        having = [len(numbers) for numbers, _ in found]
        weights = score.weights((term.weight for term in asked.terms), having, len(self._sizes))
        scores = np.zeros(len(self._sizes), dtype=np.int64)
        for weight, (numbers, often) in zip(weights, found, strict=True):
            scores[numbers] += weight * score.saturated(np.minimum(often, score.MOST_TIMES), self._drags[numbers])
        matching = np.flatnonzero(scores)
        ranked = _best_first(matching, scores[matching])
        return pack.chosen(opened, listed, counter, ranked, weights, request, len(matching), stop, self._cut)

    def _cut(self, ranked: Ranked) -> list[Passage]:
        """The passages of a document."""
        begin, end = self._ends[ranked.number : ranked.number + 2]
        numbers = iter(self._spans[begin:end])
        return [
            Passage(start, stop, ranked.text[heading:heading_end])
            for start, stop, heading, heading_end in zip(numbers, numbers, numbers, numbers, strict=True)
        ]

    def _forms(self, term: Term, counter: count.Counter) -> list[str]:
        """The words of the cache that count as a term."""
        known = self._vocabulary
        found = []
        for at in range(bisect_left(known, term.beginning), len(known)):
            word = known[at]
            if not word.startswith(term.beginning):
                break
            if term.is_unspaced or counter.stem(word) == term.text:
                found.append(word.decode())
        return found


def _best_first(numbers: NDArray[np.intp], scores: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield documents by their scores, those of one score by number. Only as much is sorted as is asked for."""
    first = _FIRST
    while len(numbers):
        is_first = scores >= (np.partition(scores, -first)[-first] if first < len(scores) else 0)
        chosen, theirs = numbers[is_first], scores[is_first]
        order = np.argsort(-theirs, kind="stable")
        yield from zip(chosen[order].tolist(), theirs[order].tolist(), strict=True)
        numbers, scores, first = numbers[~is_first], scores[~is_first], 8 * first


def _counted_apart(words: bytes) -> bytes:
    """Put spaces between the pairs in which a run of a script without spaces is counted."""
    if words.isascii():
        return words
    apart = (" ".join(normal.pairs(word)) if normal.is_unspaced(word) else word for word in words.decode().split())
    return " ".join(apart).encode()
