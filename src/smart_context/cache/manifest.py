"""The manifest and the index of a cache, read and written.

In: the bytes of `manifest.json`, or the documents of a new cache.  Out: a `Manifest`, or those bytes.
Always: a `Manifest` has every field, of the right type; what the fields say is for `verify` to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from smart_context.cache import exact_json
from smart_context.cache.document import refuse_repeated, text
from smart_context.cache.strict_json import Malformed, Value, parse

SUPPORTED = ("1", "sha256")

_FIELDS = ("cache_version", "build_config", "created_at", "document_count", "documents")
_BUILD_FIELDS = ("version", "hash_algorithm")
_ENTRY_FIELDS = ("id", "version", "file")
_LARGEST_COUNT = 2**64 - 1
_RFC_3339 = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)"
    r"(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


class Entry(NamedTuple):
    """A document, as the manifest lists it."""

    id: str
    version: str
    file: str


class Manifest(NamedTuple):
    """What a manifest says; `documents` are sorted by id."""

    cache_version: str
    build_config: tuple[str, str]
    document_count: int
    documents: list[Entry]


def read(data: bytes) -> Manifest:
    """Return the manifest that the bytes hold. Raises: Malformed."""
    fields = _fields(parse(data), _FIELDS)
    config = _fields(fields.get("build_config"), _BUILD_FIELDS, "build_config ")
    _check_time(text(fields, "created_at"))
    entries = fields.get("documents")
    if type(entries) is not list:
        raise Malformed("documents is not a list")
    return Manifest(
        text(fields, "cache_version"),
        (text(config, "version"), text(config, "hash_algorithm")),
        count(fields.get("document_count")),
        sorted(map(_entry, entries)),
    )


def count(value: Value) -> int:
    """Return a `document_count`. Raises: Malformed."""
    if type(value) is not int or not 0 <= value <= _LARGEST_COUNT:
        raise Malformed("document_count is not an integer from 0 to 2^64 - 1")
    return value


def read_index(data: bytes) -> dict[str, Value]:
    """Return what an index says: file by id. Raises: Malformed."""
    pairs = parse(data)
    if type(pairs) is not tuple:
        raise Malformed("not a JSON object")
    files = dict(pairs)
    if len(files) != len(pairs):
        raise Malformed("an id is given twice")
    return files


def version_of(build_config: tuple[str, str], documents: Iterable[Entry]) -> str:
    """Return the version of a cache with these documents, given in the order of their ids."""
    version, algorithm = map(exact_json.string, build_config)
    hashed = sha256(f'{{"version":{version},"hash_algorithm":{algorithm}}}'.encode())
    for entry in documents:
        hashed.update(f"{entry.id}:{entry.version}".encode())
    return "sha256:" + hashed.hexdigest()


def to_json(documents: Sequence[Entry], created_at: str) -> bytes:
    """Return the manifest of a cache with these documents, given in the order of their ids."""
    quote = exact_json.string
    entries = exact_json.pretty_list(
        (
            f'{{\n      "id": {quote(id)},\n      "version": {quote(version)},\n      "file": {quote(file)}\n    }}'
            for id, version, file in documents  # noqa: A001
        ),
        "  ",
    )
    return (
        f'{{\n  "cache_version": {quote(version_of(SUPPORTED, documents))},\n'
        f'  "build_config": {{\n    "version": {quote(SUPPORTED[0])},\n    "hash_algorithm": {quote(SUPPORTED[1])}\n  }},\n'
        f'  "created_at": {quote(created_at)},\n  "document_count": {len(documents)},\n  "documents": {entries}\n}}'
    ).encode()


def index_json(documents: Iterable[Entry]) -> bytes:
    """Return the index of a cache with these documents, given in the order of their ids."""
    quote = exact_json.string
    return exact_json.pretty_list((f"{quote(e.id)}: {quote(e.file)}" for e in documents), "", "{}").encode()


def _fields(value: Value, known: tuple[str, ...], of: str = "") -> dict[str, Value]:
    if type(value) is not tuple:
        raise Malformed(f"{of}is not an object" if of else "not a JSON object")
    fields = dict(value)
    if len(fields) != len(value):
        refuse_repeated(value, known)
    return fields


def _entry(value: Value) -> Entry:
    fields = _fields(value, _ENTRY_FIELDS, "an entry of documents ")
    return Entry(text(fields, "id"), text(fields, "version"), text(fields, "file"))


def _check_time(created_at: str) -> None:
    match = _RFC_3339.fullmatch(created_at)
    if match is None or int(match[3]) > _days(int(match[1]), int(match[2])):
        raise Malformed("created_at is not an RFC 3339 time")


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in {4, 6, 9, 11} else 31
