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


@pytest.fixture(params=["any", "avx2", "avx512"])
def wide(request):
    """What is compiled, with instructions of one width; left out where this processor has none so wide."""
    if vectors.compiled is None or vectors.compiled.limit(request.param) != request.param:
        pytest.skip("not compiled here, or not for this processor")
    yield
    vectors.compiled.limit("")


@pytest.mark.parametrize("dimension", [2, 7, 8, 16, 17, 130, 384, 1100])
@pytest.mark.usefixtures("wide")
def test_what_is_compiled_gives_the_same_whatever_processor_it_is_for(tmp_path, dimension, monkeypatch):
    store = Vectors(tmp_path / "v", dimension)
    store.append((n, n % 5, row) for n, row in enumerate(units(600, dimension)))
    monkeypatch.setattr(vectors, "_LIKELY", 300)
    some = np.arange(0, 600, 7)
    for query in units(10, dimension, seed=4):

        def compared(query=query):
            like = store.compare(query)
            apart, counts = like._signs_apart
            signs = (apart.tolist(), counts[: dimension + 1].tolist(), like.spread())
            found, neighbours = like.neighbours(some.tolist(), 5)
            alike = [each.tolist() for each in (found, *neighbours)]
            return signs, like.nearest(20), like.nearest(20, some.tolist()), like._cosines(some).tolist(), alike

        quickly, slowly = both(compared, vectors)
        assert quickly == slowly
        like = store.compare(query)
        rough, close = like._compared(some)
        assert np.abs(rough - like._cosines(some)).max() < close / 2


@pytest.mark.parametrize("sizes", [[1e-8, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0]])
def test_a_query_of_any_sizes_is_compared_as_it_is(tmp_path, sizes):
    query = np.resize(np.array(sizes, np.float32), 2000)
    store = Vectors(tmp_path / "v", 2000)
    store.append((n, 1, row) for n, row in enumerate([*units(50, 2000), *-units(50, 2000, 2), query]))
    quickly, slowly = both(lambda: store.compare(query).nearest(7), vectors)
    assert quickly == slowly


@pytest.mark.skipif(vectors.compiled is None, reason="not compiled here")
def test_rows_that_are_not_there_are_refused():
    rows = bytes(3 * (20 + 4))
    for work, query in ((vectors.compiled.rough, np.ones(4, np.int16)), (vectors.compiled.exact, np.ones(4))):
        assert not any(work(rows, np.array([0, 2]), query))
        assert work(rows, b"", query) == b""
        for places, of in (([3], rows), ([-1], rows), ([0], rows[1:]), ([0], b"")):
            with pytest.raises(ValueError, match=r"no such row|another width"):
                work(of, np.array(places), query)
        for places, asked in ((b"1234", query), (bytes(8), b"12345"), (bytes(8), b"")):
            with pytest.raises(ValueError, match="another width"):
                work(rows, places, asked)
    with pytest.raises(ValueError, match="too large"):
        vectors.compiled.rough(bytes(20 + 600), np.array([0]), np.full(600, -(1 << 15), np.int16))
    for of, places, size in ((rows, [3], 4), (rows, [0], 5), (rows, [0], 0), (rows, [0], -4)):
        with pytest.raises(ValueError, match=r"no such row|another width"):
            vectors.compiled.alike(of, np.array(places), size, 1.0, 1)
    for wanted in (-1, 0, 3, 65):
        with pytest.raises(ValueError, match="not so many"):
            vectors.compiled.alike(rows, np.array([0, 2]), 4, 1.0, wanted)
    for signs, query in ((bytes(12), bytes(8)), (bytes(8), b""), (bytes(8), bytes(16)), (bytes(8), bytes(7))):
        with pytest.raises(ValueError, match="another width"):
            vectors.compiled.apart(signs, query)


@pytest.mark.parametrize("scale", [np.nan, np.inf, 1e12, 1e4])
def test_damaged_rows_are_as_like_to_each_other_in_python(tmp_path, scale):
    store = Vectors(tmp_path / "v", 4)
    rows = np.zeros(9, vectors._row(4))
    rows["segment"], rows["vector"], rows["scale"] = range(9), units(9, 4) * 100, 0.01
    rows["scale"][::2] = scale
    store.append((0, 1, row) for row in units(1, 4))
    store._seen = vectors._seen(rows)
    with np.errstate(invalid="ignore"):
        quickly, slowly = both(lambda: store.compare(units(1, 4)[0]).neighbours(range(9), 5), vectors)
    assert [each.tolist() for each in quickly[1]] == [each.tolist() for each in slowly[1]]


def test_all_that_are_as_like_as_the_last_are_neighbours(tmp_path):
    store = Vectors(tmp_path / "v", 8)
    one, other = units(2, 8)
    store.append((n, 1, one if n < 7 else other) for n in range(9))
    for found, neighbours in both(lambda: store.compare(one).neighbours([*range(9), 77], 5), vectors):
        assert found.tolist() == list(range(9))
        assert neighbours.counts.tolist() == [6] * 7 + [8] * 2
        assert neighbours.others.tolist()[:6] == [1, 2, 3, 4, 5, 6]
    for found, neighbours in both(lambda: store.compare(one).neighbours([1, 2, 3, 4, 5], 5), vectors):
        assert (found.tolist(), neighbours) == ([1, 2, 3, 4, 5], None)
