"""Redaction: what must not leave is hidden wherever it stands, and everything else stays byte for byte."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import redaction_cases as cases
from smart_context import redact
from smart_context.redact import codes, phones, wrap
from smart_context.redact import shape as shapes
from smart_context.redact import view as views

_PLACES = (
    "{}", "use {} now", "id\t{}\tend", "# {}\n", '"{}"', "key={}", "({}).", "It is {}.", "{}: that is it", "https://example.org/?t={}&a=b", "`{}`", "line\\n{}", "令牌{}吧",
)  # fmt: skip
_SEAMS = ("\n", "\r\n    ", "\n> ", "\u200b", "\u00ad", "\u2060")


def squeezed(text: str) -> str:
    return "".join(text.split())


def assert_hidden(text: str, secret: str, kind: str) -> None:
    cleaned = redact.clean(text)
    assert f"[redacted:{kind}]" in cleaned
    assert squeezed(secret) not in squeezed(cleaned)
    assert redact.clean(cleaned) == cleaned


def assert_no_piece(text: str, secret: str) -> None:
    cleaned = redact.clean(text)
    assert not [secret[i : i + 8] for i in range(len(secret) - 7) if secret[i : i + 8] in cleaned], cleaned


@pytest.mark.parametrize("name", cases.TOKENS)
def test_a_token_is_hidden_in_whole_wherever_it_stands(name):
    secret = cases.TOKENS[name]
    for place in _PLACES:
        text = place.format(secret)
        assert_hidden(text, secret, "secret")
        assert_no_piece(text, secret)


@pytest.mark.parametrize("name", cases.TOKENS)
def test_a_token_is_hidden_in_whole_when_a_line_break_or_an_invisible_character_cuts_it(name):
    secret = cases.TOKENS[name]
    for at in (len(secret) // 2, len(secret) * 2 // 3, len(secret) - 6):
        for seam in _SEAMS:
            text = f"a {secret[:at]}{seam}{secret[at:]} b"
            assert_hidden(text, secret, "secret")
            assert_no_piece(text, secret)
            assert redact.clean(text).endswith(" b")


@pytest.mark.parametrize("text", cases.ASSIGNMENTS)
def test_a_password_is_hidden_in_every_syntax_and_language(text):
    for password in (cases.PASSWORD, "hunter2horse!", "Sommer2024", "S3cr3tP%40ss", "x7*Kq9~z"):
        assert_hidden(text.format(password), password, "secret")


@pytest.mark.parametrize("text", cases.TOKEN_ASSIGNMENTS)
@pytest.mark.parametrize("secret", [cases._A, cases._HEX, cases._A + "/+" + cases._B[:6]])
def test_a_value_without_a_mark_of_its_own_is_hidden_where_its_name_says_what_it_is(text, secret):
    assert_hidden(text.format(secret), secret, "secret")


@pytest.mark.parametrize(
    ("kind", "text", "secret"),
    [
        (kind, text, secret)
        for kind, rows in (
            ("email", cases.EMAILS),
            ("phone", cases.PHONES),
            ("card", cases.CARDS),
            ("iban", cases.IBANS),
        )
        for text, secret in rows
    ],
)
def test_addresses_and_numbers_are_hidden_as_people_write_them(kind, text, secret):
    assert_hidden(text, secret, kind)


def test_what_only_resembles_a_secret_stays():
    assert {text: redact.clean(text) for text in cases.HARMLESS} == {text: text for text in cases.HARMLESS}


_LINES = cases.PEM.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        cases.PEM,
        "\n".join(_LINES[:-1]),  # cut off before its end
        "\n".join(_LINES[:3]),
        "\n".join(_LINES[1:]),  # cut off after its beginning
        cases.PEM.replace("\n", "\\n"),  # inside JSON
        cases.PEM.replace("\n", " "),
        cases.PEM.replace("\n", "\r\n"),
        cases.PEM.replace("\n", "\n> "),
        cases.PEM.replace("RSA", "OPENSSH"),
        cases.PEM.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
        "\n".join(_LINES[1:-1]),  # without its marks
    ],
)
def test_a_private_key_is_hidden_to_its_last_line(text):
    cleaned = redact.clean(f"before\n\n{text}\n\nafter")
    assert not [line for line in _LINES[1:-1] if line in cleaned]
    assert cleaned.startswith("before")
    assert cleaned.endswith("after")


def test_text_around_a_secret_stays():
    assert redact.clean("Mail nora@example.org, or call +1 212 555 0187 (Mon-Fri).") == (
        "Mail [redacted:email], or call [redacted:phone] (Mon-Fri)."
    )
    assert redact.clean("amqp://u:s3cr3tpw@mq:5672/v") == "amqp://u:[redacted:secret]@mq:5672/v"


def test_spans_are_in_order_apart_and_in_offsets_of_the_text_given():
    text = "\u200bＡ nora\u00ad@example.org \u200b +1 212 555 0187"
    found = redact.spans(text)
    assert [(span.kind, text[span.start : span.end]) for span in found] == [
        ("email", "nora\u00ad@example.org"),
        ("phone", "+1 212 555 0187"),
    ]


_FRAGMENTS = st.sampled_from(
    [
        *cases.TOKENS.values(), *(text for rows in (cases.EMAILS, cases.PHONES, cases.CARDS, cases.IBANS) for text, _ in rows),
        *cases.HARMLESS, "password", "token", "secret", ": ", "=", " ", "\n", "\t", "@", "://", "[redacted:secret]", "[redacted:", "]", '"', "1", "é", "\u200b", "\ufffc",
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(_FRAGMENTS, st.text(max_size=6)), max_size=8).map("".join))
def test_cleaning_what_is_clean_changes_nothing(text):
    once = redact.clean(text)
    assert redact.clean(once) == once


@settings(max_examples=60, deadline=None)
@given(st.lists(_FRAGMENTS, max_size=6).map(" ".join), st.sampled_from(sorted(cases.TOKENS)))
def test_no_neighbour_uncovers_a_token(around, name):
    secret = cases.TOKENS[name]
    assert secret not in redact.clean(f"{around} {secret} {around}")


def test_extra_patterns_hide_as_custom():
    redactor = redact.Redactor([r"EMP-\d{5}", "Projekt Phönix"])
    assert redactor.clean("EMP-12345 in Projekt Phönix, nora@example.org") == (
        "[redacted:custom] in [redacted:custom], [redacted:email]"
    )
    assert redact.clean("EMP-12345") == "EMP-12345"


_HOSTILE = {
    "a": "a", "at signs": "@", "addresses": "a@", "dots": "a.", "digits": "1", "spaced digits": "1 ", "pluses": "+1 ", "zeros": "01 ", "column": "1\n",
    "names": "password=", "words": "password ", "open quotes": 'password="', "escapes": 'password="a\\', "urls": "://a:", "logins": "://a:b@", "keys": "sk-", "jwt": "eyJa.",
    "begins": "-----BEGIN PRIVATE KEY-----\n", "ends": "-----END PRIVATE KEY-----\n", "ibans": "DE89 ", "cards": "4111 ", "cells": "password\t", "rows": "a\tpassword\n",
    "invisible": "\u200b", "half invisible": "a\u200b", "written": "a at ", "brackets": "a [at] ", "bearer": "bearer ", "cookies": "cookie: a=", "signatures": "&sig=",
    "phones": "tel 030 ", "curl": "curl -u ", "mysql": "mysql ", "machine": "machine a login ", "tags": "<password ", "hidden": "[redacted:secret]", "base64": "QUJD\n",
    "wrapped": "ghp_a1B2c3D4e5F6g7H8i9J0\n", "growing": "İ", "said": "password is ", "of": "password for a b c", "breaks": "\n", "brackets only": "(", "bars": "|",
    "backslashes": "\\", "letters of JSON": "\\u0061", "entities": "&#97;", "entities in entities": "&amp;", "letters of addresses": "%61", "percent signs": "%25", "open entities": "&#0",
}  # fmt: skip


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_text_takes_time_in_proportion_to_its_length(name):
    unit = _HOSTILE[name]
    redact.clean(unit * 100)

    def cost(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        before = time.process_time()
        redact.clean(text)
        return time.process_time() - before

    # Eight times the text may take eight times as long, with room for noise; quadratic work would take 64 times as long.
    # CPU time of this process, not wall time: other work on the machine does not count.
    small = max(min(cost(4_000) for _ in range(3)), 0.002)
    assert min(cost(32_000) for _ in range(2)) < small * 8 * 3


_DIGITS = st.text("0123456789", min_size=1, max_size=9)
_NUMBERS = st.lists(
    st.one_of(
        _DIGITS,
        st.sampled_from([" ", " ", "-", ".", "/", "\n", "  ", " - ", ") ", "(", "+", "+49 ", "00", "0", "\t", ",", "-\n", " x "]),
        st.sampled_from(["tel ", "call me at ", " fax", "visa ", "4111 1111 1111 1111", "(212) 555-0187", "212 555 0187", "030 123456"]),
        st.sampled_from(["5500000000000004", "3782 822463 10005", "212.555.0187", "+44 20 7946 0958", "06 12 34 56 78"]),
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(_NUMBERS)
def test_numbers_that_are_passed_over_by_their_shape_hold_nothing(text):
    view = views.of(text)

    def found() -> list[tuple[int, int]]:
        shape = shapes.of(view.text)
        numbers = list(shapes.numbers(shape, 6))
        return [
            *codes.cards(view.text, view.low, shape, numbers),
            *phones.find(view.text, view.low, shape, numbers),
        ]

    with pytest.MonkeyPatch.context() as everything_looked_at:
        everything_looked_at.setattr(codes, "_SHAPES", re.compile(b""))
        everything_looked_at.setattr(phones, "_GROUPED", re.compile(b""))
        expected = found()
    assert found() == expected


@given(st.text(st.sampled_from("ab \t\\-\"'+\r\n>|*#"), max_size=80))
def test_lines_are_joined_as_their_breaks_are_followed(text):
    seams = list(wrap._BREAK.finditer(text))
    starts, ends = [0, *(seam.end() for seam in seams)], [*(seam.start() for seam in seams), len(text)]
    joined = wrap.joined(text)
    assert joined.text == "".join(text[a:b] for a, b in zip(starts, ends, strict=True))
    places = [at for a, b in zip(starts, ends, strict=True) for at in range(a, b)]
    for start, first in enumerate(places):
        for end, last in enumerate(places[start:], start + 1):
            has_break = last + 1 - first > end - start
            assert joined.over_break(start, end) == ((first, last + 1) if has_break else None)


@pytest.mark.skipif(unicodedata.unidata_version.split(".") > ["17", "0"], reason="this Python knows later scripts")
def test_every_decimal_digit_is_read_as_one():
    digits = [chr(c) for c in range(0x110000) if unicodedata.decimal(chr(c), None) is not None]
    assert {c for c in digits if views.of(c).text != str(unicodedata.decimal(c))} == set()


def test_importing_redaction_does_not_load_the_numbering_plans():
    code = "import sys, smart_context.redact as r; r.clean('ordinary text, 12 of 14'); sys.exit('phonenumbers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_rules_have_a_name_that_changes_with_the_patterns():
    names = [redact.Redactor(extra).identity() for extra in ((), (r"EMP-\d{5}",), ("a,b",), ("a", "b"), ("b", "a"))]
    assert len(set(names)) == len(names)
    assert all(name.startswith(f"{redact.RULES_VERSION}-") for name in names)
    assert redact.Redactor([r"EMP-\d{5}"]).identity() == names[1]


def test_nothing_but_the_gate_is_public():
    assert redact.__all__ == ["RULES_VERSION", "Redactor", "Span", "Spans", "clean", "part", "spans"]
