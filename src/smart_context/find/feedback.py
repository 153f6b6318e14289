"""Pseudo-relevance feedback: find the terms that the best results have in common, and score all candidates by them.

In: packed segments and their scores.  Out: a score from 0 to 1 for each: how much it has of the terms that the best have more often than the rest.
Always: the answer does not depend on the order of the segments; the words of the query are treated as any other.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from smart_context.find.score import DIGITS, K1, B
from smart_context.text import codes

try:
    from smart_context.find import _feedback as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float64]

BEST = 10  # results whose terms are considered
TERMS = 50  # of these terms, those with the highest weights
_BESIDE = 32  # bits for the number of a segment, below those for a term
_TWO = 2  # of the best must have a term: a term of one alone is not common


def common(packed: Sequence[bytes], scores: Sequence[float], average: float) -> list[float]:
    """The score of each segment by the terms that the best have in common; average: the mean number of words of a segment."""
    order = sorted(range(len(packed)), key=lambda at: (-scores[at], packed[at]))
    if not order or scores[order[0]] <= 0:
        return [0.0] * len(packed)
    several = [packed[at] for at in order]
    lengths = np.array([codes.HEADER.unpack_from(one)[0] for one in several], np.float64)
    room = K1 * (1 - B + B * lengths / (average or 1.0))
    ranked = np.array([scores[at] for at in order])
    trust = np.where(ranked >= ranked[min(BEST, len(ranked)) - 1], ranked, 0.0)
    trust /= trust.sum()
    having = np.arange(len(order) + 1)
    rare = np.log(
        1 + (len(order) - having + 0.5) / (having + 0.5)
    )  # the idf of a term, by the number of segments that have it
    if compiled and sys.byteorder == "little":
        says = np.frombuffer(compiled.said(several, trust, room, rare, TERMS))
    else:
        says = _said(several, trust, room, rare)
    out = np.empty(len(order))
    out[order] = np.round(says / (says.max() or 1.0), DIGITS)
    said: list[float] = out.tolist()
    return said


def _said(packed: Sequence[bytes], trust: Floats, room: Floats, rare: Floats) -> Floats:
    """The score of each segment; trust: the weight of each of the best, 0 for the others."""
    owners, terms, times = _counted(packed)
    having = np.bincount(terms)
    worth = rare[having]

    def counts(some: Numbers) -> Floats:
        """BM25 term frequencies."""
        found: Floats = times[some] / (times[some] + room[owners[some]])
        return found

    best = np.flatnonzero((trust > 0)[owners])
    theirs = terms[best]
    weights = np.bincount(theirs, trust[owners[best]] * counts(best), minlength=len(having)) * worth
    weights[np.bincount(theirs, minlength=len(having)) < _TWO] = 0.0
    if len(weights) > TERMS:
        weights[weights < np.partition(weights, -TERMS)[-TERMS]] = 0.0
    telling = np.flatnonzero((weights > 0)[terms])  # the others add nothing
    said_by = counts(telling) * (weights * worth)[terms[telling]]
    return np.bincount(owners[telling], said_by, minlength=len(packed)).astype(np.float64)


def _counted(packed: Sequence[bytes]) -> tuple[Numbers, Numbers, Numbers]:
    """Each term of each segment once: the segment, the number of the term, and its frequency."""
    size = codes.HEADER.size
    sizes = [codes.HEADER.unpack_from(one)[1] for one in packed]
    data = b"".join([one[size : size + codes.WIDTH * words] for one, words in zip(packed, sizes, strict=True)])
    count = len(data) // codes.WIDTH
    low = np.ndarray((count,), "<u2", data, strides=(codes.WIDTH,)) if count else np.empty(0, np.uint16)
    high = np.frombuffer(data, np.uint8)[codes.WIDTH - 1 :: codes.WIDTH] & (codes.MASK >> 16)
    words = (low.astype(np.int64) + (high.astype(np.int64) << 16)) << _BESIDE
    # Term and segment as one number, sorted by term, then by segment, so that one pass numbers the terms and counts them.
    both = np.sort(words | np.repeat(np.arange(len(packed)), sizes))
    first = np.flatnonzero(np.append(True, both[1:] != both[:-1])) if count else np.empty(0, np.int64)
    times = np.diff(first, append=count)
    each = both[first]
    found, owners = each >> _BESIDE, each & ((1 << _BESIDE) - 1)
    terms = np.cumsum(np.append(False, found[1:] != found[:-1]), dtype=np.int64) if count else first
    return owners, terms, times
