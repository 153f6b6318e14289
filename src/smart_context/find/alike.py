"""Let candidates that are alike in meaning speak for each other.

In: the cosines between candidates, and their scores.  Out: cosines to the query that are less for what is like everything, and scores of which
each candidate has a share from those that it is most like.
Always: the answer does not depend on the order of the candidates (sums are of whole numbers); a candidate without a vector keeps as much of its
score as the others do on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from smart_context.engine.vectors import DIGITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smart_context.engine.vectors import Likeness

    Numbers = NDArray[np.int64]

NEIGHBOURS = 5  # candidates that speak for another: those that it is most like
_ONE = 10**DIGITS


class Alike:
    """Candidates that have a vector, and which of them are most like each."""

    def __init__(self, likeness: Likeness, segments: Sequence[int]) -> None:
        found, cosines = likeness.among(segments)
        self._segments = found.tolist()
        self._few = len(self._segments) <= NEIGHBOURS
        if self._few:
            return
        np.fill_diagonal(cosines, -_ONE)
        nearest = np.partition(cosines, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:]
        self._close = nearest.sum(axis=1)
        # All that equal the last are taken: which of them came first tells nothing.
        self._by: Numbers = np.where(cosines >= nearest.min(axis=1)[:, None], np.maximum(cosines, 0), 0)

    def unlike_others(self, cosines: Mapping[int, float], share: float) -> dict[int, float]:
        """The cosines to a query, each less by a share of how much liker its segment is to its neighbours than the mean is."""
        if self._few:
            return dict(cosines)
        mean = int(self._close.sum()) / len(self._segments)
        more = (share * (self._close - mean) / (NEIGHBOURS * _ONE)).tolist()
        less = dict(zip(self._segments, more, strict=True))
        return {segment: cosine - less.get(segment, 0.0) for segment, cosine in cosines.items()}

    def shared(self, scores: Mapping[int, float], share: float) -> dict[int, float]:
        """The scores, each with a share of what its neighbours score, in proportion to how like they are."""
        if self._few or not share:
            return dict(scores)
        own = np.array([round(scores[segment] * _ONE) for segment in self._segments], np.int64)
        weights = self._by.sum(axis=1)
        theirs = np.where(weights > 0, self._by @ own / np.maximum(weights, 1), own)
        kept = float(np.rint(theirs).sum()) / max(1, int(own.sum()))
        out = {segment: score * (1 - share + share * kept) for segment, score in scores.items()}
        out.update(zip(self._segments, ((1 - share) * own / _ONE + share * theirs / _ONE).tolist(), strict=True))
        return out
