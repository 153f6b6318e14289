"""Headings and titles as terms: what a section or a file is found by when its heading is typed.

In: a heading or a title, or what somebody typed.  Out: terms, each for a whole heading: `5.6.7. Renaming a Column` gives `§column+renam`.
Always: numbers before a heading, the order of its words, case, accents, English endings and stop words make no difference. A single word
("Examples") has no term, because it says too little, nor has a heading of more than six words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from smart_context import later
from smart_context.text import analysis, languages, stems

MARK = "§"  # what such a term begins with; no word of a text does
_FEWEST, _MOST = 2, 6  # words of a heading that has a term
_LONGEST = 120  # characters
_NUMBER = later.pattern(
    r"(?:(?:chapter|part|section|appendix|kapitel|teil|anhang|chapitre|partie|annexe) )?(?:[0-9]+|[A-Z](?=\.))(?:\.[0-9]+)*[.:)]? +",
    re.IGNORECASE,
)
_BETWEEN = later.pattern(r" +[—–|·:-]+ +|: +")  # between the title of a page and that of the book


@lru_cache(maxsize=256)  # the segments of a section have one heading
def of_heading(heading: str) -> tuple[str, ...]:
    """The term of a heading, or of what somebody typed; none if it has too few or too many words."""
    return tuple(filter(None, [_term(_stems(heading))]))


def of_title(title: str) -> tuple[str, ...]:
    """The terms of a title: of the whole, and of its parts."""
    parts = [title, *_BETWEEN.split(title)]
    return tuple(dict.fromkeys(term for part in parts if (term := _term(_stems(part)))))


def less_one(typed: str) -> list[str]:
    """The terms of what was typed without one of its words, such as the name of the program that the section is about."""
    found = _stems(typed)
    less = [[other for other in found if other != stem] for stem in found]
    return [_term(some) for some in less if len(some) >= _FEWEST]


def _unnumbered(heading: str) -> str:
    found = _NUMBER.match(heading)
    return heading[found.end() :] if found else heading


def _term(found: list[str]) -> str:
    return MARK + "+".join(found) if found else ""


def _stems(text: str) -> list[str]:
    """The different stems of a heading, sorted; none if there are too few or too many."""
    if len(text) > _LONGEST or analysis.has_no_spaces(text):
        return []
    units = [analysis.fold(unit) for unit in analysis.units(_unnumbered(text))]
    telling = [unit for unit in units if unit not in languages.ANY_STOP_WORD]
    kept = telling if len(set(telling)) >= _FEWEST else units
    found = sorted(set(stems.stem(kept, "en"))) if kept else []
    return found if _FEWEST <= len(found) <= _MOST else []
