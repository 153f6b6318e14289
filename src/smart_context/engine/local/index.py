"""The index: the record and the ranking derived from it, opened together.

In: a data directory.  Out: an `Index` to search, or the only writer.
Always: a commit reaches the record first; the ranking follows with the same generation, and if it lags or cannot be
read, the next writer repairs it from the record. Readers never wait and never write.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context import heap
from smart_context.closes import Closes
from smart_context.engine import refusals
from smart_context.engine.local import ranking_state
from smart_context.engine.local.cached_record import CachedRecord
from smart_context.engine.local.engine import RANKING, RECORD, vector_files
from smart_context.engine.local.lock import WriteLock
from smart_context.engine.local.migrations import NOT_JUDGED
from smart_context.engine.local.paging import Paging
from smart_context.engine.local.record import Record
from smart_context.engine.model import FileRow, Following, NewFile, RankedFile, RankedSegment, extension
from smart_context.errors import NotFound, SearchFailed
from smart_context.model import OnProgress, Progress, Segment, silent

if TYPE_CHECKING:
    from smart_context.engine.entry import Entry
    from smart_context.engine.local.ranking import Ranking
    from smart_context.engine.local.ranking.view import View

_ANEW = "built anew from the record, reading no file again"
_MUCH = 2000  # segments of a commit that leaves much free memory
_LEFT_OVER = (f"{RANKING}.new", f"{RANKING}.old")  # of a rebuild that was interrupted


class Index(Closes):
    """Record and ranking of one data directory. Close it, or use it in a `with`."""

    def __init__(
        self, folder: Path, record: Record, held: WriteLock | None, open_ranking: Callable[[], tuple[Ranking, str]]
    ) -> None:
        self.folder = folder
        self.own_folder = str(folder)
        self.unranked = frozenset({NOT_JUDGED})
        self.renewed = ""
        self.record = record
        self._open_ranking = open_ranking
        self._ranking: Ranking | None = None
        self._held = held
        self._paging: Paging | None = None
        self._put_since = 0  # segments since the last commit
        self._places = _places(folder)
        self._seen = b""  # the ranking's state file as of the last refresh
        self._refreshing = threading.Lock()

    @classmethod
    def open(cls, data_dir: Path, *, writable: bool = False, on_progress: OnProgress = silent) -> Index:
        """Open the index; a writer creates a missing one, and repairs it.

        Raises: NotFound if there is none to read; Conflict when another process writes; SearchFailed when it is damaged.
        """
        held: WriteLock | None = None
        record: Record | None = None
        try:
            if writable:
                make_private(data_dir)
                held = WriteLock.take(data_dir)
            record = Record.open(data_dir, writable=True) if writable else CachedRecord.open(data_dir)
            repair = partial(_repaired, data_dir, record, on_progress)
            index = cls(data_dir, record, held, repair if writable else lambda: (_opened(data_dir, record), ""))
            if not writable or not _is_current(data_dir, record):
                _ = index.ranking
            return index
        except BaseException:
            if record:
                record.close()
            if held:
                held.close()
            raise

    @property
    def ranking(self) -> Ranking:
        """The ranking. A writer opens it when there is something to write: most runs over a folder find nothing new."""
        if self._ranking is None:
            self._ranking, self.renewed = self._open_ranking()
            if self._held and heap.mapped():
                self._paging = Paging(self.folder / RANKING)
        return self._ranking

    def refresh(self) -> None:
        """See what has been committed since; cheap when nothing was.

        Raises: NotFound when the whole index was removed; SearchFailed when it cannot be used.
        """
        with self._refreshing:
            places = _places(self.folder)
            if not any(places):  # somebody removed the data directory under a server
                raise NotFound(f"there is no index in {self.folder} any more", hint="make one with `indexFolder`")
            if self._held is None and places != self._places and None not in places:
                # Rebuilt by a writer: the open files are not the index any more. A running search may still use them, so
                # the reference is dropped without closing. The writer itself has the new ones.
                self.record = CachedRecord.open(self.folder)
                self._ranking = _opened(self.folder, self.record)
                self._places, self._seen = places, b""
            elif (state := self.ranking.state) != self._seen or not state:
                _ = self.ranking.generation  # raises if it cannot be used
                self.ranking.reload()
                self._seen = state

    @property
    def generation(self) -> int:
        """The commit that a search sees: the ranking follows the record."""
        return self.ranking.generation

    def following(self) -> Following:
        """Never behind: the ranking is beside its record."""
        return Following()

    def both(self, key: str = "") -> tuple[Record, View]:
        """The record and a view of the ranking that belong together, even if other threads refresh meanwhile."""
        with self._refreshing:
            record = self.record
            return record.still() if isinstance(record, CachedRecord) else record, self.ranking.view()

    def put(
        self,
        new: NewFile,
        segments: Sequence[Segment],
        years: Sequence[str],
        indexed_at: str,
        entries: Sequence[Entry] = (),
    ) -> None:
        """Put a file's text in place of its old one; searches see it after `commit`."""
        ranking = self.ranking  # before anything is pending: a repair must start from a commit
        file_id, ids = self.record.put(new, segments, years, indexed_at)
        self._put_since += len(ids)
        file = RankedFile(file_id, new.path, extension(new.path), new.title, tuple(years))
        if entries:
            ranking.add_made(file, ids, entries)
        else:
            own = zip(ids, segments, strict=True)
            ranking.add(file, [RankedSegment(i, s.heading, s.text, s.pointer, s.hidden) for i, s in own])

    def remove(self, file_ids: Iterable[int]) -> None:
        """Forget files."""
        ranking, gone = self.ranking, list(file_ids)
        self.record.remove(gone)
        ranking.delete(gone)

    def commit(self) -> int:
        """Make everything since the last commit durable and searchable."""
        generation = self.record.commit()
        self.ranking.commit(generation)
        if self._put_since > _MUCH:
            heap.give_back()  # most of it is in pieces
        self._put_since = 0
        return generation

    def tidy(self) -> None:
        """Free unused pages, checkpoint the WAL, and merge the parts of the ranking if much of it is in many."""
        self.gather()
        self.record.tidy()

    def gather(self, *, is_upkeep: bool = False) -> None:
        """Merge the parts of the ranking if they are many; is_upkeep: also if most of it is in one."""
        if not self.ranking.is_scattered(is_upkeep=is_upkeep):
            return
        heap.give_back()  # the engine is about to allocate for all parts, and reads all of their files
        self.ranking.reload()
        rows = self.record.files(self.ranking.view().beside_others()).values()
        shortest = min(
            (row for row in rows if row.judged != NOT_JUDGED), key=lambda row: (row.chars, row.file_id), default=None
        )
        if shortest and (segments := list(_ranked(self.record, shortest.file_id))):
            self.ranking.gather(_ranked_file(shortest), segments)

    def renew(self, on_progress: OnProgress) -> None:
        """Rebuild the ranking from the record; readers keep the old one until the new one is in place."""
        if self._ranking:  # one that is damaged is not opened for this
            self._ranking.close()
        self._ranking = _rebuilt(self.folder, self.record, on_progress)

    def close(self) -> None:
        """Close record and ranking, and release the lock; uncommitted changes are discarded."""
        try:
            if self._ranking:
                self._ranking.close()
        finally:
            if self._paging:
                self._paging.close()
            self.record.close()
            if self._held:
                self._held.close()


def make_private(folder: Path) -> None:
    """Create a folder that only its owner may enter; it will contain the text of files."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise refusals.refused(f"cannot make the data directory {folder}", folder, error) from error


def forget_vectors(folder: Path) -> None:
    """Remove the vectors of every model; they are made again when there is time."""
    for file in vector_files(folder):
        file.unlink(missing_ok=True)


def _place(folder: Path) -> Path:
    """Where the ranking is: still under the name of a new one, if a rebuild was killed between its two renames."""
    place = folder / RANKING
    if place.exists():
        return place
    fresh, old = (folder / left_over for left_over in _LEFT_OVER)
    return fresh if old.exists() else place


def _opened(folder: Path, record: Record) -> Ranking:
    from smart_context.engine.local.ranking import Ranking

    with suppress(SearchFailed):  # a rebuild may rename it just now: then it is there at the second look
        return Ranking.open(_place(folder), writable=False)
    try:
        return Ranking.open(_place(folder), writable=False)
    except SearchFailed:
        if record.generation:
            raise
        # The first run ever is about to make it.
        raise NotFound(f"there is no index in {folder} yet", hint="make one with `indexFolder`") from None


def _is_current(folder: Path, record: Record) -> bool:
    """Whether the ranking's state file has the generation of the record."""
    if any((folder / left_over).exists() for left_over in _LEFT_OVER):
        return False
    try:
        return ranking_state.read(folder / RANKING) == record.generation
    except (SearchFailed, OSError):
        return False


def _repaired(folder: Path, record: Record, on_progress: OnProgress) -> tuple[Ranking, str]:
    """The ranking, brought up to the record; and why it was rebuilt, or ""."""
    from smart_context.engine.local.ranking import Ranking

    if (found := _place(folder)) != folder / RANKING:
        found.rename(folder / RANKING)
    for left_over in _LEFT_OVER:
        if (folder / left_over).exists():
            import shutil

            shutil.rmtree(folder / left_over, ignore_errors=True)
    try:
        ranking = Ranking.open(folder / RANKING, writable=True)
    except SearchFailed as error:
        why = "made by another version" if isinstance(error, ranking_state.OtherVersion) else "damaged"
        return _rebuilt(folder, record, on_progress), f"the ranking was {why}: {_ANEW}"
    if ranking.generation > record.generation:
        # The record is older: it was restored from a backup, and its numbers now mean other commits and segments.
        ranking.close()
        forget_vectors(folder)
        return _rebuilt(folder, record, on_progress), f"the ranking was of a newer record: {_ANEW}"
    if ranking.generation < record.generation:
        ranking.delete(ranking.file_ids() - record.file_ids())
        _catch_up(ranking, record, on_progress)
    return ranking, ""


def _rebuilt(folder: Path, record: Record, on_progress: OnProgress) -> Ranking:
    """Rebuild the ranking beside the old one, then swap them; readers keep the old one until then."""
    from smart_context.engine.local.ranking import Ranking

    fresh, old, place = folder / f"{RANKING}.new", folder / f"{RANKING}.old", folder / RANKING
    ranking = Ranking.open(fresh, writable=True)
    try:
        _catch_up(ranking, record, on_progress)
    finally:
        ranking.close()
    if place.exists():
        place.rename(old)
    fresh.rename(place)
    import shutil

    shutil.rmtree(old, ignore_errors=True)
    return Ranking.open(place, writable=True)


def _catch_up(ranking: Ranking, record: Record, on_progress: OnProgress) -> None:
    since = ranking.generation
    for count, row in enumerate(record.files_since(since)):
        on_progress(Progress(count, None, f"building the ranking: {row.path}"))
        if row.judged != NOT_JUDGED:  # its secrets are not known yet; the next run judges it first
            _add(ranking, row, list(_ranked(record, row.file_id)))
    ranking.commit(record.generation)


def _ranked(record: Record, file_id: int) -> Iterator[RankedSegment]:
    segments = record.segments_of(file_id)
    passages = record.passages(s.segment_id for s in segments)
    for segment in segments:
        passage = passages[segment.segment_id]
        yield RankedSegment(segment.segment_id, segment.heading, passage.text, segment.pointer, passage.hidden)


def _add(ranking: Ranking, row: FileRow, segments: Sequence[RankedSegment]) -> None:
    ranking.add(_ranked_file(row), segments)


def _ranked_file(row: FileRow) -> RankedFile:
    return RankedFile(row.file_id, row.path, row.ext, row.title, row.years)


def _places(folder: Path) -> tuple[tuple[int, int, str] | None, ...]:
    """The identities on disk of the record and the ranking, with their names; None for one that is missing."""
    return tuple(_identity(place) for place in (folder / RECORD, _place(folder)))


def _identity(place: Path) -> tuple[int, int, str] | None:
    try:
        info = os.stat(place)
    except OSError:
        return None
    return info.st_dev, info.st_ino, place.name
