"""Run OCR on the pages and pictures that wait for it, once everything else can be searched.

In: an index open for writing, the roots, a folder below one.  Out: an `IndexReport` of what was read, and an index that holds it.
Always: a file keeps the text that it has, whatever OCR does; files take turns, so that a long one does not delay others; each commit is
a state that the next run goes on from; a page that crashes its OCR process costs only itself.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from smart_context.access.roots import Roots
from smart_context.engine.model import FileRow
from smart_context.engine.port import Index
from smart_context.index import checkpoint, ocr_child, ocr_text
from smart_context.index.indexer import Options
from smart_context.index.intake import PASSING, Intake
from smart_context.index.model import IndexReport
from smart_context.index.reading import Preparing
from smart_context.model import OnProgress, Prepared, Progress, Skipped, Stop, silent
from smart_context.redact import Redactor
from smart_context.sources import engines
from smart_context.sources.worker import Done, Pool, Task

_TURN_SECONDS = 30.0  # of CPU time, for one file until the next has its turn; a kill loses as much
_COMMIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Turn:
    """The turn of a file. is_careful: it crashed a process, and is read one place at a time. lost: why its next place is given up.
    waiting: places that its last turn left."""

    path: str
    is_careful: bool = False
    lost: str = ""
    waiting: int = 0


def read(
    index: Index,
    roots: Roots,
    folder: str,
    options: Options,
    data: Mapping[str, str],
    *,
    on_progress: OnProgress = silent,
    stop: Stop = lambda: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    start_with: Sequence[str] | None = None,
) -> IndexReport:
    """Run OCR on what waits below a folder; `data`: the files of OCR (`engines.data`); `start_with`: another command line for the processes.

    Raises: Forbidden outside the roots; what `stop` raises, after a commit.
    """
    place = roots.inside(folder)
    rows = index.record.unread(place.path)
    work = _Reading(index, roots, _text(now()), Redactor(options.patterns), on_progress, stop)
    if rows:
        work.total = sum(row.unread_pages for row in rows)
        work.turns.extend(_Turn(row.path) for row in rows)
        with readers(options, data, start_with) as pool:
            work.go(pool)
    left = sum(row.unread_pages for row in index.record.unread(place.path))
    return IndexReport(read_pages=work.done, unread_pages=left)


def turn(
    index: Index,
    roots: Roots,
    path: str,
    options: Options,
    pool: Pool,
) -> IndexReport:
    """Run OCR on what waits in one file, for one turn; the report tells how much still waits."""
    work = _Reading(index, roots, _text(datetime.now(UTC)), Redactor(options.patterns), silent, lambda: None)
    work.turns.append(_Turn(path))
    work.go(pool, once=True)
    return IndexReport(read_pages=work.done, unread_pages=sum(turn.waiting for turn in work.turns))


def readers(options: Options, data: Mapping[str, str], start_with: Sequence[str] | None = None) -> Pool:
    """The pool of OCR processes."""
    return Pool(
        options.limits,
        options.workers,
        jail=options.jail,
        start_with=start_with or ocr_child.started_with(Preparing(options.max_chars, options.patterns), data),
        memory_each=engines.memory(data).held,
    )


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class _Reading:
    index: Index
    roots: Roots
    at: str
    redactor: Redactor
    on_progress: OnProgress
    stop: Stop
    turns: deque[_Turn] = field(default_factory=deque)
    total: int = 0
    done: int = 0
    reading: str = ""
    committed_at: float = field(default_factory=time.monotonic)
    is_pending: bool = False

    def go(self, pool: Pool, *, once: bool = False) -> None:
        """Give every file its turns; `once`: one each, and further ones only to get past a place that crashes the process."""
        while self.turns:
            turns, self.turns = self.turns, deque()
            for done in pool.run(self._tasks(turns), self._tick):
                self._take(done)
                self._tick()
            if once and not any(turn.is_careful for turn in self.turns):
                break
        self._commit()

    def _tasks(self, turns: deque[_Turn]) -> Iterator[Task]:
        for turn in turns:
            row = self.index.record.file(turn.path)
            if row is None or not row.unread_pages:
                continue
            self.reading = row.path
            more = ocr_text.waiting(self.index, row, 0.0 if turn.is_careful else _TURN_SECONDS, turn.lost)
            yield Task(turn, row.path, partial(self.roots.open_file, row.path), name=row.path, more=more)

    def _take(self, done: Done) -> None:
        turn = done.key
        assert isinstance(turn, _Turn)
        row = self.index.record.file(turn.path)
        if row is None or (done.sha256 and done.sha256 != row.sha256):
            return  # it has changed: the next run reads it anew
        if isinstance(done.outcome, Skipped):
            self._failed(turn, row, done.outcome)
            return
        assert isinstance(done.outcome, Prepared)
        left = done.outcome.about.unread_pages
        Intake(self.index, row.root, self.redactor, self.at).read(row.path, done)
        self.is_pending = True
        self.done += max(0, row.unread_pages - left)
        if 0 < left < row.unread_pages:
            is_careful = turn.is_careful and not turn.lost
            self.turns.append(_Turn(row.path, is_careful=is_careful, waiting=left))

    def _failed(self, turn: _Turn, row: FileRow, why: Skipped) -> None:
        """Find the place that crashes the process, and go on after it; a file that cannot be read even then waits for the next run."""
        if why.reason in PASSING or turn.lost:
            return
        lost = ": ".join(filter(None, (why.reason, why.detail))) if turn.is_careful else ""
        self.turns.append(replace(turn, is_careful=True, lost=lost))

    def _tick(self) -> None:
        step = Progress(self.done, self.total, self.reading, {"pages": self.done})
        is_due = self.is_pending and time.monotonic() - self.committed_at >= _COMMIT_SECONDS
        checkpoint.tick(step, self.on_progress, is_due=is_due, commit=self._commit, stop=self.stop)

    def _commit(self) -> None:
        if self.is_pending:
            self.index.commit()
        self.is_pending = False
        self.committed_at = time.monotonic()
