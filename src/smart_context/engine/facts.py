"""Queries of a record for many files at once: their dates, labels and copies.

In: bounds, ids, hashes.  Out: ids and short rows.
Always: only files with text, but for names; by id. The same queries for every record, in its own dialect.
"""

# ruff: noqa: S608  (the parts of queries that vary are constants of the records; values are bound)

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat
from typing import Any, Literal

from smart_context.data import NamedTuple

Label = Literal["title", "author", "name"]
_FIRST, _LAST = "", "9999"  # before and after every day
_FARTHEST = 1 << 62  # nanoseconds
_BOUND = 256  # ids that are bound one by one
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Labelled(NamedTuple):
    """A file with one of its labels, and the rules of redaction by which that was judged."""

    file_id: int
    text: bytes | str
    judged: str


class Marked(NamedTuple):
    """A file with the marks that identify its copies."""

    file_id: int
    same: bytes
    like: bytes


class Facts(ABC):
    """These queries, for a record that runs SQL."""

    _FILES = "files"
    _VALUE = "?"
    _AMONG = "file_id IN (SELECT value FROM json_each(?))"

    @abstractmethod
    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """What a query gives."""

    @abstractmethod
    def _bound(self, ids: Iterable[int]) -> Any:
        """Ids as they are bound to a query."""

    @staticmethod
    def _sketch(kept: bytes) -> bytes:
        """A sketch as it was made, of one as it is stored."""
        return kept

    def between(self, since: str, until: str, modified_since: str, modified_until: str) -> list[int]:
        """The files between days: by their own date, else by their last change; and by their last change alone."""
        query = f"""SELECT file_id FROM {self._FILES} WHERE state = 'ok'
            AND mtime_ns >= ? AND mtime_ns < ? AND CASE WHEN dated <> '' THEN dated >= ? AND dated <= ?
            ELSE mtime_ns >= ? AND mtime_ns < ? END ORDER BY file_id"""
        bounds = (*_nanoseconds(modified_since, modified_until), since or _FIRST, until or _LAST)
        return [r[0] for r in self._asked(query, (*bounds, *_nanoseconds(since, until)))]

    def labels(self, label: Label) -> list[Labelled]:
        """The files that have a label."""
        if label == "name":
            return list(map(tuple.__new__, repeat(Labelled), self._file_names()))
        query = f"SELECT file_id, {label}, judged FROM {self._FILES} WHERE state = 'ok' AND length({label}) > 0 ORDER BY file_id"
        return [Labelled(*r) for r in self._asked(query)]

    def _file_names(self) -> Iterator[tuple[int, bytes, str]]:
        """The name of each file."""
        for number, path in self._asked(f"SELECT file_id, path FROM {self._FILES} ORDER BY file_id"):
            yield number, bytes(path).rpartition(b"/")[2], ""

    def has_any(self, folder: str) -> bool:
        """Whether any file below a folder is recorded."""
        start = os.fsencode(folder).rstrip(b"/") + b"/"
        query = f"SELECT 1 FROM {self._FILES} WHERE path >= ? AND path < ? LIMIT 1"
        return bool(self._asked(query, (start, start[:-1] + b"0")))

    def marks(self, file_ids: Iterable[int]) -> list[Marked]:
        """The marks that identify copies, of some files."""
        among, values = self._among(list(file_ids))
        query = f"SELECT file_id, same_text, like_text FROM {self._FILES} WHERE {among} ORDER BY file_id"
        return [Marked(number, same, self._sketch(like)) for number, same, like in self._asked(query, values)]

    def _among(self, ids: list[int]) -> tuple[str, Sequence[Any]]:
        """A condition that some files meet, and what is bound to it."""
        if self._VALUE != "?" or not 0 < len(ids) <= _BOUND:
            return self._AMONG, (self._bound(ids),)
        # SQLite looks up ids that are bound one by one in half the time. Powers of two, so that a few prepared statements serve all.
        size = 1 << (len(ids) - 1).bit_length()
        return f"file_id IN (?{', ?' * (size - 1)})", ids + ids[-1:] * (size - len(ids))

    def _asked(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._rows(query if self._VALUE == "?" else query.replace("?", self._VALUE), values)


def _nanoseconds(since: str, until: str) -> tuple[int, int]:
    """The bounds of days as a modification time counts, the last one without."""
    first = _at(since) if since else -_FARTHEST
    return first, _at(until, days=1) if until else _FARTHEST


def _at(day: str, days: int = 0) -> int:
    since = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=days) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000_000
