"""Text as the detectors read it: what looks or counts like a plain sign is read as one, and everything is found again where it stood."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compiled import both, characters
from smart_context.redact import view

# Decimal digits that are younger than the oldest Python that we run on.
YOUNG = (0x10D40, 0x116D0, 0x116DA, 0x11BF0, 0x11DE0, 0x11F50, 0x16130, 0x16D70, 0x1CCF0, 0x1E4F0, 0x1E5F1)


def test_the_digits_of_every_script_are_digits():
    digits = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Nd"]
    assert view.of("".join(digits)).text == "".join(str(unicodedata.digit(c)) for c in digits)
    for c in digits[::97]:
        assert view.of(f"a{c}").text == f"a{unicodedata.digit(c)}"
    for zero in YOUNG:
        assert view.of("".join(chr(zero + n) for n in range(10))).text == "0123456789"


def test_every_space_is_a_space_and_every_end_of_a_line_one():
    spaces = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Zs"]
    assert len(spaces) >= 17
    for c in spaces:
        assert view.of(f"é{c}b").text == "é b"
    for c in "\u2028\u2029\x85":
        assert view.of(f"a{c}b").text == "a\nb"


@pytest.mark.parametrize(
    ("signs", "plain"),
    [
        ("\u058a\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u207b\u208b\u2212\ufe58\ufe63\uff0d", "-"), ("。｡․﹒．", "."), ("‘’＇", "'"), ("“”«»„＂", '"'), ("﹫＠", "@"),
    ],
)  # fmt: skip
def test_signs_that_are_drawn_alike_are_one(signs, plain):
    for sign in signs:
        assert view.of(f"a{sign}b").text == f"a{plain}b"
    assert view.of(signs).text == plain * len(signs)


def test_wide_letters_and_signs_are_narrow_ones():
    for code in range(0x21, 0x7F):
        assert view.of(chr(0xFEE0 + code)).text == chr(code)
    for other in ("\uff00", "\uff5f", "·", "×", "é", "漢"):
        assert view.of(other).text == other


OTHERS = "асеорхуіѕјһԁԛԝɡıқԍӏАВЕКМНОРСТХУІЅЈαορνικτυεηΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
LATIN = "aceopxyisjhdqwgikglABEKMHOPCTXYISJaopviktuenABEZHIKMNOPTYX"


@pytest.mark.parametrize(("other", "latin"), list(zip(OTHERS, LATIN, strict=True)))
def test_a_letter_of_another_script_among_latin_ones_is_read_as_the_latin_one(other, latin):
    assert view.of(f"q{other}").text == f"q{latin}"
    assert view.of(f"{other}q {other}{other} q").text == f"{latin}q {other}{other} q"
    assert view.of(other).text == other


def test_letters_in_another_style_are_plain_and_what_is_no_letter_stays():
    assert view.of("𝐩𝑎𝓼𝕤 ⓦⓄ ⒭ 🄳 🅐").text == "pass wO r D 🅐"
    assert view.of("\U0001d3ff\u24ea\U0001f18a").text == "\U0001d3ff\u24ea\U0001f18a"


UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180f\u200b\u200f\u202a\u202e\u2060\u206f\u3164\ufe00\ufe0f\ufeff\uffa0\ufff0\ufffb\U0001bca0\U0001bca3\U0001d173\U0001d17a\U000e0000\U000e0fff"


@pytest.mark.parametrize("sign", UNSEEN)
def test_what_cannot_be_seen_splits_nothing(sign):
    found = view.of(f"ab{sign}{sign}cd")
    assert found.text == "abcd"
    assert [found.origin(at, at + 1) for at in range(4)] == [(0, 1), (1, 2), (4, 5), (5, 6)]
    assert found.origin(1, 3) == (1, 5)


@pytest.mark.parametrize(
    "sign",
    "\u00ac\u00ae\u02ff\u0370\u180a\u1810\u200a\u2010\u2029\u202f\u205f\u2070\u3163\ufdff\ufe10\uff9f\uffef\ufffd\U0001bc9f\U0001d16c\U0001d183\U000e1000",
)
def test_what_is_next_to_it_can_be_seen(sign):
    assert len(view.of(f"ab{sign}cd").text) == 5


DRAWN = "\u0300\u034e\u0350\u036f\u1ab0\u1aff\u1dc0\u1dff\u20d0\u20ff\ufe20\ufe2f"


@pytest.mark.parametrize("sign", DRAWN)
def test_what_is_drawn_over_a_letter_splits_nothing(sign):
    assert view.of(f"a{sign}b{sign}1{sign}").text == view.of(f"a{sign}b{sign}_").text.replace("_", "1") == "ab1"
    assert view.of(f"Ca{sign}fe{sign}").text == "Cafe"
    found = view.of(f"x1{sign}{sign}yz")
    assert found.text == "x1yz"
    assert found.origin(1, 3) == (1, 5)


@pytest.mark.parametrize("sign", "\u02ff\u0370\u1aaf\u1e00\u20cf\u2100\ufe30")
def test_what_is_not_drawn_over_a_letter_stays_beside_a_digit(sign):
    assert len(view.of(f"a1{sign}b").text) == 4


# Cyrillic, Hebrew, Arabic, Devanagari, Thai, Kana, music; seen and unseen beside each other.
OF_SCRIPTS = (
    "\u0483",
    "\u0489",
    "\u05b0",
    "\u064b",
    "\u0951",
    "\u0903",
    "\u0e34",
    "\u302a",
    "\u3099",
    "\U0001d165",
    "\u17b6\u17b4",
    "\u17b4\u0951",
    "\u064b\u200b\u0655",
)


@pytest.mark.parametrize("signs", OF_SCRIPTS)
def test_marks_of_other_scripts_split_nothing_between_latin_letters_and_stay_in_their_words(signs):
    assert [view.of(f"{a}{signs}{b}").text for a, b in ("ab", "A1", "1b", "_-")] == ["ab", "A1", "1b", "_-"]
    found = view.of(f"ab{signs}cd")
    assert found.text == "abcd"
    assert found.origin(1, 3) == (1, 3 + len(signs))
    assert signs[0] in view.of(f"ก{signs}b").text or signs[0] in UNSEEN


@pytest.mark.parametrize("letter", "\u05d0\u0627\u0905\u0e01\ua807\U00011005")
def test_letters_of_other_scripts_stay_between_latin_ones(letter):
    assert view.of(f"a{letter}b").text == f"a{letter}b"


def test_a_form_feed_ends_a_line():
    assert view.of("a\fb\vc").text == "a\nb\nc"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("p%61ssword", "password"), ("%70assword", "password"), ("api%5fkey", "api_key"), ("api%5Fkey", "api_key"), ("a%41", "aA"), ("a%7a", "az"), ("a%5a", "aZ"), ("a%6F", "ao"),
        ("%61", "%61"), ("%61b", "%61b"), ("%61bc", "abc"), ("1%61", "1%61"), ("a%40", "a%40"), ("a%60", "a%60"), ("a%5b", "a%5b"), ("a%7b", "a%7b"), ("a%2F", "a%2F"), ("a%3D", "a%3D"), ("a%6", "a%6"),
    ],
)  # fmt: skip
def test_a_letter_that_needs_no_escape_is_read_without_it(text, plain):
    assert view.of(text).text == plain


def test_a_capital_that_is_longer_in_small_letters_shifts_nothing():
    assert view.of("İAé").low == "İaé"


@pytest.mark.parametrize(
    ("text", "hidden", "plain", "origins"),
    [
        ("ab\u200b\u200bc", [(3, 4)], "ab\ufffcc", [(0, 1), (1, 2), (3, 4), (4, 5)]),
        ("a\u200b\u200b\u200bb", [(1, 2), (3, 4)], "a\ufffc\ufffcb", [(0, 1), (1, 2), (3, 4), (4, 5)]),
        ("\u200b\u200b", [(0, 1)], "\ufffc", [(0, 1)]),
        ("a%61b", [(3, 4)], "a%6\ufffcb", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]),
    ],
)
def test_what_is_hidden_within_what_is_not_read_as_it_stands_shifts_nothing(text, hidden, plain, origins):
    found = view.of(text, hidden)
    assert found.text == plain
    assert [found.origin(at, at + 1) for at in range(len(plain))] == origins


@given(st.lists(st.sampled_from(["a", "1", "é", "\u200b", "\u00ad", "％", "[redacted:email]", "p%61x", "İ", "𝐩", "\U000e0001", "secret"]), max_size=12), st.data())  # fmt: skip
def test_every_stretch_is_found_again_where_it_stood(parts, data):
    text = "".join(parts)
    starts = [sum(map(len, parts[:at])) for at in range(len(parts) + 1)]
    chosen = data.draw(st.lists(st.sampled_from(range(len(parts))), unique=True).map(sorted)) if parts else []
    hidden = [(starts[at], starts[at + 1]) for at in chosen]
    found = view.of(text, hidden)
    assert len(found.low) == len(found.text)
    last = 0
    for at, sign in enumerate(found.text):
        start, end = found.origin(at, at + 1)
        assert last <= start < end <= len(text)
        last = end
        if sign == view.MASK:
            assert (start, end) in hidden or text[start:end] == "[redacted:email]"
        else:
            assert view.of(text[start:end]).text == sign or (text[start:end], sign) == ("%61", "a")
    assert all(any(found.origin(at, at + 1) == span for at in range(len(found.text))) for span in hidden)


def seen(text: str, hidden=()) -> tuple[str, str, frozenset[str], list[tuple[int, int]]]:
    found = view.of(text, hidden)
    places = [found.origin(at, at + 1) for at in range(len(found.text))]
    return found.text, found.low, found.others, places


ODD = "aZk09 \t\n%._-[]\0\x1c\x85\xa0éÉßÿµİıſKÅẞŸΣσςΑαКкаеіӏ密パ𝐩𝛋ⓦ⒭٣๓\u200b\u00ad\u2028\u3000\uff21\uff0d\ufffc\ud800\udfff🔑\U000e0001"


@given(st.text(st.sampled_from(ODD), max_size=60) | st.text(max_size=40))
@example("")
@example("K")  # becomes ASCII
@example("\uff21\uff22")
@example("pаss\u0430 Σ İΣ 🔑\uff21")
def test_compiled_it_is_the_same_as_in_python(text):
    quickly, slowly = both(lambda: seen(text), view)
    assert quickly == slowly
    quickly, slowly = both(lambda: seen(text, [(1, 2)]) if len(text) > 2 else (), view)
    assert quickly == slowly


def test_every_character_is_read_as_in_python():
    every = characters()
    for first in range(0, len(every), 4096):
        text = "x".join(every[first : first + 4096])
        for one in (text, text.replace("Σ", "")):
            quickly, slowly = both(lambda one=one: seen(one), view)
            assert quickly == slowly
            assert quickly[0].isascii() == slowly[0].isascii()


def test_what_cannot_be_replaced_is_refused():
    if view.compiled is None:
        pytest.skip("not compiled")
    for wrong in (lambda: view.compiled.replaced("a", "é", "ee"), lambda: view.compiled.replaced("a", "é", "è")):
        with pytest.raises(ValueError, match="replaced"):
            wrong()
    with pytest.raises(ValueError, match="Latin"):
        view.compiled.mixed("a", "密")
    for wrong in (view.compiled.others, view.compiled.lowered):
        with pytest.raises(TypeError):
            wrong(b"a")
