"""Threads that do one piece of work after the other, and start the next one beside a slow one (leader and followers).

In: a function that gives the next piece of work, and one that does it.  Out: nothing; the work is begun in the order in which it came.
Always: one thread leads: it takes work and does it. If that takes longer than `BRIEF` seconds another thread takes the lead, so that slow or waiting work
holds up nobody for longer. There are never more threads than `most`.

Several threads that search only contend for the GIL: whenever one of them reads a file or asks SQLite, another continues on another processor, with
other connections and caches, which takes up to half as much processor time again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

BRIEF = 0.05  # seconds


class LeaderFollowers(Generic[T]):
    """The threads. They do not keep the process alive."""

    def __init__(
        self,
        take: Callable[[], T | None],
        do: Callable[[T], None],
        most: int,
        is_brief: Callable[[T], bool] = lambda _work: True,
        brief: float = BRIEF,
    ) -> None:
        """take: waits for the next piece of work, for one thread at a time; None ends that thread.  do: does it, and raises nothing.

        is_brief: False hands the lead on before the work begins.  brief: seconds after which it is handed on.
        """
        self._take = take
        self._do = do
        self._most = most
        self._is_brief = is_brief
        self._brief = brief
        self._lock = threading.Lock()
        self._watching = threading.Condition(self._lock)  # of the one that takes the lead next
        self._resting = threading.Condition(self._lock)  # of the others
        self._threads = 0
        self._at_rest = 0
        self._has_watcher = False
        self._is_watched = False  # the watcher looks at the clock
        self._leader = 0
        self._is_free = True  # nobody leads
        self._began: float | None = None  # when the leader's work began; None: it waits for some
        self._pieces = 0

    def start(self) -> None:
        """Begin to take work."""
        with self._lock:
            self._start_one()

    def _start_one(self) -> None:
        self._threads += 1
        threading.Thread(target=self._run, name=f"call {self._threads}", daemon=True).start()

    def _run(self) -> None:
        me = threading.get_ident()
        while True:
            self._wait_for_the_lead(me)
            while self._leader == me:
                work = self._take()
                if work is None:
                    return
                self._set_off(is_brief=self._is_brief(work))
                self._do(work)
                del work  # it may be large, and the next one may come late
                with self._lock:
                    if self._leader == me:
                        self._began = None

    def _set_off(self, *, is_brief: bool) -> None:
        """Begin a piece of work, and make sure that another thread watches the clock."""
        with self._lock:
            self._pieces += 1
            self._began = time.monotonic()
            if not is_brief:
                self._is_free = True
                self._leader = 0
            if self._is_watched and is_brief:
                return
            self._is_watched = True
            if self._has_watcher:
                self._watching.notify()
            elif self._at_rest:
                self._resting.notify()
            elif self._threads < self._most:
                self._start_one()
            else:
                self._is_watched = False  # whoever is done first takes the lead

    def _wait_for_the_lead(self, me: int) -> None:
        with self._lock:
            while self._has_watcher:
                self._at_rest += 1
                self._resting.wait()
                self._at_rest -= 1
            self._has_watcher = True
            seen = -1
            while not self._is_free:
                now = time.monotonic()
                if self._began is not None and now - self._began >= self._brief:
                    break
                if self._began is not None:
                    left: float | None = self._began + self._brief - now
                else:
                    left = (
                        self._brief if self._pieces != seen else None
                    )  # nothing came for so long: stop watching until something does
                seen = self._pieces
                self._is_watched = left is not None
                self._watching.wait(left)
            self._leader = me
            self._is_free = False
            self._began = None
            self._has_watcher = self._is_watched = False
