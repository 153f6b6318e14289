r"""Find a secret again in the rest of its file, also where it is written otherwise: `\u0024`, `&dollar;`, `%24` or `=24` for `$`.

In: a text, and what is hidden in it.  Out: the same with what stands there once more.
Always: a secret is looked for as it is written and as it reads without escapes, in the text as it is written and as it reads; the work grows with the text, for each secret that is looked for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter

from smart_context import later
from smart_context.redact import values
from smart_context.redact import view as views
from smart_context.redact.escapes import Cut
from smart_context.redact.gate import Span, merged

PUBLIC = frozenset({"email", "phone"})
"""Kinds that are hidden wherever they stand, and need not be looked for."""
SOUGHT = 256
"""Secrets of a file that are looked for."""
_LONGEST = 512  # characters of one
_BLANKED = re.compile("\0+")
_start = attrgetter("start")

_MOST_PASSES = 4  # over escapes within escapes
_HEX = "[0-9A-Fa-f]"
_BACKSLASH = later.pattern(
    rf"\\(?:\\{{0,7}}+(?:u(?P<high>[dD][89ABab]{_HEX}{{2}})\\{{1,8}}+u(?P<low>[dD][C-Fc-f]{_HEX}{{2}})|u{{1,4}}+(?P<four>{_HEX}{{4}})|[ux]\{{(?P<braced>{_HEX}{{1,6}})\}}"
    rf"|x(?P<two>{_HEX}{{2}})|U(?P<eight>{_HEX}{{8}})|(?P<octal>[0-3][0-7]{{2}})|(?P<sign>[\"'/$&]))|(?P<doubled>\\))"
)
_ENTITY = later.pattern(
    rf"&(?:#(?P<decimal>[0-9]{{1,7}})|#[xX](?P<hex>{_HEX}{{1,6}})|(?P<named>[A-Za-z][A-Za-z0-9]{{1,31}}));"
)
_PERCENT = later.pattern(rf"%{_HEX}{{2}}(?:%{_HEX}{{2}}){{0,63}}+")
_QUOTED = later.pattern(r"=(?:[0-9A-F]{2}(?:=[0-9A-F]{2}){0,63}+|\r?\n)")  # quoted-printable


def with_repeats(text: str, spans: Sequence[Span]) -> Sequence[Span]:
    """Hide a secret also where it stands in its file without the name that told it: the first `SOUGHT` of a file."""
    told = (text[span.start : span.end].strip() for span in spans if span.kind not in PUBLIC)
    strong = dict.fromkeys(value for value in told if len(value) <= _LONGEST and _is_strong(value))
    sought = list(islice(strong, SOUGHT))
    if not sought:
        return spans
    if any(_stands_elsewhere(value, text, spans) for value in sought):
        spans = _with_the_same(text, spans, sought)
    found = [Span(*place, "secret") for place in written(text, sought) if not _is_hidden(spans, *place)]
    return merged([*spans, *found]) if found else spans


def written(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand in a text of which one or the other is written with escapes; in no order."""
    kinds = _kinds(text)
    if not kinds:  # then no secret of this text has any
        return
    secrets = list(secrets)
    plainly = dict.fromkeys(read for secret in secrets for read in plain(secret) if values.is_strong(read))
    sought = dict.fromkeys((*secrets, *plainly))
    yield from _found(text, plainly)
    # Elsewhere it must hold an escape: only what stands around escapes is read.
    near = _near_escapes(text, kinds, max(map(len, sought), default=0))
    for read, origin in _readings(near.text):
        yield from (near.origin(*origin(*place)) for place in _found(read, sought))


def _found(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    for secret in secrets:
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret)
            at = text.find(secret, at + len(secret))


def _near_escapes(text: str, kinds: Sequence[_Kind], reach: int) -> views.View:
    """The text without what is farther from any escape than a secret is long."""
    places = sorted(match.span() for _, pattern, _ in kinds for match in pattern.finditer(text))
    gaps: list[Cut] = []
    at = 0
    for start, end in places:
        if start - reach > at:
            gaps.append((at, start - reach, "\0"))
        at = max(at, end + reach)
    return views.cut(text, [*gaps, (at, len(text), "\0")] if at < len(text) else gaps)


def _is_strong(value: str) -> bool:
    return values.is_strong(value) or any(map(values.is_strong, plain(value)))


def plain(secret: str) -> Iterator[str]:
    """What a secret may read as without escapes."""
    return (read for read, _ in _readings(secret))


Origin = Callable[[int, int], tuple[int, int]]


def _readings(text: str) -> Iterator[tuple[str, Origin]]:
    """The text without escapes of each kind that it has, and without all of them; and where a stretch of that stands in the text."""
    kinds = _kinds(text)
    for chosen in ([kind] for kind in kinds):
        yield from _without(text, chosen)
    if len(kinds) > 1:
        yield from _without(text, kinds)


def _kinds(text: str) -> list[_Kind]:
    return [kind for kind in _KINDS if kind[0] in text and kind[1].search(text)]


def _without(text: str, kinds: Sequence[_Kind]) -> Iterator[tuple[str, Origin]]:
    passes: list[views.View] = []
    read = text
    for _ in range(_MOST_PASSES):
        before = read
        for sign, pattern, cuts in kinds:
            if sign in read and (found := [cut for match in pattern.finditer(read) for cut in cuts(match)]):
                passes.append(views.cut(read, found))
                read = passes[-1].text
        if read is before:
            break

    def origin(start: int, end: int) -> tuple[int, int]:
        for one in reversed(passes):
            start, end = one.origin(start, end)
        return start, end

    if passes:
        yield read, origin


def _backslash(match: re.Match[str]) -> Iterator[Cut]:
    sign = match["sign"] or match["doubled"]
    if match["low"]:
        code = 0x10000 + ((int(match["high"], 16) & 0x3FF) << 10 | int(match["low"], 16) & 0x3FF)
    elif match["octal"]:
        code = int(match["octal"], 8)
    else:
        code = ord(sign) if sign else int(match[match.lastgroup or 0], 16)
    yield from _one(match, code)


def _entity(match: re.Match[str]) -> Iterator[Cut]:
    if match["named"]:
        from html.entities import html5

        read = html5.get(match["named"] + ";", "")
        yield from _one(match, ord(read) if len(read) == 1 else -1)
    else:
        yield from _one(match, int(match["decimal"] or match["hex"], 10 if match["decimal"] else 16))


def _one(match: re.Match[str], code: int) -> Iterator[Cut]:
    if 0 < code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
        yield match.start(), match.end(), chr(code)


def _bytes(match: re.Match[str]) -> Iterator[Cut]:
    """The characters of bytes that are written in hexadecimal, three signs each; what is no UTF-8 is Latin-1."""
    if match[0][1] in "\r\n":
        yield match.start(), match.end(), ""
        return
    raw, at = bytes.fromhex(match[0].replace(match[0][0], "")), match.start()
    try:
        read = raw.decode()
    except UnicodeDecodeError:
        read = raw.decode("latin-1")
        raw = b""
    for c in read:
        end = at + 3 * (len(c.encode()) if raw else 1)
        yield at, end, c
        at = end


_Kind = tuple[str, re.Pattern[str], Callable[[re.Match[str]], Iterator[Cut]]]
_KINDS: tuple[_Kind, ...] = (
    ("\\", _BACKSLASH, _backslash),
    ("&", _ENTITY, _entity),
    ("%", _PERCENT, _bytes),
    ("=", _QUOTED, _bytes),
)


def _with_the_same(text: str, spans: Sequence[Span], sought: Sequence[str]) -> Sequence[Span]:
    """Hide what stands elsewhere as it is written."""
    rest, at = [], 0  # of the text, with what is hidden already blanked out
    for span in spans:
        rest += [text[at : span.start], "\1" * (span.end - span.start)]
        at = span.end
    left = "".join([*rest, text[at:]]).replace("\0", " ")
    for value in sorted(sought, key=len, reverse=True):
        left = left.replace(value, "\0" * len(value))
    repeats = [Span(found.start(), found.end(), "secret") for found in _BLANKED.finditer(left)]
    return sorted([*spans, *repeats], key=_start) if repeats else spans


def _stands_elsewhere(value: str, text: str, spans: Sequence[Span]) -> bool:
    """Whether a secret may stand where nothing is hidden: mostly it does not, and the text need not be gone through for it."""
    if " " in value:  # what stands for a space there is told by the slow way alone
        return True
    at = text.find(value)
    while at >= 0:
        if not _is_hidden(spans, at, at + len(value)):
            return True
        at = text.find(value, at + 1)
    return False


def _is_hidden(spans: Sequence[Span], start: int, end: int) -> bool:
    last = bisect_right(spans, start, key=_start) - 1
    return last >= 0 and spans[last].end >= end
