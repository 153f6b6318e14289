"""Private keys of any length, in any wrapping: one span, nothing of the key outside it, nothing beside the key inside it."""

from __future__ import annotations

import base64
import json
import random

import pytest

from smart_context import redact

_BEFORE = "Minutes of the meeting.\nWe agreed on the following key for the server:\n\n"
_AFTER = "\n\nNext meeting on Monday, in the large room. Bring the figures of March.\n"


def _lines(size: int, width: int = 64) -> list[str]:
    body = base64.b64encode(random.Random(size).randbytes(size)).decode()
    return [body[i : i + width] for i in range(0, len(body), width)]


def _pem(size: int, label: str = "RSA PRIVATE KEY") -> str:
    return "\n".join((f"-----BEGIN {label}-----", *_lines(size), f"-----END {label}-----"))


def _putty(size: int) -> str:
    lines = _lines(size)
    public = ["AAAAB3NzaC1yc2EAAAADAQABAAABAQC7"] * 6
    return "\n".join(
        ("PuTTY-User-Key-File-3: ssh-rsa", "Encryption: none", "Comment: anna", f"Public-Lines: {len(public)}", *public,
         f"Private-Lines: {len(lines)}", *lines, "Private-MAC: 9d2f7b40c6e18a35f02b7c9e4d61a8f39d2f7b40c6e18a35f02b7c9e4d61a8f3")
    )  # fmt: skip


def _shown(text: str, key: str) -> list[str]:
    cleaned = redact.clean(text)
    return [
        line
        for line in key.splitlines()
        if len(line) >= 16 and "-----" not in line and ":" not in line and line in cleaned
    ]


@pytest.mark.parametrize("size", [120, 600, 2400, 4700, 9400, 200_000])  # bytes; an RSA key of 16,384 bits has 9,300
@pytest.mark.parametrize(
    "label", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "ENCRYPTED PRIVATE KEY"]
)
def test_a_key_is_one_span_whatever_its_length(size, label):
    key = _pem(size, label)
    text = _BEFORE + key + _AFTER
    (span,) = redact.spans(text)
    assert (text[: span.start], text[span.end :]) == (_BEFORE, _AFTER)


@pytest.mark.parametrize("size", [600, 9400])
def test_a_key_without_its_end_is_hidden_as_far_as_it_goes(size):
    key = _pem(size).rpartition("\n")[0]
    text = _BEFORE + key + _AFTER
    assert _shown(text, key) == []
    assert redact.clean(text).endswith("Bring the figures of March.\n")


def test_a_key_without_its_beginning_is_hidden_back_to_it():
    key = _pem(2400).partition("\n")[2]
    text = _BEFORE + key + _AFTER
    assert _shown(text, key) == []
    assert redact.clean(text).startswith("Minutes of the meeting.\nWe agreed")


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda key: "\n".join("    " + line for line in key.splitlines()),
        lambda key: "\n".join("> " + line for line in key.splitlines()),
        lambda key: "\n".join(f'"{line}\\n" +' for line in key.splitlines()),
        lambda key: "\n".join(f"'{line}'," for line in key.splitlines()),
        lambda key: json.dumps({"private_key": key + "\n", "type": "service_account"}),
        lambda key: json.dumps(json.dumps({"private_key": key + "\n"})),
        lambda key: key.replace("\n", "\r\n"),
        lambda key: key.replace("\n", " "),
        lambda key: key.replace("\n", "\n\n"),
        lambda key: "tls.key: |\n" + "\n".join("  " + line for line in key.splitlines()),
        lambda key: "<key>" + key + "</key>",
        lambda key: "\n".join("# " + line for line in key.splitlines()),
    ],
    ids=["indented", "quoted-mail", "concatenated", "list", "JSON", "JSON-in-JSON", "CRLF", "one-line", "double-spaced", "YAML", "XML", "comment"],
)  # fmt: skip
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut off"])
def test_a_key_is_hidden_in_any_wrapping(wrapped, cut):
    key = _pem(2400)
    text = wrapped(key)
    if cut:
        text = text[: text.index("-----END")]
    assert _shown(_BEFORE + text + _AFTER, key) == []


@pytest.mark.parametrize("size", [600, 9400])
def test_the_private_lines_of_a_putty_key_are_hidden(size):
    key = _putty(size)
    cleaned = redact.clean(_BEFORE + key + _AFTER)
    assert [line for line in _lines(size) if len(line) > 8 and line in cleaned] == []
    assert "Encryption: none" in cleaned


def test_the_private_lines_of_an_indented_putty_key_are_hidden():
    cleaned = redact.clean("\n".join("    " + line for line in _putty(2400).splitlines()))
    assert [line for line in _lines(2400) if len(line) > 8 and line in cleaned] == []


def test_a_line_that_only_speaks_of_a_beginning_hides_no_book():
    chapter = "A key file starts with -----BEGIN PRIVATE KEY----- and holds base64.\n\n" + "This is a sentence. " * 5000
    text = chapter + "It stops with -----END PRIVATE KEY-----, of course.\n"
    assert "This is a sentence." in redact.clean(text)


def test_two_keys_in_a_row_are_hidden_and_the_text_between_stays():
    text = _pem(2400) + "\nand the second:\n" + _pem(1200, "EC PRIVATE KEY")
    assert redact.clean(text) == "[redacted:secret]\nand the second:\n[redacted:secret]"


def test_certificates_and_public_keys_stay():
    text = _pem(1500, "CERTIFICATE") + "\n" + _pem(400, "PUBLIC KEY") + "\n" + _pem(900, "PGP PUBLIC KEY BLOCK")
    assert redact.clean(text) == text
