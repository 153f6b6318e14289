"""The record with a cache, for searches: rows are cached until the next commit.

In: ids.  Out: the rows that `Record` gives.
Always: the answers are those of `Record` itself: a version number changes with each commit of another connection, and nothing is cached beyond that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import Generic, TypeVar

from smart_context.engine.facts import Marked
from smart_context.engine.local.blocks import Opened
from smart_context.engine.local.record import Record
from smart_context.engine.model import FileRow, LastRun, Passage, SegmentRow

_ROWS = 4096  # rows of each kind, cached at most
_CHARACTERS = 4 << 20  # of cached texts, at most
_OPENED = 64  # segments whose opened blocks are cached: each takes 40 kB at most
_LISTED = 1 << 20  # files in cached lists, and cached lists, at most

Key = TypeVar("Key", int, str)
Row = TypeVar("Row")


class CachedRecord(Record):
    """A record that is only read, from any thread."""

    _kept: _Kept | None = None
    _is_still = False

    def still(self) -> CachedRecord:
        """The same for one search, which does not check for commits on every call: it sees the cache as of its start."""
        other = copy(self)
        other._kept, other._is_still = self._known(), True
        return other

    def files(self, file_ids: Iterable[int]) -> dict[int, FileRow]:
        """Files by id; those that are not there are left out."""
        return self._known().files.of(file_ids, super().files)

    def segments(self, segment_ids: Iterable[int]) -> dict[int, SegmentRow]:
        """Segments by id, without their text; those that are not there are left out."""
        return self._known().segments.of(segment_ids, super().segments)

    def passages(self, segment_ids: Iterable[int]) -> dict[int, Passage]:
        """Segments' text by id, each with its redacted spans."""
        return self._known().passages.of(segment_ids, super().passages)

    def _opened(self, segment_ids: Iterable[int]) -> Iterator[tuple[Opened, list[int]]]:
        """The blocks of segments. A search reads rows, and then the texts of some: a block opened for its rows continues with its texts."""
        left = self._known().opened
        known: dict[int, tuple[Opened, list[int]]] = {}
        missing: list[int] = []
        for number in sorted(segment_ids):
            if (opened := left.get(number)) is None:
                missing.append(number)
            else:
                known.setdefault(opened.first, (opened, []))[1].append(number)
        yield from known.values()
        if not missing:
            return
        for opened, own in super()._opened(missing):
            if len(left) >= _OPENED:
                left.clear()
            left.update(dict.fromkeys(own, opened))
            yield opened, own

    def marks(self, file_ids: Iterable[int]) -> list[Marked]:
        """The marks that identify copies, of some files."""
        read = super().marks
        known = self._known().marks.of(file_ids, lambda missing: {one.file_id: one for one in read(missing)})
        return list(known.values())

    def between(self, since: str, until: str, modified_since: str, modified_until: str) -> list[int]:
        """The files that lie between days."""
        bounds, read = (since, until, modified_since, modified_until), super().between
        known = self._known().between.of([" ".join(bounds)], lambda keys: {keys[0]: read(*bounds)})
        return known[" ".join(bounds)]

    def last_run(self, folder: str) -> LastRun | None:
        """The last finished run over a folder or one above it."""
        read = super().last_run
        known = self._known().runs.of([folder], lambda _: {folder: found} if (found := read(folder)) else {})
        return known.get(folder)

    def _known(self) -> _Kept:
        kept = self._kept
        if self._is_still and kept is not None:
            return kept
        version = self.version
        if kept is None or kept.version != version:
            # A new object rather than a cleared one: rows that other threads are about to cache may be older than this commit.
            kept = self._kept = _Kept(version)
        return kept


class _Kept:
    """The cache for one version of the record."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.files = _Rows[int, FileRow](_ROWS)
        self.segments = _Rows[int, SegmentRow](_ROWS)
        self.marks = _Rows[int, Marked](_ROWS)
        self.runs = _Rows[str, LastRun](_ROWS)
        self.between = _Rows[str, list[int]](_LISTED, lambda listed: 1 + len(listed))
        self.opened: dict[int, Opened] = {}
        self.passages = _Rows[int, Passage](_CHARACTERS, lambda passage: len(passage.text))


class _Rows(Generic[Key, Row]):
    def __init__(self, most: int, size: Callable[[Row], int] = lambda _: 1) -> None:
        self._most = self._room = most
        self._size = size
        self._rows: dict[Key, Row] = {}

    def of(self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Row]]) -> dict[Key, Row]:
        """The rows of some keys, in the order of the keys; missing ones are read."""
        rows = self._rows
        wanted = sorted(set(keys))
        found = {key: row for key in wanted if (row := rows.get(key)) is not None}
        if len(found) == len(wanted):
            return found
        fresh = read([key for key in wanted if key not in found])
        self._keep(fresh)
        return dict(sorted({**found, **fresh}.items()))

    def _keep(self, fresh: Mapping[Key, Row]) -> None:
        self._room -= sum(map(self._size, fresh.values()))
        if self._room < 0:
            self._rows, self._room = {}, self._most
        else:
            self._rows.update(fresh)
