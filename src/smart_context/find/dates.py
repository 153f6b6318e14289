"""Find a day in whatever notation a text has it: `15.03.2021`, `2021-03-15`, "March 15, 2021".

In: what was typed, and a view of the index.  Out: terms and sequences of terms of the same day in other notations.
Always: only terms that the index has are looked for. `03/04/2021` in a query may be either day; if day and month of a text are both possible as a month, the
second number is the month, except between slashes.
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
_AMBIGUOUS = 12  # days up to here could be months


@dataclass(frozen=True, slots=True)
class Written:
    """Other notations of days: as one term, and as sequences of terms."""

    terms: frozenset[str] = frozenset()
    lines: tuple[Sequence, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms or self.lines)


_NOT_AT_ALL = Written()


def named(text: str) -> Iterator[tuple[str, date]]:
    """The days in a text that have the name of a month: each with that name as written."""
    for found in _NAMED.finditer(text) if "19" in text or "20" in text else ():
        month = (found["month"] or found["named"]).lower()
        for day in when.days(found["year"], (str(when.NUMBER[month]), found["day"] or found["then"])):
            yield month, day


def elsewhere(token: str, view: View, languages: tuple[str, ...]) -> Written:
    """The other notations of a date in numbers that the index has."""
    days = when.numbered(token)
    if not days:
        return _NOT_AT_ALL
    lines = dict.fromkeys(line for day in days for line in _lines(day, languages) if all(map(view.having, line)))
    return Written(as_terms(days, view), tuple(map(Sequence, lines)))


def as_terms(days: list[date], view: View) -> frozenset[str]:
    """The terms of the index that are these days in numbers."""
    return frozenset(term for day in days for term in _wholes(day) if view.having(term))


def _wholes(day: date) -> Iterator[str]:
    """The terms that `identifiers.wholes` makes of the notations of a day; with slashes, Americans put the month first."""
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
