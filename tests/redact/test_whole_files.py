"""Whole files: many secrets, long lines, long spans. Work is counted in steps, never in seconds."""

from __future__ import annotations

import random
import sys

import pytest

from smart_context import redact

_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_DICE = random.Random(5)


def _made(length: int) -> str:
    return "".join(_DICE.choices(_LETTERS, k=length))


def _calls(text: str) -> int:
    """How many functions are called to judge a text, of ours and of the interpreter."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        redact.spans(text)
    finally:
        sys.setprofile(before)
    return count


_UNITS = {
    "prose": "The committee met on 12 March 2024 to review the annual report. Revenue rose by 4.5 %.\n",
    "passwords": "password: Tr0ub4dor&3\nuser: anna\n",
    "addresses": "Write to nora@example.org or call +1 212 555 0187.\n",
    "written addresses": "nora (at) example (dot) org ",
    "names": "key=token=",
    "tokens": "use gh" + "p_q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFgA1eU9bQz now\n",
    "bare strings": "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY ",
    "base64": "q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFgA1eUq7Rk2ZpX9vLm4TnB8wYc3HdJ6sFgA1eU\n",
    "one word": "a1B",
    "beginnings of keys": "-----BEGIN PRIVATE KEY-----\n",
    "numbers": "4111 1111 1111 1111 030 901820\n",
    "rows": "anna\tTr0ub4dor&3\n",
    "list": '"aB3dE5fG7hJ9kL1mN2pQ", ',
}  # fmt: skip


@pytest.mark.parametrize("name", _UNITS)
def test_four_times_the_text_takes_four_times_the_steps(name):
    head = {"rows": "user\tpassword\n", "list": "api_keys = ["}.get(name, "")
    unit = _UNITS[name]
    redact.spans(head + unit * 3)  # what is made once is made now
    few, many = (_calls(head + unit * (size // len(unit))) for size in (12_000, 48_000))
    assert many < few * 4 * 1.3 + 2000


@pytest.mark.unmeasured
def test_tens_of_thousands_of_secrets_in_one_file_are_hidden():
    secrets = [_made(14) for _ in range(25_000)]
    text = "\n".join(f"password: {secret}" for secret in secrets)
    spans = redact.spans(text)
    assert [text[span.start : span.end] for span in spans] == secrets


def test_a_span_of_half_a_million_characters_is_one_span():
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *(_made(64) for _ in range(8_000)), "-----END PRIVATE KEY-----"])
    text = f"before\n{key}\nafter"
    (span,) = redact.spans(text)
    assert (text[: span.start], text[span.end :]) == ("before\n", "\nafter")


def test_a_secret_at_the_end_of_a_line_of_millions_of_characters_is_hidden():
    text = "lorem ipsum dolor sit amet " * 150_000 + "password=Tr0ub4dor&3 nora@example.org"
    assert [(span.kind, text[span.start : span.end]) for span in redact.spans(text)] == [
        ("secret", "Tr0ub4dor&3"),
        ("email", "nora@example.org"),
    ]


def test_where_a_secret_stands_in_a_file_does_not_matter():
    filler = "The committee met to review the annual report, and found nothing new in it.\n" * 400
    secret = "password: Tr0ub4dor&3\nAlice <alice@example.org>, +44 20 7946 0958\n"
    expected = redact.clean(secret)
    for before in (0, 1, 7, 200):
        text = filler[: 76 * before] + secret + filler
        assert redact.clean(text) == filler[: 76 * before] + expected + filler


@pytest.mark.parametrize("size", [5_000, 60_000])
def test_cleaning_a_whole_file_twice_changes_nothing(size):
    pieces = [
        "password: Tr0ub4dor&3", "nora@example.org", "+1 212 555 0187", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "token = " + _made(24),
        "Nothing here.", "user\tpassword\nanna\thunter2x", "a (at) b (dot) org", "https://u:s3cretpw@example.org", "12345-6789", "key=" + _made(30), "\n\n",
    ]  # fmt: skip
    dice = random.Random(size)
    text = ""
    while len(text) < size:
        text += dice.choice(pieces) + dice.choice(["\n", " ", ", ", ";", "\t"])
    once = redact.clean(text)
    assert redact.clean(once) == once
