"""Find secrets in a column of a table by what stands at its head.

In: text whose rows are lines and whose cells are separated by tabs, bars, semicolons or commas.
Always: a column is read as far as its rows go on, and a cell is taken only if it can be a password or a token; a row in the middle of a table
has no heads, and a line of code is no row.
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
# A line of code: it begins or ends as a list or a call goes on, assigns, or calls.
_CODE = later.pattern(
    r"""(?xs)
      \s* (?: [\w.]*[(\[{] | [brf]?' | \. ) .*
    | .* (?: ["'],\s*$ | \);?\s*$ | [(\[{\]}]\s*$ | [^=|+\-]= | \w\( | (?:\|\w+){3}\|\w )
    """
)
_MOST_RULES = 3  # lines between two rows
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
        if not columns or _CODE.match(head):
            continue
        width = head.count(sign)
        columns = {i: chosen for i, chosen in columns.items() if not _is_below(low, start, sign, i, width)}
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


def _is_below(low: str, start: int, sign: str, column: int, width: int) -> bool:
    """Tell whether a line of a table stands below a row that has something in the same column: then it has no heads."""
    for _ in range(_MOST_RULES):
        if start == 0:
            return False
        end, start = start, low.rfind("\n", max(0, start - _MAX_HEAD), start - 1) + 1
        line = low[start:end]
        if not (line.strip() and _RULE.fullmatch(line)):
            cells = line.split(sign)
            is_row = len(cells) == width + 1 and not (sign in ",;" and any(cell[:1] == " " for cell in cells[1:]))
            return is_row and bool(cells[column].strip(" \"'`*_\r\n"))
    return False


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
