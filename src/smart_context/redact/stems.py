"""Match patterns that begin with a fixed word, where the word stands and nowhere else.

In: a pattern as text, the word it begins with, the text.  Out: matches in text order, as `re.finditer` gives them.
Always: where the word is not there, nothing is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache


def matches(pattern: str, stem: str, text: str) -> Iterator[re.Match[str]]:
    """Yield where the pattern matches."""
    at = text.find(stem)
    while at >= 0:
        match = _compiled(pattern).match(text, at)
        if match:
            yield match
        at = text.find(stem, match.end() if match else at + 1)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
