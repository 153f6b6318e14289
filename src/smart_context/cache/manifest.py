"""The manifest and the index of a cache, read and written.

In: the bytes of `manifest.json`, or the documents of a new cache.  Out: a `Manifest`, or those bytes.
Always: a `Manifest` has every field, of the right type; what the fields say is for `verify` to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from smart_context.cache import exact_json
from smart_context.cache.document import refuse_repeated, text
from smart_context.cache.strict_json import Malformed, Value, decoded, parse, parse_many
from smart_context.data import NamedTuple
from smart_context.digest import sha256

SUPPORTED = ("1", "sha256")

_FIELDS = ("cache_version", "build_config", "created_at", "document_count", "documents")
_BUILD_FIELDS = ("version", "hash_algorithm")
_ENTRY_FIELDS = ("id", "version", "file")
_LARGEST_COUNT = 2**64 - 1
_TIME = "0000-00-00T00:00:00"  # the shape of an RFC 3339 time, up to its fraction and offset


class Entry(NamedTuple):
    """A document, as the manifest lists it."""

    id: str
    version: str
    file: str


class Manifest(NamedTuple):
    """A manifest; `documents` are sorted by id."""

    cache_version: str
    build_config: tuple[str, str]
    document_count: int
    documents: list[Entry]


def read(data: bytes) -> Manifest:
    """Return the manifest that the bytes hold. Raises: Malformed."""
    whole = decoded(data)
    del data  # 20 MB where there are 100,000 documents
    fields = _fields(parse_many(whole, _entry_at_once), _FIELDS)
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
    """Return the content of an index: file by id. Raises: Malformed."""
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
    hashed = bytearray(f'{{"version":{version},"hash_algorithm":{algorithm}}}'.encode())
    for entry in documents:
        hashed += f"{entry.id}:{entry.version}".encode()
    return "sha256:" + sha256(hashed)


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


def index_json(documents: Sequence[Entry]) -> bytearray:
    """Return the index of a cache with these documents, given in the order of their ids."""
    quote = exact_json.string
    text = bytearray(b"{")
    for entry in documents:
        text += f"\n  {quote(entry.id)}: {quote(entry.file)},".encode()
    text[-1:] = b"\n}" if documents else b"{}"
    return text


def _fields(value: Value, known: tuple[str, ...], of: str = "") -> dict[str, Value]:
    if type(value) is not tuple:
        raise Malformed(f"{of}is not an object" if of else "not a JSON object")
    fields = dict(value)
    if len(fields) != len(value):
        refuse_repeated(value, known)
    return fields


def _entry_at_once(pairs: list[tuple[str, Value]]) -> Value:
    """Make an object that looks like an entry into one: kept as pairs until all is read, it would take twice the memory."""
    if tuple([key for key, _ in pairs]) != _ENTRY_FIELDS:
        return tuple(pairs)
    return cast("Value", Entry(*[value for _, value in pairs]))  # type: ignore[arg-type]  # `_entry` looks at the types


def _entry(value: Value) -> Entry:
    fields = value._asdict() if isinstance(value, Entry) else _fields(value, _ENTRY_FIELDS, "an entry of documents ")
    checked = [text(fields, name) for name in _ENTRY_FIELDS]
    return value if isinstance(value, Entry) else Entry(*checked)


def _check_time(created_at: str) -> None:
    head, tail = created_at[: len(_TIME)], created_at[len(_TIME) :]
    if not (_has_shape(head, _TIME) and _is_date(head[:10]) and _is_clock(head[11:], 60) and _is_offset(tail)):
        raise Malformed("created_at is not an RFC 3339 time")


def _has_shape(text: str, shape: str) -> bool:
    """Whether a text has digits where the shape has them, and else the same characters; a space or t for a T."""
    return len(text) == len(shape) and all(
        one in "0123456789" if other == "0" else one in "Tt " if other == "T" else one == other
        for one, other in zip(text, shape, strict=True)
    )


def _is_date(date: str) -> bool:
    year, month, day = map(int, date.split("-"))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def _is_clock(clock: str, last_second: int) -> bool:
    hour, minute, *seconds = map(int, clock.split(":"))
    return hour <= 23 and minute <= 59 and all(second <= last_second for second in seconds)


def _is_offset(text: str) -> bool:
    if text.startswith("."):
        digits = len(text) - 1 - len(text[1:].lstrip("0123456789"))
        if not digits:
            return False
        text = text[1 + digits :]
    return text in {"Z", "z"} or (text[:1] in {"+", "-"} and _has_shape(text[1:], "00:00") and _is_clock(text[1:], 59))
