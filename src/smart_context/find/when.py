"""Read times out of a query: `since 2024-03`, "last week", `modified:2024`.

In: a text, and the day that it is today.  Out: the text that is left, and `Times`; or one period that somebody names.
Always: days are of UTC, written as `2024-03-31`, and both ends are within; quoted text is left alone. Without a today, words such as
"yesterday" stay words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from smart_context import later
from smart_context.data import dataclass
from smart_context.errors import BadRequest
from smart_context.plain import quoted

_MONTHS = (
    "january|januar|janvier|enero|jan|ene",
    "february|februar|février|febrero|feb",
    "march|märz|mars|marzo|mar|mär",
    "april|avril|abril|apr|abr",
    "may|mai|mayo",
    "june|juni|juin|junio|jun",
    "july|juli|juillet|julio|jul",
    "august|août|agosto|aug|ago",
    "september|septembre|septiembre|sept|sep",
    "october|oktober|octobre|octubre|oct|okt",
    "november|novembre|noviembre|nov",
    "december|dezember|décembre|diciembre|dec|dez",
)
NUMBER = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split("|")}
MONTH = "|".join(sorted(NUMBER, key=lambda name: (-len(name), name)))
# What a year stands behind where it is part of a date: "March", "March 15,"
ENDS_IN_MONTH = later.pattern(rf"(?<!\w)(?:{MONTH})\.?(?:\s+[0-3]?[0-9](?:st|nd|rd|th)?)?,?\s+$", re.IGNORECASE)
_YEAR = r"(?:19|20)[0-9]{2}"
_UNITS = {"day": "days? tagen? tage jours? días?", "week": "weeks? wochen? semaines? semanas?",
          "month": "months? monate?n? mois meses", "year": "years? jahre?n? ans? años?"}  # fmt: skip
_UNIT = "|".join(f"(?P<{unit}s>{words.replace(' ', '|')})" for unit, words in _UNITS.items())
_LAST = r"(?:last|past|previous|letzten?|vergangenen?|letzter|letztes|derni(?:er|ère)s?|últim[oa]s?)"
_ISO = rf"(?P<year>{_YEAR})(?:-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12][0-9]|3[01]))?)?(?![-\w])"
# With two digits for the year and dots, day and month have two digits as well: `5.3.21` is a version.
_SHORT = r"(?:[0-3][0-9]\.[01][0-9]\.|[0-3]?[0-9]/[0-3]?[0-9]/)[0-9]{2}(?!\.[0-9])"
_NUMBERED = rf"(?P<numbered>[0-3]?[0-9]\.[01]?[0-9]\.{_YEAR}|[0-3]?[0-9]/[0-3]?[0-9]/{_YEAR}|{_SHORT})(?![-\w])"
_NUMBERS = later.pattern(
    rf"(?P<year>{_YEAR})(?P<mark>[-./])(?P<month>[0-9]{{1,2}})(?P=mark)(?P<day>[0-9]{{1,2}})"
    rf"|(?P<one>[0-9]{{1,2}})(?P<sign>[-./])(?P<two>[0-9]{{1,2}})(?P=sign)(?P<last>{_YEAR})|(?P<short>{_SHORT})"
)
_IN_SHORT = later.pattern(rf"(?<![\w./-]){_SHORT}(?![-\w])")
_CENTURY = 69  # years of two digits from which they are of the last century, as POSIX has it
_NAMED = (
    rf"(?:(?P<first>[0-3]?[0-9])(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?)?(?P<named>{MONTH})\.?"
    rf"(?:\s+(?P<then>[0-3]?[0-9])(?:st|nd|rd|th)?,)?\s+(?:de\s+|of\s+)?(?P<of>{_YEAR})(?![-\w])"
)
_RELATIVE = (
    r"(?P<today>today|heute|aujourd['’]hui|hoy)|(?P<yesterday>yesterday|gestern|hier|ayer)"
    rf"|(?P<lastweek>{_LAST}\s+(?:week|woche|semaine)|(?:la\s+)?semaine\s+dernière|(?:la\s+)?semana\s+pasada)"
    rf"|(?P<lastmonth>{_LAST}\s+(?:month|monat|mois)|(?:le\s+)?mois\s+dernier|(?:el\s+)?mes\s+pasado)"
    rf"|(?P<lastyear>{_LAST}\s+(?:year|jahr)|(?:l['’]\s*)?année\s+dernière|(?:el\s+)?año\s+pasado)"
    r"|(?P<thisweek>(?:this|diese|cette|esta)\s+(?:week|woche|semaine|semana))"
    r"|(?P<thismonth>(?:this|diesen|ce|este)\s+(?:month|monat|mois|mes))"
    r"|(?P<thisyear>(?:this|dieses|cette|este)\s+(?:year|jahr|année|año))"
    rf"|(?:the\s+|den\s+|les\s+|los\s+|las\s+)?{_LAST}\s+(?P<many>[0-9]{{1,4}})\s+(?:{_UNIT})"
    rf"|(?P<ago>[0-9]{{1,4}})\s+(?:{_UNIT.replace('?P<', '?P<ago')})\s+ago"
)
_ONE = rf"(?:{_ISO}|{_NUMBERED}|{_NAMED}|(?:{_RELATIVE})(?![\w'’-]))"
_PERIOD = later.pattern(_ONE, re.IGNORECASE)
_IN_A_MONTH = later.pattern(
    rf"(?<!\w)(?:(?:{MONTH})\.?,?\s+(?:de\s+|of\s+)?{_YEAR}|{_YEAR}-(?:0[1-9]|1[0-2]))(?![-\w])", re.IGNORECASE
)
_ANY = re.sub(r"\?P<\w+>", "?:", _ONE)
_RELATIVE_ANY = re.sub(r"\?P<\w+>", "?:", rf"(?:{_RELATIVE})(?![\w'’-])")
_CHANGED = r"(?:modified|changed|edited|updated|saved|created|written|dated|geändert|bearbeitet|modifiés?|modificados?)"

# `modified:2024-03`, `since:yesterday`, `date:2024-01..2024-03`, `modified:>2024`
_FIELD = later.pattern(
    rf"(?<![\w:])(?P<field>modified|date|dated|since|until|after|before):\s*(?P<sign>[<>]=?|)(?P<quote>[\"“”]?)(?P<from>{_ANY.replace(chr(92) + 's+', '[' + chr(92) + 's_-]+')})"
    rf"(?P<range>\.\.(?P<to>{_ANY})?)?[\"“”]?",
    re.IGNORECASE,
)
_SINCE = later.pattern(
    rf"(?<![\w-])(?:(?:{_CHANGED}\s+)?(?:since|ab|seit|depuis|desde)|{_CHANGED}\s+(?:after|nach|après|después\s+de))\s+(?P<from>{_ANY})",
    re.IGNORECASE,
)
_UNTIL = later.pattern(
    rf"(?<![\w-])(?:(?:{_CHANGED}\s+)?(?:until|till|up\s+to|bis|jusqu['’](?:à|en)|hasta)|(?P<before>{_CHANGED}\s+(?:before|vor|avant|antes\s+de)))\s+(?P<from>{_ANY})",
    re.IGNORECASE,
)
_IN = later.pattern(
    rf"(?<![\w-])(?:{_CHANGED}\s+(?:in|on|im|am|en|le)?\s*(?P<changed>{_ANY})"
    rf"|(?:in|from|of|during|on|im|vom|vom|am|aus|en|de|du|del)\s+(?P<within>{re.sub(r'[?]P<[a-z]+>', '?:', _NAMED)}|{_YEAR}-(?:0[1-9]|1[0-2])(?:-[0-9]{{2}})?(?![-\w])|{_RELATIVE_ANY})"
    rf"|(?P<bare>{_RELATIVE_ANY}))",
    re.IGNORECASE,
)
_DAY_ALONE = later.pattern(r"today|heute|aujourd['’]hui|hoy|yesterday|gestern|hier|ayer", re.IGNORECASE)
_YEAR_BEFORE = later.pattern(rf"{_YEAR}\s*$")
_ONLY_YEAR = later.pattern(_YEAR)
# What stands in every text that a pattern matches: parts of its words, whatever comes before or behind.
_DAY_WORDS = ("today", "heute", "aujourd", "hoy", "yesterday", "gestern", "hier", "ayer")
_UNIT_WORDS = (
    *("week", "woche", "semaine", "semana", "month", "monat", "mois", "mes"),
    *("year", "jahr", "année", "año"),
)
_COUNTED_WORDS = ("day", "tag", "jour", "día", "an")  # with a number before them
_LAST_WORDS = (
    *("last", "past", "previous", "letzte", "vergangen", "derni", "últim", "pasad", "ago"),
    *("this", "diese", "cette", "esta", "ce", "este"),
)
_SINCE_WORDS = ("since", "ab", "seit", "depuis", "desde", "after", "nach", "après", "después")
_UNTIL_WORDS = ("until", "till", "up", "bis", "jusqu", "hasta", "before", "vor", "avant", "antes")
_CHANGED_WORDS = (
    *("modif", "changed", "edited", "updated", "saved", "created", "written", "dated", "geändert", "bearbeitet"),
)
_STATEMENT = 8  # words of a sentence in which "since 1979" tells something
_SENTENCE = 6  # words from which "today" is a word of a sentence, unless it says what happened then


@dataclass(frozen=True, slots=True)
class Times:
    """Days between which a file must lie, "" for no bound: by the date that the file itself has (else that of its last change), and by its
    last change alone."""

    since: str = ""
    until: str = ""
    modified_since: str = ""
    modified_until: str = ""

    def __bool__(self) -> bool:
        return bool(self.since or self.until or self.modified_since or self.modified_until)

    def named(self, typed: str) -> str:
        """The one day or month, as words to look for, that was typed with its year; "yesterday" is none."""
        if not self.since or not (self.since[:4] in typed or _IN_SHORT.search(typed)):
            return ""
        if self.since == self.until:
            return self.since
        found = _IN_A_MONTH.search(typed) if self.since[:7] == self.until[:7] else None
        return found[0] if found else ""

    def within(self, other: Times) -> Times:
        """Both."""
        return Times(
            max(self.since, other.since),
            _earlier(self.until, other.until),
            max(self.modified_since, other.modified_since),
            _earlier(self.modified_until, other.modified_until),
        )

    def told(self) -> str:
        """The times for people."""
        parts = [f"{word} {day}" for word, day in (("since", self.since), ("until", self.until)) if day]
        if self.modified_since or self.modified_until:
            ends = (("since", self.modified_since), ("until", self.modified_until))
            parts.append("modified " + " ".join(f"{word} {day}" for word, day in ends if day))
        return " ".join(parts)


Wanted = Callable[[re.Pattern[str], str], list[re.Match[str]]]
"""Where a pattern stands in a text, neither quoted nor negated."""


def read(text: str, today: str, wanted: Wanted) -> tuple[str, Times]:
    """Read the times of a query; what is left of it."""
    found = Times()
    tried = to_try(text)
    for pattern, meaning in ((_FIELD, _field), (_SINCE, _since), (_UNTIL, _until), (_IN, _in)):
        if pattern not in tried:
            continue
        spans = []
        for match in wanted(pattern, text):
            times = meaning(match, today, text)
            if times:
                found = found.within(times)
                spans.append(match.span())
        for start, end in reversed(spans):
            text = f"{text[:start]} {text[end:]}"
    return text, found


def to_try(text: str) -> list[re.Pattern[str]]:
    """The patterns that a text may hold, by the words that each must have. Most queries name no time, and compiling all would take longer
    than the rest of a search."""
    # As `re.IGNORECASE` has it: a dotless i is an i, and so is a capital one with its dot.
    plain = text.casefold().replace("\u0307", "").replace("\u0131", "i")
    has_number = any(digit in plain for digit in "0123456789")
    has_marks = has_number and (plain.count("/") > 1 or plain.count(".") > 1)
    has_year = "19" in plain or "20" in plain or (has_marks and bool(_IN_SHORT.search(plain)))
    units = (*_UNIT_WORDS, *_COUNTED_WORDS) if has_number else _UNIT_WORDS
    is_relative = _has(plain, _DAY_WORDS) or (_has(plain, units) and _has(plain, _LAST_WORDS))
    if not (has_year or is_relative):
        return []
    dated = is_relative or "-" in plain or _has(plain, _CHANGED_WORDS) or _has(plain, NUMBER)
    words = ((_FIELD, ":" in plain), (_SINCE, _has(plain, _SINCE_WORDS)), (_UNTIL, _has(plain, _UNTIL_WORDS)))
    return [pattern for pattern, may_stand in (*words, (_IN, dated)) if may_stand]


def _has(plain: str, words: Iterable[str]) -> bool:
    return any(word in plain for word in words)


def given(since: str, until: str, today: str = "") -> Times:
    """Times from a caller.

    Raises: BadRequest naming the argument.
    """
    ends = []
    for name, text, end in (("since", since, 0), ("until", until, 1)):
        found = period(text, today) if text.strip() else ("", "")
        if found is None:
            raise BadRequest(
                f"`{name}` is no date: {quoted(text)}",
                hint="a date looks like 2024-03-31, 31.03.2024, 2024-03, 2024, yesterday or last week",
            )
        ends.append(found[end])
    return Times(*ends)


def period(text: str, today: str = "") -> tuple[str, str] | None:
    """The first and the last day of what somebody names: a day, a month, a year, "last week"; None where it is no time."""
    match = _PERIOD.fullmatch(" ".join(re.sub(r"(?<=[a-z])[_-](?=[a-z0-9])", " ", text.strip()).split()))
    try:
        return _named(match, today) if match else None
    except (ValueError, OverflowError):
        return None


def numbered(text: str) -> list[date]:
    """The days that a token of numbers may be; none where it is no date. `03/04/2021` may be two; `15.03.21` is of this century."""
    found = _NUMBERS.fullmatch(text.strip(".,;:!?")) if text[:1].isdigit() else None
    if not found:
        return []
    if found["short"]:
        one, two, last = re.split("[./]", found["short"])
        year = f"{19 if int(last) >= _CENTURY else 20}{last}"
        return days(year, *((two, one), (one, two))[: 1 if "." in text.strip(".") else 2])
    if found["year"]:
        return days(found["year"], (found["month"], found["day"]))
    both = ((found["two"], found["one"]), (found["one"], found["two"]))
    return days(found["last"], *both[: 1 if found["sign"] == "." else 2])


def days(year: str, *months_and_days: tuple[str, str]) -> list[date]:
    """The days of a year that there are, by the numbers of their months and their own."""
    out = []
    for month, day in dict.fromkeys((int(month), int(day)) for month, day in months_and_days):
        try:
            out.append(date(int(year), month, day))
        except ValueError:
            continue
    return out


def _field(match: re.Match[str], today: str, _text: str) -> Times:
    first, last = period(match["from"], today) or ("", "")
    if not first:
        return Times()
    name, sign = match["field"].lower(), match["sign"]
    if match["range"]:
        last = (period(match["to"], today) or ("", ""))[1] if match["to"] else ""
    elif name in {"since", "after"} or sign.startswith(">"):
        first, last = (_next(last) if name == "after" or sign == ">" else first), ""
    elif name in {"until", "before"} or sign.startswith("<"):
        first, last = "", (_before(first) if name == "before" or sign == "<" else last)
    return Times(modified_since=first, modified_until=last) if name == "modified" else Times(first, last)


def _is_told(match: re.Match[str], text: str) -> bool:
    """Whether a long sentence tells of a year, as in "has decreased since 1979", rather than asks for files."""
    return _ONLY_YEAR.fullmatch(match["from"]) is not None and len(text.split()) >= _STATEMENT


def _since(match: re.Match[str], today: str, text: str) -> Times:
    if _is_told(match, text):
        return Times()
    return Times(since=(period(match["from"], today) or ("", ""))[0])


def _until(match: re.Match[str], today: str, text: str) -> Times:
    first, last = period(match["from"], today) or ("", "")
    if (
        not first or _is_told(match, text) or _YEAR_BEFORE.search(text, max(0, match.start() - 8), match.start())
    ):  # 2019 until 2021: years
        return Times()
    return Times(until=_before(first) if match["before"] else last)


def _in(match: re.Match[str], today: str, text: str) -> Times:
    said = match["changed"] or match["within"] or match["bare"]
    ends = (text[: match.start()].strip(), text[match.end() :].strip(" .?!"))
    if match["bare"] and _DAY_ALONE.fullmatch(said) and (all(ends) or len(text.split()) >= _SENTENCE):
        return Times()
    return Times(*(period(said, today) or ("", "")))


def _named(match: re.Match[str], today: str) -> tuple[str, str] | None:
    if match["year"]:
        return _span(int(match["year"]), int(match["month"] or 0), int(match["day"] or 0))
    if match["numbered"]:
        # Of two days that it may be, neither is meant for sure.
        return (found[0].isoformat(),) * 2 if len(found := numbered(match["numbered"])) == 1 else None
    if match["named"]:
        day = int(match["first"] or match["then"] or 0)
        return _span(int(match["of"]), NUMBER[match["named"].lower()], day)
    return _relative(match, date.fromisoformat(today)) if today else None


def _relative(match: re.Match[str], today: date) -> tuple[str, str]:
    named = match.groupdict()
    if named["many"] or named["ago"]:
        kind = "" if named["many"] else "ago"
        unit = next(unit for unit in _UNITS if named[f"{kind}{unit}s"])
        first = _back(today, int(named["many"] or named["ago"]), unit)
        return first.isoformat(), (today if named["many"] else first).isoformat()
    monday = today - timedelta(days=today.weekday())
    ends = {
        "today": (today, today),
        "yesterday": (today - timedelta(days=1), today - timedelta(days=1)),
        # Who says so on a Tuesday may mean the last seven days: from the beginning of the week, or month, before this one.
        "lastweek": (monday - timedelta(days=7), today),
        "lastmonth": ((today.replace(day=1) - timedelta(days=1)).replace(day=1), today),
        "lastyear": (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
        "thisweek": (monday, today),
        "thismonth": (today.replace(day=1), today),
        "thisyear": (date(today.year, 1, 1), today),
    }
    first, last = next(both for name, both in ends.items() if named[name])
    return first.isoformat(), last.isoformat()


def _span(year: int, month: int, day: int) -> tuple[str, str]:
    if day:
        return (date(year, month, day).isoformat(),) * 2
    first, last = (month, month) if month else (1, 12)
    end = _days(year, last)
    return date(year, first, 1).isoformat(), date(year, last, end).isoformat()


def _back(today: date, count: int, unit: str) -> date:
    if unit in {"day", "week"}:
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    months = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(today.day, _days(year, month)))


def _next(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def _before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


def _earlier(one: str, other: str) -> str:
    return min(one, other) if one and other else one or other


def _days(year: int, month: int) -> int:
    """How many days a month has."""
    import calendar

    return calendar.monthrange(year, month)[1]
