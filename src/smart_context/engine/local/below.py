"""SQL conditions for the files at or below a folder.

In: a folder.  Out: a condition in SQL, and its values.
Always: `/a` and `/a/b` lie below `/a`, `/ab` and `/a-b` do not; names are compared as the bytes that they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

# One range of the index on paths. `0` is the character after `/`.
FILES = "(path = ? OR (path >= ? AND path < ?))"
FOLDERS = FILES.replace("path", "folder")
# Before that range, between the folder itself and its contents, after: one lookup in the index for each.
_HAS_OTHERS = """SELECT EXISTS (SELECT 1 FROM files WHERE path < ?1) OR EXISTS (SELECT 1 FROM files WHERE path > ?1 AND path < ?2)
    OR EXISTS (SELECT 1 FROM files WHERE path >= ?3)"""
_COUNTS = f"SELECT COUNT(*) FROM files WHERE {FILES} UNION ALL SELECT COUNT(*) FROM files"  # noqa: S608  # a constant


def values(folder: str) -> tuple[bytes, bytes, bytes]:
    """The values of the condition."""
    bare = os.fsencode(folder).rstrip(b"/")
    return bare, bare + b"/", bare + b"0"


def every(folder: str, rows: Callable[[str, Sequence[bytes]], list[Any]]) -> tuple[str, tuple[bytes, ...]]:
    """The end of a query for all files of a folder, and its values; `rows` runs a query.

    If the folder has more than half of all files, a scan of the table takes half of the time of the index on paths; if it has all, no path needs to
    be compared.
    """
    below = values(folder)
    if not rows(_HAS_OTHERS, below)[0][0]:
        return "ORDER BY file_id", ()
    (some,), (all_,) = rows(_COUNTS, below)
    if some > all_ // 2:
        return f"WHERE {FILES.replace('path', '+path')} ORDER BY file_id", below
    return f"WHERE {FILES} ORDER BY path", below
