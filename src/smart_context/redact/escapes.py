r"""Find characters that are written as escapes: `\u0077` in JSON, `\x77` in code, `&#119;` in markup, `%77` in addresses.

In: any text.  Out: where escapes stand, and the character that each is read as.
Always: a sign that could end a value before its end (a quote, a comma, a space) is read only where it surely ends something; the work
grows with the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from smart_context import later

Cut = tuple[int, int, str]

_HEX = "[0-9A-Fa-f]"
# In JSON, YAML, Java's properties and code. A backslash may itself be escaped, as in JSON within JSON.
_BACKSLASH = later.pattern(
    rf"\\\\{{0,7}}+(?:u{{1,4}}+(?P<four>{_HEX}{{4}})|U000(?P<eight>{_HEX}{{5}})|x(?P<two>{_HEX}{{2}})|[ux]\{{0{{0,6}}+(?P<braced>{_HEX}{{1,6}})\}}"
    r"|(?P<octal>[01][0-7]{2}))"
)
# In HTML and XML, perhaps within itself.
_ENTITY = later.pattern(
    rf"&(?:amp;){{0,8}}+(?:#0{{0,6}}+(?P<decimal>[1-9][0-9]{{1,6}})(?![0-9]);?|#[xX]0{{0,6}}+(?P<hexadecimal>{_HEX}{{2,6}})(?!{_HEX});?"
    r"|(?P<named>equals|colon|lowbar|period|sol|plus|dollar|num|excl|hyphen|dash);)"
    r"|&(?:amp;){1,8}+(?=[a-z]{2,8};)"
)
_NAMED = {"equals": "=", "colon": ":", "lowbar": "_", "period": ".", "sol": "/", "plus": "+", "dollar": "$", "num": "#", "excl": "!", "hyphen": "-", "dash": "-"}  # fmt: skip
# In an address: a letter, digit or underscore that needs no escape, next to letters or to others that need none; or a percent sign that is escaped itself.
_NEEDLESS = r"%(?:25){0,4}+(?:5[Ff]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])"
_PERCENT = later.pattern(
    rf"%(?:25){{0,4}}+(?P<needless>5[Ff]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])(?:(?<=[A-Za-z_]%..)|(?<=[A-Za-z_]%25..)|(?<=%[3-7].%..)|(?<=%25[3-7].%25..)|(?=[A-Za-z_]{{2}}|{_NEEDLESS}))"
    rf"|%(?:25){{1,4}}+(?={_HEX}{{2}})"
)
_SIGNS = frozenset("_-.:=/+@~$&<>#!")  # ASCII; what else is no letter or digit is read as it stands
_OCTAL = frozenset(map(ord, "_=:"))
_QUOTES = frozenset("\"'")
_OPENS, _CLOSES = frozenset("{[(,:= \t\n>"), later.pattern(r"\s{0,4}+[:=,}\])]")
_READ = frozenset(("L", "M", "N", "Cf", "Pd"))  # beyond ASCII: letters, marks, digits, what is not seen, dashes


def find(text: str) -> Iterator[Cut]:
    """Yield the escapes of a text, those of one kind after those of another."""
    if "\\" in text:
        yield from _backslashes(text)
    if "&" in text:
        yield from _entities(text)
    if "%" in text:
        for match in _PERCENT.finditer(text):
            code = match["needless"]
            yield match.start(), match.end(), chr(int(code, 16)) if code else "%"


def _backslashes(text: str) -> Iterator[Cut]:
    for match in _BACKSLASH.finditer(text):
        octal = match["octal"]
        code = int(octal, 8) if octal else int(match[match.lastgroup or 0], 16)
        if octal and not (chr(code).isalnum() or code in _OCTAL):
            continue  # as in `\012`; and a number after a backslash mostly is none
        if (read := _read(code, text, match)) is not None:
            yield match.start(), match.end(), read


def _entities(text: str) -> Iterator[Cut]:
    for match in _ENTITY.finditer(text):
        kind = match.lastgroup
        if kind is None:
            yield match.start(), match.end(), "&"
        elif kind == "named":
            yield match.start(), match.end(), _NAMED[match["named"]]
        elif (read := _read(int(match[kind], 10 if kind == "decimal" else 16), text, match)) is not None:
            yield match.start(), match.end(), read


def _read(code: int, text: str, match: re.Match[str]) -> str | None:
    """What a character is read as; None where its escape is read as it stands."""
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return None
    c = chr(code)
    if code >= 128:
        category = unicodedata.category(c)
        return c if category in _READ or category[0] in _READ else None
    if c.isalnum() or c in _SIGNS:
        return c
    is_quote = c in _QUOTES and (text[match.start() - 1 : match.start()] in _OPENS or _CLOSES.match(text, match.end()))
    return c if is_quote else None
