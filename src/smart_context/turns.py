"""Limit concurrent work: a few callers have a turn, the others wait and may give up.

Always: a turn is given back however the work ends; a waiting caller can be stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from smart_context.model import Stop

_LOOK_EVERY = 0.1  # seconds between two looks at whether a waiting caller has gone


class Turns:
    """So many turns at once, for the threads of one process."""

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)
        self._waiting: set[int] = set()  # threads

    @property
    def is_wanted(self) -> bool:
        """Whether a caller waits for a turn."""
        return bool(self._waiting)

    @contextmanager
    def one(self, stop: Stop) -> Iterator[None]:
        """A context manager: wait for a turn and hold it; what `stop` raises ends the wait."""
        thread = threading.get_ident()
        self._waiting.add(thread)
        try:
            while not self._free.acquire(timeout=_LOOK_EVERY):
                stop()
        finally:
            self._waiting.discard(thread)
        try:
            yield
        finally:
            self._free.release()
