"""Find secrets that grant access by where they stand: in a URL, an authorization header, a cookie.

In: folded text and the same in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smart_context.redact import stems, values, wrap

# A password with a slash in it is looked for only where no plain one ends at an "@".
_USERINFO = re.compile(
    r"://(?P<user>[^\s/?#@:\"'<>]{0,256}+)"
    r"(?::(?P<plain>[^\s/?#\"'<>]{1,256})@|:(?P<odd>[^\s\"'<>]{1,256})@|@)(?=[\w\[$\{])"
)
_PORT = re.compile(r"\d{1,5}(?:/|$)")
_SCHEMES = {
    scheme: rf"{scheme}(?:[ \t:=\"']{{1,4}}(?:\r?\n[ \t]{{0,8}})?|\r?\n[ \t]{{0,8}})(?P<value>[^\s\"'<>,;]{{6,4096}}+)"
    for scheme in ("basic", "bearer", "token", "apikey", "digest", "negotiate", "aws4-hmac-sha256")
}  # fmt: skip
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=\-]{6,4096}+")
_AUTHORIZATION = re.compile(
    r"authori[sz]ation[\"'\]]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}[\"']?(?P<value>[^\s\"'<>]{8,4096}+)"
)
_COOKIE = re.compile(r"cookie(?:[ \t]{0,4}:[ \t]{0,4}|\"[\s,]{0,40}\"value\"\s?:\s?)(?P<value>[^\n]{8,4096}+)")
_COOKIE_VALUE = re.compile(r"=([^;\s,\\]{12,4096}+)")
_DOCKER = re.compile(r"\"auth\"\s{0,8}:\s{0,8}\"(?P<value>[a-z0-9+/=_\-]{8,4096}+)\"")
_JWK = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,8}:\s{0,8}\"(?P<value>[a-z0-9_\-]{16,4096}+)\"")


def find(text: str, low: str, seen: stems.Seen) -> Iterator[tuple[int, int]]:
    """Yield where such secrets stand. seen: the signs that the text holds."""
    if "://" in seen and "@" in seen:
        yield from _in_urls(text)
    for scheme, pattern in _SCHEMES.items():
        if scheme in seen:
            for match in stems.matches(pattern, scheme, low, seen[scheme]):
                yield from _in_scheme(text, low, scheme, match)
    if "authori" in seen:
        for match in _AUTHORIZATION.finditer(low):
            value = text[match.start("value") : match.end("value")]
            if values.is_strong(value) and not values.is_code(value.rstrip("\\")):
                yield match.span("value")
    if "cookie" in seen:
        yield from _in_cookies(text, low)
    if '"auth"' in seen:
        for match in _DOCKER.finditer(low):
            if _is_pair(text[match.start("value") : match.end("value")]):
                yield match.span("value")
    if '"kty"' in seen:
        yield from (match.span("value") for match in _JWK.finditer(low))


def _in_urls(text: str) -> Iterator[tuple[int, int]]:
    for match in _USERINFO.finditer(text):
        user = match["user"]
        part = "plain" if match["plain"] else "odd"
        if user.startswith("["):
            continue  # a regular expression, or a part that may be left out
        if match[part]:
            if not _PORT.match(match[part]) and not values.is_template(match[part]):
                yield match.span(part)
        elif len(user) >= 16 and values.is_random(user):
            yield match.start("user"), match.end("user")


def _in_scheme(text: str, low: str, scheme: str, match: re.Match[str]) -> Iterator[tuple[int, int]]:
    start = match.start("value")
    token = _TOKEN.match(text, start)
    if token is None:
        return
    value = token[0].rstrip(".")
    before = low[max(0, match.start() - 40) : match.start()]
    if scheme == "basic":
        is_one = _is_pair(value) or before.rstrip().endswith(("authorization:", 'authorization":'))
    elif scheme == "bearer":
        is_one = values.is_strong(value) or (len(value) >= 16 and values.is_random(value))
    else:
        is_one = len(value) >= 16 and values.is_strong(value) and "authorization" in before
    if is_one:
        yield start, wrap.follow(text, start + len(value), _TOKEN)


def _in_cookies(text: str, low: str) -> Iterator[tuple[int, int]]:
    for match in _COOKIE.finditer(low):
        for value in _COOKIE_VALUE.finditer(text, match.start("value"), match.end("value")):
            if values.is_random(value[1]):
                yield value.span(1)


def _is_pair(value: str) -> bool:
    """Tell whether a value is the base64 of `user:password`."""
    import base64
    import binascii

    try:
        pair = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    try:
        text = pair.decode()
    except UnicodeDecodeError:  # in an older encoding: a few letters of it, or these are no characters at all
        text = pair.decode("latin-1") if sum(byte >= 128 for byte in pair) * 4 <= len(pair) else ""
    return ":" in text[1:] and text.isprintable()
