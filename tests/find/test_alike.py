"""Candidates that speak for each other: by what they mean, and by the words that the best of them share."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both
from smart_context.engine.vectors import Vectors
from smart_context.find import feedback
from smart_context.find.alike import Alike
from smart_context.find.score import K1, B
from smart_context.text import codes


def units(rows):
    rows = np.array(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def likeness(file, rows, segments=None):
    store = Vectors(file, len(rows[0]))
    store.append((segment, 1, row) for segment, row in zip(segments or range(len(rows)), rows, strict=True))
    return store.compare(rows[0])


def shared(alike, scores, share):
    after = alike.shared(list(scores), np.array(list(scores.values())), share)
    return dict(zip(scores, after.tolist(), strict=True))


@pytest.fixture
def clusters():
    """Twelve texts about one thing, nearly the same, and twelve of which each is about something of its own."""
    chance = np.random.default_rng(3)
    one = chance.normal(size=32)
    return units([*(one + chance.normal(size=(12, 32)) / 3), *chance.normal(size=(12, 32))])


def test_a_score_moves_towards_those_of_what_is_most_like_it(clusters, tmp_path):
    alike = Alike(likeness(tmp_path / "v", clusters), range(24))
    scores = {n: 0.8 if n < 12 else 0.2 for n in range(24)} | {0: 0.5}
    after = shared(alike, scores, 0.3)
    assert after[0] == pytest.approx(0.7 * 0.5 + 0.3 * 0.8, abs=1e-6)
    assert min(scores.values()) <= min(after.values()) <= max(after.values()) <= max(scores.values())
    assert shared(alike, scores, 0.0) == scores


def test_what_is_like_everything_counts_as_less_like_the_query(clusters, tmp_path):
    alike = Alike(likeness(tmp_path / "v", clusters), range(24))
    cosines = dict.fromkeys(range(24), 0.5)
    apart = alike.unlike_others(cosines, 0.3)
    assert max(apart[n] for n in range(12)) < 0.5 < min(apart[n] for n in range(12, 24))
    assert sum(apart.values()) == pytest.approx(sum(cosines.values()))


def test_a_text_without_a_vector_keeps_of_its_score_what_others_keep(clusters, tmp_path):
    alike = Alike(likeness(tmp_path / "v", clusters), [*range(24), 99])
    scores = {n: (n + 1) / 30 for n in range(24)} | {99: 0.6}
    after = shared(alike, scores, 0.3)
    of_all = sum(after[n] for n in range(24)) / sum(scores[n] for n in range(24))
    assert after[99] == pytest.approx(0.6 * of_all, abs=1e-6)
    assert alike.unlike_others({99: 0.4}, 0.3) == {99: 0.4}


def test_few_candidates_do_not_speak_for_each_other(clusters, tmp_path):
    alike = Alike(likeness(tmp_path / "v", clusters), range(5))
    scores = {n: n / 10 for n in range(5)}
    assert shared(alike, scores, 0.3) == alike.unlike_others(scores, 0.3) == scores


def test_the_order_of_candidates_and_of_their_rows_changes_no_bit(clusters, tmp_path):
    rows = np.concatenate([clusters, clusters[:6]])  # with copies, which are equally like all others
    scores = {n: 1 / (n + 2) for n in range(30)}
    first = Alike(likeness(tmp_path / "a", rows), range(30))
    other = Alike(likeness(tmp_path / "b", rows[::-1].copy(), list(reversed(range(30)))), list(reversed(range(30))))
    assert shared(first, scores, 0.3) == shared(other, scores, 0.3)
    assert first.unlike_others(scores, 0.3) == other.unlike_others(scores, 0.3)


def packed(text):
    words = text.split()
    return codes.pack(len(words), b"".join(map(codes.code, words)), b"", b"", b"")


TEXTS = ["wing flow heat", "wing flow drag", "flow drag engine", "wing rent", "rent tax", "tax office", "rent engine"]


def test_texts_that_say_what_the_best_have_in_common_gain():
    said = feedback.common([packed(text) for text in TEXTS * 3], [*(0.9 - n / 100 for n in range(21))], 3.0)
    assert len(said) == 21
    assert 0 <= min(said) < max(said) == 1
    assert said[2] > said[6] > said[5]  # flow, drag and engine; rent and engine; tax and office


def test_a_word_that_one_of_the_best_has_alone_tells_nothing():
    texts = ["wing flow heat", *["wing flow drag"] * 9, "heat", "drag", *["other"] * 30]
    said = feedback.common([packed(text) for text in texts], [1.0] * 10 + [0.1] * 32, 3.0)
    assert said[10] == 0 < said[11]


def test_what_the_best_have_in_common_depends_on_no_order():
    texts, scores = [packed(text) for text in TEXTS * 4], [0.5 + n % 5 / 10 for n in range(28)]
    forwards = feedback.common(texts, scores, 3.0)
    backwards = feedback.common(texts[::-1], scores[::-1], 3.0)
    assert forwards == backwards[::-1]


@pytest.mark.parametrize("scores", [[], [0.0, 0.0]])
def test_where_nothing_was_found_nothing_is_in_common(scores):
    assert feedback.common([packed("wing")] * len(scores), scores, 3.0) == [0.0] * len(scores)


def test_what_the_best_have_in_common_is_the_same_counted_word_by_word():
    rnd = random.Random(9)
    words = [f"word{number}" for number in range(90)]
    for size in (1, 40, 600):
        texts = [packed(" ".join(rnd.choices(words, k=rnd.randrange(12)))) for _ in range(size)]
        owners, terms, counts = feedback._counted(texts)
        found = list(zip(owners.tolist(), terms.tolist(), counts.tolist(), strict=True))
        every = [Counter(_codes(one)) for one in texts]
        numbers = {code: number for number, code in enumerate(sorted({code for one in every for code in one}))}
        expected = [(owner, numbers[code], times) for owner, one in enumerate(every) for code, times in one.items()]
        assert found == sorted(expected, key=lambda row: (row[1], row[0]))


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 30), max_size=15), st.integers(0, 9)), min_size=1, max_size=30),
    st.sampled_from([0.0, 3.0, 40.0]),
)
def test_what_the_best_have_in_common_is_what_every_word_of_every_segment_adds_up_to(parts, average):
    """With nothing left out because it adds nothing: to the last bit."""
    texts = [packed(" ".join(f"word{number}" for number in numbers)) for numbers, _ in parts]
    scores = [score / 10 for _, score in parts]
    order = sorted(range(len(texts)), key=lambda at: (-scores[at], texts[at]))
    if not scores[order[0]]:
        return
    owners, terms, times = feedback._counted([texts[at] for at in order])
    room = np.array([K1 * (1 - B + B * len(parts[at][0]) / (average or 1.0)) for at in order])
    counts = times / (times + room[owners])
    ranked = np.array([scores[at] for at in order])
    trust = np.where(ranked >= ranked[min(feedback.BEST, len(ranked)) - 1], ranked, 0.0)
    trust /= trust.sum()
    having = np.bincount(terms)
    rare = np.log(1 + (len(order) - having + 0.5) / (having + 0.5))
    weights = np.bincount(terms, trust[owners] * counts, minlength=len(having)) * rare
    weights[np.bincount(terms, trust[owners] > 0, minlength=len(having)) < 2] = 0.0
    says = np.bincount(owners, counts * (weights * rare)[terms], minlength=len(order))
    quickly, found = both(lambda: feedback.common(texts, scores, average), feedback)
    assert quickly == found
    assert [found[at] for at in order] == np.round(says / (says.max() or 1.0), 6).tolist()


def test_what_is_compiled_finds_the_same_in_common_of_long_segments():
    rnd = random.Random(4)
    words = [f"word{number}" for number in range(2000)]
    for size in (3, 60, 210):
        texts = [
            packed(" ".join(rnd.choices(words[: rnd.choice((30, 400, 2000))], k=rnd.randrange(400))))
            for _ in range(size)
        ]
        for scores in ([rnd.random() for _ in texts], [rnd.randrange(3) / 2 for _ in texts], [1.0] * size):
            quickly, slowly = both(lambda texts=texts, scores=scores: feedback.common(texts, scores, 90.0), feedback)
            assert quickly == slowly


@pytest.mark.skipif(feedback.compiled is None, reason="not compiled here")
def test_what_is_no_packed_segment_is_refused():
    one = np.ones(1)
    assert feedback.compiled.said([bytes(10)], one, one, np.ones(2), 5) == bytes(8)
    assert feedback.compiled.said([], b"", b"", one, 5) == b""
    short = packed("wing flow")[:-1]
    for several, rare, terms in (([b""], 2, 5), ([short], 2, 5), (["wing"], 2, 5), ([], 1, 5), ([bytes(10)], 1, 5), ([bytes(10)], 2, 0)):  # fmt: skip
        with pytest.raises(ValueError, match="not packed segments"):
            feedback.compiled.said(several, one, one, np.ones(rare), terms)


def _codes(one: bytes) -> list[int]:
    start, count = codes.HEADER.size, codes.HEADER.unpack_from(one)[1]
    line = one[start : start + count * codes.WIDTH]
    return [
        int.from_bytes(line[at : at + codes.WIDTH], "little") & codes.MASK for at in range(0, len(line), codes.WIDTH)
    ]
