"""The counts that a server keeps of a cache's words: exact for every word, and small."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from smart_context.cache import inverted, select

# Around the eight and sixteen bytes by which words are known, and beyond; alike up to there, or to their padding.
LENGTHS = [length for whole in (8, 16, 32) for length in (whole - 1, whole, whole + 1)]
LOOKALIKES = [
    *("a" * length for length in LENGTHS),
    *("a" * length + "b" for length in LENGTHS),
    *("a" * length + "\0" for length in LENGTHS),
    *("é" * length for length in LENGTHS),
    "\0",
    "\0\0",
    "ÿ",
    "a",
    "\x1c",
    "a\x1fb",
    "b" + "a" * 16,
]


def counted(contents: Sequence[str]) -> inverted.Inverted:
    words = inverted.Inverted()
    for content in contents:
        words.add(content, len(content.encode()))
    words.finish()
    return words


def expected(contents: Sequence[str], terms: set[str]) -> list[int]:
    return [sum(word in terms for word in naive.words(content)) for content in contents]


def test_words_that_look_alike_are_told_apart() -> None:
    contents = [" ".join(LOOKALIKES[at:]) for at in range(len(LOOKALIKES))]
    words = counted(contents)
    for term in LOOKALIKES:
        assert words.matches({term}).tolist() == expected(contents, {term}), repr(term)
    assert words.matches(set(LOOKALIKES)).tolist() == words.totals.tolist() == [*range(len(LOOKALIKES), 0, -1)]


@given(
    st.lists(st.lists(st.sampled_from(LOOKALIKES)).map("\u2003".join), max_size=12),
    st.sets(st.sampled_from(LOOKALIKES)),
)
@pytest.mark.unmeasured
def test_counts_are_the_same_however_documents_fall_into_blocks(contents: list[str], terms: set[str]) -> None:
    for counted_at_once, merged in ((1, 2), (2, 3), (3, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(inverted, "_COUNTED", counted_at_once)
            patch.setattr(inverted, "_MERGED", merged)
            words = counted(contents)
        assert words.matches(terms).tolist() == expected(contents, terms)
        assert words.totals.tolist() == [len(naive.words(content)) for content in contents]
        groups = [[*terms], [], *([term] for term in LOOKALIKES)]
        for group, (numbers, often) in zip(groups, words.found(groups), strict=True):
            times = expected(contents, set(group))
            assert dict(zip(numbers.tolist(), often.tolist(), strict=True)) == {n: t for n, t in enumerate(times) if t}
            assert numbers.tolist() == sorted(numbers.tolist())


def test_words_that_mix_alike_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverted, "_mix", lambda found: found.heads ^ found.tails)  # hardly mixed
    monkeypatch.setattr(inverted, "_COUNTED", 2)
    contents = ["one two one", "two three", "", "one", "two two four one"]
    words = counted(contents)
    for term in ("one", "two", "three", "four", "five"):
        assert words.matches({term}).tolist() == expected(contents, {term})


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=40), st.integers(0, 60))
def test_filling_takes_what_a_cold_run_takes(documents: list[tuple[int, int]], budget: int) -> None:
    words = counted(["x " * (4 * tokens) for _, tokens in documents])
    scores = words.scores(words.matches(set())) + [score / 4 for score, _ in documents]
    tokens = [int(count) for count in words.tokens]
    assert inverted.fill(scores, words.tokens, budget) == select.fill(scores.tolist(), tokens, budget)


def test_a_word_takes_little_memory_and_a_long_one_no_more() -> None:
    inverted.Inverted()
    tracemalloc.start()
    try:
        words = counted([" ".join(f"{document}-{number:040}" for number in range(500)) for document in range(60)])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    distinct = 60 * 500
    assert held < 30 * distinct
    assert words.nbytes < 30 * distinct
