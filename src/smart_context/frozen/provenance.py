"""Where a frozen cache comes from: `freeze.json`, beside the manifest.

In: what was asked and what was found, or the file's bytes.  Out: the other.
Always: the bytes are the same for the same texts, question and program, but for `created_at`: no root, time or machine is named. It is
not trusted: a cache is what its manifest says.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from smart_context.cache import folder
from smart_context.cache.exact_json import pretty_list, string
from smart_context.errors import CacheInvalid, ContextError

NAME = "freeze.json"
RULES = "1"
_KINDS: dict[str, type | tuple[type, ...]] = {
    "id": str, "version": str, "source": str, "sha256": str, "pointer": str, "score": (int, float), "kind": str,
}  # fmt: skip
_TIMES = ("since", "until")  # written only where they bound the question


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: `folders` are paths below their root. `paths`: what was named instead of asked for, below its root.

    since, until: days such as `2024-03-31`, "" for no bound.
    """

    query: str
    k: int
    exts: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A document of the cache, in the order in which the search gave them: where its text stood, and its hash there.

    version: of the document. source: the path below its root. sha256: of the file, as it was read.
    """

    id: str
    version: str
    source: str
    sha256: str
    pointer: str
    score: float
    kind: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """A frozen cache's origin. readers: the program's version that read each kind of file. rules: of redaction, "" for none."""

    created_at: str
    program: str
    question: Question
    whole_files: bool
    rules: str
    readers: tuple[tuple[str, str], ...]
    documents: tuple[Source, ...]


def to_json(found: Provenance) -> bytes:
    """Return the file, pretty, with a newline at the end."""
    question = {key: value for key, value in asdict(found.question).items() if value or key not in _TIMES}
    head = {
        "freeze": RULES,
        "created_at": found.created_at,
        "program": found.program,
        "question": {key: list(value) if isinstance(value, tuple) else value for key, value in question.items()},
        "whole_files": found.whole_files,
        "redaction": found.rules or None,
        "readers": dict(found.readers),
    }
    rows = (_compact(asdict(one)) for one in found.documents)
    lines = [f"  {string(key)}: {_compact(value)}" for key, value in head.items()]
    lines.append(f'  "documents": {pretty_list(rows, "  ")}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def read(cache: str | os.PathLike[str]) -> Provenance:
    """Return where a cache comes from. Raises: CacheMissing, CacheInvalid where that is not known, IoError."""

    def load(opened: folder.Folder) -> Provenance:
        try:
            data = opened.read(NAME)
        except CacheInvalid as error:
            if error.why != "is missing":
                raise
            raise CacheInvalid(opened.cache, NAME, "is missing: the cache was not made by `context freeze`") from None
        try:
            return _provenance(json.loads(data))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CacheInvalid(opened.cache, NAME, f"it does not say where the cache comes from: {error}") from error

    return folder.read(cache, load)


def question_of(cache: str | os.PathLike[str]) -> str | None:
    """Return what a cache was asked for, in a line; None where it was not frozen from a search."""
    try:
        found = read(cache).question
    except ContextError:
        return None
    return found.query or f"{len(found.paths)} paths"


def _provenance(data: Any) -> Provenance:
    if data["freeze"] != RULES:
        raise ValueError(f"its format {data['freeze']!r} is not known")
    asked = data["question"]
    exts, years, folders, paths = (_texts(asked[key]) for key in ("exts", "years", "folders", "paths"))
    since, until = (_text(asked.get(key, "")) for key in _TIMES)
    question = Question(_text(asked["query"]), int(asked["k"]), exts, years, folders, paths, since, until)
    for row in data["documents"]:
        if row.keys() != _KINDS.keys() or not all(isinstance(row[key], kind) for key, kind in _KINDS.items()):
            raise ValueError("a document has other fields")
    return Provenance(
        _text(data["created_at"]),
        _text(data["program"]),
        question,
        bool(data["whole_files"]),
        _text(data["redaction"] or ""),
        tuple(sorted((_text(kind), _text(reader)) for kind, reader in data["readers"].items())),
        tuple(Source(**row) for row in data["documents"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(_text, values))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), sort_keys=False)
