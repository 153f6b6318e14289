"""Find payment cards and bank accounts by their check digits.

In: folded text.  Always: a card has a known issuer, a length of that issuer, a valid Luhn digit and the grouping of a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from smart_context.redact import runs

_MIN_CARD, _MAX_CARD = runs.MIN_CARD, 19
_GROUP = re.compile(r"\d+")
_SAID = re.compile(
    r"(?:card|visa|master|amex|american express|maestro|discover|diners|jcb|credit|debit|karte|carte|tarjeta|cartão|carta|"
    r"\bcc\b|\bpan\b|карт|卡|カード)[^\d\n]{0,24}$"
)
_LAYOUTS = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (6, 13), (8, 8)})
# The same layouts, and a card in one piece, in the shape of a text: all begin with four digits, which is what is looked for quickly.
_SHAPES = re.compile(
    rb"0000(?:0{10}|[\-\s]++(?:0000[\-\s]++0000[\-\s]++0000|000000[\-\s]++0000)|00[\-\s]++0{13}|0000[\-\s]++0{8})"
)

_FIRST_DIGITS = "234568"  # of a card of any issuer below

# Letters and digits of an IBAN, by country, as the registry of ISO 13616 has them.
_IBAN_LENGTH = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
    "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
    "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
    "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
    "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip
_IBAN_GAP = re.compile(r"[ \t]{0,3}+\r?\n[ \t]{0,8}+|[ ]{1,2}|[ ]?-[ ]?|\.")


def cards(text: str, low: str, shape: bytes, numbers: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where card numbers stand. numbers: the stretches of the text's shape in which one may stand."""
    before = 0
    for first, last in numbers:
        if shape.count(b"0", first, last) < _MIN_CARD:
            continue
        has_layout = _has_layout(shape, first, last)
        if (
            not has_layout
            and shape.find(b"\n", first, last) < 0
            and not _is_said(low, shape, max(0, first - 60), first)
        ):
            continue
        found, before = runs.cards(text, shape, before, first, last)
        for behind, start, end in found:
            since = max(behind, start - 60)
            named = since < first and _is_said(low, shape, since, start)  # no word stands inside a stretch
            # Without a word for it, a card has a layout of cards or is broken over two lines, alone there.
            if (
                named
                or (has_layout and _has_layout(shape, start, end))
                or (shape.count(b"0", start, end) <= _MAX_CARD and text.count("\n", start, end) == 1)
            ):
                yield from _cards_in(text, _groups(text, start, end), named=named)


def _has_layout(shape: bytes, first: int, last: int) -> bool:
    """Whether digits stand there as those of a card do."""
    return _SHAPES.search(shape, first, last) is not None


def _is_said(low: str, shape: bytes, since: int, start: int) -> bool:
    """Whether a word for a card stands before digits: behind all other digits, and in their line or at the end of the one before."""
    since = max(since, shape.rfind(b"0", since, start) + 1, shape.rfind(b"\n", since, start - 1) + 1)
    return since < start and _SAID.search(low, since, start) is not None


class _Group(NamedTuple):
    start: int
    end: int
    line: int


def _groups(text: str, start: int, end: int) -> list[_Group]:
    groups: list[_Group] = []
    line, at = 0, start
    for match in _GROUP.finditer(text, start, end):
        line += text.count("\n", at, match.start())
        at = match.end()
        groups.append(_Group(match.start(), at, line))
    return groups


def _cards_in(text: str, groups: list[_Group], *, named: bool) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(groups):
        if text[groups[first].start] not in _FIRST_DIGITS:
            first += 1
            continue
        if not named and first and groups[first - 1].line == groups[first].line:
            # Inside a row only a number in one piece can be a card.
            if _is_card(text, groups, first, first + 1, named=False):
                yield groups[first].start, groups[first].end
            first += 1
            continue
        for last in range(min(first + 6, len(groups)), first, -1):
            if _is_card(text, groups, first, last, named=named):
                yield groups[first].start, groups[last - 1].end
                first = last - 1
                break
        first += 1


def _is_card(text: str, groups: list[_Group], first: int, last: int, *, named: bool) -> bool:
    inside = groups[first:last]
    if inside[-1].end - inside[0].start < _MIN_CARD:
        return False
    shape = tuple(group.end - group.start for group in inside)
    breaks = inside[-1].line - inside[0].line
    if not _MIN_CARD <= sum(shape) <= _MAX_CARD:
        return False
    if len(inside) > 1 and not named and (not _apart(groups, first, last) or (shape not in _LAYOUTS and breaks != 1)):
        return False
    end = inside[-1].end
    if end < len(text) and text[end].isascii() and text[end].isalnum():
        return False
    number = "".join(text[group.start : group.end] for group in inside)
    return _issued(number, named=named) and len(set(number)) > 1 and _luhn(number)


def _apart(groups: list[_Group], first: int, last: int) -> bool:
    """A row of a table is not a card: nothing but a check code may follow it on its line."""
    if groups[first].line != groups[last - 1].line:
        return len(groups) == last - first
    after = [group for group in groups[last : last + 2] if group.line == groups[first].line]
    return not after or (len(after) == 1 and after[0].end - after[0].start in {3, 4})


def _issued(number: str, *, named: bool) -> bool:
    length, four, two = len(number), int(number[:4]), int(number[:2])
    if number[0] == "4":
        return length in {16, 19} or (length == 13 and named)
    if 51 <= two <= 55 or 2221 <= four <= 2720 or 2200 <= four <= 2204:
        return length == 16
    if two in {34, 37}:
        return length == 15
    if four == 6011 or two in {64, 65} or two in {62, 81} or 3528 <= four <= 3589 or two in {60, 82}:
        return 16 <= length <= 19
    if two in {36, 38, 39} or 300 <= four // 10 <= 305:
        return length in {14, 16}
    return named and (two == 50 or 56 <= two <= 69)


def _luhn(number: str) -> bool:
    total = 0
    for i, c in enumerate(reversed(number)):
        n = int(c) << (i & 1)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def ibans(text: str, accounts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield where IBANs stand. accounts: where two letters and two digits stand."""
    for start in accounts:
        length = _IBAN_LENGTH.get(text[start : start + 2].upper())
        if length is not None and (end := _iban_end(text, start, length)) is not None:
            yield start, end


def _iban_end(text: str, start: int, length: int) -> int | None:
    code: list[str] = []
    at = start
    while len(code) < length:
        if at < len(text) and text[at].isascii() and text[at].isalnum():
            code.append(text[at].upper())
            at += 1
        elif gap := _IBAN_GAP.match(text, at):
            at = gap.end()
        else:
            return None
    if at < len(text) and text[at].isascii() and text[at].isalnum():
        return None
    return at if int("".join(str(int(c, 36)) for c in code[4:] + code[:4])) % 97 == 1 else None
