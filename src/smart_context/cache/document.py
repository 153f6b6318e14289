"""One document: its id, its version, and its JSON in a cache.

In: a relative path and bytes (building), or the JSON of a document (reading).  Out: that JSON, or the content.
Always: content that is read hashes to the version it was asked for.
"""

from __future__ import annotations

from smart_context.cache import exact_json, lowercase
from smart_context.cache.strict_json import Malformed, Value, parse
from smart_context.digest import sha256

_FIELDS = ("id", "version", "source", "content", "metadata")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def id_of(source: str) -> str:
    """Return the id of the document at a path relative to the sources."""
    name = source.replace("\\", "/")
    while name.startswith("./"):
        name = name[2:]
    return lowercase.lower(name)


def version_of(content: bytes) -> str:
    """Return the version of a document with this content."""
    return "sha256:" + sha256(content)


def to_json(document_id: str, version: str, source: str, content: str) -> bytes:
    """Return the JSON of a document in a cache. A build adds no metadata."""
    quote = exact_json.string
    return (
        f'{{"id":{quote(document_id)},"version":{quote(version)},"source":{quote(source)}'
        f',"content":{quote(content)},"metadata":{{}}}}'
    ).encode()


def read(data: bytes, document_id: str, version: str) -> tuple[str, int]:
    """Return the content, and its length in UTF-8, of the document that has this id and version. Raises: Malformed."""
    pairs = parse(data)
    if type(pairs) is not tuple:
        raise Malformed("not a JSON object")
    fields = dict(pairs)
    if len(fields) != len(pairs):
        refuse_repeated(pairs, _FIELDS)
    content = text(fields, "content")
    text(fields, "source")
    _check_metadata(fields)
    if text(fields, "id") != document_id:
        raise Malformed("its id is not the manifest's")
    if text(fields, "version") != version:
        raise Malformed("its version is not the manifest's")
    raw = content.encode()
    if version_of(raw) != version:
        raise Malformed("its content does not hash to its version")
    return content, len(raw)


def text(fields: dict[str, Value], key: str) -> str:
    """Return a field that must be a string of valid Unicode. Raises: Malformed."""
    value = fields.get(key)
    if type(value) is not str:
        raise Malformed(f"{key} is {'not a string' if key in fields else 'missing'}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Malformed(f"{key} holds half a surrogate pair") from error
    return value


def refuse_repeated(pairs: tuple[tuple[str, Value], ...], known: tuple[str, ...]) -> None:
    """Refuse a known key that is given twice. Raises: Malformed."""
    keys = [key for key, _ in pairs]
    for key in known:
        if keys.count(key) > 1:
            raise Malformed(f"{key} is given twice")


def _check_metadata(fields: dict[str, Value]) -> None:
    metadata = fields.get("metadata")
    if metadata == ():
        return
    if type(metadata) is not tuple:
        raise Malformed(f"metadata is {'not an object' if 'metadata' in fields else 'missing'}")
    for key, value in metadata:
        text({"a key of metadata": key}, "a key of metadata")
        if type(value) is int:
            if not _SMALLEST <= value <= _LARGEST:
                raise Malformed("a number in metadata is no 64-bit integer")
        else:
            text({"a value of metadata": value}, "a value of metadata")
