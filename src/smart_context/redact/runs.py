"""Find the runs of digits in a stretch of numbers that may be a telephone number or a card.

In: folded text, and stretches of it.  Out: where runs stand, each with where the run before it ends.
Always: a run that is left out is too short, or neither begins as a number does nor stands where a word may announce it. Part of it is compiled (`_runs.c`),
because tables hold many thousands of runs; without that, it is the same by the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

try:
    from smart_context.redact import _runs as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_SEPARATOR = r"(?:[ ]{0,2}[)./\-]?[ \t]{0,4}\r?\n[ \t]{0,8}(?:[(\-.][ ]?)?|[ ]{0,2}[()./\-]{1,3}[ ]{0,2}|[ ]{1,2})"
TELEPHONE = re.compile(rf"(?<![A-Za-z0-9_])(?<!\d[.,])(?:\+[ ]?\(?|\(\+?)?+\d++(?:{_SEPARATOR}\d++)*+")
CARD = re.compile(
    r"(?<![A-Za-z0-9_])(?<!\d[.,])\d{2,19}+(?:(?:[ ]?-[ ]?|[ ]{1,2}|\.|[ \t]?\r?\n[ \t]?)\d{2,19}+)*+(?!\d)"
)
ZERO = re.compile(r"\D*0\d")
_LATER_ZERO = re.compile(r"\n\D*+0\d")

MIN_TELEPHONE, MIN_CARD = 6, 13  # digits
BEFORE_WORD = 4  # characters at most between a number and the first letter of a word after it, and one more

Runs = tuple[list[tuple[int, int, int]], int]
"""Where the run before each ends, where it begins and where it ends; and where the last run of the stretch ends, whatever it is."""


def worth(
    text: str, low: str, numbers: Sequence[tuple[int, int]], between: str, before: str, after: str
) -> Sequence[tuple[int, int]]:
    """The stretches without those in which no telephone number stands, as far as that is seen quickly: without a plus or a zero that begins one, and without a
    word beside it that announces one.

    between: what may stand between a word and a number. before: the first two letters of words before one. after: the first letter of those after one.
    """
    return compiled.worth(text, low, numbers, between, before, after) if compiled else numbers


def telephones(text: str, before: int, first: int, last: int, *, every: bool) -> Runs:
    """The runs of a stretch that may be telephone numbers. before: where the last run before the stretch ends. every: also those that neither begin as a
    number does nor stand at an end, where words may be."""
    if compiled:
        return compiled.telephones(text, before, first, last, every)
    found = []
    for run in TELEPHONE.finditer(text, max(before, first - 3), last):
        start, end = run.span()
        is_at_end = before <= first or end > last - BEFORE_WORD
        if end - start >= MIN_TELEPHONE and (every or is_at_end or _may_begin_as_one(text, start, end)):
            found.append((before, start, end))
        before = end
    return found, before


def _may_begin_as_one(text: str, start: int, end: int) -> bool:
    """Whether digits begin with a plus, or a line of them with a zero before another digit."""
    return (
        "+" in text[start : min(end, start + 3)]
        or ZERO.match(text, start, end) is not None
        or _LATER_ZERO.search(text, start, end) is not None
    )


def cards(text: str, shape: bytes, before: int, first: int, last: int) -> Runs:
    """The runs of a stretch that have as many digits as a card. before: where the last run before the stretch ends."""
    if compiled:
        return compiled.cards(text, before, first, last)
    found = []
    for run in CARD.finditer(text, first, last):
        start, end = run.span()
        if end - start >= MIN_CARD and shape.count(b"0", start, end) >= MIN_CARD:
            found.append((before, start, end))
        before = end
    return found, before
