"""Lower case, words, exact numbers and strings, strict JSON: the pieces on which the bytes rest."""

from __future__ import annotations

import json
import struct
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from smart_context.cache import exact_json, lowercase, strict_json, words
from smart_context.cache.lowercase_tables import NEWER

_NEWER = {code for first, last in NEWER for code in range(first, last + 1)}


def _every() -> str:
    """All characters there are."""
    return "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))


def test_every_letter_that_this_python_knows_is_lowered_as_it_does() -> None:
    if not lowercase.knows_python():
        pytest.skip("a Python with a Unicode newer than our tables")
    text = "".join(letter for letter in _every() if ord(letter) not in _NEWER and letter != "Σ")
    assert lowercase.by_table(text) == text.lower()


def test_letters_younger_than_python_are_lowered_and_only_they_differ() -> None:
    text = "".join(letter for letter in _every() if letter != "Σ")
    assert lowercase.lower(text) == lowercase.by_table(text)
    assert [lowercase.lower(chr(code)) for code in (0x1C89, 0xA7CB, 0xA7DC, 0x10D50, 0x16EA0)] == [
        "\u1c8a",
        "\u0264",
        "\u019b",
        "\U00010d70",
        "\U00016ebb",
    ]


@given(st.text("aΑΣσ.:'\u00ad\u0301\u0308 1-ªⅧ漢İ"))
def test_a_final_sigma_is_final_by_our_tables_as_by_pythons(text: str) -> None:
    assert lowercase.by_table(text) == text.lower() == lowercase.lower(text)


@given(st.text(naive.ALPHABET))
def test_words_stand_between_white_space(text: str) -> None:
    assert words.of(text) == naive.words(text)


@pytest.mark.parametrize("space", naive.WHITE_SPACE)
def test_every_white_space_separates_and_no_other_character_does(space: str) -> None:
    assert words.split(f"a{space}b") == ["a", "b"]


def test_no_other_character_separates() -> None:
    others = "".join(set(_every()) - set(naive.WHITE_SPACE))
    assert words.split(others) == [others]
    assert words.split(others.replace("\x1c", "").replace("\x1d", "").replace("\x1e", "").replace("\x1f", "")) == [
        others.replace("\x1c", "").replace("\x1d", "").replace("\x1e", "").replace("\x1f", "")
    ]


@given(st.floats(0, 1, width=32))
def test_a_score_is_written_in_the_fewest_digits_that_read_back(value: float) -> None:
    assert exact_json.decimal(value) == naive.number(np.float32(value))


def test_powers_of_two_are_written_like_every_other_number() -> None:
    # Their neighbours lie at two different distances, where naive searches for the shortest digits go wrong.
    for exponent in range(-126, 1):
        value = 2.0**exponent
        assert exact_json.decimal(value) == naive.number(np.float32(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (1.0, "1.0"),
        (1 / 3, "0.33333334"),
        (1e-6, "0.000001"),
        (9.99997e-7, "9.99997e-7"),
        (1e-7, "1e-7"),
        (1e12, "1000000000000.0"),
        (1e13, "1e13"),
        (123456.0, "123456.0"),
        (1.5e-45, "1e-45"),
    ],
)
def test_numbers_are_fixed_from_a_millionth_to_ten_billions_and_scientific_beyond(value: float, text: str) -> None:
    assert exact_json.decimal(exact_json.float32(value)) == text


@given(st.integers(0, 2**31), st.integers(1, 2**31))
def test_a_quotient_rounds_once_to_float32(one: int, other: int) -> None:
    quotient = exact_json.float32(exact_json.float32(one) / exact_json.float32(other))
    assert quotient == float(np.float32(one) / np.float32(other))


def test_only_quotes_backslashes_and_control_characters_are_escaped() -> None:
    named = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    for letter in _every():
        escaped = named.get(letter) or (f"\\u{ord(letter):04x}" if letter < " " else letter)
        assert exact_json.string(letter) == f'"{escaped}"'


def test_repeated_keys_stay_visible() -> None:
    assert strict_json.parse(b'{"a":1,"b":[],"a":{}}') == (("a", 1), ("b", []), ("a", ()))


@pytest.mark.parametrize("digits", [b"1e999", b"1.0", b"-0", b"1" * 5000, b"-" + b"9" * 20, b"1E+2"])
def test_numbers_that_are_no_integers_of_64_bits_are_read_as_something_else(digits: bytes) -> None:
    assert strict_json.parse(b"[" + digits + b"]") == [strict_json.OTHER]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"\xef\xbb\xbf{}",
        b"{,}",
        b"[1,]",
        b"[01]",
        b"[1.]",
        b"[.5]",
        b"[+1]",
        b"NaN",
        b"[Infinity]",
        b"[-Infinity]",
        b"nul",
        b"{1:2}",
        b"{'a':1}",
        b'"\x01"',
        b'"\\x"',
        b'"\\u12g4"',
        b'"',
        b"[1] 2",
        b"{}{}",
        b"// x\n{}",
        b"\xa0{}",
        b"\xff",
        b'"\xed\xa0\x80"',
        b"\x00",
        b"{}\x00",
        b"[\x0b]",
        b"[\x0c1]",
        b'{"a"}',
    ],
)
def test_what_is_not_json_is_malformed(data: bytes) -> None:
    with pytest.raises(strict_json.Malformed):
        strict_json.parse(data)


@pytest.mark.parametrize("depth", [99, 100, 101, 5000, 200_000])
def test_depth_is_no_error_and_what_is_wrong_deep_inside_is(depth: int) -> None:
    opening, closing = b'{"a":[' * (depth // 2), b"]}" * (depth // 2)
    value = strict_json.parse(b'[7,"]",' + opening + b'"\\"[{"' + closing + b"]")
    assert isinstance(value, list)
    assert value[:2] == [7, "]"]
    for wrong in (b"[1", b"]", b'"', b"{}}", b"01", b",", b'{"a"}'):
        with pytest.raises(strict_json.Malformed):
            strict_json.parse(b"[7," + opening + wrong + closing + b"]")


_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.text(naive.ALPHABET, max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)),
)


@given(_values, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_reading_gives_what_was_written(value: object, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert _plain(strict_json.parse(text.encode())) == value


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return {key: _plain(inner) for key, inner in value}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def test_float32_is_the_nearest_one() -> None:
    assert exact_json.float32(16777217) == 16777216.0
    assert struct.pack("<f", exact_json.float32(1 / 3)) == np.float32(1 / 3).tobytes()
