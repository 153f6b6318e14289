"""Find telephone numbers: candidates by shape and context, judged by the numbering plans of `phonenumbers`.

In: folded text.  Always: the plans are loaded when the first candidate comes, never before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smart_context.data import dataclass
from smart_context.redact import runs

_GROUP = re.compile(r"\d+")
_STRONG = re.compile(
    r"(?:(?<![^\W\d_])(?:(?:tele)?(?:phone|fon|fone|fax)|tele[ck]s|tel|teléfono|telefono|téléphone|telefoon|telefax|puh(?:elin)?|"
    r"cell(?:phone|ular)?|celular|mobile?|móvil|movil|mob|handy|gsm|whats ?app|sms|hotline|landline|ruf(?:nummer)?|"
    r"ph(?=[ ]?[.:])|fixe|тел(?:ефон)?|факс|моб(?:ильный)?|τηλ(?:έφωνο)?|هاتف|جوال|טלפון|נייד|โทร)"
    r"|电话|電話|手机|手機|携帯|传真|전화|휴대폰|[☎✆℡📞📱])"
    r"(?:[ _-]?(?:number|no|nr|num(?:mer|éro|ero)?|n°|phone|telefon|#))?[^\w\n]{0,3}"
    r"(?:(?:number|no|nr|num|is|at|on|me at|us at|home|work|office|privat|是)[^\w\n]{0,3})?[+(\s]*$"
)
_SOFT = re.compile(
    r"(?:(?<![^\W\d_])(?:call|dial|ring|reach|text|direct|office|home|work|portable|mobil|contact|kontakt|appel|llam|anruf|"
    r"[tmpfcwhd](?=[ ]?[:.])))[^\w\n]{0,4}(?:(?:me|us|at|on|him|her|them|is)[^\w\n]{1,3}){0,2}[+( \t]*$"
)
_BETWEEN = " \t\r\n:.,;-+(/#*|"
_AFTER = re.compile(
    r"(?![ ]?/home)[ ]?[(\[,\-/]?[ ]?(?:tel|phone|fax|mobil|cell|handy|home|work|office|voice|whatsapp)(?:e|phone|fon)?\b"
)
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:[0-3]?\d)|[0-3]?\d[-./][0-3]?\d[-./](?:19|20)\d\d"
    r"|(?:19|20)\d\d[ ]?[-/][ ]?(?:19|20)\d\d)(?!\d)"
)
_DAY = re.compile(r"(?:19|20)\d\d[-./](?:0[1-9]|1[0-2])[-./][0-3]\d(?:\s++[0-2]\d)?[\s\-]*+")  # perhaps with an hour
_ZIP = re.compile(r"\d{5}-\d{4}")
_ZONE = re.compile(r"(?<!\d)(?:19|20)\d\d[ ][+\-][01]\d[0-5]\d(?!\d)")
_DECIMAL = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])(?!\.\d)")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_NANP = re.compile(
    r"(?<![\d.\-/])(?<!\d )(?:1[ .\-]?)?"
    r"(?:\(\d{3}\)[ ]?\n?[ ]?\d{3}[ .\-]\d{4}|\d{3}(?P<s>[.\-])\n?\d{3}(?P=s)\n?\d{4}|\d{3}[ /]\d{3}-\d{4})(?![.\-/]?\d)"
    r"|(?<![\d.\-/ ])\d{3} \d{3} \d{4}(?![.\-/ ]?\d)"
)
# The shapes of `_NANP`, one of which must be there.
_GROUPED = re.compile(rb"\(000\)|000 000-0000|000-\n?000-\n?0000|000 000 0000(?<![0\- ]000 000 0000)")
# How a number with its country code or its trunk zero begins: not after a decimal point, as in `runs.TELEPHONE`.
_LEADS = re.compile(r"\+|0(?<!\d0)(?<!\d[.,]0)\d")
# One of these stands in every text with such a shape.
_IN_GROUPED = (b"(000)", b"000 000", b"000-000-0", b"000-000-\n", b"000-\n000")
# How every word begins that announces a number, in `_STRONG` and `_SOFT`: with three letters, or it has fewer.
_FIRST_LETTERS = re.compile(
    r"(?<![a-z])(?:a(?:nr|pp)|c(?:al|el|on)|di[ar]|f(?:ax|ix|on)|gsm|h(?:an|o[mt])|kon|l(?:an|la)|mo[bv]|off|p(?:ho|or|uh)|r(?:ea|in|uf)|sms|te[lx]|w(?:ha|or)"
    r"|(?:ph|[cdfhmptw])(?![a-z]))"
)
# How the last word before a number begins where `_STRONG` or `_SOFT` ends: one of those, or what may stand behind it.
_LAST_LETTERS = re.compile(rf"{_FIRST_LETTERS.pattern}|at|h[eio]|is|me|n[oru]|o[fn]|pr|the|us")
# The same words by their first two letters, and those of `_AFTER` by their first one.
_TWO_LETTERS = (
    "an ap at ca ce co di fa fi fo gs ha he hi ho is ko la ll me mo no nr nu of on ph po pr pu re ri ru sm te th us wh wo"
).replace(" ", "")
_AFTER_LETTERS = "tpfmchwov"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WINDOW = 48  # characters before a number in which a word may announce it
_MIN_DIGITS, _MAX_DIGITS = runs.MIN_TELEPHONE, 15
_MIN_TRUNK, _MAX_TRUNK = 9, 12  # digits of a number with its trunk zero
_WITH_ZERO = (
    "GB",
    "DE",
    "FR",
    "IT",
    "NL",
    "BE",
    "CH",
    "AT",
    "AU",
    "IE",
    "SE",
    "JP",
    "ZA",
    "FI",
    "IN",
    "CN",
    "KR",
    "BR",
)
_WITHOUT_ZERO = ("US", "ES", "PT", "PL", "DK", "NO", "CZ", "MX", "IN", "CN", "GB", "DE", "FR")

Groups = Sequence[tuple[int, int]]


def find(text: str, low: str, shape: bytes, numbers: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where telephone numbers stand. numbers: the stretches of the text's shape in which one may stand."""
    before = 0
    near = b"".join([shape[max(0, first - 1) : last] for first, last in numbers])
    is_any_grouped = any(part in near for part in _IN_GROUPED)  # in a few texts
    if not is_any_grouped:
        numbers = runs.worth(text, low, numbers, _BETWEEN, _TWO_LETTERS, _AFTER_LETTERS)
    for first, last in numbers:
        has_grouped = is_any_grouped and _has_grouped(shape, max(0, first - 1), last)
        if not has_grouped:
            # What is inside a stretch without a lead stands between digits: only its ends can be announced.
            if not _LEADS.search(text, max(0, first - 3), last) and not _is_said(
                low, 0, first, shape.rfind(b"0", first, last) + 1
            ):
                continue
            if _DAY.fullmatch(text, first, last):
                continue
        found, before = runs.telephones(text, before, first, last, every=has_grouped)
        for since, start, end in found:
            if (
                (has_grouped and _has_grouped(shape, start, end))
                or _begins_as_one(text, shape, start, end)
                # As above: no word stands between two runs of a stretch.
                or ((since <= first or end > last - runs.BEFORE_WORD) and _is_said(low, since, start, end))
            ) and not (end < len(text) and _sticks(text[end])):
                yield from _in_run(text, low, start, end)


def _has_grouped(shape: bytes, first: int, last: int) -> bool:
    """Whether digits are grouped as in `_NANP`: by threes, which most rows of numbers do not have."""
    three = shape.find(b"000", first, last)
    return three >= 0 and _GROUPED.search(shape, max(first, three - 1), last) is not None


def _in_run(text: str, low: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    done = 0
    for line in _lines(text, first, last):
        # A number may have taken the beginning of the next line, where another one begins: the rest of that must not show.
        for start, end in _in_line(text, low, line) if line.end > done else ():
            if end > done:
                yield (start if start >= done else end - len(text[done:end].lstrip())), end
                done = end


def _begins_as_one(text: str, shape: bytes, start: int, end: int) -> bool:
    """Whether digits begin with a plus, or a line of them with two zeros, or with one before another digit and is as long as a number."""
    if text[start] in "123456789":
        if text.find("\n", start, end) < 0:  # as nearly all do
            return False
    elif "+" in text[start : start + 3]:
        return True
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        zero = runs.ZERO.match(text, start, stop)
        if zero and (zero[0][-1] == "0" or _MIN_TRUNK <= shape.count(b"0", start, stop) <= _MAX_TRUNK):
            return True
        start = stop + 1
    return False


def _is_said(low: str, since: int, start: int, end: int) -> bool:
    """Whether a word that announces a telephone number stands before digits or after them."""
    window = low[max(since, start - _WINDOW) : start]
    return _says(window, _STRONG, _SOFT) or _AFTER.match(low, end) is not None


def _says(window: str, *patterns: re.Pattern[str]) -> bool:
    """Whether one of the patterns ends what stands before a number; in plain letters, looked for where a word begins that may announce one."""
    said = window.rstrip(_BETWEEN)
    if not said or said[-1].isdigit():
        return False
    if not window.isascii():
        return any(pattern.search(window) for pattern in patterns)
    word = said[len(said.rstrip(_LETTERS)) :]
    if word and not _LAST_LETTERS.match(word):
        return False
    begins = [word.start() for word in _FIRST_LETTERS.finditer(window)]
    return bool(begins) and any(pattern.match(window, at) for pattern in patterns for at in begins)


def _sticks(c: str) -> bool:
    return (c.isascii() and c.isalpha()) or c in "_%€$£"


@dataclass(frozen=True, slots=True)
class _Line:
    """The groups of digits from the start of a line on; the first `own` of them are on that line."""

    start: int
    groups: Groups
    own: int

    @property
    def end(self) -> int:
        return self.groups[self.own - 1][1]


def _lines(text: str, begin: int, end: int) -> Iterator[_Line]:
    groups = [(m.start(), m.end()) for m in _GROUP.finditer(text, begin, end)]
    first = 0
    while first < len(groups):
        own = 1
        while first + own < len(groups) and text.find("\n", groups[first + own - 1][1], groups[first + own][0]) < 0:
            own += 1
        start = begin if first == 0 else groups[first][0] - (text[groups[first][0] - 1] == "(")
        yield _Line(start, groups[first : first + max(own, 8)], own)
        first += own


def _in_line(text: str, low: str, line: _Line) -> Iterator[tuple[int, int]]:
    groups = line.groups[:8]
    end = None
    lead = text[line.start : groups[0][0]]
    if "+" in lead:
        is_sum = " " in lead or _DECIMAL.search(text, line.start, line.end) is not None
        end = _international(text, groups, "+", loose=not is_sum)
    elif text.startswith("00", groups[0][0]):
        end = _international(text, groups, "", loose=False)
    if end is None:
        end = _announced(text, low, line)
    if end is not None:
        yield line.start, end
    else:
        stop = line.groups[min(len(line.groups), line.own + 2) - 1][1]
        for match in _NANP.finditer(text, line.start, stop) if stop - line.start >= 10 else ():
            if _is_of(re.sub(r"\D", "", match[0]), "US"):
                yield match.span()


def _announced(text: str, low: str, line: _Line) -> int | None:
    """The end of a national number, by the word before or after it or by its trunk zero."""
    if _DATE.search(text, line.start, line.end) or _ADDRESS.fullmatch(text, line.start, line.end):
        return None
    window = low[max(0, line.start - _WINDOW) : line.start]
    if _says(window, _STRONG):
        return _national(text, line, loose="\n" not in window[len(window.rstrip(_BETWEEN)) :])
    if _is_other(text, line):
        return None
    if _says(window, _SOFT) or _AFTER.match(low, line.end):
        return _national(text, line, loose=False)
    digits = _trunk(text, line)
    return line.end if digits and _is_valid(digits, 10) else None


def _is_other(text: str, line: _Line) -> bool:
    """Tell whether digits are a postal code (ZIP+4), the end of a time with its zone, a decimal number or codes of four digits."""
    first, last = line.groups[0][0], line.end
    groups = [text[a:b] for a, b in line.groups[: line.own]]
    return (
        _ZIP.fullmatch(text, first, last) is not None
        or _ZONE.search(text, first, last) is not None
        or _DECIMAL.search(text, first, last) is not None
        or (
            text[max(0, line.start - 1) : line.start] == ":" and text[max(0, line.start - 2) : line.start - 1].isdigit()
        )
        or (len(groups) > 2 and all(group[0] == "0" for group in groups))
    )


def _international(text: str, groups: Groups, plus: str, *, loose: bool) -> int | None:
    """The end of the longest stretch of groups that is a number with its country code."""
    possible = None
    for last in range(len(groups), 0, -1):
        number = plus + _digits(text, groups[:last])
        if not plus:
            number = "+" + number[2:]
        if not 8 <= len(number) <= _MAX_DIGITS + 1:
            continue
        if _is_of(number, None):
            return groups[last - 1][1]
        if loose and possible is None and _may_be(number):
            possible = groups[last - 1][1]
    return possible


def _national(text: str, line: _Line, *, loose: bool) -> int | None:
    """The end of a number that a word announces. loose: the word is enough where no plan knows the number."""
    groups = line.groups[: min(line.own, 8)]
    if len(_digits(text, groups)) < 7:
        groups = line.groups[:8]  # the number goes on in the next line
    fitting = [n for n in range(len(groups), 0, -1) if _MIN_DIGITS <= len(_digits(text, groups[:n])) <= _MAX_DIGITS]
    for last in fitting:
        if _is_valid(_digits(text, groups[:last])):
            return groups[last - 1][1]
    return groups[fitting[0] - 1][1] if loose and fitting else None


def _trunk(text: str, line: _Line) -> str:
    """The digits of a line that begins with a trunk zero and is grouped as people write telephone numbers, or ""."""
    first = text[slice(*line.groups[0])]
    if line.start and not (text[line.start - 1].isspace() or text[line.start - 1] in "(:,;|\"'"):
        return ""
    if line.own > 5 or line.own < 2 or first[0] != "0" or len(first) < 2 or first[1] == "0":
        return ""
    digits = _digits(text, line.groups[: line.own])
    return digits if _MIN_TRUNK <= len(digits) <= _MAX_TRUNK else ""


def _is_valid(digits: str, regions: int | None = None) -> bool:
    plans = _WITH_ZERO if digits[0] == "0" else _WITHOUT_ZERO
    return any(_is_of(digits, region) for region in plans[:regions])


def _digits(text: str, groups: Groups) -> str:
    # "+49 (0)30": the zero in brackets is for those who call from inside the country.
    return "".join(
        text[a:b]
        for i, (a, b) in enumerate(groups)
        if not (i == 1 and text[a:b] == "0" and text[a - 1] == "(" and text[b : b + 1] == ")")
    )


def _is_of(number: str, region: str | None) -> bool:
    """Whether a region's plan, or that of its own country code, has a number."""
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


def _may_be(number: str) -> bool:
    """Whether a number with its country code is as long as those of that country."""
    import phonenumbers

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number, None))
    except phonenumbers.NumberParseException:
        return False
