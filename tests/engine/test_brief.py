"""Codes in fewer bits: what is restored is what was shortened, whatever it is, in C as in Python; what was changed since is told."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled import both, in_python
from smart_context.engine.local.ranking import brief
from smart_context.text import codes

WORDS = st.sampled_from(
    [bytes(3), b"\xff\xff\xff", b"\x80\0\0", b"\xff\0\0", *(b"%03d" % number for number in range(400))]
)
LINES = st.lists(WORDS | st.binary(min_size=3, max_size=3), max_size=120).map(b"".join)
PRESENT = st.lists(st.sampled_from([b"%02d" % number for number in range(60)]) | st.binary(min_size=2, max_size=2))
SEGMENTS = st.lists(st.builds(codes.pack, st.integers(0, 300), LINES, LINES, LINES, PRESENT.map(b"".join)), max_size=6)


def table_of(first: int, *, shorts: int = 0) -> brief.Table:
    """A table with so many words in each class, up to its room, and so many short codes."""
    parts = [
        b"".join((first + number).to_bytes(3, "little") for number in range(min(1 << bits, 50 * bits)))
        for bits, first in zip(brief.CLASSES, (first, 1 << 12, 1 << 16, 1 << 20), strict=True)
    ]
    parts[0] = parts[0][:-3] + b"001"
    return brief.extended(brief.Table(), [[*parts, b"".join(b"%02d" % number for number in range(shorts))]])


# Each example is some hundred codes, done twice; others look at more of them.
few = settings(max_examples=settings().max_examples * 2 // 5)
TABLES = st.sampled_from([brief.Table(), table_of(1), table_of(77, shorts=40), table_of(5, shorts=100)])


def canonical(packed: bytes) -> tuple[bytes, set[bytes]]:
    """What of a segment must be kept: all of it, but of what is only there neither order nor number."""
    end = codes.HEADER.size + 3 * sum(codes.HEADER.unpack_from(packed)[1:4])
    return packed[:8] + packed[10:end], {packed[at : at + 2] for at in range(end, len(packed), 2)}


@few
@given(SEGMENTS, TABLES, st.integers(0, 1 << 40))
def test_what_is_restored_is_what_was_shortened(segments, table, first):
    numbers = list(range(first, first + len(segments)))
    short, same = both(lambda: brief.shortened(segments, numbers, table), brief)
    assert short == same
    found, again = both(lambda: brief.restored(short, numbers, table), brief)
    assert found == again
    assert list(map(canonical, found)) == list(map(canonical, segments))
    assert all(codes.is_packed(one) for one in found)


@few
@given(SEGMENTS, TABLES)
def test_a_table_learns_what_stands_often_and_is_not_in_it_in_c_as_in_python(segments, table):
    new, same = both(lambda: brief.learnt(segments, table), brief)
    assert new == same
    grown = brief.extended(table, [new])
    assert [len(own) // 3 for own in new[:-1]] == [
        after - before for before, after in zip(table.taken, grown.taken, strict=True)
    ]
    assert grown.shorts[: len(table.shorts)] == table.shorts


def test_a_table_learns_the_commonest_first_and_none_that_are_rare():
    often = [b"%03d" % number for number in range(200)]
    # The first stand in each, the last in few.
    line = [b"".join([*often[: 200 - at], b"x%02d" % at]) for at in range(20)]
    segments = [codes.pack(1, one, b"", b"", b"!!?" + b"%d" % (at % 2)) for at, one in enumerate(line)]
    new, same = both(lambda: brief.learnt(segments, brief.Table()), brief)
    assert new == same
    every = b"".join(new[:-1])
    found = [every[at : at + 3] for at in range(0, len(every), 3)]
    stands = [min(20, 200 - int(word)) for word in found]
    assert (len(new[0]) // 3, len(found)) == (512 // 3, 197)  # what stands in three or fewer saves less than it takes
    assert stands == sorted(stands, reverse=True)
    assert not any(b"x%02d" % at in found for at in range(20))
    assert new[-1] == b"!!?0?1"


@pytest.mark.parametrize("held", [0, 300, 500])
def test_a_table_takes_in_a_part_of_what_it_has_room_for_so_that_other_files_find_some(held):
    words = b"".join(number.to_bytes(3, "little") for number in range(1 << 23, (1 << 23) + 3000))
    known = b"".join(number.to_bytes(3, "little") for number in range(1, held + 1))
    table = brief.extended(brief.Table(), [[known, b"", b"", b"", b""]])
    new, same = both(lambda: brief.learnt([codes.pack(1, words, b"", b"", b"")] * 9, table), brief)
    assert new == same
    assert [len(own) // 3 for own in new[:2]] == [{0: 170, 300: 70, 500: 12}[held], 2048 // 3]


def test_of_many_codes_some_are_looked_at_wherever_segments_begin():
    many = [
        codes.pack(1, b"".join((n + at % 900).to_bytes(3, "little") for at in range(65535)), b"", b"", b"")
        for n in range(1, 13)
    ]
    new, same = both(lambda: brief.learnt(many, brief.Table()), brief)
    assert new == same
    assert new[0]


@given(st.binary(max_size=40), TABLES, st.integers(-9, 9))
def test_what_was_not_shortened_by_a_table_is_refused_or_read_alike(body, table, number):
    piece = brief._check(body, number) + body  # as if it had been: the rest must hold, whatever it says

    def outcome():
        try:
            return brief.restored([piece], [number], table)
        except ValueError as error:
            return str(error)

    quickly, same = both(outcome, brief)
    assert quickly == same


@few
@given(SEGMENTS.filter(bool), TABLES, st.data())
def test_a_changed_byte_or_another_number_is_told(segments, table, data):
    [short] = brief.shortened(segments[:1], [7], table)
    at = data.draw(st.integers(0, len(short) - 1))
    changed = short[:at] + bytes([short[at] ^ data.draw(st.integers(1, 255))]) + short[at + 1 :]

    def outcome(piece: bytes, number: int) -> object:
        try:
            return brief.restored([piece], [number], table)
        except ValueError as error:
            return str(error)

    for piece, number in ((changed, 7), (short[:-1], 7), (short + b"\0", 7), (short, 8)):
        quickly, same = both(lambda piece=piece, number=number: outcome(piece, number), brief)
        assert quickly == same == "a segment is not as it was written"


def test_what_is_no_segment_is_refused():
    whole = codes.pack(1, b"abc", b"def", b"", b"xy")
    for broken in (b"", whole[:-1], whole + b"0", whole[:9]):
        for work in (
            lambda one: brief.shortened([one], [1], brief.Table()),
            lambda one: brief.learnt([one], brief.Table()),
            lambda one: brief.restored([one], [1], brief.Table()),
        ):
            with pytest.raises(ValueError, match="segment"):
                work(broken)
            with in_python(brief), pytest.raises(ValueError, match="segment"):
                work(broken)


def test_a_number_that_is_not_in_the_table_is_refused():
    table = brief.extended(brief.Table(), [[b"onetwo", b"", b"", b"", b"xy"]])
    for without in ([[b"one", b"", b"", b"", b"xy"]], [[b"onetwo", b"", b"", b"", b""]]):
        short = brief.shortened([codes.pack(1, b"two", b"", b"", b"xy")], [3], table)
        less = brief.extended(brief.Table(), without)
        with pytest.raises(ValueError, match="not as it was written"):
            brief.restored(short, [3], less)
        with in_python(brief), pytest.raises(ValueError, match="not as it was written"):
            brief.restored(short, [3], less)


def test_a_table_that_holds_more_than_fits_is_refused():
    for too_many in ([bytes(3 * 513), b"", b"", b"", b""], [b"", b"", b"", b"", bytes(2 * 4097)]):
        with pytest.raises(ValueError, match="more words than fit"):
            brief.extended(brief.Table(), [too_many])


def test_common_words_and_words_that_come_again_take_less_room():
    known = [b"".join((256 * bits + at).to_bytes(3, "little") for at in range(9)) for bits in brief.CLASSES]
    table = brief.extended(brief.Table(), [[*known, b""]])
    sizes = []
    for line in [*(own[:24] for own in known), b"".join(b"r%02d" % at for at in range(8)), b"one" * 8]:
        [short] = brief.shortened([codes.pack(1, line, b"", b"", b"")], [1], table)
        sizes.append(len(short) - 2 - 6 - 3)  # but for the check, the counts and three bits for each code
    # Of eight codes; of the last, one is written whole, one says how far back it stood, and the rest that it is the same.
    assert sizes == [9, 11, 13, 16, 24, 4]
