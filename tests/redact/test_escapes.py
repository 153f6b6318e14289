r"""Secrets whose name or value is written with escapes: of JSON, of code, of markup, of addresses."""

from __future__ import annotations

import json
import urllib.parse

import pytest

from smart_context import redact
from smart_context.redact import view

WORD = "hunter2xyz"
TOKEN = "gh" + "p_Zq7Rk2pX9vLm4TnB8sWc1Yd6Hf3Jg5K0aE2u"
WAYS = {
    "JSON": lambda c: f"\\u{ord(c):04x}",
    "JSON, capitals": lambda c: f"\\u{ord(c):04X}",
    "JSON in JSON": lambda c: f"\\\\u{ord(c):04x}",
    "JavaScript": lambda c: f"\\u{{{ord(c):x}}}",
    "Java": lambda c: f"\\uu{ord(c):04x}",
    "code": lambda c: f"\\x{ord(c):02x}",
    "YAML": lambda c: f"\\U{ord(c):08x}",
    "C": lambda c: f"\\{ord(c):03o}",
    "HTML": lambda c: f"&#{ord(c)};",
    "HTML, hexadecimal": lambda c: f"&#x{ord(c):X};",
    "HTML, zeros": lambda c: f"&#00{ord(c)};",
    "HTML in HTML": lambda c: f"&amp;#{ord(c)};",
    "address": lambda c: f"%{ord(c):02x}",
    "address in an address": lambda c: f"%25{ord(c):02X}",
}


@pytest.mark.parametrize("way", WAYS)
def test_an_escaped_name_is_a_name(way):
    escaped = "".join(map(WAYS[way], "password"))
    one = "pass" + WAYS[way]("w") + "ord"
    for name in (escaped, one):
        assert redact.clean(f'{{"{name}": "{WORD}"}}') == f'{{"{name}": "[redacted:secret]"}}'
        assert redact.clean(f"?{name}={WORD}&x=1") == f"?{name}=[redacted:secret]&x=1"


@pytest.mark.parametrize("way", WAYS)
def test_an_escaped_value_and_an_escaped_token_are_hidden_whole(way):
    escape = WAYS[way]
    value = "".join(map(escape, WORD))
    assert redact.clean(f'{{"password": "{value}"}}') == '{"password": "[redacted:secret]"}'
    for token in ("".join(map(escape, TOKEN)), TOKEN[:5] + escape(TOKEN[5]) + TOKEN[6:], escape("g") + TOKEN[1:]):
        cleaned = redact.clean(f'see "{token}" there')
        assert cleaned == 'see "[redacted:secret]" there'
        assert redact.clean(cleaned) == cleaned


@pytest.mark.parametrize("name", ["contraseña", "пароль", "密码", "パスワード", "पासवर्ड", "รหัสผ่าน", "kennwort\u200b"])
def test_a_name_beyond_ascii_is_a_name_as_json_is_usually_written(name):
    text = json.dumps({"a": 1, name: WORD})
    assert "\\u" in text
    assert redact.clean(text) == text.replace(WORD, "[redacted:secret]")


INSIDE = {
    "quotes as JSON for pages has them": f'{{"settings": "{{\\u0022password\\u0022:\\u0022{WORD}\\u0022}}"}}',
    "quotes of code": f"{{\\x22password\\x22: \\x22{WORD}\\x22}}",
    "an escaped equals sign": f'"url": "x?password\\u003d{WORD}\\u0026b\\u003d1"',
    "a named sign": f'<x y="password&equals;{WORD}" z="1"/>',
    "another named sign": f"password&colon; {WORD}",
    "an element": f"&lt;password&gt;{WORD}&lt;/password&gt;",
    "an element in JSON": f"\\u003cpassword\\u003e{WORD}\\u003c/password\\u003e",
    "an element in an address": f"%3Cpassword%3E{WORD}%3C%2Fpassword%3E",
    "an object in an address": urllib.parse.quote(json.dumps({"password": WORD, "b": 1})),
    "an object in an address in an address": urllib.parse.quote(urllib.parse.quote(json.dumps({"password": WORD}))),
    "an address in an address": "u=" + urllib.parse.quote(urllib.parse.quote(f"https://x/?password={WORD}", ""), ""),
    "quotes, escaped twice": f"&amp;quot;password&amp;quot;:&amp;quot;{WORD}&amp;quot;",
}


@pytest.mark.parametrize("place", INSIDE)
def test_signs_around_a_secret_may_be_escaped(place):
    text = INSIDE[place]
    cleaned = redact.clean(text)
    assert cleaned == text.replace(WORD, "[redacted:secret]")
    assert redact.clean(cleaned) == cleaned


def test_an_escaped_quote_or_space_within_a_value_does_not_end_it():
    for sign in ("\\u0022", "\\u0027", "\\u002c", "\\u0020", "\\x22", "&#34;"):
        text = f'"password": "ab{sign}cd{WORD}", "x": 1'
        assert redact.clean(text) == '"password": "[redacted:secret]", "x": 1'


@pytest.mark.parametrize(
    "text",
    [
        r"C:\users\x64\102\bin", r"\ud83d\ude00 and \uD800", r"\x00\x01\xff", r"\012\015\177", "&#10;&#13;&#0;&#x110000;&#9999999;", "&amp;&lt;&unknown;", "%zz %2 %", r"\u12 \U0011 \x \u{} \u{110000}",
    ],
)  # fmt: skip
def test_what_is_no_escape_of_a_letter_or_of_a_sign_of_names_stays(text):
    assert redact.clean(text) == text
    for part in text.split():
        assert len(view.of(part).text) >= len(part) - 8


def test_each_escape_leads_back_to_where_it_stands():
    found = view.of("a\\u0062&#99;%64%65\\u200bf")
    assert found.text == "abcdef"
    assert [found.origin(at, at + 1) for at in range(6)] == [(0, 1), (1, 7), (7, 12), (12, 15), (15, 18), (24, 25)]
