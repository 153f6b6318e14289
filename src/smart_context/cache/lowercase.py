"""Lower-case text by Unicode 17, whatever Python runs it.

In: text.  Out: its full lower-case mapping, final sigma included.
Always: the same text gives the same result on every Python, because what differs between their tables is taken from ours.
"""

from __future__ import annotations

import re
from functools import cache

_SIGMA = "Σ"
_KNOWN = frozenset({"14.0.0", "15.0.0", "15.1.0", "16.0.0", "17.0.0"})


def lower(text: str) -> str:
    """Return the text in lower case."""
    if text.isascii() or (knows_python() and not _doubtful().search(text)):
        return text.lower()
    return by_table(text)


def by_table(text: str) -> str:
    """Return the text in lower case, by our own tables alone."""
    lowered = text.translate(_mapping())
    if _SIGMA not in text:
        return lowered
    # Positions shift where one letter becomes two, so the finals are marked before the mapping.
    marked = [_final(text, at) if letter == _SIGMA else letter for at, letter in enumerate(text)]
    return "".join(marked).translate(_mapping())


@cache
def knows_python() -> bool:
    """Whether this Python's tables are ones whose differences from ours are listed."""
    import unicodedata

    return unicodedata.unidata_version in _KNOWN


@cache
def _doubtful() -> re.Pattern[str]:
    # A sigma is here because its context is judged by tables that grow with every Unicode.
    from smart_context.cache.lowercase_tables import NEWER

    return re.compile("[" + _SIGMA + "".join(f"{chr(first)}-{chr(last)}" for first, last in NEWER) + "]")


@cache
def _mapping() -> dict[int, int | str]:
    from smart_context.cache.lowercase_tables import LOWER_LONG, LOWER_RUNS

    mapping: dict[int, int | str] = dict(LOWER_LONG)
    for first, last, step, distance in LOWER_RUNS:
        mapping.update((code, code + distance) for code in range(first, last + 1, step))
    return mapping


def _final(text: str, at: int) -> str:
    # Unicode's Final_Sigma: a cased letter before it, none after it, whatever is case-ignorable in between.
    from smart_context.cache.lowercase_tables import CASE_IGNORABLE, CASED

    before = at - 1
    while before >= 0 and _within(text[before], CASE_IGNORABLE):
        before -= 1
    if before < 0 or not _within(text[before], CASED):
        return "σ"
    after = at + 1
    while after < len(text) and _within(text[after], CASE_IGNORABLE):
        after += 1
    return "σ" if after < len(text) and _within(text[after], CASED) else "ς"


def _within(letter: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    from bisect import bisect_right

    code = ord(letter)
    at = bisect_right(ranges, (code, 0x110000)) - 1
    return at >= 0 and ranges[at][0] <= code <= ranges[at][1]
