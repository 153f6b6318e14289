"""Smooth scores over candidates that are similar in meaning: each takes a share from its nearest neighbours.

In: the cosines between candidates, and their scores.  Out: cosines to the query, lowered for segments that are similar to everything; smoothed scores.
Always: the answer does not depend on the order of the candidates (sums are of integers); a candidate without a vector keeps as much of its
score as the others on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from smart_context.engine.vectors import DIGITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smart_context.engine.vectors import Likeness

    Column = NDArray[np.float64]  # one score per segment

NEIGHBOURS = 5  # nearest candidates that each candidate takes a share from
_ONE = 10**DIGITS


class Alike:
    """The candidates that have a vector, and the nearest neighbours of each."""

    def __init__(self, likeness: Likeness, segments: Sequence[int]) -> None:
        found, self._neighbours = likeness.neighbours(segments, NEIGHBOURS)
        self._segments: list[int] = found.tolist()

    def unlike_others(self, cosines: Mapping[int, float], share: float) -> dict[int, float]:
        """The cosines to a query, each lowered by a share of how much more similar its segment is to its neighbours than the average segment."""
        if self._neighbours is None:
            return dict(cosines)
        close = self._neighbours.close
        mean = int(close.sum()) / len(self._segments)
        more = (share * (close - mean) / (NEIGHBOURS * _ONE)).tolist()
        less = dict(zip(self._segments, more, strict=True))
        return {segment: cosine - less.get(segment, 0.0) for segment, cosine in cosines.items()}

    def shared(self, segments: Sequence[int], scores: Column, share: float) -> Column:
        """The scores of segments, of which a share is the mean score of their neighbours, weighted by similarity."""
        if self._neighbours is None or not share:
            return scores
        _, counts, others, like = self._neighbours
        place_of = dict(zip(segments, range(len(segments)), strict=True))
        places = np.array([place_of[segment] for segment in self._segments])
        own = np.rint(scores[places] * _ONE).astype(np.int64)
        starts = np.cumsum(counts) - counts
        weights = np.add.reduceat(like, starts)
        theirs = np.where(weights > 0, np.add.reduceat(like * own[others], starts) / np.maximum(weights, 1), own)
        kept = float(np.rint(theirs).sum()) / max(1, int(own.sum()))
        out = scores * (1 - share + share * kept)
        out[places] = (1 - share) * own / _ONE + share * theirs / _ONE
        return out
