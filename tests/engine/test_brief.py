"""Codes in fewer bytes: what is restored is what was shortened, whatever it is, in C as in Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both, in_python
from smart_context.engine.local.ranking import brief
from smart_context.text import codes

WORDS = st.sampled_from(
    [bytes(3), b"\xff\xff\xff", b"\x80\0\0", b"\xff\0\0", *(b"%03d" % number for number in range(400))]
)
LINES = st.lists(WORDS | st.binary(min_size=3, max_size=3), max_size=60).map(b"".join)
PRESENT = st.lists(st.binary(min_size=2, max_size=2), max_size=5).map(b"".join)
SEGMENTS = st.lists(st.builds(codes.pack, st.integers(0, 9), LINES, LINES, LINES, PRESENT), max_size=6)
LONG_TABLE = b"".join(number.to_bytes(3, "little") for number in range(7, 7 * brief.MOST + 7, 7))


def table_of(words: list[bytes]) -> bytes:
    return b"".join(dict.fromkeys(words))


@given(SEGMENTS, st.lists(WORDS, max_size=500).map(table_of) | st.just(LONG_TABLE))
def test_what_is_restored_is_what_was_shortened(segments, table):
    short, same = both(lambda: brief.shortened(segments, table), brief)
    assert short == same
    assert both(lambda: brief.restored(short, table), brief) == (segments, segments)


@given(SEGMENTS, st.lists(WORDS, max_size=500).map(table_of) | st.just(LONG_TABLE))
def test_a_table_learns_what_stands_often_and_is_not_in_it_the_commonest_first(segments, table):
    new, same = both(lambda: brief.learnt(segments, table), brief)
    assert new == same
    line = b"".join(brief._parts(one)[1] for one in segments)
    words = [line[at : at + 3] for at in range(0, len(line), 3)]
    wanted = {word for word in words if words.count(word) > 1} - {table[at : at + 3] for at in range(0, len(table), 3)}
    found = [new[at : at + 3] for at in range(0, len(new), 3)]
    assert set(found) == (wanted if len(table) < len(LONG_TABLE) else set())  # never so many that they do not fit
    assert [words.count(word) for word in found] == sorted((words.count(word) for word in found), reverse=True)


@pytest.mark.parametrize("known", [0, brief.MOST - 300, brief.MOST - 100])
def test_a_table_takes_in_a_part_of_what_it_has_room_for_so_that_other_files_find_some(known):
    words = b"".join(number.to_bytes(3, "little") for number in range(1 << 23, (1 << 23) + 10_000))
    new, same = both(lambda: brief.learnt([codes.pack(1, words, words, b"", b"")], LONG_TABLE[: 3 * known]), brief)
    assert new == same
    assert len(new) // 3 == {0: brief.MOST // 4, brief.MOST - 300: 256, brief.MOST - 100: 100}[known]


def test_of_many_codes_some_are_looked_at_wherever_segments_begin():
    many = [codes.pack(1, number.to_bytes(3, "little") * 65535, b"", b"", b"") for number in range(1, 13)]
    new, same = both(lambda: brief.learnt(many, b""), brief)
    assert new == same == b"".join(number.to_bytes(3, "little") for number in range(1, 13))[: len(new)]
    assert len(new) == 36


@given(st.binary(max_size=40), st.lists(WORDS, max_size=200).map(table_of))
def test_what_was_not_shortened_by_a_table_is_refused_or_read_alike(piece, table):
    def outcome():
        try:
            return brief.restored([piece], table)
        except ValueError as error:
            return str(error)

    quickly, same = both(outcome, brief)
    assert quickly == same


def test_what_is_no_segment_is_refused():
    whole = codes.pack(1, b"abc", b"def", b"", b"xy")
    for broken in (b"", whole[:-1], whole + b"0", whole[:9]):
        for work in (brief.shortened, brief.learnt, brief.restored):
            with pytest.raises(ValueError, match="segment"):
                work([broken], b"")
            with in_python(brief), pytest.raises(ValueError, match="segment"):
                work([broken], b"")


def test_a_number_that_is_not_in_the_table_is_refused():
    for line in (b"one", b"two"):
        [short] = brief.shortened([codes.pack(1, line, b"", b"", b"")], b"onetwo")
        with pytest.raises(ValueError, match="not in the table"):
            brief.restored([short], b"one"[: 3 * (line == b"two")])
        with in_python(brief), pytest.raises(ValueError, match="not in the table"):
            brief.restored([short], b"one"[: 3 * (line == b"two")])


def test_common_words_take_a_byte_and_rare_ones_four():
    table = b"".join(number.to_bytes(3, "little") for number in range(200))
    sizes = [
        len(brief.shortened([codes.pack(1, number.to_bytes(3, "little"), b"", b"", b"")], table)[0])
        for number in (0, 127, 128, 199, 200)
    ]
    assert sizes == [11, 11, 12, 12, 14]
