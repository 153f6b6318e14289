"""The record of a search node with a cache that is used only while the database does not answer.

In: ids of segments and files that a search found.  Out: files, segments, texts.
Always: while the database answers, its rows are used; when it does not, rows that were shown lately to the same token are shown from the
cache, and anything else fails, rather than being left out of a page.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TypeVar

from smart_context.engine.facts import Marked
from smart_context.engine.model import FileRow, LastRun, SegmentRow
from smart_context.engine.postgres.database import Database
from smart_context.engine.postgres.record import Record
from smart_context.errors import Unreachable

_RUN_SECONDS = 2.0  # for which a folder's last run is cached: every search asks for it
_ROWS = 20_000
_TEXTS = 4_000  # of at most some thousand characters each
Value = TypeVar("Value")


class CachedRecord(Record):
    """A record for the searches of a server."""

    def __init__(self, database: Database, machine: str) -> None:
        super().__init__(database, machine)
        self.is_away: Callable[[], bool] = lambda: False
        self._known_files: _Memory[FileRow] = _Memory(_ROWS)
        self._known_segments: _Memory[SegmentRow] = _Memory(_ROWS)
        self._known_marks: _Memory[Marked] = _Memory(_ROWS)
        self._known_texts: _Memory[tuple[int, str, bytes]] = _Memory(_TEXTS)
        self._known_runs: dict[str, tuple[float, LastRun]] = {}

    def _refuse_nobody(self) -> None:
        if self._needs_token is not None or not self.is_away():  # else nothing is cached that could be shown
            super()._refuse_nobody()

    def files(self, file_ids: Iterable[int]) -> dict[int, FileRow]:
        """Files by id."""
        return self._remembered(list(file_ids), super().files, self._known_files)

    def last_run(self, folder: str) -> LastRun | None:
        """The last finished run over a folder or one above it, on any machine: as of a moment ago."""
        asked, known = self._known_runs.get(folder, (0.0, None))
        if known is not None and time.monotonic() - asked < _RUN_SECONDS:
            return known
        found = super().last_run(folder)
        if found is not None:
            self._known_runs[folder] = (time.monotonic(), found)
        return found

    def segments(self, segment_ids: Iterable[int]) -> dict[int, SegmentRow]:
        """Segments by id, without their text."""
        return self._remembered(list(segment_ids), super().segments, self._known_segments)

    def marks(self, file_ids: Iterable[int]) -> list[Marked]:
        """The marks that identify copies, of some files."""

        def ask(ids: Iterable[int]) -> dict[int, Marked]:
            return {mark.file_id: mark for mark in Record.marks(self, ids)}

        return list(self._remembered(list(file_ids), ask, self._known_marks).values())

    def _texts(self, segment_ids: Iterable[int]) -> list[tuple[int, str, bytes]]:
        def ask(ids: Iterable[int]) -> dict[int, tuple[int, str, bytes]]:
            return {row[0]: row for row in Record._texts(self, ids)}

        return list(self._remembered(list(segment_ids), ask, self._known_texts).values())

    def _remembered(
        self, ids: list[int], ask: Callable[[Iterable[int]], dict[int, Value]], memory: _Memory[Value]
    ) -> dict[int, Value]:
        try:
            if self.is_away():  # the follower notices when it is back; searches need not wait for it
                raise self._database.away()
            found = ask(ids)
        except Unreachable:
            known = memory.all_of(ids, self._key)
            if known is None:
                raise
            return known
        memory.keep(found, self._key)
        return found


class _Memory(OrderedDict[tuple[str, int], Value]):
    """The most recent rows, each with the token that it was shown to: no other token is shown it while the database cannot decide."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._turn = threading.Lock()

    def keep(self, found: dict[int, Value], key: str) -> None:
        with self._turn:
            for number, row in found.items():
                self[key, number] = row
                self.move_to_end((key, number))
            while len(self) > self._most:
                self.popitem(last=False)

    def all_of(self, ids: list[int], key: str) -> dict[int, Value] | None:
        """Every one of them, or None."""
        with self._turn:
            return {i: self[key, i] for i in sorted(set(ids))} if all((key, i) in self for i in ids) else None
