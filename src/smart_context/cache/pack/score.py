"""Score documents and passages by BM25, in whole numbers.

In: how often each term occurs, and sizes in bytes.  Out: scores, in units of 1 / `UNIT`.
Always: the same counts give the same score on every machine: nothing here is rounded by a floating-point unit or a library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = TypeVar("Whole", int, NDArray[np.int64])

BITS = 12
UNIT = 1 << 2 * BITS
MOST_TIMES = 1 << 16  # more occurrences than this count as this many
_MOST_DRAG = 1 << 18  # so that one occurrence still counts
_USUAL = 300  # bytes of a passage whose length neither helps nor harms it


def weights(repeated: Iterable[int], having: Iterable[int], documents: int) -> list[int]:
    """Return each term's weight, from how often it is asked for and how many documents have it."""
    return [times * rarity(documents, found) for times, found in zip(repeated, having, strict=True)]


def rarity(documents: int, having: int) -> int:
    """Return log2((documents + 1) / (having + 1/2)), in units of 1 / 2^BITS, rounded down but never 0."""
    above, below = 2 * documents + 2, 2 * having + 1
    result = max(above.bit_length() - below.bit_length() - 1, 0)
    result += above >= below << (result + 1)
    # The rest is the logarithm of a number from 1 to 2, one bit a step: the square of a number has twice its logarithm.
    number = (above << 64) // (below << result)
    for _ in range(BITS):
        number = number * number >> 64
        result <<= 1
        if number >> 65:
            number >>= 1
            result += 1
    return max(result, 1)


def drag(size: int, sizes: int, count: int) -> int:
    """Return the length normalisation of a text's score, in units of 1/256: 1.2 for the mean of `count` texts with `sizes` in all."""
    return min(256 * (3 * sizes + 9 * size * count) // max(10 * sizes, 1) + 1, _MOST_DRAG)


def saturated(times: Whole, dragged: Whole) -> Whole:
    """Return times / (times + drag), in units of 1 / 2^BITS. Of arrays, 64 bits hold every product."""
    return (times << (BITS + 8)) // ((times << 8) + dragged)


def text(counts: Mapping[int, int], weighted: Sequence[int], dragged: int) -> int:
    """Return the score of a text with these counts by term."""
    whole = BITS + 8  # as `saturated`, without a call for each term
    total = 0
    for term, times in counts.items():
        often = min(times, MOST_TIMES)
        total += weighted[term] * ((often << whole) // ((often << 8) + dragged))
    return total


def passage(counts: Mapping[int, int], weighted: Sequence[int], size: int) -> int:
    """Return the score of a passage of so many bytes by itself."""
    return text(counts, weighted, drag(size, _USUAL, 1))
