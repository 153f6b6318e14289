"""Keep a node's ranking up with the record, in a thread, for a server.

In: notifications of commits, and a look every few seconds for what they miss.  Out: a ranking that follows, and how far it is.
Always: a search waits a moment at most for commits before it, and not at all if others wait already: while machines commit all the time, most
searches see the state of the last round. A database that does not answer makes one search wait, and the next ones not; every failure is retried.
"""

from __future__ import annotations

import os
import select
import threading
import time
from contextlib import suppress

from smart_context.engine.model import Following
from smart_context.engine.postgres.database import Connection, Database
from smart_context.engine.postgres.node import Node
from smart_context.engine.postgres.writer import CHANNEL
from smart_context.errors import ContextError, Unreachable
from smart_context.model import Progress

_POLL = 2.0  # seconds between two polls without a notification
_AGAIN = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds before the next try, after one failure, two, …
_PATIENCE = 1.5  # seconds that a search waits for commits before it
_ANSWER = 5.0  # seconds for the database to say how far it is: a busy one is not away
_ENDING = 10.0
_CROWD = 2  # searches that wait at the same time, at most
_TIDY = 600.0  # seconds between two checks whether most of the ranking was removed


class Follower:
    """The thread. Close it before the node."""

    def __init__(self, node: Node, database: Database) -> None:
        self._node = node
        self._database = database
        self._changed = threading.Condition()
        self._begun = self._done = 0  # rounds of taking in
        self._missed = 0  # the last of them that a search waited for in vain
        self._waiting = 0  # searches
        self._away = False
        self._step = Progress(0, 0)
        self._ending = False
        self._tidied = time.monotonic()
        self._ear, self._bell = os.pipe()
        self._thread = threading.Thread(target=self._run, name="following", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End, and let another process take in."""
        if self._ending:
            return
        self._ending = True
        self._ring()
        self._thread.join(_ENDING)
        if not self._thread.is_alive():  # else it still waits for the database, and ends with the process
            os.close(self._bell)
            os.close(self._ear)

    def state(self) -> Following:
        """How far it is."""
        step = self._step
        return Following(self._away, step.done, step.total or 0, is_late=self._done < self._missed)

    def catch_up(self) -> None:
        """Wait a moment for the commits before now."""
        if self._away or self._waiting >= _CROWD:
            return
        try:
            if not self._node.is_behind(_ANSWER):
                return
        except Unreachable:
            self._away = True
            self._ring()
            return
        with self._changed:
            wanted = self._begun + 1
            self._ring()
            self._waiting += 1
            if not self._changed.wait_for(lambda: self._done >= wanted or self._away or self._ending, _PATIENCE):
                self._missed = max(self._missed, wanted)
            self._waiting -= 1

    def wait_for_first(self) -> None:
        """Wait a moment for anything to be there."""
        with self._changed:
            self._changed.wait_for(lambda: self._done > 0 or self._away or self._ending, _PATIENCE)

    def _run(self) -> None:
        failures = 0
        while not self._ending:
            try:
                with self._listening() as db:
                    while not self._ending:
                        self._take_in()
                        failures = 0
                        self._wait(db)
                        self._tidy()
            except ContextError:  # reported by `state`; the next try may succeed
                self._note(away=True)
                self._rest(_AGAIN[min(failures, len(_AGAIN) - 1)])
                failures += 1
        with suppress(ContextError):
            self._node.release()

    def _tidy(self) -> None:
        if time.monotonic() - self._tidied > _TIDY:
            self._node.tidy(self._tell)
            self._tidied, self._step = time.monotonic(), Progress(0, 0)

    def _listening(self) -> Connection:
        db = self._database.connect()
        try:
            with self._database.translated():
                db.execute(f"LISTEN {CHANNEL}")
        except BaseException:
            db.close()
            raise
        self._note(away=False)  # what is there can be shown, however long it takes to take in the rest
        return db

    def _take_in(self) -> None:
        with self._changed:
            self._begun += 1
            number = self._begun
        self._node.catch_up(self._tell)
        self._step = Progress(0, 0)
        with self._changed:
            self._done, self._away = number, False
            self._changed.notify_all()

    def _tell(self, step: Progress) -> None:
        self._step = step

    def _wait(self, db: Connection) -> None:
        with self._database.translated():
            ready, _, _ = select.select([self._ear, db.fileno()], [], [], _POLL)
            if self._ear in ready:
                os.read(self._ear, 4096)
            for _ in db.notifies(timeout=0):
                pass  # all say the same

    def _rest(self, seconds: float) -> None:
        if select.select([self._ear], [], [], seconds)[0]:
            os.read(self._ear, 4096)

    def _note(self, *, away: bool) -> None:
        with self._changed:
            self._away = away
            self._changed.notify_all()

    def _ring(self) -> None:
        with suppress(OSError):
            os.write(self._bell, b"!")
