"""Packed segments: whether a word stands in one as it is written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smart_context.text import codes

TERMS = ["rent", "office", "due", "may", "tax", "année"]
lists = st.lists(st.tuples(st.sampled_from(TERMS), st.booleans()), max_size=12)
segments = st.lists(st.tuples(st.integers(0, 40), lists, lists, lists, st.lists(st.sampled_from(TERMS))), max_size=8)


@given(segments, st.sampled_from(TERMS), st.lists(st.sampled_from(TERMS), unique=True))
def test_a_word_stands_as_written_where_its_form_is_there_or_a_stem_that_is_spelt_so(parts, form, stems):
    for length, *kinds, present in parts:
        lines = (b"".join(codes.code(term, flag) for term, flag in kind) for kind in kinds)
        packed = codes.pack(length, *lines, b"".join(map(codes.short, present)))
        spelt = {term for kind in kinds for term, flag in kind if flag}
        assert codes.stands(packed, form, stems) is (form in present or not spelt.isdisjoint(stems))
