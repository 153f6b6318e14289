"""A bounded number of turns for requests; further ones queue.

In: requests.  Out: a turn for each, or a timeout.
Always: turns are given in the order in which they were asked for, and each is given back once. Only the event loop's thread uses this.
"""

from __future__ import annotations

import asyncio

Turn = asyncio.Future[bool]
"""A turn that was asked for: True when it is there, False when its time was up. Whoever cancels it waits no more."""


class TurnQueue:
    """A semaphore for the event loop: first come, first served, each caller with a time limit."""

    def __init__(self, turns: int) -> None:
        self._free = turns
        self._waiting: dict[Turn, asyncio.TimerHandle] = {}  # in the order in which they came

    def enter(self) -> bool:
        """Take a turn if one is free."""
        if not self._free:
            return False
        self._free -= 1
        return True

    def wait(self, seconds: float) -> Turn:
        """Queue for a turn, so many seconds at most."""
        loop = asyncio.get_running_loop()
        turn: Turn = loop.create_future()
        self._waiting[turn] = loop.call_later(seconds, self._end, turn, False)
        turn.add_done_callback(self._forget)
        return turn

    def leave(self) -> None:
        """Give a turn back: to the one that waits longest, if anybody does."""
        for turn in self._waiting:
            if not turn.done():
                self._end(turn, True)
                return
        self._free += 1

    def _end(self, turn: Turn, has_come: bool) -> None:
        if not turn.done():
            turn.set_result(has_come)
        self._forget(turn)

    def _forget(self, turn: Turn) -> None:
        timer = self._waiting.pop(turn, None)
        if timer is not None:
            timer.cancel()
