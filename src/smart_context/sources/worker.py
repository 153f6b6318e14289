"""Read hostile files in a pool of child processes.

In: `Task`s.  Out: a `Done` for each, in the order they finish.
Always: every task gets exactly one `Done`; a crash, a hang or a decompression bomb costs only its own file; at most a few files per
process are open at once; however many processes there are, only one at a time may use much memory; when the pool is closed, or
its owner dies, no process is left.
"""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Literal

from smart_context import defaults
from smart_context.closes import Closes
from smart_context.data import dataclass, replace
from smart_context.errors import ContextError, InternalError, SearchFailed
from smart_context.model import Extracted, Limits, Prepared, Skipped, Stop, changed_at
from smart_context.sources import sibling
from smart_context.sources.child import Child, Death, command
from smart_context.sources.wire import Answer

_AHEAD = 12  # files queued in a process: it goes on with the next ones while we handle its answers, or commit
_IN_STOCK = 800  # files that are ready to be handed out before the caller is busy for long
_IN_STOCK_BYTES = 10_000_000
_TAKEN_IN = 16_000_000  # bytes of answers that wait to be decoded, about, before processes get no further files
_TICK_SECONDS = 0.1
_MUCH_MEMORY = 245_000_000  # bytes that all may hold before they take turns: more than two that read nothing large
_MEMORY_EACH = 122_000_000  # the same per process, on machines with many processors
_STALL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read.

    open: called just before the file is sent, and again if that process dies before it read the file; returns a checked
    descriptor, which the pool closes. want: "hash" for the content's hash alone. name: the file name for the reader; by default the
    last part of the path. more: further bytes for the reader. size: of the file, as far as it is known.
    """

    key: object
    path: str
    open: Callable[[], int]
    want: Literal["extract", "hash"] = "extract"
    name: str = ""
    more: bytes = b""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a task: `outcome` is None where only the hash was wanted.

    sha256 is "" for what could not be read; size and mtime_ns are of the opened file, before it was read, and 0 if it was not.
    """

    key: object
    outcome: Extracted | Prepared | Skipped | None
    sha256: str
    size: int
    mtime_ns: int


class Pool(Closes):
    """Reading processes, started when there is work. To be used from one thread at a time."""

    def __init__(
        self,
        limits: Limits,
        workers: int | None = None,
        *,
        jail: str = defaults.JAIL,
        stall_seconds: float = _STALL_SECONDS,
        start_with: Sequence[str] | None = None,
        memory_each: int = _MEMORY_EACH,
    ) -> None:
        """start_with: another command line for the processes. memory_each: bytes that one may hold before they take turns."""
        self._limits = limits
        self._jail = jail
        self._workers = workers or os.cpu_count() or 1
        self._taken_in = _TAKEN_IN // self._workers
        self._much_memory = max(_MUCH_MEMORY, memory_each * self._workers)
        self._stall_seconds = stall_seconds
        self._wall_seconds = 10.0 * limits.cpu_seconds + stall_seconds
        self._command = list(start_with or command())
        self._children: list[Child[_Given]] = []
        self._selector = selectors.DefaultSelector()
        self._look_again = 0.0
        self._queue = _Queue(())
        self._failed: deque[Done] = deque()
        self._is_stocking = False
        self.is_stocked = False

    def begin(self) -> None:
        """Start every process ahead of many tasks: each takes a while until it can read."""
        self._start(self._workers - len(self._children))

    def run(self, tasks: Iterable[Task], stop: Stop | None = None) -> Iterator[Done]:
        """Read the files; `stop` is called several times a second and ends the run by raising.

        Raises: InternalError when reading processes do not start; SearchFailed when they lack the jail that is required.
        """
        queue = self._queue = _Queue(tasks)
        self._failed.clear()
        self._is_stocking = self.is_stocked = False
        try:
            while True:
                yield from self._hand_out(queue)
                if not any(child.jobs for child in self._children):
                    return
                if stop:
                    stop()
                yield from self._collect(queue)
        finally:
            # The caller left early: answers to unfinished jobs would arrive in the next run.
            for child in [child for child in self._children if child.jobs]:
                self._end(child)

    def stock(self) -> None:
        """Take further tasks, so that there are some to hand out `meanwhile`; `is_stocked` tells when that is done."""
        self._is_stocking = True

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """While the caller is busy for long, let a thread take answers in, undecoded, and hand out the tasks in stock: else the processes would
        soon wait for us."""
        watched, ours = os.pipe()
        thread = threading.Thread(target=self._go_on, args=(watched,))
        thread.start()
        try:
            yield
        finally:
            os.close(ours)
            thread.join()
            os.close(watched)
            self._is_stocking = self.is_stocked = False

    def _go_on(self, end: int) -> None:
        """Take answers in and hand out the tasks in stock, until `end` is closed."""
        at_work = [child for child in self._children if child.jobs]
        with selectors.DefaultSelector() as selector:
            selector.register(end, selectors.EVENT_READ)
            for child in at_work:
                selector.register(child.socket, selectors.EVENT_READ, child)
            while True:
                for key, _ in selector.select(_TICK_SECONDS):
                    if key.data is None:
                        return
                    if not key.data.take_in(self._taken_in):
                        selector.unregister(key.data.socket)
                        at_work.remove(key.data)
                while at_work and self._has_room(child := self._least(at_work)) and (given := self._queue.stocked()):
                    self._send(given, child)
                if time.monotonic() >= self._look_again:
                    self._look_again = time.monotonic() + _TICK_SECONDS
                    self._mind_memory()

    def close(self) -> None:
        """End every process."""
        for child in list(self._children):
            self._end(child)
        self._selector.close()

    def _hand_out(self, queue: _Queue) -> Iterator[Done]:
        """Open files and send them to the processes that have few jobs; yield those that cannot be opened."""
        while (child := self._least_busy()) is None or self._has_room(child):
            given = queue.next()
            if given is None:
                break
            self._send(given, child)
            while self._failed:
                yield self._failed.popleft()
        if self._is_stocking and not self.is_stocked:
            queue.stock(_IN_STOCK, _IN_STOCK_BYTES)
            self.is_stocked = self._is_stocking  # False where the caller was busy within that
        while self._failed:
            yield self._failed.popleft()

    def _send(self, given: _Given, child: Child[_Given] | None) -> None:
        """Open a file and send it to a process, or to a new one; one that cannot be opened is done."""
        task = given.task
        try:
            fd = task.open()
        except (OSError, ContextError) as error:
            self._failed.append(Done(task.key, Skipped("", "cannot be opened", _why(error)), "", 0, 0))
            return
        try:
            info = os.fstat(fd)
            given = _Given(task, info.st_size, changed_at(info), given.is_second_try)
            child = child or self._start(1 if self._children else 1 + self._queue.waiting(self._workers - 1))
            child.give(given, fd, info.st_size, task.name or os.path.basename(task.path), task.want, task.more)
        finally:
            os.close(fd)

    def _least_busy(self) -> Child[_Given] | None:
        """The process with the fewest jobs; None if a new one should be started."""
        least = self._least(self._children) if self._children else None
        if least and (not least.jobs or len(self._children) >= self._workers):
            return least
        return None

    def _least(self, children: Sequence[Child[_Given]]) -> Child[_Given]:
        """The one with the fewest files to read, of those that have room."""
        return min(children, key=lambda child: (not self._has_room(child), child.unanswered))

    def _has_room(self, child: Child[_Given]) -> bool:
        return len(child.jobs) < _AHEAD or (child.unanswered < _AHEAD and child.undecoded < self._taken_in)

    def _start(self, count: int) -> Child[_Given]:
        """Start processes and return the first: it loads what all of them need, and forks the others."""
        are_forked = sibling.is_possible()
        forks: list[Child[_Given]] = [Child(self._limits, (), self._jail) for _ in range(1, count) if are_forked]
        started = [
            Child(self._limits, self._command, self._jail, forks), *forks,
            *(Child(self._limits, self._command, self._jail) for _ in range(1, count) if not are_forked),
        ]  # fmt: skip
        for child in started:
            self._children.append(child)
            self._selector.register(child.socket, selectors.EVENT_READ, child)
        return started[0]

    def _collect(self, queue: _Queue) -> Iterator[Done]:
        """Wait a moment for answers; check the processes that sent none."""
        ready = [child for child in self._children if child.has_more]
        found = self._selector.select(0 if ready else _TICK_SECONDS)
        ready += [key.data for key, _ in found if key.data not in ready]
        for child in ready:
            answered, death = child.receive()
            done = [_done(given, answer) for given, answer in answered]
            if death:
                done += self._bury(child, death, queue)
            yield from self._hand_out(queue)  # the process goes on while the caller handles these answers
            yield from done
        if time.monotonic() < self._look_again:
            return
        self._look_again = time.monotonic() + _TICK_SECONDS
        self._mind_memory()
        for child in [child for child in self._children if child.jobs and child not in ready]:
            if death := child.check(self._stall_seconds, self._wall_seconds):
                yield from self._bury(child, death, queue)

    def _mind_memory(self) -> None:
        """Pause all but the largest process while all together hold much memory: each may grow, but not all at once."""
        held = {child: child.memory() for child in self._children if child.jobs}
        is_much = sum(held.values()) > self._much_memory
        largest = max(held, key=lambda child: held[child], default=None)
        for child in held:
            child.pause(is_much and child is not largest)

    def _bury(self, child: Child[_Given], death: Death, queue: _Queue) -> list[Done]:
        """Requeue the jobs that a dead process had not begun; the first one is what it died of."""
        self._forget(child)
        if death.lacks_jail:
            raise SearchFailed(
                "no file is read: this system has no complete jail for it, and the setting `index.jail` requires one",
                hint='`context doctor` says what is missing; `index.jail = "prefer"` does without it',
            )
        if death.was_stillborn:
            raise InternalError("a reading process does not start", reason=death.detail or None)
        jobs = list(child.jobs)
        child.jobs.clear()
        if not jobs or death.was_planned:
            queue.put_back(jobs)
            return []
        victim, *others = jobs
        if death.may_be_innocent and not victim.is_second_try:
            queue.put_back([replace(victim, is_second_try=True), *others])
            return []
        queue.put_back(others)
        skipped = Skipped("", death.reason, death.detail)
        return [Done(victim.task.key, skipped, "", victim.size, victim.mtime_ns)]

    def _end(self, child: Child[_Given]) -> None:
        child.kill(Death("stopped", ""))
        self._forget(child)

    def _forget(self, child: Child[_Given]) -> None:
        self._selector.unregister(child.socket)
        self._children.remove(child)


def layers() -> tuple[str, ...]:
    """The layers of the jail in which files are read on this system; starts a process to find out.

    Raises: InternalError when it does not start.
    """
    with Pool(Limits(), 1, start_with=command("smart_context.sources.jail_child")) as pool:
        list(pool.run([Task(None, os.devnull, lambda: os.open(os.devnull, os.O_RDONLY), "hash")]))
        return pool._children[0].layers


@dataclass(frozen=True, slots=True)
class _Given:
    """A task that was sent, with the size and time of its file when it was opened, in case no answer comes."""

    task: Task
    size: int = 0
    mtime_ns: int = 0
    is_second_try: bool = False


class _Queue:
    """The tasks to come: first those that a dead process left behind, or that `waiting` has taken from the iterator to count them."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = iter(tasks)
        self._first: deque[_Given] = deque()

    def next(self) -> _Given | None:
        if self._first:
            return self._first.popleft()
        task = next(self._tasks, None)
        return _Given(task) if task else None

    def waiting(self, most: int) -> int:
        """How many there are, counted up to `most`."""
        self._first.extend(map(_Given, islice(self._tasks, max(0, most - len(self._first)))))
        return min(most, len(self._first))

    def stock(self, most: int, size: int) -> None:
        """Take tasks from the iterator, up to a number and a size of their files."""
        taken = 0
        while len(self._first) < most and taken < size and (task := next(self._tasks, None)):
            self._first.append(_Given(task))
            taken += task.size

    def stocked(self) -> _Given | None:
        """The next task, if it was taken from the iterator."""
        return self._first.popleft() if self._first else None

    def put_back(self, jobs: Sequence[_Given]) -> None:
        self._first.extend(jobs)


def _done(given: _Given, answer: Answer) -> Done:
    # Size and time were taken before the bytes were read: if the file changed meanwhile they do not match it, and the next
    # indexing run reads it again.
    return Done(given.task.key, answer.outcome, answer.sha256, given.size, given.mtime_ns)


def _why(error: OSError | ContextError) -> str:
    return error.message if isinstance(error, ContextError) else (error.strerror or type(error).__name__)
