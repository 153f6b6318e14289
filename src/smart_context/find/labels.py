"""Filter files by their metadata: `author:`, `title:`, `name:`, and their dates.

In: the fields and times of a query, the record.  Out: the ids of the files that pass; None without such a filter.
Always: labels are redacted by the current rules before they are compared, so that nobody can search for what is hidden; each word of a value must be the
prefix of a word of the author or the title, in any order; a file name must contain the value, or match it if that has a `*` or `?`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from typing import TYPE_CHECKING

from smart_context import later
from smart_context.data import dataclass
from smart_context.engine.facts import Label, Labelled
from smart_context.engine.port import Record
from smart_context.find.when import Times
from smart_context.text.words import fold, normal

if TYPE_CHECKING:
    from smart_context.redact import Redactor

FIELD = later.pattern(
    r"(?<![\w:-])(?P<field>author|from|title|subject|name|filename):"
    r"(?:[\"“”](?P<quoted>[^\"“”]{1,255})[\"“”]|(?P<value>[^\s\"“”:][^\s\"“”]{0,254})(?![^\s\"“”]))",
    re.IGNORECASE,
)  # a file name has at most 255 characters; a longer value stays words
MOST = 8  # fields of a query: each is compared with every file
_MEANT = {
    "from": "author",
    "subject": "title",
    "filename": "name",
}  # other names of the fields, as in programs for mail and files
_COLUMNS: dict[str, Label] = {"author": "author", "title": "title", "name": "name"}
_HIDDEN = later.pattern(r"\[redacted:[a-z]{1,16}\]")
_WORD = later.pattern(r"\w+")


@dataclass(frozen=True, slots=True)
class Field:
    """One `author:`, `title:` or `name:` of a query."""

    name: str
    value: str


def field(match: re.Match[str]) -> Field:
    """The field of a match of `FIELD`."""
    name = match["field"].lower()
    return Field(_MEANT.get(name, name), (match["quoted"] or match["value"]).strip())


def files(record: Record, times: Times, fields: Sequence[Field], redactor: Redactor | None) -> tuple[int, ...] | None:
    """The files within the times that have the fields."""
    found: set[int] | None = None
    if times:
        found = set(record.between(times.since, times.until, times.modified_since, times.modified_until))
    for each in fields:
        rows = record.labels(_COLUMNS[each.name])
        suits = _name(each.value) if each.name == "name" else _words(each.value)
        texts = _names(rows) if each.name == "name" else [_text(row, redactor) for row in rows]
        own = {row.file_id for row, text in zip(rows, texts, strict=True) if suits(text)}
        found = own if found is None else found & own
    return None if found is None else tuple(sorted(found))


def _names(rows: Sequence[Labelled]) -> list[str]:
    """The names of files, plain: of tens of thousands, most in ASCII."""
    if not rows:
        return []
    names = os.fsdecode(b"\0".join([bytes(row.text) for row in rows])).split("\0")  # type: ignore[arg-type]  # a name is bytes, without NUL
    return [name.lower() if name.isascii() else _plain(name) for name in names]


def _text(row: Labelled, redactor: Redactor | None) -> str:
    text = row.text.decode("utf-8", "replace") if isinstance(row.text, bytes) else row.text
    if redactor is not None and row.judged != redactor.identity():
        text = redactor.clean(text)
    return _HIDDEN.sub(" ", text)


def _words(value: str) -> Callable[[str], bool]:
    wanted = _WORD.findall(_plain(value))

    def suits(text: str) -> bool:
        words = _WORD.findall(_plain(text))
        return bool(wanted) and all(any(word.startswith(one) for word in words) for one in wanted)

    return suits


def _name(value: str) -> Callable[[str], bool]:
    plain = _plain(value)
    if "*" in plain or "?" in plain:
        pattern = re.compile(translate(plain))
        return lambda name: pattern.match(name) is not None
    return lambda name: bool(plain) and plain in name


def _plain(text: str) -> str:
    return fold(normal(text.encode("utf-8", "replace").decode()))
