"""Index one folder: walk, compare, read, cut, record.

In: an index open for writing, the roots, a folder below one.  Out: an `IndexReport`, and an index that holds the folder.
Always: a file is read again only when its size or modification time changed; one bad file costs itself; nothing is removed
that the walk did not look for; each commit is a state that a search may see and the next run goes on from.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from smart_context import defaults
from smart_context.access.roots import Place, Roots, is_within, shown
from smart_context.data import dataclass, field, replace
from smart_context.engine.model import LastRun
from smart_context.errors import NotFound
from smart_context.index import checkpoint, mounts
from smart_context.index.model import IndexReport, KindCount
from smart_context.model import Limits, OnProgress, Progress, Stop, silent
from smart_context.redact import rules
from smart_context.sources import known, walk
from smart_context.sources.walk import Found, WalkOptions

if TYPE_CHECKING:
    from smart_context.engine.port import Index
    from smart_context.index.intake import Intake, Taken
    from smart_context.sources.worker import Done, Pool, Task

# Commit after so many files or so much time, whichever comes first: a kill loses little, and searches see the run advance. The time between two
# commits doubles as the run goes on, because each adds a part to the ranking, and many small parts take more space than few.
_BATCH_FILES = 2000
_BATCH_CHARS = 32_000_000
_FIRST_SECONDS = 2.0
_LAST_SECONDS = 8.0
_AHEAD = 100_000  # changed files that are collected before reading begins, so that most runs know their total at once
_SOON = 8  # files to find in the first run over a folder before it starts all reading processes
_LARGE = 1_000_000  # bytes of a file that is read before smaller ones, so that no process is left with a large file when all others have ended
_LAST = 200  # files at the end of a longer run that are read by size, the large ones first: so all processes end at about the same time
_MET = 100  # files between two progress reports, or checks whether the run should end
_VIEW = "{} shows the state of the kernel, and has no files to read"
_COUNTS = ("indexed", "removed", "failed", "no_text", "moved")


@dataclass(frozen=True, slots=True)
class Options:
    """How to index: what the walk leaves out, the limits for one file, how many files are read at once, how long segments are, and the
    user's own redaction patterns."""

    walk: WalkOptions = field(default_factory=WalkOptions)
    limits: Limits = field(default_factory=Limits)
    workers: int | None = None
    max_chars: int = defaults.SEGMENT_CHARS
    jail: str = defaults.JAIL
    patterns: tuple[str, ...] = ()


def run(
    index: Index,
    roots: Roots,
    folder: str,
    options: Options,
    *,
    full: bool = False,
    on_progress: OnProgress = silent,
    stop: Stop = lambda: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    elsewhere: Callable[[Iterable[Found]], None] | None = None,
) -> IndexReport:
    """Update the index for a folder; `full` reads every file again. `elsewhere` gets the files to read, instead of this process.

    Raises: Forbidden outside the roots; NotFound when the folder is not there now; what `stop` raises, after a commit.
    """
    began = time.monotonic()
    place = roots.inside(folder)
    device = _device(index, place, full=full)
    started = _text(now())
    judged = _judge_again(index, options, on_progress, stop)
    work = _Run(index, roots, place, options, full=full, started=started, on_progress=on_progress, stop=stop)
    work.go(elsewhere)
    index.record.finish_run(place.path, LastRun(started, _text(now()), device), work.mounts)
    if work.changed or judged:
        index.tidy()
    return work.report(round((time.monotonic() - began) * 1000))


def some(
    index: Index,
    roots: Roots,
    folder: str,
    files: Iterable[Found],
    options: Options,
    *,
    full: bool = False,
    readers: Pool | None = None,
) -> IndexReport:
    """Read some files of a folder, found by a walk, into the index; `full`: even if unchanged. `readers`: a pool that the caller keeps for further calls."""
    began = time.monotonic()
    place, started = roots.inside(folder), _text(datetime.now(UTC))
    work = _Run(index, roots, place, options, full=full, started=started, on_progress=silent, stop=lambda: None)
    work.has_scans = full
    work.read(files, readers)
    return work.report(round((time.monotonic() - began) * 1000))


def readers(options: Options) -> Pool:
    """The pool of reading processes for these options."""
    from smart_context.index import reading
    from smart_context.sources.worker import Pool

    command = reading.started_with(reading.Preparing(options.max_chars, options.patterns))
    return Pool(options.limits, options.workers, jail=options.jail, start_with=command)


def _judge_again(index: Index, options: Options, on_progress: OnProgress, stop: Stop) -> int:
    """Apply the current redaction rules to files that older rules judged; return how many these were."""
    if next(iter(index.record.judged_otherwise(rules.identity(options.patterns))), None) is None:
        return 0
    from smart_context.index import rejudge
    from smart_context.redact import Redactor

    return rejudge.everything(index, Redactor(options.patterns), on_progress=on_progress, stop=stop)


def _device(index: Index, place: Place, *, full: bool) -> int:
    """The device of a folder, if it can be indexed now."""
    try:
        device = os.stat(place.path).st_dev
        with os.scandir(place.path) as entries:
            is_empty = next(entries, None) is None
    except NotADirectoryError as error:
        raise NotFound(
            f"{shown(place.path)} is a file, not a folder",
            hint=f"index the folder that it is in: {shown(os.path.dirname(place.path))}",
        ) from error
    except OSError as error:
        raise NotFound(
            f"cannot look into {shown(place.path)}: {(error.strerror or '').lower()}",
            hint="check the spelling, or mount or restore it; searches use the last index",
        ) from error
    # An unmounted share leaves an empty folder on another device behind: its files must not be removed from the index.
    if is_empty and not full and index.record.device(place.path) not in {None, device}:
        raise NotFound(
            f"{shown(place.path)} is empty and not on the disk it was on: is it mounted?",
            hint="mount it and try again, or index it with `full` if it is really empty now",
        )
    return device


class _Run:
    intake: Intake

    def __init__(
        self,
        index: Index,
        roots: Roots,
        place: Place,
        options: Options,
        *,
        full: bool,
        started: str,
        on_progress: OnProgress,
        stop: Stop,
    ) -> None:
        self.index, self.roots, self.place, self.options = index, roots, place, options
        self.full, self.started, self.on_progress, self.stop = full, started, on_progress, stop
        self.counts = dict.fromkeys(_COUNTS, 0)
        self.problems: dict[str, str] = {}
        self.views: dict[str, str] = {}
        self.mounts: dict[str, int] = {}
        self.kinds: dict[str, KindCount] = {}
        self.vanished: set[str] = set()
        self.total: int | None = None
        self.large = 0
        self.reading = ""
        self.has_scans = False
        self.pool: Pool | None = None
        self.skipped = self.met = self.searchable = self.pending_files = self.pending_chars = 0
        self.committed_at, self.patience = 0.0, _FIRST_SECONDS

    def go(self, elsewhere: Callable[[Iterable[Found]], None] | None) -> None:
        recorded = known.of(self.index.record.stamped(self.place.path), walk.TELLING)
        self.has_scans = self.full and self.index.record.read_pages(self.place.path) > 0
        is_first, changed = not recorded, self._changed(recorded)
        ahead = list(islice(changed, _SOON))
        self._refuse_a_view()
        if ahead and elsewhere:
            elsewhere(self._looked_ahead(ahead, changed))
        elif ahead:
            with readers(self.options) as pool:
                if is_first and len(ahead) == _SOON:
                    pool.begin()  # while they start, the rest of the folder is walked
                self.read(self._looked_ahead(ahead, changed), pool)
        else:
            self.total = 0
        self._look_for_mounts()
        self._forget(recorded)

    def _refuse_a_view(self) -> None:
        """Raises: NotFound where the whole folder is one that the walk leaves out."""
        for view, kind in self.views.items():
            if f"{self.place.path}/".startswith(f"{view.rstrip('/')}/"):
                raise NotFound(
                    f"cannot index {shown(self.place.path)}: {_VIEW.format(kind)}", hint="name a folder on a disk"
                )

    def _looked_ahead(self, ahead: list[Found], changed: Iterator[Found]) -> Iterator[Found]:
        """The files to read, large ones first. They are collected before reading begins, up to `_AHEAD`."""
        ahead += islice(changed, _AHEAD - len(ahead))
        if len(ahead) < _AHEAD:
            self.total = len(ahead)
        ahead.sort(key=lambda found: found.size < _LARGE)
        self.large = sum(found.size >= _LARGE for found in ahead)
        if len(ahead) > _LAST:
            ahead[-_LAST:] = sorted(ahead[-_LAST:], key=lambda found: -found.size)
        return _drained(deque(ahead), changed)

    def _changed(self, recorded: known.Known) -> Iterator[Found]:
        """Walk; remove the files found from `recorded`, and yield those that have to be read."""
        own = {os.path.realpath(self.index.own_folder)} if self.index.own_folder else set()
        options = replace(self.options.walk, never_enter=self.options.walk.never_enter | own)
        for found in walk.files(
            self.place.path,
            options,
            self.problems.__setitem__,
            top=self.place.root,
            on_mount=self.mounts.__setitem__,
            recorded=None if self.full else recorded,
            on_met=self._skip,
            on_view=self.views.__setitem__,
        ):
            self._meet(found.path, 1)
            recorded.take(found.path)
            yield found

    def _skip(self, folder: str, files: int) -> None:
        self.skipped += files
        self._meet(folder, files)

    def _meet(self, path: str, files: int) -> None:
        """While nothing is read yet: report how many files were found, and stop when asked to."""
        before, self.met = self.met, self.met + files
        if (before - 1) // _MET < (self.met - 1) // _MET and not self.reading:
            self.on_progress(Progress(0, None, f"looking for files: {self.met:,} so far, {path}"))
            self.stop()

    def read(self, changed: Iterable[Found], kept: Pool | None = None) -> None:
        # Imported here: most runs find nothing to read, and take less time than this import.
        from smart_context.index.intake import Intake
        from smart_context.redact import Redactor

        self.intake = Intake(self.index, self.place.root, Redactor(self.options.patterns), self.started)
        self.committed_at = time.monotonic()
        with nullcontext(kept) if kept else readers(self.options) as pool:
            self.pool = pool
            for done in pool.run(self._tasks(changed), self._tick):
                self._take(done)
                self._tick()
            self.pool = None
        self._commit()

    def _tasks(self, changed: Iterable[Found]) -> Iterator[Task]:
        from smart_context.sources.worker import Task

        if self.has_scans:
            from smart_context.index import ocr_text

        for found in changed:
            self.reading = found.path
            taken = None if self.full else self.intake.known(found, self.roots)
            if taken is None:
                more = ocr_text.kept(self.index, found.path) if self.has_scans else b""
                yield Task(
                    found, found.path, partial(self._open, found.path), name=found.path, more=more, size=found.size
                )
                continue
            self.counts["moved"] += 1
            self._count(taken)
            self._tick(is_between_tasks=True)

    def _open(self, path: str) -> int:
        try:
            return self.roots.open_file(path)
        except NotFound:
            self.vanished.add(path)
            raise

    def _take(self, done: Done) -> None:
        found = done.key
        assert isinstance(found, Found)
        if found.path not in self.vanished:
            self._count(self.intake.read(found.path, done))
            return
        # Removed since the walk found it.
        self.vanished.remove(found.path)
        row = self.index.record.file(found.path)
        if row:
            self.index.remove([row.file_id])
            self.counts["removed"] += 1

    def _count(self, taken: Taken) -> None:
        was = self.kinds.get(taken.kind, KindCount())
        failed, no_text = taken.state == "failed", taken.state == "no_text"
        self.kinds[taken.kind] = KindCount(
            was.files + 1, was.failed + failed, was.no_text + no_text, was.chars + taken.chars
        )
        self.counts["failed" if failed else "indexed"] += 1
        self.counts["no_text"] += no_text
        self.pending_files += 1
        self.pending_chars += taken.chars

    def _look_for_mounts(self) -> None:
        """Record the mounts below the folder, and treat recorded mounts that are away now as not walked."""
        top = self.place.path
        below = {path: device for path, device in self.mounts.items() if path != top and is_within(path, top)}
        away = {} if self.full else mounts.away(self.index.record, self.place.path)
        self.mounts = {**mounts.of_top(self.place.path), **below, **away}
        self.problems.update(dict.fromkeys(away, mounts.AWAY))

    def _forget(self, recorded: known.Known) -> None:
        """Remove the files that the walk looked for and did not find."""
        gone = sorted(file_id for path, file_id in recorded.left() if not self._is_out_of_sight(path))
        if gone:
            self.index.remove(gone)
            self.counts["removed"] += len(gone)
            self._commit()

    def _is_out_of_sight(self, path: str) -> bool:
        return bool(self.problems) and not self.problems.keys().isdisjoint(_upwards(path, self.place.path))

    def _tick(self, *, is_between_tasks: bool = False) -> None:
        done = self.counts["indexed"] + self.counts["failed"]
        step = Progress(done, self.total, self.reading, self.counts, self.searchable, self.large)
        # A run of which more than half is done by then is given as long again: one that ends meanwhile leaves one part of the ranking in place of two.
        patience = self.patience * (2 if not self.searchable and self.total and 2 * done > self.total else 1)
        is_late = self.pending_files > 0 and time.monotonic() - self.committed_at >= patience
        is_due = is_late or self.pending_files >= _BATCH_FILES or self.pending_chars >= _BATCH_CHARS
        if is_due and not is_between_tasks and self.pool and not self.pool.is_stocked:
            self.pool.stock()  # the commit waits for the next tick, when reading processes have enough to do meanwhile
            is_due = False
        checkpoint.tick(step, self.on_progress, is_due=is_due, commit=self._commit, stop=self.stop)

    def _commit(self) -> None:
        with self.pool.meanwhile() if self.pool else nullcontext():
            self.index.commit()
        self.searchable = self.skipped + self.counts["indexed"] + self.counts["failed"]
        self.pending_files = self.pending_chars = 0
        self.committed_at = time.monotonic()
        self.patience = min(_LAST_SECONDS, 2 * self.patience)

    @property
    def changed(self) -> int:
        return self.counts["indexed"] + self.counts["failed"] + self.counts["removed"]

    def report(self, duration_ms: int) -> IndexReport:
        passed = {path: _VIEW.format(kind) for path, kind in self.views.items()}
        problems = tuple(f"{shown(path)}: {why}" for path, why in sorted({**passed, **self.problems}.items()))
        return IndexReport(
            **self.counts,
            skipped=self.skipped,
            duration_ms=duration_ms,
            problems=problems,
            kinds=dict(sorted(self.kinds.items())),
            renewed=self.index.renewed,
        )


def _drained(ahead: deque[Found], rest: Iterator[Found]) -> Iterator[Found]:
    while ahead:
        yield ahead.popleft()
    yield from rest


def _upwards(path: str, top: str) -> Iterator[str]:
    """A path and the folders that it lies in, up to the top one."""
    yield path
    while path not in {top, os.sep}:
        path = os.path.dirname(path)
        yield path


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
