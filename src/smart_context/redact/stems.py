"""Match patterns that begin with a fixed word, where the word stands and nowhere else.

In: a pattern as text, the word it begins with, the text.  Out: matches in text order, as `re.finditer` gives them.
Always: where the word is not there, nothing is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

Seen = Mapping[str, Sequence[int] | None]
"""Words that a text holds, and where each begins; None where that was not told."""


def matches(pattern: str, stem: str, text: str, places: Sequence[int] | None = None) -> Iterator[re.Match[str]]:
    """Yield where the pattern matches. places: where it may, if that is known; every place of the stem is among them."""
    done = 0
    match_at = None
    for at in _places(stem, text) if places is None else places:
        match_at = match_at or _compiled(pattern).match
        if at >= done and (match := match_at(text, at)):
            yield match
            done = match.end()


def _places(stem: str, text: str) -> Iterator[int]:
    at = text.find(stem)
    while at >= 0:
        yield at
        at = text.find(stem, at + 1)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
