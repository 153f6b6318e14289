"""Blocks of segments: what is read is what was written, and damage is told."""

from __future__ import annotations

import hashlib
import random
import zlib

from hypothesis import given
from hypothesis import strategies as st

from smart_context.engine.local import blocks
from smart_context.engine.local.blocks import Kept, Opened, Text
from smart_context.engine.local.phrases import PHRASES
from smart_context.engine.model import SegmentRow
from smart_context.model import HIDDEN_KINDS, Segment
from smart_context.text import hidden

FILE, FIRST = 7, 1000
plain = st.text(st.characters(codec="utf-8"), max_size=12)
odd = st.text(st.sampled_from("\n\x1a\x1b\x1c nhe'ü\u2028"), max_size=6)
spans = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.sampled_from(HIDDEN_KINDS)), max_size=2)


@st.composite
def segments(draw: st.DrawFn) -> list[Segment]:
    found = []
    for seq in range(draw(st.integers(1, 40))):
        heading = draw(st.one_of(st.just(""), st.just("Costs"), plain, odd))
        pointer = f"section '{heading}' {draw(st.one_of(plain, odd))}"
        concealed, at = [], 0
        for gap, size, kind in draw(spans):
            concealed.append((at + gap, at + gap + size, kind))
            at += gap + size
        number = draw(st.sampled_from([seq, seq, seq, 5]))
        found.append(
            Segment(number, pointer, heading, draw(plain), tuple(concealed), draw(st.sampled_from([None, 0, 99])))
        )
    return found


def kept(given: list[Segment]) -> list[Kept]:
    first, found = FIRST, []
    for one in blocks.made(given):
        found.append(Kept(first, one.count, FILE, one.head, one.data))
        first += one.count
    return found


@given(segments(), st.randoms(use_true_random=False))
def test_rows_and_texts_come_back_as_they_were_given(given, drawn):
    rows = [
        SegmentRow(FIRST + at, FILE, one.seq, one.pointer, one.heading, one.certainty) for at, one in enumerate(given)
    ]
    texts = [Text(FIRST + at, one.text, hidden.pack(one.hidden)) for at, one in enumerate(given)]
    found = kept(given)
    assert [row for one in found for row in Opened(one).rows()] == rows
    for one in found:
        own = sorted(drawn.sample(range(one.first, one.first + one.many), drawn.randint(1, one.many)))
        opened = Opened(one)
        assert opened.rows(own) == [rows[number - FIRST] for number in own]
        for _ in range(2):
            assert opened.texts(own) == [texts[number - FIRST] for number in own]
    assert sum(one.seen for one in blocks.made(given)) == sum(one.certainty is not None for one in given)


def test_a_block_that_was_changed_or_cut_off_gives_something_or_says_that_it_is_damaged():
    drawn = random.Random(3)
    given = [
        Segment(seq, f"page {seq}", "Costs", f"text {drawn.random()} \n" * 9, ((1, 3, "email"),), 50)
        for seq in range(blocks.TOGETHER)
    ]
    (whole,) = kept(given)
    every, told = list(range(FIRST, FIRST + whole.many)), 0
    for _ in range(3000):
        data = bytearray(whole.data[: drawn.choice([len(whole.data), drawn.randrange(len(whole.data))])])
        for _ in range(drawn.randint(0, 3)):
            if data:
                data[drawn.randrange(len(data))] = drawn.randrange(256)
        changed = whole._replace(data=bytes(data), head=drawn.choice([whole.head, drawn.randrange(1, 3000)]))
        try:
            opened = Opened(changed)
            assert len(opened.rows(every)) == len(opened.texts(every)) == whole.many
        except zlib.error:
            told += 1
    assert told > 1000


def test_a_block_made_without_common_phrases_is_read_as_it_was_given():
    given = [Segment(0, "lines 1-2", "Costs", "the effects of these may be as the number of these")]
    (whole,) = kept(given)
    before = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    plain = zlib.decompressobj(-zlib.MAX_WBITS, PHRASES).decompress(whole.data)
    older = whole._replace(data=before.compress(plain) + before.flush())
    assert Opened(older).rows() == Opened(whole).rows()
    assert Opened(older).texts([FIRST]) == Opened(whole).texts([FIRST]) == [Text(FIRST, given[0].text, b"")]
    assert len(whole.data) < len(older.data)


def test_common_phrases_are_never_changed():
    assert hashlib.sha256(PHRASES).hexdigest() == "80f499e88b25c5fdfecae418c4bf3f3a1507052c1bbc713657521e8abab1d2b7"
