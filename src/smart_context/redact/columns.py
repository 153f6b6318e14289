"""Find secrets in a column of a table by what stands at its head.

In: text whose rows are lines and whose cells are separated by tabs, bars, semicolons or commas.
Always: a column is read as far as its rows go on, and a cell is taken only if it can be a password or a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smart_context import later
from smart_context.redact import values

_HEAD = later.pattern(
    r"(?:(?:initial|temp(?:orary)?|default|current|old|new|admin|root|db|user|wifi|wlan|login|web|app|client|api|access|auth|secret|private)[ _-]?)*"
    r"(?:pass(?:word|wort|wd|phrase|code)?|kennwort|pwd|pw|secret|token|(?:api|access|secret|private)[ _-]?key|credentials?|"
    r"contraseña|clave|senha|mot de passe|mdp|wachtwoord|parola|hasło|heslo|пароль|密码|密碼|パスワード|비밀번호)"
)
_RULE = later.pattern(r"[\s|:\-+=]+")
_SEPARATORS = ("\t", "|", ";", ",")
_MADE = later.pattern(r"token|secret|key|credential")  # by machines, and nobody's word
_MIN_PASSWORD, _MIN_TOKEN, _MIN_CELLS = 4, 8, 2
_MAX_HEAD = 4096  # characters of a line with the heads


def find(text: str, low: str, named: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand below such a head. named: where names of secrets stand, in text order."""
    done = 0
    for place in named:
        if place < done:
            continue
        start = low.rfind("\n", 0, place) + 1
        head, done = _line(low, start)
        sign, columns = _head(head) if len(head) <= _MAX_HEAD else ("", {})
        if not columns:
            continue
        width = head.count(sign)
        while done < len(low):
            row, after = _line(low, done)
            if row.count(sign) != width and not (row.strip() and _RULE.fullmatch(row)):
                break
            yield from _row(text, row, done, sign, columns)
            done = after


def _line(low: str, start: int) -> tuple[str, int]:
    """A line with its end, and where the next one starts."""
    stop = low.find("\n", start) + 1 or len(low)
    return low[start:stop], stop


def _head(line: str) -> tuple[str, dict[int, bool]]:
    """The sign between cells, and for each column of secrets whether people choose them."""
    for sign in _SEPARATORS:
        if sign in line:
            cells = [cell.strip(" \"'`*_\r\n") for cell in line.split(sign)]
            named = {i: _MADE.search(cell) is None for i, cell in enumerate(cells) if cell and _HEAD.fullmatch(cell)}
            if named and sum(map(bool, cells)) >= _MIN_CELLS:
                return sign, named
    return "", {}


def _row(text: str, line: str, at: int, sign: str, columns: dict[int, bool]) -> Iterator[tuple[int, int]]:
    start = at
    for i, cell in enumerate(line.split(sign)):
        if i in columns:
            bare = cell.strip(" \"'`\r\n")
            first = start + cell.find(bare)
            value = text[first : first + len(bare)]
            if _is_secret(value) and (columns[i] or (values.is_random(value) and len(value) >= _MIN_TOKEN)):
                yield first, first + len(bare)
        start += len(cell) + len(sign)


def _is_secret(value: str) -> bool:
    return (
        len(value) >= _MIN_PASSWORD
        and " " not in value
        and not values.is_placeholder(value)
        and not _RULE.fullmatch(value)
    )
