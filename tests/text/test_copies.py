"""Copies of a text are told by their marks, and so are texts of which nine tenths agree."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compiled import both
from smart_context.text import copies


def near(one: bytes, other: bytes) -> bool:
    quickly, slowly = both(lambda: copies.first_near(one, [b"", other]), copies)
    assert quickly == slowly
    return quickly == 1


def near_by_hand(one: bytes, other: bytes) -> bool:
    filled = sum(1 for a, b in zip(one, other, strict=True) if a or b)
    shared = sum(1 for a, b in zip(one, other, strict=True) if a and a == b)
    return filled >= copies.LEAST and shared >= copies.ALIKE * filled


def text(words: int, changed: float = 0.0, seed: int = 1) -> str:
    drawn = random.Random(seed)
    out = [f"word{drawn.randrange(5000)}" for _ in range(words)]
    for at in drawn.sample(range(words), round(changed * words)):
        out[at] = f"other{at}"
    return " ".join(out)


def alike(one: str, other: str) -> bool:
    return near(copies.marks([one]).like, copies.marks([other]).like)


@pytest.mark.parametrize("words", [60, 300, 3000])
def test_texts_are_alike_where_nine_tenths_agree(words):
    same = [alike(text(words, 0.0, seed), text(words, 0.04, seed)) for seed in range(20)]
    other = [alike(text(words, 0.0, seed), text(words, 0.2, seed)) for seed in range(20)]
    assert (all(same), any(other)) == (True, False)


def test_texts_of_a_few_words_are_never_alike_unless_they_are_the_same():
    assert not alike("invoice number 17 for a walrus", "invoice number 18 for a walrus")
    assert copies.marks(["one word"]) == copies.marks(["one word"])


def test_texts_without_spaces_are_compared_by_their_characters():
    drawn = random.Random(3)
    chinese = "".join(chr(0x4E00 + drawn.randrange(3000)) for _ in range(900))
    assert alike(chinese, chinese[:400] + "新" + chinese[405:])
    assert not alike(chinese, chinese[:450] + chinese[:450][::-1])


def test_lines_pages_and_case_make_no_difference():
    whole = copies.marks(["The walrus sleeps on the ice.\nIt is cold there."])
    assert copies.marks(["the Walrus sleeps\n\non the ice.", "It is cold there."]) == whole
    assert copies.marks(["The walrus sleeps on the ice. It is warm there."]).same != whole.same


def test_a_text_without_words_has_no_marks():
    assert copies.marks([]) == copies.marks([" \n"]) == copies.Marks()
    assert not near(b"", b"")


@given(st.lists(st.text(st.sampled_from("abcd \n\t\x0b\x1c\xa0ÄЖ字"), max_size=200)), st.integers(0, 3000))
@example([" a" * 9, "\x00 b"], 1200)
@example(["\ud800 a b"], 0)
def test_marks_are_the_same_compiled_and_in_python(pieces, count):
    drawn = random.Random(count)
    more = " ".join(f"w{drawn.randrange(4000)}" for _ in range(count))
    quickly, slowly = both(lambda: copies.marks([*pieces, more]), copies)
    assert quickly == slowly


@given(st.binary(min_size=copies.BINS, max_size=copies.BINS), st.integers(0, 130))
@example(bytes(copies.BINS), 0)
def test_a_sketch_is_stored_in_fewer_bytes_if_it_has_empty_bins_and_is_as_it_was(sketch, empty):
    empty = min(empty, copies.BINS)
    sketch = bytes(0 if (at * 37) % copies.BINS < empty else byte for at, byte in enumerate(sketch))
    kept = copies.sparse(sketch)
    assert len(kept) == min(copies.BINS, copies.BINS // 8 + copies.BINS - sketch.count(0))
    assert both(lambda: copies.dense(kept), copies) == (sketch, sketch)


@pytest.mark.parametrize(
    "kept", [b"", b"\1", bytes(15), b"\1" + bytes(15), b"\1" + bytes(19), b"\xff" * 127, bytes(128), b"\1" * 129]
)
def test_what_is_no_sketch_is_left_as_it_is(kept):
    assert both(lambda: copies.dense(kept), copies) == (kept, kept)
    assert copies.sparse(b"\0" + kept[:99]) == b"\0" + kept[:99]


@given(st.text(st.sampled_from("aZ09é字漢データ😀\U0010ffff\0"), min_size=1, max_size=120), st.integers(0, 3000))
@example("字", 0)
@example("a" * 17, 0)
def test_marks_of_text_without_spaces_are_the_same_compiled_and_in_python(piece, count):
    drawn = random.Random(count)
    more = "".join(chr(0x4E00 + drawn.randrange(3000)) for _ in range(count))
    quickly, slowly = both(lambda: copies.marks([f"{piece * 9} {more}"]), copies)
    assert quickly == slowly


@given(st.lists(st.text()))
def test_marks_have_a_fixed_size_whatever_the_text(pieces):
    made = copies.marks(pieces)
    assert (len(made.same), len(made.like)) in {(0, 0), (16, 128)}


@given(st.binary(min_size=copies.BINS, max_size=copies.BINS), st.data())
def test_sketches_are_alike_by_the_share_of_their_bins_that_agree(one, data):
    kept = data.draw(st.lists(st.integers(0, copies.BINS - 1), max_size=100).map(set))
    one = bytes(byte if at in kept or data.draw(st.booleans()) else 0 for at, byte in enumerate(one))
    changed = data.draw(st.dictionaries(st.integers(0, copies.BINS - 1), st.integers(0, 255), max_size=30))
    other = bytes(changed.get(at, byte) for at, byte in enumerate(one))
    assert near(one, other) == near_by_hand(one, other)


@pytest.mark.parametrize("filled", range(copies.LEAST // 2, copies.LEAST + 10))
def test_the_first_that_is_near_is_found_by_texts_of_few_words_too(filled):
    one = bytes([7] * filled + [0] * (copies.BINS - filled))
    for more in range(12):
        for other in (
            bytes([7] * (filled + more) + [0] * (copies.BINS - filled - more)),
            bytes([7] * max(0, filled - more) + [0] * (copies.BINS - max(0, filled - more))),
        ):
            assert near(one, other) == near_by_hand(one, other)


@given(st.binary(min_size=1, max_size=40))
@example(b"ab")
@example(b"aba")
def test_pairs_of_bytes_are_those_of_characters(data):
    assert sorted(copies._neighbours(data)) == sorted(set(pairwise(data)))


def test_pairs_of_a_text_are_numbers_that_depend_on_both_characters():
    plain = text(300).replace(" ", "")
    assert sorted(copies._pairs(plain.encode())) == sorted(
        {(ord(a) << 16 ^ ord(b)) * 0x9E3779B1 >> 8 & 0xFFFFFFFF for a, b in pairwise(plain)}
    )
