"""The current text of one file: from the record, or read again.

In: a path below a root.  Out: the file's segments, in reading order, with the spans that the current rules redact.
Always: the record is used if the file has not changed since, or if its root is not available; any other file is read in a child process, one file
at a time. The ranking is not needed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from smart_context import defaults
from smart_context.access.roots import Place, Roots, shown
from smart_context.engine.model import FileRow
from smart_context.errors import NotFound, Unreachable
from smart_context.model import Limits, Prepared, Segment, Skipped, Stop, changed_at

if TYPE_CHECKING:
    from smart_context.engine.port import Engine
    from smart_context.redact import Redactor
    from smart_context.sources.worker import Pool

_LOOK_EVERY = 0.1  # seconds between two checks whether a waiting caller has gone


class Contents:
    """The contents of files below some roots, for the callers of any thread. Close it, to end its reading process."""

    def __init__(
        self,
        engine: Engine,
        roots: Roots,
        limits: Limits,
        command: Callable[[], Sequence[str]],
        redactor: Callable[[], Redactor],
        jail: str = defaults.JAIL,
    ) -> None:
        """command: of the process that reads files and prepares them. It and the redactor are called for on first use."""
        self._engine = engine
        self._roots = roots
        self._limits = limits
        self._command = command
        self._redactor = redactor
        self._jail = jail
        self._reading = threading.Lock()
        self._pool: Pool | None = None  # one process, kept because it takes long to start

    def of(self, place: Place, stop: Stop, key: str = "") -> list[Segment]:
        """The segments of a file. `key`: the caller's token, for a shared record.

        Raises: as `Roots.open_file`; NotFound if no text can be read; SearchFailed when the record is damaged; what `stop`
            raises.
        """
        return self._recorded(place, key) or self._read(place.path, stop)

    def close(self) -> None:
        """End the reading process."""
        # If it is busy, it belongs to the call that waits for it, and ends with that call or with this process.
        if self._reading.acquire(timeout=_LOOK_EVERY):
            if self._pool is not None:
                self._pool.close()
                self._pool = None
            self._reading.release()

    def _recorded(self, place: Place, key: str) -> list[Segment]:
        """A file's segments from the record; none if these are not up to date."""
        try:
            record = self._engine.record(key)
        except NotFound:
            return []
        except Unreachable:  # the file itself may be readable
            if self._roots.state(place.root) == "available":
                return []
            raise
        with closing(record):
            file = record.file(place.path)
            if file is None or not self._is_current(file, place.root):
                return []
            from smart_context.find import safe

            return safe.segments(record, file, self._redactor())

    def _is_current(self, file: FileRow, root: str) -> bool:
        if self._roots.state(root) != "available":
            return True
        fd = self._roots.open_file(file.path)
        try:
            info = os.fstat(fd)
        finally:
            os.close(fd)
        return (info.st_size, changed_at(info)) == (file.size, file.mtime_ns)

    def _read(self, path: str, stop: Stop) -> list[Segment]:
        from smart_context.sources.worker import Pool, Task

        os.close(self._roots.open_file(path))  # so that a path that is absent or no file has its own error
        while not self._reading.acquire(timeout=_LOOK_EVERY):
            stop()
        try:
            self._pool = self._pool or Pool(self._limits, workers=1, jail=self._jail, start_with=self._command())
            (done,) = self._pool.run([Task(path, path, lambda: self._roots.open_file(path), name=path)], stop)
        finally:
            self._reading.release()
        if isinstance(done.outcome, Skipped):
            why = f"{done.outcome.reason} ({done.outcome.detail})" if done.outcome.detail else done.outcome.reason
            raise NotFound(
                f"no text could be read from {shown(path)}: {why}", hint="open it with the program that made it"
            )
        assert isinstance(done.outcome, Prepared)
        return list(done.outcome.segments)
