"""Rows of files in the local record, stored in few bytes.

In: the values of a file's columns, as `rows` has them; a row.  Out: those to bind; a `FileRow`.
Always: what is read is what was written. A hash is stored as bytes, a time in seconds, and roots, program versions and redaction rules as numbers of the table `names`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from smart_context.engine.model import FileRow
from smart_context.engine.rows import file_row

_KEPT = (
    "root_id, ext, kind, size, mtime_ns, content, state, reason, detail, title, years, notes, indexed, chars, reader_id, generation,"
    " judged_id, author, dated, same_text, like_text, unread_pages"
)
PUT = f"""INSERT INTO files (path, {_KEPT}) VALUES (?{", ?" * len(_KEPT.split(", "))}) ON CONFLICT (path) DO UPDATE
    SET {", ".join(f"{name} = excluded.{name}" for name in _KEPT.split(", "))} RETURNING file_id"""  # noqa: S608  # constants
_ROOT, _SHA256, _INDEXED_AT, _READER, _JUDGED = 1, 6, 13, 15, 17  # places in the values of a file
_TIME = "%Y-%m-%dT%H:%M:%SZ"
VIEW = """CREATE VIEW file_rows AS SELECT file_id, path, (SELECT name FROM names WHERE name_id = root_id) AS root, ext, kind, size, mtime_ns,
    content AS sha256, content, state, reason, detail, title, years, notes, indexed AS indexed_at, chars,
    (SELECT CAST(name AS TEXT) FROM names WHERE name_id = reader_id) AS reader, generation,
    (SELECT CAST(name AS TEXT) FROM names WHERE name_id = judged_id) AS judged, author, dated, same_text, like_text, unread_pages FROM files"""
"""All columns of files, as `shown` takes them."""


def values(given: tuple[Any, ...], number: Callable[[bytes], int]) -> tuple[Any, ...]:
    """The values to put, of those of a file's columns but for its id; `number`: of a name."""
    kept = list(given)
    kept[_ROOT] = number(given[_ROOT])
    kept[_READER], kept[_JUDGED] = (number(given[at].encode()) for at in (_READER, _JUDGED))
    kept[_SHA256] = bytes.fromhex(given[_SHA256])
    kept[_INDEXED_AT] = seconds(given[_INDEXED_AT])
    return tuple(kept)


def shown(row: tuple[Any, ...]) -> FileRow:
    """A row of the view as data."""
    sha256, at = row[1 + _SHA256].hex(), row[1 + _INDEXED_AT]
    time = _time(at) if isinstance(at, int) else at
    return file_row((*row[: 1 + _SHA256], sha256, *row[2 + _SHA256 : 1 + _INDEXED_AT], time, *row[2 + _INDEXED_AT :]))


@lru_cache(maxsize=256)  # files that were read together have the same time
def _time(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):{_TIME}}"


@lru_cache(maxsize=16)
def seconds(time: str) -> int | str:
    """A time in seconds since 1970, if `shown` can restore it exactly; else the time as it is."""
    try:
        read = datetime.fromisoformat(time).astimezone(UTC)
    except ValueError:
        return time
    at = int(read.timestamp())
    return at if _time(at) == time else time
