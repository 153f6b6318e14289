"""Find secrets in a column of a table by what stands at its head; also in the rows that an SQL statement inserts.

In: text whose rows are lines and whose cells are separated by tabs, bars, semicolons or commas, or stand in line; `INSERT INTO … (columns) VALUES …`, `COPY … (columns) FROM stdin`.
Always: a column is read as far as its rows go on, and a cell is taken only if it can be a password or a token; a row in the middle of a table
has no heads, and a line of code is no row.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Sequence

from smart_context import later
from smart_context.redact import values

_NAMED = (
    r"(?:pass(?:word|wort|wd|phrase|code)?|kennwort|pwd|pw|contrase(?:ñ|n)a|clave|senha|mot[ _]de[ _]passe|mdp|wachtwoord|parolă?|parola|hasło|heslo|"
    r"şifre|sifre|пароль|密码|密碼|パスワード|비밀번호)"
)
# A head that says more than which password: the values must have letters and digits.
_LOOSE = later.pattern(
    rf"(?:[^\W\d_][\w.\-]{{0,20}}[ _\-]){{0,2}}(?:start|initial|erst|benutzer|admin|standard|初始|初期|登录|ログイン)?{_NAMED}s?"
    r"(?:[ _]?[0-9]{1,2})?(?:[ _\-][^\W\d_][\w.\-]{0,20}){0,2}(?:[ ]?[*:])?"
)
# Words of a head that speaks of passwords and has none below it.
_ABOUT = later.pattern(
    r"\b(?:hint|reset|change[ds]?|expir\w*|polic\w*|length|hash\w*|required|forgot\w*|has|have|no|and|or|without|strength|manager|type|field|file|prompt|options?|parameters?)\b"
)
_REMARK = later.pattern(r"[ ]?(?:\*|[(（\[][^()（）\[\]]{1,40}[)）\]])$")  # what stands in brackets after a head
_HEAD = later.pattern(
    r"(?:(?:initial|temp(?:orary)?|default|current|plain|clear(?:text)?|old|new|admin|root|db|user|wifi|wlan|login|web|app|client|api|access|auth|secret|private)[ _-]?)*"
    r"(?:pass(?:word|wort|wd|phrase|code)?|kennwort|pwd|pw|secret|token|(?:api|access|secret|private)[ _-]?key|credentials?|"
    r"pin|puk|cvv2?|cvc2?|contraseña|clave|senha|mot de passe|mdp|wachtwoord|parola|hasło|heslo|пароль|密码|密碼|パスワード|비밀번호|totp|otp(?:auth|[ _-]?secret))(?:[ ]?(?:\*|\([\w \-]{1,20}\)))?"
)
_RULE = later.pattern(r"[\s|:\-+=]+")
_SEPARATORS = ("\t", "|", ";", ",")
# In wikis another sign separates heads than rows: what a line of heads begins with, and both.
_OF_WIKIS, _OF_ROWS = {"!": ("!!",), "|": ("||", *_SEPARATORS)}, {"!!": "||", "||": "|"}
# A line of code: it begins or ends as a list or a call goes on, assigns, or calls.
_CODE = later.pattern(
    r"""(?xs)
      \s* (?: [\w.]*[(\[{] | [brf]?' | \. ) .*
    | .* (?: ["'],\s*$ | \);?\s*$ | [(\[{\]}]\s*$ | [^=|+\-]= | \w\( | (?:\|\w+){3}\|\w )
    """
)
# `INSERT INTO users (name, password) VALUES (…), (…)`, and `COPY users (name, password) FROM stdin;`.
_MAX_COLUMNS, _MAX_VERB = 2000, 250  # characters of the names of columns, and before them
_VERB = later.pattern(r"\b(?:(?:insert|replace)\s{1,4}(?:ignore\s{1,4})?into|copy)\s{1,4}[\w.\"`\[\]]{1,150}+\s{0,4}$")
_STATEMENT = later.pattern(
    r"(?:(?P<copy>copy)|[a-z]{6,7}\s{1,4}(?:ignore\s{1,4})?into)\s{1,4}[\w.\"`\[\]]{1,150}+\s{0,4}"
    r"\((?P<columns>[^()]{1,2000}+)\)(?(copy)\s{1,4}from\s{1,4}stdin[^\n]{0,100}\n|\s{1,4}values\s{0,8})"
)
_SQL_VALUE = later.pattern(
    r"\s{0,8}(?:,\s{0,8})?\(?\s{0,8}(?:[nbex]?'(?P<string>(?:[^'\\]|''|\\.){0,1024}+)'|[^'(),\s][^'(),]{0,200}+)\s{0,8}(?:,|(?P<end>\)))"
)
_MOST_RULES = 3  # lines between two rows
_MADE = later.pattern(r"token|secret|key|credential|otp")  # by machines, and nobody's word
_MIN_PASSWORD, _MIN_TOKEN, _MIN_CELLS = 4, 8, 2
_MAX_ROW = 4096  # characters of a row with cells of several lines
_ADDRESSES = later.pattern(r"ip addresse?s?$")  # two words for one column, in `chap-secrets`
_WIDE, _NARROW = re.compile(r"[ ]{2,}"), re.compile(r"[ ]+")
_PLAIN, _DIGIT, _RULED = re.compile(r"[\w \-/#]+\s*"), re.compile("[0-9]"), frozenset("-= ")
_MAX_ALIGNED, _MOST_ALIGNED = 300, 12  # characters of a head of cells in line, and cells
_REMARKED = later.pattern(r"(?<=\w)[ ]\([^()\n]{1,40}\)\s*$")
_ENDS_REMARK, _MAX_NAMED = frozenset(")）]*"), 60  # the last sign of such brackets; characters of a head
_MAX_HEAD = 4096  # characters of a line with the heads


def find(text: str, low: str, named: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand below such a head. named: where names of secrets stand, in text order."""
    done = 0
    places = list(named)
    for n, place in enumerate(places):
        if place < done:
            continue
        if statement := _statement(low, place):
            done = yield from (_copied if statement["copy"] else _inserted)(text, statement)
            continue
        start = low.rfind("\n", 0, place) + 1
        head, done = _line(low, start)
        here = [at - start for at in places[n : bisect_left(places, done, n)]]
        sign, columns = _head(head, here) if len(head) <= _MAX_HEAD else ("", {})
        if (
            not columns
            and len(head) <= _MAX_ALIGNED
            and _PLAIN.fullmatch(head)
            and _DIGIT.search(low, *_rows(low, done))
        ):
            done = yield from _aligned(text, low, head, done)
        if not columns or _CODE.match(_REMARKED.sub("", head)):
            continue
        width = head.count(sign)
        columns = {i: of for i, of in columns.items() if not _is_below(low, start, sign, i, width)}
        sign, first = _OF_ROWS.get(sign, sign), done
        while done < len(low):
            row, after = _line(low, done)
            if done == first and sign == "|" and not row.strip():  # AsciiDoc has an empty line below its heads
                done = after
                row, after = _line(low, done)
            is_open = row.count('"') % 2 and sign in row
            while is_open and after < len(low) and len(row) <= _MAX_ROW:  # a cell of several lines
                more, after = _line(low, after)
                row += more
                is_open = not more.count('"') % 2
            if len(_cells(row, sign)) != width + 1 and not (row.strip() and _RULE.fullmatch(row)):
                break
            yield from _row(text, row, done, sign, columns)
            done = after


def _rows(low: str, start: int) -> tuple[int, int]:
    """The line after a head, and another one if that may be a rule."""
    end = low.find("\n", start) + 1
    return start, (low.find("\n", end) + 1 if end and low[end - 2 : end - 1] in _RULED else end) or len(low)


def _aligned(text: str, low: str, head: str, at: int) -> Generator[tuple[int, int], None, int]:
    """Yield the passwords below a head whose cells stand in line or are a word each; return where the rows end. Each must have letters and digits."""
    gap, cells, columns = _NARROW, list[str](), list[int]()
    for gap in (_WIDE, _NARROW):
        cells = gap.split(_ADDRESSES.sub("ip", head.strip().removeprefix("# ")))
        columns = [i for i, cell in enumerate(cells) if _HEAD.fullmatch(cell)]
        if columns and len(cells) >= _MIN_CELLS:
            break
    if not columns or not _MIN_CELLS <= len(cells) <= _MOST_ALIGNED:
        return at
    while at < len(low):
        row, after = _line(low, at)
        first, last = at + len(row) - len(row.lstrip()), at + len(row.rstrip())
        bounds = [first, *(place for match in gap.finditer(low, first, last) for place in match.span()), last]
        ahead = len(bounds) // 2 - len(cells)  # a number before each row has no head
        if ahead not in {0, 1}:
            break
        for i in columns:
            start, end = bounds[2 * (i + ahead)], bounds[2 * (i + ahead) + 1]
            if values.is_told(text[start:end]):
                yield start, end
        at = after
    return at


def _statement(low: str, place: int) -> re.Match[str] | None:
    """The beginning of an SQL statement that gives values to columns, one of which has the name at a place."""
    start = low.rfind("(", max(0, place - _MAX_COLUMNS), place)
    first = max(0, start - _MAX_VERB)
    if start < 0 or (low.find("into", first, start) < 0 and low.find("copy", first, start) < 0):
        return None
    verb = _VERB.search(low, first, start)
    statement = verb and _STATEMENT.match(low, verb.start())
    return statement if statement and statement.start("columns") <= place < statement.end("columns") else None


def _secret_columns(statement: re.Match[str]) -> dict[int, str]:
    """For each column of secrets of a statement what kind they are."""
    names = [name.strip(" \t\r\n\"'`[]") for name in statement["columns"].split(",")]
    return {i: of for i, name in enumerate(names) if name and (of := kind(name))}


def _inserted(text: str, statement: re.Match[str]) -> Generator[tuple[int, int], None, int]:
    """Yield the secrets among the values of an `INSERT`; return where these end."""
    columns, at, column = _secret_columns(statement), statement.end(), 0
    while value := _SQL_VALUE.match(text, at):
        of = columns.get(column)
        if of is not None and value["string"] is not None and may_be(value["string"], of):
            yield value.span("string")
        column = 0 if value["end"] else column + 1
        at = value.end()
    return at


def _copied(text: str, statement: re.Match[str]) -> Generator[tuple[int, int], None, int]:
    """Yield the secrets in the rows of a `COPY`; return where these end."""
    columns, at = _secret_columns(statement), statement.end()
    width = statement["columns"].count(",")
    while at < len(text):
        row, after = _line(text, at)
        if row.count("\t") != width:
            break
        yield from _row(text, row, at, "\t", columns)
        at = after
    return at


def _line(low: str, start: int) -> tuple[str, int]:
    """A line with its end, and where the next one starts."""
    stop = low.find("\n", start) + 1 or len(low)
    return low[start:stop], stop


def _head(line: str, named: Sequence[int]) -> tuple[str, dict[int, str]]:
    """The sign between cells, and for each column of secrets what kind they are. named: where names of secrets stand in the line."""
    for sign in _OF_WIKIS.get(line[:1], _SEPARATORS):
        if sign in line:
            cells = [cell.strip(" \"'`*_!\r\n") for cell in line.split(sign)]
            columns = {i: _of(cell) for i, cell in enumerate(cells) if cell and _HEAD.fullmatch(cell)}
            if sign != "," or ", " not in line:  # in a list of a sentence or of code, only what is all of a head
                for i in {line.count(sign, 0, at) for at in named} - columns.keys():
                    if of := kind(cells[i]):
                        columns[i] = of
            if columns and sum(map(bool, cells)) >= _MIN_CELLS:
                return sign, columns
    return "", {}


def _of(head: str) -> str:
    return "made" if _MADE.search(head) else "chosen"


def kind(head: str) -> str:
    """What a head says stands below it: "chosen" by people, "made" by machines, "told" where it must look like a password; "" for anything else."""
    bare = _REMARK.sub("", head) if head[-1:] in _ENDS_REMARK else head
    if _HEAD.fullmatch(bare):
        return _of(bare)
    return "told" if len(bare) <= _MAX_NAMED and _LOOSE.fullmatch(bare) and not _ABOUT.search(bare) else ""


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


def _cells(row: str, sign: str) -> list[str]:
    """The cells of a row; a sign within quotes separates none."""
    if '"' not in row or row.count('"') % 2 or sign == "|":
        return row.split(sign)
    parts = row.split('"')
    parts[1::2] = [part.replace(sign, "\0") for part in parts[1::2]]
    return '"'.join(parts).split(sign)


def _row(text: str, line: str, at: int, sign: str, columns: dict[int, str]) -> Iterator[tuple[int, int]]:
    start = at
    for i, cell in enumerate(_cells(line, sign)):
        if i in columns:
            bare = cell.strip(" \"'`|*\r\n") if "|" in sign else cell.strip(" \"'`\r\n")
            first = start + cell.find(bare)
            value = text[first : first + len(bare)]
            if may_be(value, columns[i]):
                yield first, first + len(bare)
        start += len(cell) + len(sign)


def may_be(value: str, of: str) -> bool:
    """Tell whether a cell can be a secret of the kind that its head says."""
    if of == "told":
        return " " not in value and values.is_told(value)
    return _is_secret(value) and (of == "chosen" or (values.is_random(value) and len(value) >= _MIN_TOKEN))


def _is_secret(value: str) -> bool:
    return (
        len(value) >= _MIN_PASSWORD
        and " " not in value
        and not values.is_placeholder(value)
        and not _RULE.fullmatch(value)
    )
