"""Ask a list of questions and say which of them still find their document within their budget.

In: a file of questions, TOML or JSON lines.  Out: an outcome for each, in the order of the file.
Always: a question is answered as `pack` answers it; a file that cannot be understood is refused as a whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from smart_context.cache.document import id_of
from smart_context.cache.exact_json import string
from smart_context.cache.resolve import LARGEST_BUDGET
from smart_context.data import NamedTuple
from smart_context.errors import IoError, UsageError

if TYPE_CHECKING:
    from smart_context.cache.pack.model import Packed

Result = Literal["found", "not within the budget", "not found"]
Ask = Callable[[str, int], "Packed"]
_MORE = 16  # times the budget, to tell a document that has no room from one that does not match
_KEYS = {"name": str, "query": str, "budget": int, "expect": str}


class Question(NamedTuple):
    """What is asked, with which budget, and the id of the document that must be among the answer."""

    name: str
    query: str
    budget: int
    expect: str


class Outcome(NamedTuple):
    """How a question went. `not within the budget`: one sixteen times as large would hold the document."""

    question: Question
    result: Result
    tokens_used: int


def read(path: str | os.PathLike[str]) -> list[Question]:
    """Return the questions of a file. Raises: IoError, UsageError."""
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except OSError as error:
        raise IoError(f"cannot read {name}", reason=error.strerror) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {name}", reason="it is not UTF-8") from error
    rows = _lines(text, name) if text.lstrip().startswith("{") else _toml(text, name)
    return [_question(row, f"{name}, question {number}") for number, row in enumerate(rows, 1)]


def outcome(question: Question, ask: Ask) -> Outcome:
    """Ask a question and say how it went."""
    packed = ask(question.query, question.budget)
    if any(one.id == question.expect or question.expect in one.also for one in packed.excerpts):
        return Outcome(question, "found", packed.tokens_used)
    more = ask(question.query, min(_MORE * (question.budget + 1000), LARGEST_BUDGET))
    has_it = any(one.id == question.expect or question.expect in one.also for one in more.excerpts)
    return Outcome(question, "not within the budget" if has_it else "not found", packed.tokens_used)


def to_json(outcomes: list[Outcome]) -> bytes:
    """Return the outcomes as JSON, one line each."""
    return "".join(
        f'{{"name":{string(question.name)},"query":{string(question.query)},"budget":{question.budget}'
        f',"expect":{string(question.expect)},"result":{string(result)},"tokens_used":{used}}}\n'
        for question, result, used in outcomes
    ).encode()


def _lines(text: str, name: str) -> list[object]:
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise UsageError(f"cannot read {name}", reason=f"not JSON lines: {error}") from error


def _toml(text: str, name: str) -> list[object]:
    import tomllib

    try:
        rows = tomllib.loads(text).get("question", [])
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"cannot read {name}", reason=f"not TOML: {error}") from error
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"no questions in {name}", hint="write each as a table [[question]], or as a line of JSON")
    return rows


def _question(row: object, where: str) -> Question:
    if not isinstance(row, dict):
        raise UsageError(f"{where} is not a table")
    row.setdefault("name", row.get("query"))
    for key, kind in _KEYS.items():
        if type(row.get(key)) is not kind:
            raise UsageError(f"{where} has no {key}, or not a {'number' if kind is int else 'text'}")
    if unknown := sorted(row.keys() - _KEYS.keys()):
        raise UsageError(f"{where} has an unknown key {unknown[0]!r}", hint=f"known are {', '.join(_KEYS)}")
    if not 0 <= row["budget"] <= LARGEST_BUDGET:
        raise UsageError(f"{where} has a budget that is not between 0 and 2^64 - 1")
    return Question(row["name"], row["query"], row["budget"], id_of(row["expect"]))
