"""What a glance does not tell of is not in a text: no detector misses anything by it, compiled or not."""

from __future__ import annotations

import ast
import random
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import redaction_cases
from compiled import both, characters
from smart_context import redact
from smart_context.data import replace
from smart_context.redact import access, commands, glance, issuers, look, mail, names, pins, view, words

SIGNS = (*words.SIGNS, *glance.SPACED)
LOOKED_FOR = sorted(
    {
        *look._MAIL_SIGNS, *look._ACCESS_SIGNS, *mail._SIGNS, *mail._WRITTEN_SIGNS, *access._SCHEMES, *commands._REDIS_WORDS, *words.COMMANDS,
        *names._SIGNS, *pins.SIGNS, "<tr",
    }
)  # fmt: skip
ODD = ("\0", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u2028", "\u3000", "\u200b", "\ud800", "\udfff", "İ", "ı", "ſ", "K", "Å", "Σ", "ς", "ß", "ẞ", "Ä", "ä", "é", "п", "密", "𝛋", "𝐩", "🔑", "\ufffc")  # fmt: skip
PIECES = (
    *SIGNS, *issuers.MARKS, *ODD, *" \t\r\n.,-_/+=:%@()[]\"'<>|*#~", *"0179aAkKzZ", "00", "password", "ghp_", "AKIA", "DE89", "3704 0044", "redis-clİ", "auth",
    "q7Rk2ZpX9vLm4TnB", "q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFg5aKe", "0f1e2d3c4b5a6978", "iremontelasiremontelas", "REMONTELASIR", "030 1234567", "[redacted:secret]", "%70",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=80)


def glanced(text: str) -> glance.Glance | None:
    """What a glance tells; of signs, only which there are."""
    words.forget()
    told = glance.at(view.of(text))
    return told and replace(told, seen=dict.fromkeys(told.seen))


def test_every_sign_that_a_detector_asks_for_is_told_of():
    assert set(LOOKED_FOR) <= set(SIGNS)
    asked = set()
    for source in Path(redact.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and ast.unparse(node.comparators[0]) == "seen":  # fmt: skip
                asked.add(node.left.value)
    assert {"private", "://", "@", "cookie", " dot "} <= asked <= set(SIGNS)


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_is_seen_wherever_it_stands(sign):
    for word in (sign, f"x{sign}", f"{sign}y".upper(), f"\0{sign}", f"é{sign}\x1c", f"字{sign}\ud800", f"🔑 {sign}"):
        for told in both(lambda word=word: glanced(f"some words {word}"), glance):
            assert told is not None
            assert told.seen.keys() == {other for other in SIGNS if other in f"some words {word}".lower()}


def test_a_mark_is_told_of_in_a_word_that_may_be_a_token():
    rest = "Ab3dE5fG7hJ9kL1m"
    for mark in issuers.MARKS:
        for word in (mark + rest, rest + mark, f"é{mark}{rest}", f"🔑{mark}{rest}"):
            quickly, slowly = both(lambda word=word: glanced(f"mark {word}\x85 of a token"), glance)
            assert quickly == slowly
            assert quickly is not None
            assert mark in quickly.marks


def test_each_character_of_unicode_lowers_to_what_python_says():
    some = ("k", "i", "y", "ß", "å", "ÿ", "a", "z")
    if glance.compiled is None:
        pytest.skip("not compiled")
    looked = glance.compiled.automaton(some, True)
    for char in characters():
        low = char.lower()
        assert glance.compiled.seen(looked, char) == {c for c in some if c in low}


def test_the_letters_beyond_ascii_of_names_are_told_of_in_either_case():
    smalls = [next(c for c in name if not c.isascii()) for _, (name, _, _) in names._OTHER]
    lowered: dict[str, set[str]] = {small: set() for small in smalls}
    for char in map(chr, range(128, sys.maxunicode + 1)):
        if (low := char.lower()) in lowered:
            lowered[low].add(char)
    for small, (first, _) in zip(smalls, names._OTHER, strict=True):
        assert {small} <= lowered[small] <= set(first) <= names.LETTERS


@given(TEXTS)
@example("")
@example("redis-clİ auth q7Rk2ZpX9vLm4TnB")
@example("AUTHORİ\nKEY paſſword")
@example("A1b2C3d4E5f6G7h8A1b2C3d4E5f6G7h8")
@example("\nabc1def2" + "x" * 300)
@example("ghp\n_q7Rk2ZpX9vLm4TnBq7Rk2ZpX9vLm4TnB")
@example("de 89 3704 0044 0532 0130 00")
@example("\u0430\u0440\u0456_key=1 𝛋ωδικος: q7Rk2ZpX9")
def test_compiled_it_is_the_same_as_in_python(text):
    quickly, slowly = both(lambda: glanced(text), glance)
    assert quickly == slowly
    quickly, slowly = both(lambda: redact.spans(text), glance)
    assert quickly == slowly


@given(TEXTS)
def test_signs_are_told_of_where_they_begin(text):
    seen = view.of(text)
    told = glance.at(seen)
    for sign, places in told.seen.items() if told and "İ" not in seen.text else ():
        assert places is None or places == [at for at in range(len(seen.text)) if seen.low.startswith(sign, at)]


def look_at(text: str) -> list[look.Found]:
    return sorted(look.at(view.of(text), ()))


@pytest.mark.unmeasured
@pytest.mark.parametrize("times", [9_999, 10_000, 10_001])
def test_of_a_sign_that_is_there_very_often_it_is_not_told_where(times):
    text = "a.b@c.example.org KEY\n" * times
    told = glance.at(view.of(text))
    assert told is not None
    if glance.compiled:
        assert (told.seen["@"] is None) == (told.seen["key"] is None) == (times > 10_000)
    quickly, slowly = both(lambda: look_at(text), glance)
    assert quickly == slowly


@pytest.mark.parametrize(
    "unit", ["a", "A", "1", "aB3", "ghp_", "\n1a", "00 ", "AB00 ", "密码", "İ", "🔑", "\ud800", "@]", "a\0"]
)
def test_words_and_lines_of_any_length_are_the_same(unit):
    text = unit * (60_000 // len(unit))  # more signs than places are told of
    for one in (text, text[:-1] + " ", f"x {text}", f"{text}\npassword=q7Rk2ZpX9vLm4TnB"):
        quickly, slowly = both(lambda one=one: glanced(one), glance)
        assert quickly == slowly


def test_tokens_at_any_place_of_a_text_are_hidden_as_they_are_in_python():
    drawn = random.Random(17)
    plain = (
        "the quick walrus opens 17 doors; see section 4.2 (page 9) or mail us.\nNothing is here, données 密 and more.\n"
    )
    for secret in redaction_cases.TOKENS.values():
        for _ in range(8):
            at = drawn.randrange(len(plain) + 1)
            before, after = drawn.choice(["", " ", *ODD]), drawn.choice(["", " ", *ODD])
            text = f"{plain[:at]}{before}{secret}{after}{plain[at:]}"
            quickly, slowly = both(lambda text=text: redact.spans(text), glance)
            assert quickly == slowly


def test_what_cannot_be_looked_for_is_refused():
    if glance.compiled is None:
        pytest.skip("not compiled")
    for strings, folds in ((("密",), True), (("",), True), (("Key",), True), ((1,), False), (("x" * 40_000,), False), (("a" + "".join(map(chr, range(256))),), False)):  # fmt: skip
        with pytest.raises(ValueError, match="look"):
            glance.compiled.automaton(strings, folds)
    with pytest.raises(ValueError, match="PyCapsule"):
        glance.compiled.seen(None, "text")


@given(TEXTS, st.integers(-1, 40))
def test_long_words_are_those_of_python(text, least):
    quickly, slowly = both(lambda: glance.long_words(text, least), glance)
    assert quickly == slowly


def test_a_token_of_a_shape_is_at_least_as_long_as_is_said():
    parse = import_module("re._parser").parse
    for shape in issuers.SHAPED:
        least, _ = parse(shape.before + shape.form).getwidth()
        assert least >= (issuers.SHORTEST if shape.sign in issuers.SHORT else issuers.LONG)


@given(
    st.lists(st.sampled_from(["token", "Plain", "ends.", "with:", "a1b2C3", "x" * 20, "1a", "z9" * 3, "é", " ", "  ", "\t", "\r", "\n", "\n> ", '\n"', "\x1c", "\u2028", "-", "=", "\\"]), max_size=30).map("".join),
    st.sampled_from([0, 15, 16, 17, 4094, 4095, 4096, 4097]),
    st.sampled_from(["", " ", "\n"]),
)  # fmt: skip
@example("\na1b2c3d4", 0, "")
@example("plain words\r\na1b2c3d4", 0, "")
@example("plain Words.\na1b2c3d4", 0, "")
@example("Plain words \na1b2c3d4", 0, "")
@example("-\na1b2c3d4", 4094, "")
@example("-\na1b2c3d4", 4095, "")
@example("-\na1b2c3d4", 4096, "")
@example("\n-\na1b2c3d4", 4095, "")
def test_line_breaks_that_may_cut_a_token_are_those_of_python(text, longer, sign):
    text = text.replace("\n", f"{sign}{'y' * longer}\n", 1)
    quickly, slowly = both(lambda: glanced(text), glance)
    assert quickly == slowly
