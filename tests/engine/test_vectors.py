"""The nearest vectors are the same, whether what is compiled compares them or Python does."""

from __future__ import annotations

import numpy as np
import pytest

from compiled import both
from smart_context.engine import vectors
from smart_context.engine.vectors import Vectors


def units(count, dimension, seed=1):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("dimension", [2, 16, 17, 384, 1100])
def test_what_is_compiled_gives_the_same_nearest(tmp_path, dimension):
    store = Vectors(tmp_path / "v", dimension)
    store.append((n, 1, row) for n, row in enumerate(units(600, dimension)))
    for query in units(20, dimension, seed=4):
        like = store.compare(query)
        places = np.arange(0, 600, 7)
        quickly, slowly = both(lambda like=like, places=places: like._compared(places), vectors)
        assert np.abs(quickly - slowly).max() < vectors._CLOSE / 2
        quickly, slowly = both(lambda like=like: like.nearest(40), vectors)
        assert quickly == slowly


@pytest.mark.skipif(vectors.compiled is None, reason="not compiled here")
def test_rows_that_are_not_there_are_refused():
    rows, query = bytes(3 * (20 + 4)), np.ones(4, np.float32)
    assert vectors.compiled.cosines(rows, np.array([0, 2]), query) == bytes(8)
    assert vectors.compiled.cosines(rows, b"", query) == b""
    for places, of in (([3], rows), ([-1], rows), ([0], rows[1:]), ([0], b"")):
        with pytest.raises(ValueError, match=r"no such row|another width"):
            vectors.compiled.cosines(of, np.array(places), query)
    for places, asked in ((b"1234", query), (bytes(8), b"12345")):
        with pytest.raises(ValueError, match="another width"):
            vectors.compiled.cosines(rows, places, asked)
