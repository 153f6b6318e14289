"""Base64 under a name: the padding at its end is part of the value, never an assignment."""

from __future__ import annotations

import base64
import random
import string

import pytest

from smart_context import redact

_SYNTAX = ("password: {}\n", "password: {}", "  db-password: {}\n  user: x\n", "password: {} # base64\n", "password: '{}'\n", "{{password: {}}}", "password: {}\r\nuser: x", "secret: {}\n", "api_key: {}\n", "token: {}\n")  # fmt: skip
_K8S = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  username: YWRtaW4=\n  password: {}\n  api-token: {}\n"


def _values(padding: str, count: int) -> list[str]:
    """Encoded passwords whose base64 ends with `padding`."""
    dice = random.Random(f"base64 {padding}")
    found: list[str] = []
    while len(found) < count:
        plain = "".join(dice.choices(string.ascii_letters + string.digits + "!#%+-_", k=dice.randint(10, 24)))
        encoded = base64.b64encode(plain.encode()).decode()
        if encoded.endswith("=" * len(padding)) and len(encoded.rstrip("=")) == len(encoded) - len(padding):
            found.append(encoded)
    return found


@pytest.mark.parametrize("padding", ["", "=", "=="])
@pytest.mark.unmeasured
def test_a_base64_value_is_hidden_to_its_last_padding(padding):
    shown = []
    for value in _values(padding, 500):
        for syntax in _SYNTAX:
            text = syntax.format(value)
            if redact.clean(text) != syntax.format("[redacted:secret]"):
                shown.append(text)
    assert shown == []


def test_base64_that_has_no_digit_and_reads_like_names_is_hidden_where_it_is_padded():
    for syntax in ("api_key = {}\n", "secret: '{}'\n", '"client_secret": "{}",\n', "access_key: {}\n"):
        assert redact.clean(syntax.format("qIteV/EIpMmDr/E=")) == syntax.format("[redacted:secret]")


@pytest.mark.parametrize("padding", ["", "=", "=="])
@pytest.mark.unmeasured
def test_the_data_of_a_kubernetes_secret_is_hidden(padding):
    values = _values(padding, 400)
    for password, token in zip(values[::2], values[1::2], strict=True):
        cleaned = redact.clean(_K8S.format(password, token))
        assert password not in cleaned
        assert token not in cleaned


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('password: str = "hunter2horse"', 'password: str = "[redacted:secret]"'),
        ("password: SecretStr = 'hunter2horse'", "password: SecretStr = '[redacted:secret]'"),
        ('password:str="hunter2horse"', 'password:str="[redacted:secret]"'),
        ("password: str | None = None", "password: str | None = None"),
    ],
)
def test_a_type_annotation_is_still_read_as_one(text, shown):
    assert redact.clean(text) == shown


@pytest.mark.parametrize("syntax", ['"api_key": "{}",\n', "SECRET_KEY='{}'\n"])
def test_base64_that_begins_like_a_path_is_hidden_all_the_same(syntax):
    dice = random.Random("path")
    values = ["/" + base64.b64encode(dice.randbytes(size)).decode()[1:] for size in (11, 14, 16, 17, 20, 25) * 50]
    shown = [value for value in values if value.endswith("=") and value in redact.clean(syntax.format(value))]
    assert shown == []
    assert redact.clean('"key_file": "/etc/ssl/private/server.pem"\n') == '"key_file": "/etc/ssl/private/server.pem"\n'
