"""Find numbers that are secret by the word before them: `PIN: 4711`, `PUK 12345678`, `CVV 123`, `door code: 4711`.

In: folded text, the same in lower case, and the signs that it holds.
Always: a number has as many digits as such numbers have, and nothing that makes it longer, an amount or a version.
"""

from __future__ import annotations

from collections.abc import Iterator

from smart_context.redact import stems

_KIND = r"(?:[ _\-]?(?:code|number|nummer|kodu?|код|[12]))?"
_GIVEN = r"[\"'`*)]{0,3}(?:[ ]?(?:=>|[:=])[*_]{0,3}[ ]?|[ ](?:is|ist|lautet|est|es|è|é|jest|to)[: ][ ]?)[\"'`*]{0,3}"
_END = r"(?![\w%€$£]|[.,:/\-][0-9a-z])"
_PIN = rf"(?<![a-z0-9])pin{_KIND}{_GIVEN}(?P<value>[0-9]{{4,8}}){_END}"
_SAID = rf"(?<![a-z0-9])pin[ ](?P<value>[0-9]{{4}}){_END}"  # in capitals
_DOORS = ("door code", "gate code", "alarm code", "access code", "entry code", "unlock code", "lock code", "safe code")
_PATTERNS = {
    **dict.fromkeys(("pin:", "pin=", 'pin"', "pin'", "pin-code", "pin1", "pin2", "pin "), _PIN),
    "puk": rf"(?<![a-z0-9])puk{_KIND}(?:{_GIVEN}|[ ])(?P<value>[0-9]{{8}}){_END}",
    **dict.fromkeys(("cvv", "cvc"), rf"(?<![a-z0-9])cv[vc]2?{_KIND}(?:{_GIVEN}|[ ])(?P<value>[0-9]{{3,4}}){_END}"),
    **dict.fromkeys(_DOORS, rf"[a-z]{{4,6}}[ ]code{_GIVEN}(?P<value>[0-9]{{4,8}}){_END}"),
}
_CYRILLIC, _SIGN = rf"пин{_KIND}{_GIVEN}(?P<value>[0-9]{{4,8}}){_END}", "пин"
SIGNS = frozenset(_PATTERNS)
SPACED = ("pin ", *_DOORS)
"""Signs that no word holds."""


def find(text: str, low: str, seen: stems.Seen, letters: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where such numbers stand. seen: the signs that the text holds. letters: those of `names.LETTERS` that it may hold."""
    for sign in SIGNS.intersection(seen):
        for match in stems.matches(_PATTERNS[sign], sign, low, seen[sign]):
            yield match.span("value")
    if "pin " in seen:
        for match in stems.matches(_SAID, "pin ", low, seen["pin "]):
            if text.startswith("PIN", match.start()):
                yield match.span("value")
    if "П" in letters or "п" in letters:
        for match in stems.matches(_CYRILLIC, _SIGN, low):
            yield match.span("value")
