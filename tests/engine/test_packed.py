"""The files that exact scores are made from: what was flushed is there, by its number, whatever happened to what was not."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiled import both
from smart_context.data import replace
from smart_context.engine import searchable
from smart_context.engine.local.ranking import brief, packed
from smart_context.engine.local.ranking.packed import Reader, Writer
from smart_context.model import Segment
from smart_context.text import codes


def segment(*words: str) -> bytes:
    return codes.pack(len(words), b"".join(map(codes.code, words)), b"", codes.code("head"), codes.short("there"))


def read(folder: Path, numbers: list[int]) -> list[bytes] | str:
    try:
        return Reader(folder).of(numbers)
    except ValueError as error:
        return str(error)


def test_segments_are_read_by_their_numbers_in_the_order_asked_for(tmp_path):
    writer = Writer(tmp_path)
    for number in (7, 3, 4, 900):
        writer.add([number], [segment("segment", str(number))])
    writer.flush()
    assert Reader(tmp_path).of([900, 3, 7]) == [segment("segment", str(number)) for number in (900, 3, 7)]
    writer.close()


def test_what_is_not_there_is_told(tmp_path):
    Writer(tmp_path).close()
    for number in (0, 5, -1, 1 << 70):
        assert both(lambda number=number: read(tmp_path, [number]), brief, packed) == 2 * (
            f"segment {number} is not there",
        )
    assert Reader(tmp_path).of([]) == []


def test_what_was_not_flushed_is_forgotten_and_its_number_can_be_used_again(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "_SPILL", 4)  # so that some of it is written nevertheless
    first = Writer(tmp_path)
    first.add([1], [segment("kept")])
    first.flush()
    first.add([2], [segment("lost", "in", "a", "crash", "lost")])
    first.close()
    assert Reader(tmp_path).of([1]) == [segment("kept")]
    assert read(tmp_path, [1, 2]) == "segment 2 is not there"
    second = Writer(tmp_path)
    second.add([2], [segment("another")])
    second.flush()
    second.close()
    assert Reader(tmp_path).of([1, 2]) == [segment("kept"), segment("another")]


@pytest.mark.parametrize("seed", range(4))
def test_in_whatever_order_segments_are_written_the_last_under_a_number_is_read(tmp_path, monkeypatch, seed):
    drawn = random.Random(seed)
    monkeypatch.setattr(packed, "_SPILL", 300)
    texts: dict[int, bytes] = {}
    seen: set[int] = set()  # what was flushed, and is not written again
    writer = Writer(tmp_path)
    for _ in range(150):
        first = drawn.choice([drawn.randrange(300), max(texts, default=0) + drawn.randrange(1, 3)])
        numbers = list(range(first, first + drawn.randrange(1, 9)))
        drawn.choice([list.sort, drawn.shuffle])(numbers)
        added = {
            number: segment(*drawn.choices("abcdefg", k=drawn.randrange(9)), str(len(texts))) for number in numbers
        }
        writer.add(list(added), list(added.values()))
        texts |= added
        seen -= added.keys()
        if not drawn.randrange(5):
            before = Reader(tmp_path)
            writer.flush()
            assert before.of(sorted(seen)) == [texts[number] for number in sorted(seen)]
            assert Reader(tmp_path).of(list(texts)) == list(texts.values())
            seen = set(texts)
            if drawn.randrange(2):
                writer.close()
                writer = Writer(tmp_path)
    writer.flush()
    writer.close()
    assert both(lambda: Reader(tmp_path).of(list(texts)), brief, packed) == 2 * (list(texts.values()),)
    assert Reader(tmp_path).held(texts) <= (tmp_path / "packed.data").stat().st_size


def test_segments_that_are_written_in_order_need_two_bytes_each_to_be_found(tmp_path):
    for first in (1, 40, 41, 900):
        writer = Writer(tmp_path)
        end = {1: 40, 40: 41, 41: 900, 900: 1024}[first]
        for number in range(first, end):
            writer.add([number], [segment("a", str(number))])
            if number % 50 == 0:
                writer.flush()
        writer.flush()
        writer.close()
    assert (tmp_path / "packed.places").stat().st_size == 1024 // 32 * 72
    assert (tmp_path / "packed.apart").stat().st_size == 0
    numbers = list(range(1, 1024))
    assert both(lambda: Reader(tmp_path).of(numbers), brief, packed)[0] == [segment("a", str(i)) for i in numbers]


def test_a_reader_keeps_what_it_saw(tmp_path):
    writer = Writer(tmp_path)
    writer.add([1], [segment("one", "one")])
    writer.flush()
    before = Reader(tmp_path)
    writer.add([2], [segment("two", "two")])
    writer.flush()
    writer.close()
    assert before.of([1]) == [segment("one", "one")]
    with pytest.raises(ValueError, match="segment 2 is not there"):
        before.of([1, 2])
    assert Reader(tmp_path).of([1, 2]) == [segment("one", "one"), segment("two", "two")]


@pytest.mark.parametrize(("small", "kept"), [(1 << 20, 1 << 20), (1 << 20, 300), (0, 1 << 20)])
def test_what_a_small_index_keeps_of_what_was_read_is_what_its_files_say(tmp_path, monkeypatch, small, kept):
    monkeypatch.setattr(packed, "_SMALL", small)
    monkeypatch.setattr(packed, "_KEPT", kept)
    texts = {number: segment("some", "words", f"own{number}") for number in range(1, 60)}
    writer = Writer(tmp_path)
    for number, text in texts.items():
        writer.add([number], [text])
    writer.flush()
    writer.close()
    drawn = random.Random(7)
    reader = Reader(tmp_path)
    for _ in range(30):
        numbers = drawn.choices(list(texts), k=drawn.randrange(20))
        assert reader.of(numbers) == [texts[number] for number in numbers]
    for _ in range(2):
        with pytest.raises(ValueError, match="segment 60 is not there"):
            reader.of([1, 60, 2])


def test_checking_reads_the_files_whatever_was_kept_of_them(tmp_path):
    writer = Writer(tmp_path)
    writer.add([1], [segment("kept", "words")])
    writer.flush()
    writer.close()
    reader = Reader(tmp_path)
    assert reader.of([1]) == [segment("kept", "words")]
    data = bytearray((tmp_path / "packed.data").read_bytes())
    data[-1] ^= 1
    with (tmp_path / "packed.data").open("r+b") as file:
        file.write(data)
    with pytest.raises(ValueError, match="not as it was written"):
        reader.check([1])


def test_words_that_are_common_take_less_room_in_the_segments_that_follow(tmp_path):
    sizes = []
    writer = Writer(tmp_path)
    for number in range(3):
        for at in range(9):
            writer.add([10 * number + at], [segment("the", "same", "words", f"other{number}{at}")])
        writer.flush()
        sizes.append((tmp_path / "packed.data").stat().st_size - sum(sizes))
    writer.close()
    # A check, six counts, five codes of three bits: known ones take nine bits more, an unknown one 24, and "there" three in all.
    assert sizes == [9 * (2 + 6 + 2 + 1 + 8)] * 3
    assert (tmp_path / "packed.words").stat().st_size == 24 + 3 * 4 + 2


@pytest.mark.parametrize("left_over", [b"ab", struct.pack("<5II", 1, 0, 0, 0, 0, 7) + b"abc"])
def test_words_that_were_cut_off_in_a_crash_have_no_number_and_nothing_is_written_behind_them(tmp_path, left_over):
    writer = Writer(tmp_path)
    for number in range(9):
        writer.add([number], [segment("one", "two")])
    writer.flush()
    writer.close()
    packed.check(tmp_path)
    with (tmp_path / "packed.words").open("ab") as words:
        words.write(left_over)
    assert Reader(tmp_path).of([1]) == [segment("one", "two")]
    with pytest.raises(ValueError, match="table of words is damaged"):
        packed.check(tmp_path)


def test_whatever_byte_changes_and_wherever_files_are_cut_it_is_told_or_changes_nothing(tmp_path):
    texts = {number: ["common", "words", "here", f"and{number % 5}", f"rare{number}"] * 2 for number in range(1, 60)}
    writer = Writer(tmp_path)
    writer.add([7], [segment("written", "again")])
    writer.flush()
    for number, words in texts.items():
        writer.add([number], [segment(*words)])
        if number % 25 == 0:
            writer.flush()
    writer.flush()
    writer.close()
    whole = {number: segment(*words) for number, words in texts.items()}
    drawn = random.Random(5)
    told = 0
    for name in ("data", "places", "apart", "words"):
        file = tmp_path / f"packed.{name}"
        kept = file.read_bytes()
        for at in range(0, len(kept), 7):
            flipped = kept[:at] + bytes([kept[at] ^ 1 << drawn.randrange(8)]) + kept[at + 1 :]
            for damaged in (flipped, kept[:at], kept[:at] + bytes(len(kept) - at)):
                file.write_bytes(damaged)
                reader = Reader(tmp_path)
                for number in texts:
                    try:
                        assert reader.of([number]) == [whole[number]], (name, at, number)
                    except ValueError:
                        told += 1
        file.write_bytes(kept)
    assert told > 1000
    assert Reader(tmp_path).of(list(texts)) == list(whole.values())


def test_an_entry_that_holds_no_packed_segment_is_refused_before_it_is_written():
    [made] = searchable.every("/r/a.txt", "", [Segment(0, "line 1", "", "some words")])
    assert searchable.unpacked(searchable.packed(made)) == made
    for broken in (made.packed[:-1], made.packed + b"0", b""):
        with pytest.raises(ValueError, match="not an entry"):
            searchable.unpacked(searchable.packed(replace(made, packed=broken)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.integers(0, 1 << 40) | st.integers(0, 400).map(lambda at: at << 24 | 30), max_size=8),
    st.lists(
        st.tuples(
            st.integers(0, 400) | st.integers(0, (1 << 64) - 1),
            st.lists(st.integers(0, 40) | st.just(0x8000), max_size=9),
        ),
        max_size=2,
    ),
    st.binary(max_size=400),
    st.lists(st.integers(-2, 9) | st.just(1 << 70), max_size=9),
    st.binary(max_size=30),
)
def test_what_is_damaged_is_read_in_c_as_in_python(tmp_path, apart, groups, data, numbers, words):
    places = b"".join(struct.pack("<Q32H", start, *lengths, *[0] * (32 - len(lengths))) for start, lengths in groups)
    own = struct.pack(f"<{len(apart)}Q", *apart)
    for name, content in (("places", places), ("apart", own), ("data", data), ("words", words)):
        (tmp_path / f"packed.{name}").write_bytes(content)
    quickly, slowly = both(lambda: read(tmp_path, numbers), brief, packed)
    assert quickly == slowly


@settings(
    max_examples=settings().max_examples * 2 // 5, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # each writes to the disk
@given(
    st.lists(st.lists(st.sampled_from(["one", "two", "three"]) | st.text(max_size=3), max_size=9), max_size=9),
    st.integers(0, 40),
)
def test_segments_are_read_in_c_as_in_python_from_a_file_that_was_cut_off_too(tmp_path, texts, lost):
    for file in tmp_path.iterdir():
        file.unlink()
    writer = Writer(tmp_path)
    for number, words in enumerate(texts):
        writer.add([number], [segment(*words)])
    writer.flush()
    writer.close()
    numbers = list(range(len(texts)))
    assert both(lambda: Reader(tmp_path).of(numbers), brief, packed) == 2 * ([segment(*words) for words in texts],)
    data = tmp_path / "packed.data"
    data.write_bytes(data.read_bytes()[: -lost or None])
    quickly, slowly = both(lambda: read(tmp_path, numbers), brief, packed)
    assert quickly == slowly
