r"""Write a pointer as one line of text, and read it back.

In: a `Pointer`, or its text.  Out: the other.
Always: `parse(format(p)) == p`, and the text is one line of valid UTF-8.

    pointer   = { container } [ place ] [ range ]        at least one of them, or nothing: the file as a whole
    container = ("attachment" | "entry") name
    place     = ("page" | "slide") number | ("sheet" | "section") name | "message"
    range     = ("lines" | "rows" | "paragraphs") number "-" number
    name      = "'" text "'" [ "(" number ")" ]          the second of a name is  section 'Pricing' (2)

Inside quotes a quote is doubled. What would break the line or its encoding (control characters, line separators, bidi
controls, lone surrogates) is `\xHH` or `\uHHHH`; a backslash is itself unless it would start such an escape (then `\x5c`).
"""

from __future__ import annotations

import re
from typing import NoReturn

from smart_context import later, plain
from smart_context.errors import BadRequest
from smart_context.model import Part, Pointer

CONTAINERS = frozenset({"attachment", "entry"})
NUMBERED = frozenset({"page", "slide"})
NAMED = frozenset({"sheet", "section"}) | CONTAINERS
RANGES = frozenset({"lines", "rows", "paragraphs"})

_HINT = (
    "use a pointer as `searchFiles` returns it: page 3, slide 7, sheet 'Q2' rows 41-80, lines 10-40, "
    "section 'Pricing', message, attachment 'x.pdf' page 2, entry 'inner/a.txt' lines 1-20"
)

_STEP = later.pattern(
    r"""\s* (?: (?P<numbered>page|slide) \s+ (?P<number>\d{1,9})
          | (?P<range>lines|rows|paragraphs) \s+ (?P<first>\d{1,9}) (?: \s*-\s* (?P<last>\d{1,9}) )?
          | (?P<named>sheet|section|attachment|entry) \s+ '(?P<name>(?:[^']|'')*)' (?: \s* \( (?P<nth>\d{1,9}) \) )?
          | (?P<message>message)
        ) (?=\s|$)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL | re.ASCII,
)
_UNSAFE = later.pattern(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    r"|\\(?=x[0-9a-f]{2}|u[0-9a-f]{4})"
)
_ESCAPE = later.pattern(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4}))")


def format(pointer: Pointer) -> str:  # noqa: A001 — read as pointer.format
    """Write a pointer; an empty one is the empty string."""
    return " ".join(map(_format_part, pointer))


def parse(text: str) -> Pointer:
    """Read a pointer back.

    Raises:
        BadRequest: the text is not a pointer.
    """
    parts: list[Part] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _STEP.match(text, at, end)
        if match is None:
            _refuse(text)
        parts.append(_part(text, match))
        at = match.end()
    _check_order(text, parts)
    return tuple(parts)


def _format_part(part: Part) -> str:
    if part.kind in NUMBERED:
        return f"{part.kind} {part.first}"
    if part.kind in RANGES:
        return f"{part.kind} {part.first}-{part.last}"
    if part.kind in NAMED:
        name = _UNSAFE.sub(_escape, part.name).replace("'", "''")
        return f"{part.kind} '{name}'" + (f" ({part.nth})" if part.nth > 1 else "")
    return part.kind


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _part(text: str, match: re.Match[str]) -> Part:
    if kind := match["numbered"]:
        return Part(kind.lower(), first=_positive(text, match["number"]))
    if kind := match["range"]:
        first = _positive(text, match["first"])
        last = _positive(text, match["last"] or match["first"])
        if last < first:
            _refuse(text)
        return Part(kind.lower(), first=first, last=last)
    if kind := match["named"]:
        name = _ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)), match["name"].replace("''", "'"))
        return Part(kind.lower(), name=name, nth=_positive(text, match["nth"] or "1"))
    return Part("message")


def _positive(text: str, digits: str) -> int:
    number = int(digits)
    if number < 1:
        _refuse(text)
    return number


def _check_order(text: str, parts: list[Part]) -> None:
    """Containers outside, then at most one place, then at most one range."""
    ranks = [0 if part.kind in CONTAINERS else 2 if part.kind in RANGES else 1 for part in parts]
    if ranks != sorted(ranks) or ranks.count(1) > 1 or ranks.count(2) > 1:
        _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise BadRequest(f"pointer cannot be read: {plain.quoted(text, 80)}", hint=_HINT)
