"""Packing: what must hold for every cache, question and budget."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
import naive_pack
from smart_context.cache import build
from smart_context.cache.pack import pack, passages, stem
from smart_context.cache.resident import Residents

CREATED_AT = "2026-01-01T00:00:00Z"
WORDS = [
    "deploy", "deploys", "deployed", "deployment", "relation", "relational", "tag", "tags", "sensible", "sensibility", "happy",
    "happiness", "the", "of", "and", "x1", "7", "café", "straße", "größe", "жж", "漢字", "漢字語表", "表", "#", "##", ".", "```",
]  # fmt: skip
texts = st.lists(
    st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from(["\n", "\n\n", "\n\n# Tag\n\n", ". ", "\n\nthe same words stand here\n\n"]),
    ),
    max_size=120,
).map(" ".join)
names = st.text("abT9- ", min_size=1, max_size=6).filter(lambda name: name.strip() == name)
trees = st.dictionaries(names.map("{}.md".format), texts, max_size=7).filter(
    lambda tree: len({name.lower() for name in tree}) == len(tree)
)
# Few terms and many are counted in different ways.
queries = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=5), st.lists(st.sampled_from(WORDS), min_size=9, max_size=20)
).map(" ".join)
budgets = st.one_of(st.integers(0, 400), st.just(10**6))


# Words longer than a passage, which is then cut through one.
LONG = {"a.md": " ".join(["x1 deploys tag", "x" * 700, "deploy" * 200, "happy"] * 3)}


@settings(max_examples=60)
@example(LONG, [("deploy tags happy relation sensible x1 7 café straße", 10**6)])
@given(trees, st.lists(st.tuples(queries, budgets), min_size=1, max_size=3))
def test_packing_equals_the_naive_implementation_cold_and_in_memory(
    tree: dict[str, str], requests: list[tuple[str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as work:
        cache = Path(work) / "cache"
        build.cache(naive.write_sources(Path(work) / "sources", tree), cache, created_at=CREATED_AT)
        residents = Residents(1 << 24)
        for query, budget in requests:
            expected = naive_pack.pack(tree, query, budget)
            packed = pack.packed(cache, query, budget)
            assert pack.FORMATS["json"](packed) == expected
            assert residents.packed(cache, query, budget, counting="bytes4") == packed
            assert len(pack.FORMATS["markdown"](packed)) <= 4 * packed.tokens_used <= 4 * budget
        residents.close()


def test_memory_ranks_as_disk_does_far_beyond_the_first_hundred_documents_and_where_many_are_equal(
    tmp_path: Path,
) -> None:
    tree = {f"{number:04}.md": "deploy " * (number % 5) + f"tag n{number} " * (number % 3) for number in range(1300)}
    build.cache(naive.write_sources(tmp_path / "sources", tree), tmp_path / "cache", created_at=CREATED_AT)
    residents = Residents(1 << 24)
    for budget in (4000, 10**6):
        packed = pack.packed(tmp_path / "cache", "deploy the tag", budget)
        assert residents.packed(tmp_path / "cache", "deploy the tag", budget, counting="bytes4") == packed
    assert packed.documents_matching > 1152
    residents.close()


@settings(max_examples=200)
@given(st.text(naive.ALPHABET + "。.!#`", max_size=1500))
@example("x" * 5000)
@example("漢" * 5000)
@example("# A\n# B\n\n" + "word " * 400)
def test_passages_hold_all_of_a_text_in_order_and_none_is_too_long(text: str) -> None:
    found = passages.cut(text)
    joined = "".join(text[one.start : one.end] for one in found)
    assert "".join(joined.split()) == "".join(text.split()) or set("\x1c\x1d\x1e\x1f") & set(text)
    assert all(one.start < one.end for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(len(text[one.start : one.end].encode()) <= passages.MOST for one in found)


@settings(max_examples=300)
@given(
    st.text("abcdefgilmnorstuyz", min_size=1, max_size=14),
    st.sampled_from(["", "ly", "ility", "ness", "ing", "ed", "ies", "es", "ational", "ization"]),
)
def test_every_english_word_begins_as_its_stem_says(head: str, tail: str) -> None:
    word = head + tail
    assert word.startswith(stem.beginning(stem.stem(word, "en"), "en"))
