"""Finding terms in packed segments: as the slow way finds them, one code at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smart_context.text import codes, forward

TERMS = ["rent", "office", "due", "may", "tax", "année"]
lists = st.lists(st.tuples(st.sampled_from(TERMS), st.booleans()), max_size=12)
segments = st.lists(st.tuples(st.integers(0, 40), lists, lists, lists, st.lists(st.sampled_from(TERMS))), max_size=8)
numbered = st.dictionaries(
    st.sampled_from(TERMS), st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True).map(tuple)
)


@given(segments, numbered, st.lists(st.sampled_from(TERMS), unique=True))
def test_hits_are_those_of_a_look_at_each_code(parts, numbers, there):
    packed = [
        codes.pack(
            length,
            *(b"".join(codes.code(term, flag) for term, flag in kind) for kind in kinds),
            b"".join(map(codes.short, present)),
        )
        for length, *kinds, present in parts
    ]
    found = forward.scan(packed, numbers, there)
    slow = [
        (owner, place, number, kind, flag)
        for owner, (_, *kinds, _) in enumerate(parts)
        for place, (kind, (term, flag)) in enumerate((k, one) for k, every in enumerate(kinds) for one in every)
        for number in sorted(numbers.get(term, ()))
    ]
    columns = (found.owners, found.places, found.numbers, found.kinds, found.as_written)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == slow
    assert found.sizes.tolist() == [length for length, *_ in parts]
    assert found.present.tolist() == [[term in present for term in there] for *_, present in parts]


@given(segments, st.sampled_from(TERMS), st.lists(st.sampled_from(TERMS), unique=True))
def test_a_word_stands_as_written_where_its_form_is_there_or_a_stem_that_is_spelt_so(parts, form, stems):
    for length, *kinds, present in parts:
        lines = (b"".join(codes.code(term, flag) for term, flag in kind) for kind in kinds)
        packed = codes.pack(length, *lines, b"".join(map(codes.short, present)))
        spelt = {term for kind in kinds for term, flag in kind if flag}
        assert codes.stands(packed, form, stems) is (form in present or not spelt.isdisjoint(stems))
