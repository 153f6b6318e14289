"""Find the years that a text names.

In: texts.  Out: the years from 1900 to 2099 that stand in them as numbers of their own, sorted.
Always: part of a longer number or of a Latin word is not a year (`120211`, `a2021f`); `2021年` and `report_2021` have one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

try:
    from smart_context.text import _years as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

# It begins with what it surely has, so that other text is passed over at once; then it looks at what stands before.
_YEAR = re.compile(r"(?:19|20)(?<![0-9A-Za-z]..)[0-9]{2}(?![0-9A-Za-z])")


def named_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Name every year that stands in one of the texts."""
    if compiled:
        return tuple(compiled.named_in(list(texts)))
    found: set[str] = set()
    for text in texts:
        found.update(_YEAR.findall(text))
    return tuple(sorted(found))
