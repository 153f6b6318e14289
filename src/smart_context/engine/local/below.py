"""SQL conditions for the files at or below a folder.

In: a folder.  Out: a condition in SQL, and its values.
Always: `/a` and `/a/b` lie below `/a`, `/ab` and `/a-b` do not; names are compared as the bytes that they are.

A path is stored as the number of its folder, which ends in a slash, and its name there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

WITHIN = "folder_id IN (SELECT folder_id FROM folders WHERE folder >= ? AND folder < ?)"
ITSELF = "(folder_id = (SELECT folder_id FROM folders WHERE folder = ?) AND name = ?)"
FILES = f"({WITHIN} OR {ITSELF})"
FOLDERS = "(folder = ? OR (folder >= ? AND folder < ?))"
# Before that range, and after: one lookup in the index for each. A folder that has no files any more makes a query slower, no answer wrong.
_HAS_OTHERS = (
    "SELECT EXISTS (SELECT 1 FROM folders WHERE folder < ?) OR EXISTS (SELECT 1 FROM folders WHERE folder >= ?)"
)
_COUNTS = f"SELECT COUNT(*) FROM files WHERE {FILES} UNION ALL SELECT COUNT(*) FROM files"  # noqa: S608  # a constant


def parts(path: bytes) -> tuple[bytes, bytes]:
    """The folder of a file, up to the slash at its end, and the file's name there, as they are stored."""
    folder, slash, name = path.rpartition(b"/")
    return folder + slash, name


def values(folder: str) -> tuple[bytes, bytes, bytes, bytes]:
    """The values of the condition for files."""
    bare = os.fsencode(folder).rstrip(b"/")
    return bare + b"/", bare + b"0", *parts(bare)  # `0` is the character after `/`


def folder_values(folder: str) -> tuple[bytes, bytes, bytes]:
    """The values of the condition for folders, which are stored without a slash at their end."""
    bare = os.fsencode(folder).rstrip(b"/")
    return bare, bare + b"/", bare + b"0"


def every(folder: str, rows: Callable[[str, Sequence[bytes]], list[Any]]) -> tuple[str, tuple[bytes, ...]]:
    """The end of a query for all files of a folder, and its values; `rows` runs a query.

    If the folder has more than half of all files, a scan of the table takes half of the time of the index on folders; if it has all, no folder needs to
    be compared.
    """
    below = values(folder)
    if not rows(_HAS_OTHERS, below[:2])[0][0]:
        return "ORDER BY file_id", ()
    (some,), (all_,) = rows(_COUNTS, below)
    if some > all_ // 2:
        return f"WHERE {FILES.replace('folder_id', '+folder_id', 1)} ORDER BY file_id", below
    return f"WHERE {FILES} ORDER BY file_id", below
