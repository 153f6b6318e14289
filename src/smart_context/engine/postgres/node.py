"""A search node's ranking: derived from the shared record, kept in a folder of this machine.

In: the feed.  Out: a `View` of what was taken in so far, and how far that is.
Always: one process of a machine takes in changes at a time, others see its commits; each commit is a state of the record, except during a
rebuild, when it is a prefix of one; whatever is lost here is derived again.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.engine.local import ranking_state
from smart_context.engine.local.engine import RANKING, vector_files
from smart_context.engine.local.lock import WriteLock
from smart_context.engine.local.ranking import Ranking
from smart_context.engine.model import RankedSegment
from smart_context.engine.postgres import feed
from smart_context.engine.postgres.database import READ_SECONDS, Connection, Database
from smart_context.engine.postgres.feed import Changed, Head
from smart_context.engine.postgres.record import Record
from smart_context.errors import Conflict, NotFound, SearchFailed
from smart_context.model import OnProgress, Progress

if TYPE_CHECKING:
    from smart_context.engine.local.ranking.view import View

_LOCK = "follow.lock"
_PATIENCE = 5.0  # seconds to wait for the process that takes in changes
_SECONDS = 30.0  # for the database to send the next rows
_TOGETHER = 20_000  # segments per commit while there is much to take in
_LATEST = 256  # commits by which a node checks after a failover that nothing it took in was lost: more than a replica ever lags


@dataclass(frozen=True, slots=True)
class State:
    """How far a ranking has come: everything below `position` is in it, and so are `commits` from there on; `newest` is the last of them.

    latest: those that came in last, each with the time when it began.
    """

    identity: str = ""
    timeline: int = 0
    position: int = 0
    newest: int = 0
    commits: tuple[int, ...] = ()
    latest: Mapping[int, int] = field(default_factory=dict)

    def has(self, head: Head) -> bool:
        """Whether it has all that the record has."""
        return self.is_of(head) and head.commits.keys() <= frozenset(self.commits)

    def is_of(self, head: Head) -> bool:
        """Whether it was derived from this record, on the same timeline."""
        return (self.identity, self.timeline) == (head.identity, head.timeline)


@dataclass(slots=True)
class _Ahead:
    """What was taken in of transactions that the position has not passed: file by file, which one wrote or removed it."""

    written: dict[int, int] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)


class Node:
    """The ranking in a folder. Any thread may look; one takes in."""

    def __init__(self, database: Database, record: Record, folder: Path) -> None:
        self._database = database
        self._record = record
        self._folder = folder
        self._place = folder / RANKING
        self._taking = threading.Lock()
        self._looking = threading.Lock()
        self._reader: Ranking | None = None
        self._seen: tuple[int, int] = (-1, -1)  # the ranking's generation, and which folder it is in
        self._writer: Ranking | None = None
        self._lock: WriteLock | None = None
        self._ahead = _Ahead()
        self._state = State()  # of the thread that takes in changes

    @property
    def state(self) -> State:
        """How far the ranking on the disk has come."""
        return state_of(self._folder)

    # Looking

    def view(self) -> View:
        """The ranking as of the last commit that `reload` saw.

        Raises: NotFound where nothing was derived yet.
        """
        with self._looking:
            if self._reader is None:
                self._open()
            assert self._reader
            return self._reader.view()

    def reload(self) -> None:
        """See what was taken in since; cheap when nothing was."""
        with self._looking:
            if self._reader is None or self._stamp() != self._seen:
                self._open()

    def _open(self) -> None:
        stamp = self._stamp()
        if stamp is None:
            raise NotFound(
                f"nothing was taken in from {self._database.name} yet", hint="try again in a moment: it is being read"
            )
        if self._reader is not None and self._seen[1] == stamp[1]:
            self._reader.reload()
        else:  # a running search may still use the old one: it is dropped, not closed
            self._reader = Ranking.open(self._place, writable=False)
        self._seen = stamp

    def _stamp(self) -> tuple[int, int] | None:
        try:
            return ranking_state.read(self._place), self._place.stat().st_ino
        except (SearchFailed, OSError):
            return None

    # Taking in

    def is_behind(self, seconds: float = READ_SECONDS) -> bool:
        """Whether the record holds what this ranking does not; `seconds`: for the database to answer."""
        state = self._state if self._lock else self.state
        return not state.has(feed.head_now(self._database, state.position, seconds))

    def catch_up(self, on_progress: OnProgress) -> bool:
        """Take in what is new; False where another process of this machine does so."""
        with self._taking:
            if self._lock is None:
                try:
                    self._lock = WriteLock.take(self._folder, _LOCK, "the ranking is being derived by")
                except Conflict:
                    return False
                self._state, self._ahead = self.state, _Ahead()
            if not self._take_in(on_progress):
                self._derive_beside(on_progress)
            return True

    def release(self) -> None:
        """Let another process take in. A thread that still waits for the database keeps what it has, until the process ends."""
        if not self._taking.acquire(timeout=_PATIENCE):
            return
        try:
            self._close_writer()
            if self._lock is not None:
                self._lock.close()
                self._lock = None
        finally:
            self._taking.release()

    def renew(self, on_progress: OnProgress) -> None:
        """Rebuild everything; searches use the old ranking until the new one is in place.

        Raises: Conflict when another process takes in.
        """
        with self._taking:
            if self._lock is None:
                self._lock = WriteLock.take(self._folder, _LOCK, "the ranking is being derived by")
            self._derive_beside(on_progress)

    def _derive_beside(self, on_progress: OnProgress) -> None:
        self._close_writer()
        fresh, old = self._folder / f"{RANKING}.new", self._folder / f"{RANKING}.old"
        for left_over in (fresh, old):
            shutil.rmtree(left_over, ignore_errors=True)
        self._writer, self._state, self._ahead = Ranking.open(fresh, writable=True), State(), _Ahead()
        try:
            self._take_in(on_progress)
        finally:
            self._close_writer()
        if self._place.exists():
            self._place.rename(old)
        fresh.rename(self._place)
        shutil.rmtree(old, ignore_errors=True)

    def tidy(self, on_progress: OnProgress) -> None:
        """Finish merges; rebuild the ranking if most of it was removed."""
        if not self.catch_up(on_progress):
            return
        self.reload()
        view = self.view()
        with self._taking:
            ranking = self._open_writer()
            is_fit = view.dead <= view.segments and not ranking.is_wasteful()
            if is_fit:
                ranking.merge()
        if not is_fit:
            self.renew(on_progress)
        self.release()

    def _take_in(self, on_progress: OnProgress) -> bool:
        """False if something that was taken in was lost in a failover: the ranking has to be rebuilt."""
        with self._snapshot() as db:
            head = feed.head(db, self._state.position)
            if self._state.identity and not self._state.is_of(head):
                if not self._goes_on(db, head):
                    return False
                head = feed.head(db, self._state.position)
            elif self._state.has(head) and ranking_state.source(self._place):
                self._state = replace(self._state, position=head.oldest, commits=_from(head.oldest, head))
                return True
            self._apply(db, head, on_progress)
            return True

    def _goes_on(self, db: Connection, head: Head) -> bool:
        """Whether the ranking can go on, as it is or from nothing, with a record that is not the one it was derived from, or had a failover."""
        state = self._state
        if state.identity != head.identity:
            self._forget(head)
            return True
        if not state.latest or not feed.still_has(db, state.latest):
            self._forget_vectors()
            return False
        # The numbers of lost transactions are used again, from the last one on that was not lost.
        position = min(state.position, max(state.latest) + 1)
        known = tuple(sorted(xid for xid in state.latest if xid >= position))
        self._state = replace(state, timeline=head.timeline, position=position, commits=known)
        self._ahead = _Ahead()
        return True

    def _apply(self, db: Connection, head: Head, on_progress: OnProgress) -> None:
        ranking, position = self._open_writer(), self._state.position
        gone = feed.gone(db, position) if position else {}
        ranking.delete(file_id for file_id, xid in gone.items() if self._ahead.gone.get(file_id) != xid)
        if 0 < position < head.horizon:
            ranking.reload()
            ranking.delete(ranking.file_ids() - self._record.file_ids())
        total = feed.count(db, position)
        taken, ahead, last = 0, _Ahead({}, {i: x for i, x in gone.items() if x >= head.oldest}), position
        known = self._ahead.written
        for number, one in enumerate(feed.changed(db, position, known, self._database)):
            if taken >= _TOGETHER and one.xid != last and last < head.oldest:
                self._commit(head, min(one.xid, head.oldest), {})
                taken = 0
            on_progress(Progress(number, total, one.file.path))
            taken += self._add(ranking, one)
            last = one.xid
            if one.xid >= head.oldest:
                ahead.written[one.file.file_id] = one.xid
        ahead.written |= {i: x for i, x in known.items() if x >= head.oldest and i not in ahead.written}
        self._ahead = ahead
        self._commit(head, head.oldest, head.commits)

    def _add(self, ranking: Ranking, one: Changed) -> int:
        segments = one.segments
        if segments is None:
            pieces = self._pieces(one)
            ranking.add(one.file, pieces)
            return len(pieces)
        ranking.add_made(one.file, [segment_id for segment_id, _ in segments], [entry for _, entry in segments])
        return len(segments)

    def _pieces(self, one: Changed) -> list[RankedSegment]:
        """Segments that an indexer of another version analysed, to be analysed again here."""
        rows = self._record.segments_of(one.file.file_id)
        passages = self._record.passages(row.segment_id for row in rows)
        return [
            RankedSegment(row.segment_id, row.heading, passage.text, row.pointer, passage.hidden)
            for row in rows
            if (passage := passages.get(row.segment_id))
        ]

    def _commit(self, head: Head, position: int, commits: Mapping[int, int]) -> None:
        newest = head.newest if commits else self._state.newest
        above = tuple(sorted(xid for xid in commits if xid >= position))
        before = self._state.latest
        latest = {**before, **{xid: at for xid, at in commits.items() if xid not in before}}
        state = State(head.identity, head.timeline, position, newest, above, dict([*latest.items()][-_LATEST:]))
        ranking = self._open_writer()
        ranking.commit(ranking.generation + 1, asdict(state))
        self._state = state  # last: its readers look into the ranking next

    def _forget(self, head: Head) -> None:
        """Nothing of what is here holds: the record is another one, or was set back."""
        self._close_writer()
        shutil.rmtree(self._place, ignore_errors=True)
        self._forget_vectors()
        self._state, self._ahead = State(head.identity, head.timeline), _Ahead()

    def _forget_vectors(self) -> None:
        for file in vector_files(self._folder):
            file.unlink(missing_ok=True)

    def _open_writer(self) -> Ranking:
        if self._writer is None:
            try:
                self._writer = Ranking.open(self._place, writable=True)
            except SearchFailed:  # of another version of this program, or damaged
                shutil.rmtree(self._place, ignore_errors=True)
                self._writer = Ranking.open(self._place, writable=True)
                self._state, self._ahead = State(), _Ahead()
        return self._writer

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    @contextmanager
    def _snapshot(self) -> Iterator[Connection]:
        with self._database.connection(_SECONDS) as db:
            feed.begin(db)
            yield db
            db.execute("COMMIT")


def state_of(folder: Path) -> State:
    """How far the ranking in a folder has come."""
    known = ranking_state.source(folder / RANKING)
    if not known:
        return State()
    latest = {int(xid): at for xid, at in known.get("latest", {}).items()}  # JSON has no numbers for keys
    return State(**{**known, "commits": tuple(known["commits"]), "latest": latest})


def _from(position: int, head: Head) -> tuple[int, ...]:
    return tuple(sorted(xid for xid in head.commits if xid >= position))
