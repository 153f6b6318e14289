"""Find private keys, and the shared ones of OpenVPN: PEM and its relatives, whole, cut off at either end, or flattened into one line.

Always: one pass over the marker lines. What is between a beginning and its end goes, whatever it is; where they are too far apart to
belong together, only what can be lines of a key goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smart_context import later
from smart_context.redact import values

# Escaped line breaks are those of keys inside JSON and shell variables.
_MARKER = later.pattern(
    r"-{3,5}[ ]?(BEGIN|END)[ ](?:(?:[A-Z0-9 ]{0,30} )??PRIVATE[ ]KEY(?:[ ]BLOCK)?|OPENVPN[ ]STATIC[ ]KEY[ ]V1)[ ]?-{3,5}",
    re.IGNORECASE,
)
_GAP = r"(?:[ \t\r\n>|*#\"',+]|\\{1,8}(?:[nrt]|[\"'])){0,40}+"
_LINE = later.pattern(
    rf"{_GAP}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)\s?:[^\n\\]{{0,200}}+"
    rf"|(?P<body>[A-Za-z0-9+/=_\-]{{16,4096}}+)|[A-Za-z0-9+/]{{2,15}}+={{1,2}}|=[A-Za-z0-9+/]{{4}})"
)
_LAST = later.pattern(
    r"[ \t\r>|*#\"',+]{0,10}+(?:\n|\\n|\\r\\n| )[ \t>|*#\"',+]{0,10}+(?P<body>[A-Za-z0-9+/]{1,63}+={0,2})(?=\s|$|-|\\)"
)
_PUTTY = later.pattern(
    r"Private-Lines:\s?[0-9]{1,6}+((?:(?:\r?\n|\\{1,4}n)[ \t>|*#]{0,40}+[A-Za-z0-9+/=]{1,64}+(?=\s|$|\\)){1,20000}+)"
)
_APART = 20_000  # characters between the two marks of one key, if not all of them are lines of it
_TAIL = 200  # characters that may remain between the last line of a key and its end


def find(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Yield where private keys stand."""
    if "private key" in low or "static key v1" in low:
        yield from _blocks(text)
    if "Private-Lines:" in text:
        for match in _PUTTY.finditer(text):
            yield match.span(1)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    begin: re.Match[str] | None = None
    done = 0
    for marker in _MARKER.finditer(text):
        if marker[1].upper() == "BEGIN":
            if begin is not None:
                yield begin.start(), _cut_off(text, begin.end(), marker.start())
            begin = marker
        elif begin is not None and _belong(text, begin, marker):
            yield begin.start(), marker.end()
            begin, done = None, marker.end()
        else:
            if begin is not None:
                done = _cut_off(text, begin.end(), marker.start())
                yield begin.start(), done
                begin = None
            yield _beginning(text, done, marker.start()), marker.end()
            done = marker.end()
    if begin is not None:
        yield begin.start(), _cut_off(text, begin.end(), len(text))


def _belong(text: str, begin: re.Match[str], end: re.Match[str]) -> bool:
    return end.start() - begin.end() <= _APART or end.start() - _cut_off(text, begin.end(), end.start()) <= _TAIL


def _cut_off(text: str, at: int, stop: int) -> int:
    """Where a key without its end ends: after the last line that can belong to it."""
    while (line := _LINE.match(text, at, stop)) is not None and not (line["body"] or "").islower():
        at = line.end()
    last = _LAST.match(text, at, stop)
    return last.end() if last and values.is_random(last["body"]) else at


def _beginning(text: str, floor: int, end: int) -> int:
    """Where a key without its beginning begins, walking back over lines of base64."""
    at = end
    while at > floor:
        line = text.rfind("\n", floor, max(floor, at - 1)) + 1 or floor
        if not re.fullmatch(r"[ \t>|*#\"']{0,8}+[A-Za-z0-9+/=]{1,4096}+[\"',\s]{0,8}+", text[line:at]):
            break
        at = line
    return at
