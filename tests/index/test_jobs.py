"""The queue of a server: one run at a time, in order, and nobody's waiting stops a run."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from smart_context import engine, errors
from smart_context.access.roots import Roots
from smart_context.engine.local.lock import WriteLock
from smart_context.index.jobs import JobQueue
from smart_context.index.model import IndexReport
from smart_context.model import OnProgress, Progress, Stop


class Runs:
    """A runner that the test lets go on, folder by folder."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.started = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def __call__(self, folder: str, full: bool, on_progress: OnProgress, stop: Stop) -> IndexReport:
        self.began.append(Path(folder).name)
        on_progress(Progress(1, 2, folder))
        self.started.release()
        while not self.go.acquire(timeout=0.02):
            stop()
        if full:
            raise errors.NotFound("gone")
        return IndexReport(indexed=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a", "a/inner", "a-b", "b", "c", "d"):
        (tmp_path / "root" / name).mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def queue(tmp_path: Path, root: Path, runs: Runs):
    made = JobQueue(engine.at(tmp_path), Roots([root]), runs)
    yield made
    made.close()


def test_jobs_run_by_priority_then_in_the_order_they_came(queue, root, runs):
    jobs = [queue.submit(str(root / "a"))]
    runs.started.acquire()
    for name, priority in (("b", "low"), ("c", "normal"), ("d", "high"), ("a-b", "high")):
        jobs.append(queue.submit(str(root / name), priority=priority))
    assert queue.states()[0] == (str(root / "a"), "normal", True)
    for _ in jobs:
        runs.go.release()
    assert [job.wait().indexed for job in jobs] == [1] * 5
    assert runs.began == ["a", "d", "a-b", "c", "b"]
    assert queue.states() == []


@pytest.mark.parametrize("name", ["a", "a/inner", "."])
def test_the_same_folder_a_parent_or_a_child_is_a_conflict_running_or_waiting(queue, root, runs, name):
    first = queue.submit(str(root / "b"))
    runs.started.acquire()
    second = queue.submit(str(root / "a"))
    with pytest.raises(errors.Conflict):
        queue.submit(str(root / name))
    runs.go.release()
    runs.go.release()
    first.wait()
    second.wait()
    runs.go.release()
    assert queue.submit(str(root / name)).wait().indexed == 1


def test_another_process_that_writes_is_a_conflict(queue, root, tmp_path):
    held = WriteLock.take(tmp_path)
    with pytest.raises(errors.Conflict):
        queue.submit(str(root / "a"))
    held.close()


def test_outside_the_roots_is_forbidden(queue, tmp_path):
    with pytest.raises(errors.Forbidden):
        queue.submit(str(tmp_path))


def test_a_failed_run_tells_its_caller_and_the_next_one_runs(queue, root, runs):
    bad, good = queue.submit(str(root / "a"), full=True), queue.submit(str(root / "b"))
    runs.go.release()
    runs.go.release()
    with pytest.raises(errors.NotFound):
        bad.wait()
    assert good.wait().indexed == 1


def test_a_caller_that_goes_away_leaves_its_job_running(queue, root, runs):
    job = queue.submit(str(root / "a"))
    steps: list[Progress] = []

    def gone() -> None:
        if steps and steps[-1].done:
            raise errors.CallTimeout("cancelled")

    with pytest.raises(errors.CallTimeout):
        job.wait(steps.append, gone)
    assert steps[-1] == Progress(1, 2, str(root / "a"))
    runs.go.release()
    assert job.wait().indexed == 1


def test_closing_stops_the_running_job_and_drops_the_waiting_ones(queue, root, runs):
    running, waiting = queue.submit(str(root / "a")), queue.submit(str(root / "b"))
    runs.started.acquire()
    queue.close()
    for job in (running, waiting):
        with pytest.raises(errors.CallTimeout):
            job.wait()
    assert runs.began == ["a"]
    with pytest.raises(errors.SearchFailed):
        queue.submit(str(root / "c"))


def test_what_the_server_does_by_itself_makes_way_for_who_asks(queue, root, runs):
    running = queue.submit(str(root / "a"), priority="low", yields=True)
    runs.started.acquire()
    waiting = queue.submit(str(root / "b"), priority="low", yields=True)
    with pytest.raises(errors.Conflict):
        queue.submit(str(root), yields=True)  # not for another of its kind
    asked = queue.submit(str(root))
    for job in (running, waiting):
        with pytest.raises(errors.Conflict):
            job.wait()
    runs.go.release()
    assert asked.wait().indexed == 1
    assert runs.began == ["a", "root"]


def test_a_run_is_stopped_between_two_files_and_one_that_waits_is_dropped(queue, root, runs):
    running, waiting = queue.submit(str(root / "a")), queue.submit(str(root / "b"))
    runs.started.acquire()
    assert queue.cancel(str(root / "b"))
    assert queue.cancel(str(root / "a"))
    assert not queue.cancel(str(root / "c"))
    for job in (running, waiting):
        with pytest.raises(errors.SearchFailed):
            job.wait()
    runs.go.release()
    assert queue.submit(str(root / "a")).wait() == IndexReport(indexed=1)


def test_ocr_makes_way_for_any_folder_and_comes_only_when_there_is_nothing_else(tmp_path, root, runs):
    queue = JobQueue(
        engine.at(tmp_path), Roots([root]), runs, lambda folder, tell, stop: runs(folder, False, tell, stop)
    )
    scan = queue.submit(str(root / "a"), priority="low", scans=True)
    runs.started.acquire()
    asked = queue.submit(str(root / "b"), priority="low", yields=True)
    with pytest.raises(errors.Conflict):
        scan.wait()
    runs.started.acquire()
    with pytest.raises(errors.Conflict):
        queue.submit(str(root / "c"), scans=True)
    runs.go.release()
    assert asked.wait().indexed == 1
    queue.close()
