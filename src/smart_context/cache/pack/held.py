"""Hold the words of a cache in memory, so that a server packs without reading it again.

In: a cache's documents, once; then questions.  Out: what `pack` gives, from the same counts.
Always: the numbers are those of counting in the texts; only the documents that may be given are read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from smart_context.cache import inverted
from smart_context.cache.pack import count, normal, pack, passages, question, score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smart_context.cache.folder import Folder
    from smart_context.cache.manifest import Manifest
    from smart_context.cache.pack.choose import Ranked
    from smart_context.cache.pack.model import Packed
    from smart_context.cache.pack.passages import Passage
    from smart_context.cache.pack.question import Term
    from smart_context.model import Stop

_CUT = 1024  # documents whose passages are kept
_WORD_BYTES = 60  # a word of the vocabulary, with its place in the list


class Held:
    """The words of a cache. `add` every document, `finish`, then ask."""

    def __init__(self) -> None:
        self._words = inverted.Inverted()
        self._met: set[bytes] = set()
        self._vocabulary: list[bytes] = []
        self._sizes: list[int] = []
        self._passages: dict[str, list[Passage]] = {}

    def add(self, document_id: str, text: str, size: int) -> None:
        """Take in the next document, of so many bytes."""
        words = _counted_apart(pack.counted_words(document_id, text))
        self._met.update(words.split())
        self._words.add_words(words, size)
        self._sizes.append(size)

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
        return self._words.nbytes + _WORD_BYTES * words + 8 * len(self._sizes)

    def packed(self, opened: Folder, listed: Manifest, request: tuple[str, int, str], stop: Stop | None) -> Packed:
        """Return what `pack.packed` returns. Raises: CacheInvalid, IoError; whatever `stop` raises."""
        asked = question.read(request[0])
        counter = count.Counter(asked)
        times = [self._times(term, counter) for term in asked.terms]
        having = [len(found) for found, _ in times]
        weights = score.weights((term.weight for term in asked.terms), having, len(self._sizes))
        scores = np.zeros(len(self._sizes), dtype=np.int64)
        for weight, (found, often) in zip(weights, times, strict=True):
            scores[found] += weight * score.saturated(np.minimum(often, score.MOST_TIMES), self._drags[found])
        matching = np.flatnonzero(scores)
        order = matching[np.argsort(-scores[matching], kind="stable")]
        best_first = ((int(number), int(scores[number])) for number in order)
        return pack.chosen(opened, listed, counter, best_first, weights, request, len(matching), stop, self._cut)

    def _cut(self, ranked: Ranked) -> list[Passage]:
        """The passages of a document; those of documents that were asked for lately are known."""
        known = self._passages.get(ranked.id)
        if known is None:
            if len(self._passages) == _CUT:
                self._passages.clear()
            known = self._passages[ranked.id] = passages.cut(ranked.text)
        return known

    def _times(self, term: Term, counter: count.Counter) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The documents that have a term, and how often."""
        words = [
            word.decode() for word in self._candidates(term) if term.is_unspaced or counter.stem(word) == term.text
        ]
        if not words:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64)
        often = self._words.matches(words)
        found = np.flatnonzero(often)
        return found, often[found].astype(np.int64)

    def _candidates(self, term: Term) -> Iterator[bytes]:
        at = bisect_left(self._vocabulary, term.beginning)
        while at < len(self._vocabulary) and self._vocabulary[at].startswith(term.beginning):
            yield self._vocabulary[at]
            at += 1


def _counted_apart(words: bytes) -> bytes:
    """Put spaces between the pairs in which a run of a script without spaces is counted."""
    if words.isascii():
        return words
    apart = (" ".join(normal.pairs(word)) if normal.is_unspaced(word) else word for word in words.decode().split())
    return " ".join(apart).encode()
