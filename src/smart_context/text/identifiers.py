"""The further terms of an identifier, a name of several words or a number, beside its words.

In: a token as it is written.  Out: lower-case texts: the whole without its joints (`os.path.join` → `ospathjoin`), the value of a number
(`1,249.50` → `1249.5`; none of a decimal with many digits), and the parts of a word in mixed case or with digits (`getUserName` → `get user name`).
Always: however a thing is joined (dots, dashes, underscores, cases), its whole is the same.
"""

from __future__ import annotations

import re

from smart_context import later
from smart_context.text.words import MAX_TERM, fold, has_no_spaces

_MIXED = later.pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}|[A-Za-z]{2}[0-9]{2}|[0-9]{2}[A-Za-z]{2}")
_PIECE = later.pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORD = later.pattern(r"[^\W_]+")
_NUMBER = later.pattern(r"[0-9]+(?:[.,'’][0-9]+)+")
_CODE = later.pattern(r"[0-9_.:@/]|[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_GROUP = 3  # digits of a group of thousands
_MANY = 6  # digits after the point of a decimal that tell it by themselves (`words.shortened`): a term of its own would only make indexes of measurements larger


def wholes(token: str) -> list[str]:
    """A token of several words as one, or its values if it is a number; none for a single word."""
    if token.startswith("--"):
        return ["--" + "".join(_WORD.findall(token)).lower()[:MAX_TERM]]
    if is_number(token):
        return values(token)
    several = _WORD.findall(token)
    if len(several) < 2 or has_no_spaces(token):
        return []
    return [fold("".join(several).lower())[:MAX_TERM]]


def parts(token: str) -> list[str]:
    """The parts of words that are written as one but in several cases, or with digits."""
    if not _MIXED.search(token[:MAX_TERM]):
        return []
    out: list[str] = []
    for word in _WORD.findall(token[:MAX_TERM]):
        several = _PIECE.findall(word) if word.isascii() and _MIXED.search(word) else []
        if len(several) > 1:
            out += [piece.lower() for piece in several if len(piece) > 1]
    return out


def is_code(token: str) -> bool:
    """Whether a token reads as an identifier, a version or a number rather than as words of a language."""
    return token.startswith("--") or bool(_CODE.search(token))


def is_number(token: str) -> bool:
    """Whether a token is a number with points or commas, or several."""
    return token[0] in "0123456789" and bool(_NUMBER.fullmatch(token))


def values(token: str) -> list[str]:
    """The possible values of a number with points or commas: both where a sign separates thousands in one country and decimals in another.

    Of numbers that only commas part, as in a line of a table, those with a point.
    """
    marks = re.findall(r"[^0-9]", token)
    first, *groups = re.split(r"[^0-9]", token)
    thousands = all(len(group) == _GROUP for group in groups) and len(first) <= _GROUP and first[0] != "0"
    if len(set(marks)) == 1:
        if len(marks) == 1:
            out = [first + groups[0]] if thousands else []
            return out + (_decimal(first, groups[0]) if marks[0] in ".," else [])
        return [first + "".join(groups)] if thousands else _each(token)
    *before, fraction = groups
    if marks[-1] in marks[:-1] or not all(len(group) == _GROUP for group in before):
        return _each(token)
    return _decimal(first + "".join(before), fraction)


def _each(token: str) -> list[str]:
    if "," not in token:
        return [token]
    return [value for piece in token.split(",") if not piece.isdigit() for value in values(piece)]


def _decimal(whole: str, fraction: str) -> list[str]:
    if len(fraction) >= _MANY and len(whole) <= _GROUP:
        return []
    left, right = whole.lstrip("0") or "0", fraction.rstrip("0")
    return [f"{left}.{right}"[:MAX_TERM] if right else left[:MAX_TERM]]
