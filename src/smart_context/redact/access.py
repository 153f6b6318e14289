"""Find secrets that grant access by where they stand: in a URL, an authorization header, a cookie, a command's argument.

In: folded text and the same in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smart_context.redact import values, wrap

# A password with a slash in it is looked for only where no plain one ends at an "@".
_USERINFO = re.compile(
    r"://(?P<user>[^\s/?#@:\"'<>]{0,256}+)"
    r"(?::(?P<plain>[^\s/?#\"'<>]{1,256})@|:(?P<odd>[^\s\"'<>]{1,256})@|@)(?=[\w\[$\{])"
)
_PORT = re.compile(r"\d{1,5}(?:/|$)")
_SCHEME = re.compile(
    r"(?P<scheme>basic|bearer|token|apikey|digest|negotiate|aws4-hmac-sha256)(?:[ \t:=\"']{1,4}(?:\r?\n[ \t]{0,8})?|\r?\n[ \t]{0,8})(?P<value>[^\s\"'<>,;]{6,4096}+)"
)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=\-]{6,4096}+")
_AUTHORIZATION = re.compile(
    r"authori[sz]ation[\"'\]]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}[\"']?(?P<value>[^\s\"'<>]{8,4096}+)"
)
_COOKIE = re.compile(r"(?:set-)?cookie[ \t]{0,4}:[ \t]{0,4}(?P<value>[^\n]{8,4096}+)")
_COOKIE_VALUE = re.compile(r"=([^;\s,]{12,4096}+)")
_ARGUMENT = (
    re.compile(
        r"\bcurl\b[^\n]{0,200}?[ ](?:-u|--user|--proxy-user|-U)[ =]?[\"']?[^\s:\"']{1,100}+:(?P<value>[^\s\"']{1,200}+)"
    ),
    re.compile(r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?[ ]-p(?P<value>[^\s\"'-][^\s\"']{2,200}+)"),
    re.compile(r"\bsshpass[ ]{1,4}-p[ ]?[\"']?(?P<value>[^\s\"']{2,200}+)"),
    re.compile(
        r"\bidentified[ ]{1,4}(?:with[ ][\w\"']{1,60}[ ])?by[ ]{1,4}(?:password[ ])?[\"'](?P<value>[^\"'\n]{2,200}+)"
    ),
    re.compile(r"\bmachine[ ][^\s]{1,200}\s{1,4}login[ ][^\s]{1,200}\s{1,4}password[ ](?P<value>[^\s]{2,200}+)"),
    re.compile(
        r"(?:redis-cli|requirepass|masterauth|auth)[ ](?:-a[ ])?[\"']?(?P<value>(?=[^\s\"']{0,40}\d)[^\s\"']{8,200}+)"
    ),
)
_ARGUMENT_WORDS = (
    "curl",
    "mysql",
    "mariadb",
    "sshpass",
    "identified",
    "machine",
    "redis-cli",
    "requirepass",
    "masterauth",
)


def find(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Yield where such secrets stand."""
    if "://" in text and "@" in text:
        yield from _in_urls(text)
    if any(word in low for word in ("basic", "bearer", "token", "apikey", "digest", "negotiate")):
        yield from _in_schemes(text, low)
    if "uthori" in low:
        for match in _AUTHORIZATION.finditer(low):
            if values.is_strong(text[match.start("value") : match.end("value")]):
                yield match.start("value"), match.end("value")
    if "cookie" in low:
        for match in _COOKIE.finditer(low):
            for value in _COOKIE_VALUE.finditer(text, match.start("value"), match.end("value")):
                if values.is_random(value[1]):
                    yield value.span(1)
    if any(word in low for word in _ARGUMENT_WORDS):
        for pattern in _ARGUMENT:
            for match in pattern.finditer(low):
                if not values.is_placeholder(text[match.start("value") : match.end("value")]):
                    yield match.start("value"), match.end("value")


def _in_urls(text: str) -> Iterator[tuple[int, int]]:
    for match in _USERINFO.finditer(text):
        user = match["user"]
        part = "plain" if match["plain"] else "odd"
        if match[part]:
            if not _PORT.match(match[part]) and not values.is_template(match[part]):
                yield match.span(part)
        elif len(user) >= 16 and values.is_random(user):
            yield match.start("user"), match.end("user")


def _in_schemes(text: str, low: str) -> Iterator[tuple[int, int]]:
    for match in _SCHEME.finditer(low):
        start = match.start("value")
        token = _TOKEN.match(text, start)
        if token is None:
            continue
        value = token[0].rstrip(".")
        if match["scheme"] == "basic":
            known = _is_pair(value) or low[max(0, match.start() - 24) : match.start()].rstrip().endswith(
                ("authorization:", 'authorization":')
            )
            if not known:
                continue
        elif match["scheme"] == "bearer":
            if not (values.is_strong(value) or (len(value) >= 16 and values.is_random(value))):
                continue
        elif (
            not (len(value) >= 16 and values.is_strong(value))
            or "authorization" not in low[max(0, match.start() - 40) : match.start()]
        ):
            continue
        yield start, wrap.follow(text, start + len(value), _TOKEN)


def _is_pair(value: str) -> bool:
    """Tell whether a value is the base64 of `user:password`."""
    import base64
    import binascii

    try:
        pair = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in pair and all(byte >= 32 for byte in pair)
