"""Where secrets stand in real files: each place, and what must stay readable beside it."""

from __future__ import annotations

import base64
import json
import random
import urllib.parse
from itertools import pairwise

import pytest

from smart_context import redact
from smart_context.model import Segment
from smart_context.redact import document

_DICE = random.Random(20)
_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def _made(length: int, alphabet: str = _LETTERS) -> str:
    return "".join(_DICE.choices(alphabet, k=length))


_KEY, _HEX, _AWS = _made(40), _made(32, "0123456789abcdef"), _made(38, _LETTERS + "/+") + "Z7"
_WORD, _SALT = "Tr0ub4dor&3", "x7|Q#9 kW$v-2}Lp:8Zr!t%M4^bN(6c)H*s1+Y=d@F0~gJ5?u&E;a{R<o>T,iK/w_"
_PAIR = base64.b64encode(b"deploy:Tr0ub4dor3horse").decode()
_PEM = base64.b64encode(bytes(_DICE.randrange(256) for _ in range(1700))).decode()

PLACES = {
    "kubeconfig": (f"users:\n- name: admin\n  user:\n    client-certificate-data: LS0tLS1CRUdJTg\n    client-key-data: {_PEM}\n", _PEM[20:80]),
    "rails": (f"production:\n  secret_key_base: {_HEX * 4}\n", _HEX),
    "suffix": (f"aws_secret_access_key_backup = {_AWS}", _AWS),
    "suffix, short": (f"DB_PASSWORD_OLD={_WORD}", _WORD),
    "two suffixes": (f"api_key_prod_2: {_HEX}", _HEX),
    "plural": (f'api_keys = ["{_KEY}", "{_HEX}"]', _HEX),
    "plural, first": (f'api_keys = ["{_KEY}", "{_HEX}"]', _KEY),
    "plural, YAML": (f"api_keys:\n  - {_KEY}\n  - {_HEX}\nport: 80\n", _HEX),
    "plural, environment": (f"API_KEYS={_KEY},{_HEX}", _HEX),
    "secrets manager": (json.dumps({"Name": "db", "SecretString": _WORD}), _WORD),
    "secrets manager, nested": (json.dumps({"SecretString": json.dumps({"user": "u", "password": _WORD})}), _WORD),
    "docker": (json.dumps({"auths": {"registry.example.org": {"auth": _PAIR}}}), _PAIR),
    "JWK": (f'{{"kty":"EC","crv":"P-256","x":"abc","d":"{_KEY}"}}', _KEY),
    "JWK, symmetric": (f'{{"kty": "oct", "k": "{_KEY}"}}', _KEY),
    "WordPress": (f"define('AUTH_KEY',         '{_SALT}');", _SALT),
    "WordPress, salt": (f"define( 'LOGGED_IN_SALT', '{_SALT}' );", _SALT),
    "WordPress, a salt that begins as a stand-in": (f"define('AUTH_KEY', 'put {_SALT}');", _SALT),
    "LDAP": (f"uri ldap://ldap.example.org\nbindpw {_WORD}\n", _WORD),
    "LDAP, plain": ("binddn cn=a\nbindpw swordfish\n", "swordfish"),
    "LDAP, assigned": (f"bindpw={_WORD}", _WORD),
    "sshpass": (f"SSHPASS={_WORD} sshpass -e ssh host", _WORD),
    "PowerShell": (f'$p = ConvertTo-SecureString "{_WORD}" -AsPlainText -Force', _WORD),
    "PowerShell, named": (f"ConvertTo-SecureString -String '{_WORD}' -AsPlainText", _WORD),
    "smbclient": (f"smbclient //host/share -U anna%{_WORD}", _WORD),
    "smbclient, long": (f"smbclient -L host --user=anna%{_WORD} -c ls", _WORD),
    "Dockerfile": (f"FROM x\nENV DB_PASSWORD {_WORD}\n", _WORD),
    "Dockerfile, plain": ("ENV DB_PASSWORD swordfish\n", "swordfish"),
    "Oracle": (f"jdbc:oracle:thin:scott/{_WORD}@//db.example.org:1521/orcl", _WORD),
    "Oracle, plain": ("url=jdbc:oracle:thin:scott/tiger@db:1521:orcl", "tiger"),
    "sqlplus": (f"sqlplus scott/{_WORD}@orcl", _WORD),
    "URL-encoded name": (f"https://example.org/?pass%77ord={_WORD}&x=1", _WORD),
    "URL-encoded underscore": (f"api%5Fkey={_HEX}", _HEX),
    "URL-encoded sign": (f"q=password%3D{urllib.parse.quote('hunter2horse')}%26user%3Danna", "hunter2horse"),
    "look-alike name": (f"p\u0430ssword = {_WORD}", _WORD),
    "look-alike name, Greek": (f"p\u03b1ssw\u03bfrd: {_WORD}", _WORD),
    "look-alike name, mathematical": ("\U0001d429\U0001d41a\U0001d42c\U0001d42cword: " + _WORD, _WORD),
    "line below": (f"User\nanna\n\nPassword\n{_WORD}\n", _WORD),
    "line below a heading": (f"## Password\n\n{_WORD}\n", _WORD),
    "line below a colon": ("Password:\nSommer2024\n", "Sommer2024"),
    "AWS in prose": (f"Anna sent {_AWS} to the list by mistake.", _AWS),
    "AWS in prose, named": (f"the AWS secret {_AWS} was revoked", _AWS),
    "letters in order": ("token gh" + "p_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ leaked", "abcdefghijklmnopqrstuvwxyz"),
    "letters in order, capitals": ("AK" + "IAABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP"),
    "letters in order, no digit": ("use h" + "f_abcdefghijklmnopqrstuvwxyzabcdefgh now", "abcdefghijklmnopqrstuvwxyz"),
    "escaped JSON": (json.dumps(json.dumps({"password": _WORD})), _WORD),
    "HTML": (f"&quot;password&quot;: &quot;{_WORD}&quot;", _WORD),
    "setdefault": (f'os.environ.setdefault("SECRET_KEY", "{_KEY}")', _KEY),
    "Java properties": (f'props.setProperty("password", "{_KEY}");', _KEY),
    "htpasswd": ("anna:$apr1$q7Rk2ZpX$" + _made(22), "$apr1$q7Rk2ZpX$"),
    "k8s env": (f'- name: API_TOKEN\n  value: "{_KEY}"', _KEY),
    "terraform": (f'variable "db_password" {{\n  default = "{_WORD}"\n}}', _WORD),
    "CLI flag": (f"tool --api-key {_KEY} --verbose", _KEY),
    "powershell variable": (f"$env:API_KEY = '{_KEY}'", _KEY),
    "batch": (f"set DB_PASSWORD={_WORD}\r\n", _WORD),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_hidden_in_its_place(place):
    text, secret = PLACES[place]
    cleaned = redact.clean(text)
    assert secret not in cleaned
    assert not [secret[i : i + 8] for i in range(len(secret) - 7) if secret[i : i + 8] in cleaned]
    assert redact.clean(cleaned) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "PASS: test_parser2", "PASS: t0001-init.sh\nPASS: t0002-gitfile.sh 3\nXPASS: foo9", "  PASS: libstdc++-v3/testsuite/20_util/x1.cc (test for excess errors)",
        "MA 02110-1301, USA", "Boston, MA 02139-4307", "Date:   Sat Nov 18 16:51:01 2006 -0800", "Tue, 08 Nov 2022 -0700",
        "<...>-1729  [007] d...   853.859002: #8", "U+FD94 => 0647 0645 0645", 'tokens = ["NUMBER", "STRING", "COMMENT"]', "keys = ['first_name', 'last_name_2']",
        'cache_key = "user:42:profile"', "sort_key = 'modified_at'", "key = lambda item: item.name", 'public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK2b"',
        "bindpw", "set password required", "ENV PASSWORD", '"d": "day"', "smbclient -U anna%", "jdbc:oracle:thin:@//db:1521/orcl", "Passwords\n=========\n\nChoose one.",
        "integrity sha512-9Yc2i2mTLmvWpGdIh1TmXl2LZz3a7o2bXg8S2xyoNcGc4xDMJ6yI8dLG5wxdp2Ro8rNEcbKGpZ1qGHZKj3T2Aw==", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    ],
)  # fmt: skip
def test_what_stands_in_such_a_place_and_is_no_secret_stays(text):
    assert redact.clean(text) == text


def test_a_certificate_beside_a_key_stays():
    text, _ = PLACES["kubeconfig"]
    assert "client-certificate-data: LS0tLS1CRUdJTg" in redact.clean(text)


def test_every_private_part_of_a_web_key_is_hidden():
    parts = {name: _made(43) for name in ("n", "d", "p", "q", "dp", "dq", "qi")}
    cleaned = redact.clean(json.dumps({"kty": "RSA", "e": "AQAB", **parts}))
    assert [name for name, value in parts.items() if value in cleaned and name != "n"] == []


def test_a_secret_is_hidden_also_where_it_stands_in_its_file_without_its_name():
    secret = "Tr0ub4dor&3zebra"
    texts = [
        f"password: {secret}\n",
        "An ordinary page.\n",
        f"Then log in with {secret}, and ({secret}).\n",
        "password: summer\n",
        "In summer\n",
    ]
    segments = [Segment(n, f"page {n + 1}", "", text) for n, text in enumerate(texts)]
    judged = document.judged(segments, redact.Redactor())
    shown = [_without(segment) for segment in judged]
    assert not any(secret in text for text in shown)
    assert shown[2] == "Then log in with …, and (…).\n"
    assert shown[4] == "In summer\n"  # a word is not hidden wherever it stands


def test_a_secret_that_crosses_a_border_is_one_though_a_part_of_it_is_looked_for_too():
    told, longer = "x7Kq9zPm2Rt5", "x7Kq9zPm2Rt5Lw8Vb3Nc"
    segments = [Segment(0, "page 1", "", f"api_key = {told}\nsecret_key = {longer}\nagain {longer}\n")]
    [judged] = document.judged(segments, redact.Redactor())
    assert _without(judged) == "api_key = …\nsecret_key = …\nagain …\n"
    assert all(a[1] <= b[0] for a, b in pairwise(judged.hidden))


def _without(segment):
    text = segment.text
    for start, end, _ in reversed(segment.hidden):
        text = text[:start] + "…" + text[end:]
    return text
