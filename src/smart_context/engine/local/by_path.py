"""Queries of the local record for the files below a folder, and for all in the order of their paths.

In: a folder.  Out: rows, totals, ids.
Always: names are compared as the bytes that they are.
"""

# ruff: noqa: S608  (the parts of queries that vary are constants; values are bound)

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import islice
from typing import Any

from smart_context.engine.local import below, file_rows
from smart_context.engine.model import FileRow, Tally
from smart_context.engine.rows import FILE

_Rows = Callable[[str, Sequence[Any]], list[Any]]
_FILES = "SELECT name, file_id FROM files WHERE folder_id = ? AND state = 'ok' ORDER BY name"
# A name is looked up in each folder, which takes microseconds: it has no index of its own.
_NAMED = """AND file_id IN
    (SELECT file_id FROM folders CROSS JOIN files ON files.folder_id = folders.folder_id AND files.name = ?)"""
_FOLDERS = "SELECT folder, folder_id FROM folders WHERE folder > ? ORDER BY folder LIMIT ?"


class ByPath(ABC):
    """These queries, for a record that runs SQL."""

    @abstractmethod
    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """What a query gives."""

    def has_any(self, folder: str) -> bool:
        """Whether any file below a folder is recorded."""
        query = f"SELECT 1 FROM files WHERE {below.WITHIN} LIMIT 1"
        return bool(self._rows(query, below.values(folder)[:2]))

    def by_path(self) -> Iterator[list[int]]:
        """The id of every file that gave text, in the order of their paths: a few, then more and more at a time."""
        found, many = _file_ids(self._rows), 16
        while some := list(islice(found, many)):
            yield some
            many = min(4 * many, 4096)

    def tallies(self, folder: str) -> list[Tally]:
        """The totals of a folder's files, by kind, state and reason."""
        query = f"""SELECT kind, state, reason, COUNT(*), SUM(chars), SUM(size),
            SUM((SELECT IFNULL(SUM(count), 0) FROM blocks WHERE blocks.file_id = files.file_id AND dead = 0))
            FROM files WHERE {below.FILES} GROUP BY kind, state, reason ORDER BY kind, state, reason"""
        return [Tally(*r) for r in self._rows(query, below.values(folder))]

    def without_text(self, folder: str, limit: int, name: str = "") -> list[FileRow]:
        """A folder's files that gave no text, by path: those that failed first; of that name only, if one is given."""
        named, values = (_NAMED, (os.fsencode(name),)) if name else ("", ())
        query = (
            f"SELECT {FILE} FROM file_rows WHERE {below.FILES} {named} AND state <> 'ok' ORDER BY state, path LIMIT ?"
        )
        return [file_rows.shown(r) for r in self._rows(query, (*below.values(folder), *values, limit))]

    def unread(self, folder: str) -> list[FileRow]:
        """A folder's files with pages or pictures that wait for OCR, by path."""
        query = f"SELECT {FILE} FROM file_rows WHERE {below.FILES} AND unread_pages > 0 ORDER BY path"
        return [file_rows.shown(r) for r in self._rows(query, below.values(folder))]


def _file_ids(rows: _Rows) -> Iterator[int]:
    """The id of every file that gave text, by path. Each folder is read when its files may be the next ones: most callers stop early."""
    folders = _folders(rows)
    coming = next(folders, None)
    opened: list[tuple[bytes, int, Iterator[tuple[bytes, int]]]] = []  # a heap: the next file of each folder
    while opened or coming:
        # The files of a folder come after the folder itself.
        while coming and (not opened or coming[0] < opened[0][0]):
            files = _files(rows, *coming)
            if first := next(files, None):
                heappush(opened, (*first, files))
            coming = next(folders, None)
        if opened:
            _, file_id, files = opened[0]
            yield file_id
            if following := next(files, None):
                heapreplace(opened, (*following, files))
            else:
                heappop(opened)


def _folders(rows: _Rows) -> Iterator[tuple[bytes, int]]:
    last, many = b"", 16
    while found := rows(_FOLDERS, (last, many)):
        yield from found
        last, many = found[-1][0], min(4 * many, 4096)


def _files(rows: _Rows, folder: bytes, folder_id: int) -> Iterator[tuple[bytes, int]]:
    """The paths of a folder's own files, in order."""
    return iter([(folder + name, file_id) for name, file_id in rows(_FILES, (folder_id,))])
