"""Run blocking work in a bounded number of threads, each piece within its time.

In: work, and the seconds it may take.  Out: its result.
Always: the caller gets its answer or `CallTimeout` when the time is up, however slow the work is to notice; work that nobody
waits for any more is told to stop, even before it begins.
"""

from __future__ import annotations

import asyncio
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from smart_context.errors import CallCancelled, CallTimeout
from smart_context.server.leader_followers import LeaderFollowers

T = TypeVar("T")


class Stopper:
    """The `Stop` of one call: raises once its time is up or it was abandoned."""

    def __init__(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._is_abandoned = False

    def __call__(self) -> None:
        """Raise `CallCancelled` or `CallTimeout` if the work should end now."""
        if self._is_abandoned:
            raise CallCancelled("the call was cancelled")
        if self._is_late():
            raise CallTimeout("the call ran out of its time")

    @property
    def is_over(self) -> bool:
        """Whether the work should end now."""
        return self._is_abandoned or self._is_late()

    def abandon(self) -> None:
        """Note that the work was abandoned: if its time is not up, because the call was cancelled."""
        self._is_abandoned = not self._is_late()

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline


@dataclass(frozen=True, slots=True)
class _Job(Generic[T]):
    work: Callable[[Stopper], T]
    stop: Stopper
    done: asyncio.Future[T]
    loop: asyncio.AbstractEventLoop
    is_brief: bool

    def run(self) -> None:
        """Do the work, and settle the future in the loop."""
        try:
            result = self.work(self.stop)
        except BaseException as error:  # noqa: BLE001  # handed to the caller, whatever it is
            self._tell(partial(self._settle, self.done.set_exception, error))
        else:
            self._tell(partial(self._settle, self.done.set_result, result))

    def _settle(self, put: Callable[[Any], None], value: object) -> None:
        if not self.done.done():
            put(value)

    def _tell(self, settle: Callable[[], None]) -> None:
        try:
            self.loop.call_soon_threadsafe(settle)
        except RuntimeError:  # the loop has ended: nobody waits any more
            return


def within(done: asyncio.Future[T], seconds: float | None) -> None:
    """Let a future fail with `CallTimeout` when so many seconds have passed (None: never)."""
    if seconds is None:
        return

    def expire() -> None:
        if not done.done():
            done.set_exception(CallTimeout(f"the call took longer than {seconds} seconds"))

    timer = asyncio.get_running_loop().call_later(seconds, expire)

    def end(_: object) -> None:
        timer.cancel()
        if not done.cancelled():
            done.exception()  # retrieved: an exception that nobody waits for is not logged

    done.add_done_callback(end)


class Workers:
    """At most `threads` threads, started as they are needed: `LeaderFollowers` says which of them works. They do not keep the process alive."""

    def __init__(self, threads: int) -> None:
        self._jobs: queue.SimpleQueue[_Job[Any]] = queue.SimpleQueue()
        self._lead: LeaderFollowers[_Job[Any]] = LeaderFollowers(
            self._jobs.get, _Job.run, threads, lambda job: job.is_brief
        )
        self._is_started = False

    @property
    def are_wanted(self) -> bool:
        """Whether work waits, and more of it than one piece."""
        return self._jobs.qsize() > 1

    async def run(self, work: Callable[[Stopper], T], seconds: float | None, *, is_brief: bool = True) -> T:
        """Run `work`, which is told to stop when the time is up (None: never) or the caller is cancelled.

        is_brief: False where it is known to wait for others; the next piece then begins at once.

        Raises: CallTimeout: at the deadline.
        """
        return await self.begin(work, seconds, is_brief=is_brief)

    def begin(self, work: Callable[[Stopper], T], seconds: float | None, *, is_brief: bool = True) -> asyncio.Future[T]:
        """The same without waiting; cancelling the future abandons the work."""
        loop = asyncio.get_running_loop()
        job = _Job(work, Stopper(seconds), loop.create_future(), loop, is_brief)
        within(job.done, seconds)
        job.done.add_done_callback(lambda _: job.stop.abandon())
        self._jobs.put(job)
        if not self._is_started:
            self._is_started = True
            self._lead.start()
        return job.done
