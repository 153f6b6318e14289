"""Find what the best results have in common, and which others say it too.

In: packed segments and their scores.  Out: for each, from 0 to 1, how much it says of what the best say more than the rest.
Always: the answer does not depend on the order of the segments; the words of the question have no part of their own in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from smart_context.find.score import DIGITS, K1, B
from smart_context.text import codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

BEST = 10  # results whose words are taken
TERMS = 50  # of them, those that tell most
_SHORT = 512  # segments whose numbers fit beside a word's in four bytes
_TWO = 2  # results that must have a word: what one says alone is its own


def common(packed: Sequence[bytes], scores: Sequence[float], average: float) -> list[float]:
    """How much each segment says of what the best have in common; average: the words of a segment."""
    order = sorted(range(len(packed)), key=lambda at: (-scores[at], packed[at]))
    if not order or scores[order[0]] <= 0:
        return [0.0] * len(packed)
    owners, terms, counts = _counted([packed[at] for at in order], average)
    ranked = np.array([scores[at] for at in order])
    trust = np.where(ranked >= ranked[min(BEST, len(ranked)) - 1], ranked, 0.0)
    trust /= trust.sum()
    having = np.bincount(terms)
    rare = np.log(1 + (len(order) - having + 0.5) / (having + 0.5))
    best = trust[owners] > 0
    weights = np.bincount(terms[best], (trust[owners] * counts)[best], minlength=len(having)) * rare
    weights[np.bincount(terms[best], minlength=len(having)) < _TWO] = 0.0
    if len(weights) > TERMS:
        weights[weights < np.partition(weights, -TERMS)[-TERMS]] = 0.0
    says = np.bincount(owners, counts * (weights * rare)[terms], minlength=len(order))
    out = np.empty(len(order))
    out[order] = np.round(says / (says.max() or 1.0), DIGITS)
    said: list[float] = out.tolist()
    return said


def _counted(
    packed: Sequence[bytes], average: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Each word of each segment once: whose it is, its number, and how much it counts by how often it stands there."""
    size = codes.HEADER.size
    headers = [codes.HEADER.unpack_from(one) for one in packed]
    lines = [one[size : size + codes.WIDTH * header[1]] for one, header in zip(packed, headers, strict=True)]
    data = b"".join(lines)
    count, many = len(data) // codes.WIDTH, len(packed)
    low = np.ndarray((count,), "<u2", data, strides=(codes.WIDTH,)) if count else np.empty(0, np.uint16)
    high = np.frombuffer(data, np.uint8)[codes.WIDTH - 1 :: codes.WIDTH] & (codes.MASK >> 16)
    words = low.astype(np.uint32) + (high.astype(np.uint32) << 16)
    whose = np.repeat(np.arange(many, dtype=np.uint32), [header[1] for header in headers])
    # Put in order by word, then by segment: so that one pass numbers the words, and counts each of a segment.
    both = np.sort((words if many <= _SHORT else words.astype(np.uint64)) * many + whose)
    first = np.flatnonzero(np.append(True, both[1:] != both[:-1])) if count else np.empty(0, np.int64)
    times = np.diff(first, append=count)
    found, owners = np.divmod(both[first], many)
    terms = np.cumsum(np.append(False, found[1:] != found[:-1]), dtype=np.int64) if count else first
    lengths = np.array([header[0] for header in headers], np.float64)
    room = K1 * (1 - B + B * lengths / (average or 1.0))
    return owners.astype(np.int64), terms, times / (times + room[owners])
