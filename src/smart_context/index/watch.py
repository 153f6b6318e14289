"""Keep the index up to date: watch the roots for changes, wait for quiet, index the changed folders.

In: roots, and a function that indexes one folder.  Out: calls of that function, one batch at a time.
Always: a burst of changes is one batch; a folder that could not be indexed stays due; a change without an event is found by
the next sweep, which is also how roots without events are watched (network shares).
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from smart_context import defaults
from smart_context.access.roots import is_within
from smart_context.data import dataclass
from smart_context.errors import Conflict, ContextError, NotFound

QUIET_MS = 500  # how long nothing must change before a batch is indexed
LONGEST_MS = 30_000  # how long a burst may last before it is indexed all the same
_TICK_MS = 400
_MOST_FOLDERS = 20  # more of them: their common parent is walked instead
_MANY = 5000  # changes at once: some events may have been lost, so that everything is walked

# Network filesystems, by their names in Linux's /proc/self/mountinfo. Changes made by other machines raise no event there.
_REMOTE = (
    "nfs",
    "cifs",
    "smb",
    "fuse.",
    "9p",
    "afs",
    "ceph",
    "gluster",
    "lustre",
    "beegfs",
    "virtiofs",
    "vboxsf",
    "prl_fs",
)

IndexFolder = Callable[[str], None]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two sweeps: of roots without events, and of all roots for changes that events missed."""

    poll: float = defaults.POLL_SECONDS
    sweep: float = defaults.SWEEP_SECONDS


class Watcher:
    """A thread that watches until `close`. `report` gets a line for people when something is wrong."""

    def __init__(
        self, roots: Sequence[str], index: IndexFolder, pace: Pace, report: Report, skip: Sequence[str] = ()
    ) -> None:
        self._index = index
        self._pace = pace
        self._report = report
        self._skip = tuple(skip)
        self._stop = threading.Event()
        self._roots = tuple(roots)
        self._due: dict[str, None] = {}
        self._next: dict[str, float] = {}
        self._polled: set[str] = {root for root in roots if is_remote(root)}
        self._told: dict[str, str] = {}
        self._forgives = False  # ignore unreadable folders: the library then does not report a lack of watches either
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to watch; every root is swept once first."""
        self._thread.start()

    @property
    def is_closing(self) -> bool:
        """Whether `close` was called: a caller that waits for a folder to be indexed should give up."""
        return self._stop.is_set()

    def become(self, roots: Sequence[str]) -> None:
        """Watch these roots and no others, within a tick."""
        self._polled |= {root for root in roots if root not in self._roots and is_remote(root)}
        self._roots = tuple(roots)

    def close(self) -> None:
        """Stop watching; a folder being indexed is the caller's to stop."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        for changed in self._batches():
            if self._stop.is_set():
                return
            for folder in folders(changed, self._roots, self._skip):
                self._due[folder] = None
            now = time.monotonic()
            for root in self._roots:
                if now >= self._next.get(root, 0.0):
                    self._due[root] = None
                    self._next[root] = now + self._pause(root)
            self._work_off()

    def _pause(self, root: str) -> float:
        return self._pace.poll if root in self._polled or self._forgives else self._pace.sweep

    def _work_off(self) -> None:
        for folder in list(self._due):
            if self._stop.is_set():
                return
            if not any(is_within(folder, root) for root in self._roots):
                del self._due[folder]
                continue
            try:
                self._index(folder)
                self._told.pop(folder, None)
            except Conflict:
                continue  # another process writes: it stays due
            except NotFound:
                self._tell(folder, f"{folder} is not there; its last index stays")
            except ContextError as error:
                self._tell(folder, f"cannot index {folder}: {': '.join(filter(None, (error.message, error.reason)))}")
            self._due.pop(folder, None)

    def _tell(self, folder: str, what: str) -> None:
        """Report a problem of a folder once, not at each sweep."""
        if self._told.get(folder) != what:
            self._told[folder] = what
            self._report(what)

    def _batches(self) -> Iterator[Iterable[str]]:
        """Yield the changed paths, after quiet; an empty batch at every tick, so that sweeps get their turn."""
        while not self._stop.is_set():
            if live := self._live():
                yield from self._events(live)
            else:
                yield ()
                self._stop.wait(_TICK_MS / 1000)

    def _live(self) -> dict[str, tuple[int, int]]:
        """The roots that can be watched now, with their identities: one that was replaced must be watched again."""
        found = {}
        for root in self._roots:
            with suppress(OSError):
                info = os.stat(root)
                if root not in self._polled and stat.S_ISDIR(info.st_mode):
                    found[root] = info.st_dev, info.st_ino
        return found

    def _events(self, live: Mapping[str, tuple[int, int]]) -> Iterator[Iterable[str]]:
        from watchfiles import watch

        self._next.clear()  # sweep at once: something may have changed while nothing was watched
        try:
            changes = watch(
                *live,
                watch_filter=None,
                debounce=LONGEST_MS,
                step=QUIET_MS,
                stop_event=self._stop,
                rust_timeout=_TICK_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
                ignore_permission_denied=self._forgives,
            )
            for batch in changes:
                yield [path for _, path in batch]
                if self._live() != live:
                    return
        except PermissionError:
            if self._forgives:  # the root itself
                self._polled.update(live)
            self._forgives = True
        except (OSError, RuntimeError) as error:
            # Too many folders for the kernel's limit of watches, or none allowed: poll instead.
            self._report(f"no file events ({error}); looking every {self._pace.poll:g} seconds instead")
            self._polled.update(live)
            self._next.clear()


def folders(changed: Iterable[str], roots: Sequence[str], skip: Sequence[str] = ()) -> list[str]:
    """The folders to walk for these changes: as few as needed, none below another, each inside a root."""
    touched: set[str] = set()
    count = 0
    for path in changed:
        count += 1
        if any(is_within(path, place) for place in skip):
            continue
        root = max((root for root in roots if is_within(path, root)), key=len, default=None)
        if root is not None:
            touched.add(_existing(path, root))
    if count > _MANY:
        touched = {root for root in roots if any(is_within(folder, root) for folder in touched)}
    elif len(touched) > _MOST_FOLDERS:
        by_root = {root: [f for f in touched if is_within(f, root)] for root in roots}
        touched = {os.path.commonpath(inside) for inside in by_root.values() if inside}
    return sorted(f for f in touched if not any(f != other and is_within(f, other) for other in touched))


def _existing(path: str, root: str) -> str:
    """The nearest folder above a change that still exists; a folder whose name we cannot decode and encode back counts as missing."""
    folder = os.path.dirname(path) if path != root else root
    while folder != root and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def count_folders(root: str, most: int) -> int:
    """Count the folders at and below a root, up to `most`: each needs a watch where the kernel limits them."""
    count = 0
    for _ in os.walk(root):
        count += 1
        if count >= most:
            break
    return count


def is_remote(folder: str) -> bool:
    """Whether a folder is on a network filesystem, where changes by other machines raise no events."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
            rows = [line.split(" - ") for line in mounts]
    except OSError:
        return False
    best, kind = "", ""
    for left, right in (row for row in rows if len(row) == 2):
        place = left.split()[4].replace("\\040", " ")
        if is_within(os.path.realpath(folder), place) and len(place) >= len(best):
            best, kind = place, right.split()[0]
    return kind.startswith(_REMOTE)
