"""A queue of indexing runs, for a process that also answers searches.

In: folders to index, each with a priority.  Out: a `Job` to wait for.
Always: one run at a time, in the order of priority, then of asking; a caller that stops waiting does not stop its job; closing
stops the run between two files, with everything read so far committed. A background run yields in the same way to a call for
the same folder, and so does a run end that its owner cancels.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Literal

from smart_context.access.roots import Roots, shown
from smart_context.engine.port import Engine
from smart_context.errors import CallTimeout, Conflict, ContextError, SearchFailed
from smart_context.index.model import IndexReport
from smart_context.model import OnProgress, Progress, Stop, silent

Priority = Literal["low", "normal", "high"]
PRIORITIES: tuple[Priority, ...] = ("high", "normal", "low")

Runner = Callable[[str, bool, OnProgress, Stop], IndexReport]
"""Run one folder: (folder, full, on_progress, stop)."""

Scanner = Callable[[str, OnProgress, Stop], IndexReport]
"""Read by OCR what waits in one folder: (folder, on_progress, stop)."""

_LOOK_EVERY = 0.1  # seconds between two checks whether the waiting caller has gone


class Job:
    """One indexing run, waiting, running or done."""

    def __init__(
        self, folder: str, full: bool, priority: Priority, number: int, *, yields: bool = False, scans: bool = False
    ) -> None:
        self.folder = folder
        self.full = full
        self.priority = priority
        self.number = number
        self.yields = yields
        self.scans = scans
        self._news = threading.Condition()
        self._step = Progress(0, None, "waiting")
        self._report: IndexReport | None = None
        self._error: BaseException | None = None

    def wait(self, on_progress: OnProgress = silent, stop: Stop = lambda: None) -> IndexReport:
        """Wait until the run is done, and report its progress; what `stop` raises ends the waiting, not the run.

        Raises: what the run raised.
        """
        told: Progress | None = None
        while True:
            with self._news:
                if not self._is_over() and self._step is told:
                    self._news.wait(_LOOK_EVERY)
                step, over = self._step, self._is_over()
            if step is not told:
                on_progress(step)
                told = step
            if over:
                break
            stop()
        if self._error is not None:
            raise self._error
        assert self._report is not None
        return self._report

    def _is_over(self) -> bool:
        return self._report is not None or self._error is not None

    @property
    def step(self) -> Progress:
        """The latest progress."""
        with self._news:
            return self._step

    def tell(self, step: Progress) -> None:
        """Receive progress from the run."""
        with self._news:
            self._step = step
            self._news.notify_all()

    def end(self, report: IndexReport | None, error: BaseException | None) -> None:
        """Receive the outcome of the run."""
        with self._news:
            self._report, self._error = report, error
            self._news.notify_all()


class JobQueue:
    """Jobs of one process, run one after the other by a thread of its own."""

    def __init__(self, engine: Engine, roots: Roots, run: Runner, scan: Scanner | None = None) -> None:
        self._engine = engine
        self._roots = roots
        self._run = run
        self._scan = scan
        self._wake = threading.Condition()
        self._waiting: list[Job] = []
        self._running: Job | None = None
        self._asked = 0
        self._closing = False
        self._unwanted: ContextError | None = None  # why the running job is to end before it is done
        self._thread: threading.Thread | None = None

    def submit(
        self,
        folder: str,
        *,
        full: bool = False,
        priority: Priority = "normal",
        yields: bool = False,
        scans: bool = False,
    ) -> Job:
        """Queue a folder; `yields`: the job ends with Conflict as soon as another caller asks for its folder; `scans`: it runs OCR on the pages
        that wait there, when there are no other jobs, and ends with Conflict as soon as there are.

        Raises: Forbidden outside the roots; Conflict when it, a parent or a child is queued or running, or another process
            writes.
        """
        path = self._roots.inside(folder).path
        with self._wake:
            if self._closing:
                raise SearchFailed("the server is closing", hint="ask the next one")
            self._make_way(path, yields=yields, scans=scans)
            if self._running is None and (who := self._engine.writer()):
                raise Conflict(f"the index is being written by {who}", hint="try again when it has finished")
            self._asked += 1
            job = Job(path, full, priority, self._asked, yields=yields, scans=scans)
            self._waiting.append(job)
            self._waiting.sort(key=lambda j: (PRIORITIES.index(j.priority), j.number))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="indexing", daemon=True)
                self._thread.start()
            self._wake.notify_all()
            return job

    def _make_way(self, path: str, *, yields: bool, scans: bool) -> None:
        """End the jobs that yield to one for this folder, and all OCR jobs; any other overlapping job is a conflict."""
        running = [self._running] if self._running else []
        overlapping = [job for job in (*running, *self._waiting) if scans or job.scans or _overlap(path, job.folder)]
        for other in overlapping:
            if scans or not (other.scans or (other.yields and not yields)):
                raise _busy(other.folder)
        for other in overlapping:
            if other is self._running:
                self._unwanted = _busy(path)
            else:
                self._waiting.remove(other)
                other.end(None, _busy(path))

    def cancel(self, folder: str) -> bool:
        """Stop the run of a folder between two files, or drop it if it waits; return whether there was one."""
        with self._wake:
            if self._running and self._running.folder == folder:
                self._unwanted = _stopped()
                return True
            dropped = [job for job in self._waiting if job.folder == folder]
            self._waiting = [job for job in self._waiting if job.folder != folder]
        for job in dropped:
            job.end(None, _stopped())
        return bool(dropped)

    def states(self) -> list[tuple[str, Priority, bool]]:
        """Every job as (folder, priority, running), the running one first."""
        with self._wake:
            running = [(self._running.folder, self._running.priority, True)] if self._running else []
            return running + [(job.folder, job.priority, False) for job in self._waiting]

    def steps(self) -> list[tuple[str, Progress]]:
        """The folder of every job and how far it is, the running one first."""
        with self._wake:
            jobs = ([self._running] if self._running else []) + self._waiting
            return [(job.folder, job.step) for job in jobs]

    def close(self) -> None:
        """Stop the running job between two files, drop the waiting ones, and wait for the thread."""
        with self._wake:
            self._closing = True
            dropped, self._waiting = self._waiting, []
            self._wake.notify_all()
        for job in dropped:
            job.end(None, _closed())
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closing:
                    self._wake.wait()
                if self._closing:
                    return
                job = self._running = self._waiting.pop(0)
                self._unwanted = None
            report: IndexReport | None = None
            error: BaseException | None = None
            try:
                if job.scans and self._scan:
                    report = self._scan(job.folder, job.tell, self._stop)
                else:
                    report = self._run(job.folder, job.full, job.tell, self._stop)
            except Exception as failure:  # noqa: BLE001  the thread's outer edge: it goes on, and the caller gets the error
                error = failure
            with self._wake:
                self._running = None
            job.end(report, error)

    def _stop(self) -> None:
        if self._closing:
            raise _closed()
        if self._unwanted:
            raise self._unwanted


def _overlap(one: str, other: str) -> bool:
    return os.path.commonpath([one, other]) in {one, other}


def _busy(folder: str) -> Conflict:
    return Conflict(
        f"{shown(folder)} is already being indexed", hint="wait for that run to end; searches go on meanwhile"
    )


def _stopped() -> SearchFailed:
    return SearchFailed("the run was stopped by its owner", hint="index the folder again: it goes on where it was")


def _closed() -> CallTimeout:
    return CallTimeout("the server closed before the folder was done", hint="index it again: it goes on where it was")
