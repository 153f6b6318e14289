"""Find a day however it is written: `15.03.2021`, `2021-03-15`, "March 15, 2021".

In: what was typed, and a view of the index.  Out: terms and sequences of terms by which the same day is written elsewhere.
Always: only what stands in the index is looked for. `03/04/2021` is read both ways; where a text has the day and the month as numbers that could
be either, its month is the second, unless they are written with slashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from smart_context import later
from smart_context.data import dataclass
from smart_context.engine.expression import Sequence
from smart_context.engine.port import View
from smart_context.find import when
from smart_context.text import analysis

_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_NAMED = later.pattern(
    rf"(?<!\w)(?:(?P<day>[0-3]?[0-9])(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(?P<month>{when.MONTH})\.?,?\s+(?:de\s+|of\s+)?"
    rf"|(?P<named>{when.MONTH})\.?\s+(?P<then>[0-3]?[0-9])(?:st|nd|rd|th)?,?\s+){_YEAR}(?!\w)",
    re.IGNORECASE,
)
_NAMING = frozenset({"en", "de", "fr", "es"})  # languages whose months `when` knows
_AMBIGUOUS = 12  # days that could be months


@dataclass(frozen=True, slots=True)
class Written:
    """How days are written elsewhere: as one term, and as terms one after the other."""

    terms: frozenset[str] = frozenset()
    lines: tuple[Sequence, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms or self.lines)


_NOT_AT_ALL = Written()


def named(text: str) -> Iterator[tuple[str, date]]:
    """The days that a text names by their months: each month as it is written, and the day."""
    for found in _NAMED.finditer(text) if "19" in text or "20" in text else ():
        month = (found["month"] or found["named"]).lower()
        for day in when.days(found["year"], (str(when.NUMBER[month]), found["day"] or found["then"])):
            yield month, day


def elsewhere(token: str, view: View, languages: tuple[str, ...]) -> Written:
    """How the day that a token of numbers is stands elsewhere in an index."""
    days = when.numbered(token)
    if not days:
        return _NOT_AT_ALL
    lines = dict.fromkeys(line for day in days for line in _lines(day, languages) if all(map(view.having, line)))
    return Written(as_terms(days, view), tuple(map(Sequence, lines)))


def as_terms(days: list[date], view: View) -> frozenset[str]:
    """The terms of an index that are these days, written in numbers."""
    return frozenset(term for day in days for term in _wholes(day) if view.having(term))


def _wholes(day: date) -> Iterator[str]:
    """What `identifiers.wholes` makes of the ways to write a day; with slashes, Americans put the month first."""
    yield from (f"{day:%Y%m%d}", f"{day:%d%m%Y}", f"{day:%m%d%Y}")
    yield from (f"{day:%d.%m.%Y}", f"{day.day}.{day.month}.{day.year}", f"{day:%Y.%m.%d}", f"{day:%d.%m.%y}")


def _lines(day: date, languages: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    year, month, number = str(day.year), str(day.month), str(day.day)
    padded = f"{day:%m}", f"{day:%d}"
    yield from ((year, *padded), (year, month, number))
    yield from ((year, padded[0], f"{padded[1]}t{hour:02}") for hour in range(24))  # 2021-03-15T10:00
    yield from ((padded[1], padded[0], year), (number, month, year))
    if day.day > _AMBIGUOUS:
        short = f"{day:%y}"
        yield from ((*padded, year), (month, number, year))
        yield from ((*padded, short), (month, number, short), (padded[1], padded[0], short), (number, month, short))
    ordinal = number + ("th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th"))
    names = [name for name, its in when.NUMBER.items() if its == day.month]
    for language in [own for own in languages if own in _NAMING] or languages[:1]:
        ways = dict.fromkeys((number, padded[1], ordinal) if language == "en" else (number, padded[1]))
        for [term, *_] in analysis.words(names, language):
            for written in ways:
                yield from ((written, term, year), (term, written, year))
