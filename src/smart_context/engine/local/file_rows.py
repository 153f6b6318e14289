"""Rows of files in the local record, stored in few bytes.

In: the values of a file's columns, as `rows` has them; a row.  Out: those to bind; a `FileRow`.
Always: what is read is what was written. A hash is stored as bytes, a time in seconds, a path as the number of its folder in the table `folders` and
the name there, a sketch without its empty bins, and roots, program versions and redaction rules as numbers of the table `names`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from smart_context.engine.local import below
from smart_context.engine.model import FileRow
from smart_context.engine.rows import file_row
from smart_context.text import copies

_KEPT = (
    "root_id, ext, kind, size, mtime_ns, content, state, reason, detail, title, years, notes, indexed, chars, reader_id, generation,"
    " judged_id, author, dated, same_text, like_text, unread_pages"
)
PUT = f"""INSERT INTO files (folder_id, name, {_KEPT}) VALUES (?, ?{", ?" * len(_KEPT.split(", "))}) ON CONFLICT (folder_id, name) DO UPDATE
    SET {", ".join(f"{name} = excluded.{name}" for name in _KEPT.split(", "))} RETURNING file_id"""  # noqa: S608  # constants
_PATH, _ROOT, _SHA256, _INDEXED_AT, _READER, _JUDGED, _LIKE = 0, 1, 6, 13, 15, 17, 21  # places in the values of a file
_TIME = "%Y-%m-%dT%H:%M:%SZ"
PATH = "CAST((SELECT folder FROM folders WHERE folders.folder_id = files.folder_id) || files.name AS BLOB)"
"""The path of a row of `files`."""
VIEW = f"""CREATE VIEW file_rows AS SELECT file_id, folder_id, name, {PATH} AS path, (SELECT name FROM names WHERE name_id = root_id) AS root, ext, kind,
    size, mtime_ns, content AS sha256, content, state, reason, detail, title, years, notes, indexed AS indexed_at, chars,
    (SELECT CAST(name AS TEXT) FROM names WHERE name_id = reader_id) AS reader, generation,
    (SELECT CAST(name AS TEXT) FROM names WHERE name_id = judged_id) AS judged, author, dated, same_text, like_text, unread_pages FROM files"""  # noqa: S608
"""All columns of files, as `shown` takes them."""


def values(given: tuple[Any, ...], number: Callable[[bytes], int], folder: Callable[[bytes], int]) -> tuple[Any, ...]:
    """The values to put, of those of a file's columns but for its id; `number`: of a name; `folder`: of a folder."""
    kept = list(given)
    above, name = below.parts(given[_PATH])
    kept[_ROOT] = number(given[_ROOT])
    kept[_READER], kept[_JUDGED] = (number(given[at].encode()) for at in (_READER, _JUDGED))
    kept[_SHA256] = bytes.fromhex(given[_SHA256])
    kept[_INDEXED_AT] = seconds(given[_INDEXED_AT])
    kept[_LIKE] = copies.sparse(given[_LIKE])
    return folder(above), name, *kept[1:]


def shown(row: tuple[Any, ...]) -> FileRow:
    """A row of the view as data."""
    sha256, at = row[1 + _SHA256].hex(), row[1 + _INDEXED_AT]
    time = _time(at) if isinstance(at, int) else at
    like = copies.dense(row[1 + _LIKE])
    between, rest = row[2 + _INDEXED_AT : 1 + _LIKE], row[2 + _LIKE :]
    return file_row((*row[: 1 + _SHA256], sha256, *row[2 + _SHA256 : 1 + _INDEXED_AT], time, *between, like, *rest))


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
