"""The index of a machine: the shared record, and the ranking that this machine derives from it.

In: a database, a folder of this machine.  Out: an `Index` to search, or one that may write.
Always: a commit reaches the record, and every machine's ranking follows by the feed; of one folder there is one writer at a time, of one
record as many as there are machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.closes import Closes
from smart_context.engine.local.lock import WriteLock
from smart_context.engine.model import Following, NewFile, Stamp
from smart_context.engine.postgres import schema
from smart_context.engine.postgres.cached_record import CachedRecord
from smart_context.engine.postgres.database import Database
from smart_context.engine.postgres.follower import Follower
from smart_context.engine.postgres.node import Node, state_of
from smart_context.engine.postgres.record import Record
from smart_context.engine.postgres.writer import Writer
from smart_context.errors import NotFound, SearchFailed, Unreachable
from smart_context.model import OnProgress, Segment, silent

if TYPE_CHECKING:
    from smart_context.engine.entry import Entry
    from smart_context.engine.local.ranking.view import View


class Index(Closes):
    """Record and ranking. Close it, or use it in a `with`."""

    def __init__(self, database: Database, folder: Path, record: Record, held: WriteLock | None) -> None:
        self.record = record
        self.own_folder = str(folder.parent)
        self.unranked: frozenset[str] = frozenset()
        self.renewed = ""  # a machine that follows a record says by itself how far it is
        self._database = database
        self._held = held
        self._node = Node(database, Record(database, "") if isinstance(record, Writer) else record, folder)
        self._follower: Follower | None = None

    @classmethod
    def open(
        cls, database: Database, folder: Path, machine: str, *, writable: bool, on_progress: OnProgress = silent
    ) -> Index:
        """Open the index; a writer creates missing tables.

        Raises: as `port.Engine.open`; ConfigError, Unreachable for a database that cannot be used.
        """
        if writable:
            held = WriteLock.take(folder)
            try:
                if schema.version(database) != schema.VERSION or schema.is_restored(database):
                    schema.migrate(database)
            except BaseException:
                held.close()
                raise
            return cls(database, folder, Writer(database, machine), held)
        index = cls(database, folder, _checked(database, machine), None)
        index._follow(on_progress)
        return index

    @classmethod
    def followed(cls, database: Database, folder: Path, machine: str) -> Index:
        """Open the index for a server, which keeps up by itself; from its last state if the database does not answer.

        Raises: as `open`; Unreachable where there is no such state.
        """
        record = CachedRecord(database, machine)
        try:
            _checked(database, machine)
        except Unreachable:
            if not state_of(folder).identity:
                raise
        index = cls(database, folder, record, None)
        follower = index._follower = Follower(index._node, database)
        record.is_away = lambda: follower.state().is_away
        follower.start()
        follower.wait_for_first()
        return index

    def following(self) -> Following:
        """How far the ranking lags behind the record."""
        return self._follower.state() if self._follower else Following()

    @property
    def generation(self) -> int:
        """The commit that a search sees: the ranking follows the record."""
        return self._node.state.newest

    def refresh(self) -> None:
        """See what has been committed since; cheap when nothing was."""
        if self._follower:
            self._follower.catch_up()
        elif self._node.is_behind():
            self._follow(silent)
        self._node.reload()

    def both(self, key: str = "") -> tuple[Record, View]:
        """The record as a caller may see it, and a view of the ranking."""
        record = self.record if isinstance(self.record, Writer) else self.record.shown_to(key)
        return record, self._node.view()

    def _follow(self, on_progress: OnProgress) -> None:
        try:
            self._node.catch_up(on_progress)
        finally:
            self._node.release()

    # Writing

    @property
    def _writer(self) -> Writer:
        if not isinstance(self.record, Writer):
            raise SearchFailed(f"the index in {self._database.name} is open for reading only")
        return self.record

    def put(
        self,
        new: NewFile,
        segments: Sequence[Segment],
        years: Sequence[str],
        indexed_at: str,
        entries: Sequence[Entry] = (),
    ) -> None:
        """Put a file's text in place of its old one; searches see it after `commit`."""
        self._writer.put(new, segments, years, indexed_at, entries)

    def look_up(self, files: Mapping[str, int]) -> dict[str, Stamp]:
        """The stamps of some files, given with their sizes; what `same_size` and `same_content` need for these sizes is fetched with them."""
        schema.check(self._database)  # since the last batch the tables may have become newer than this program
        return self._writer.look_up(files)

    def remove(self, file_ids: Iterable[int]) -> None:
        """Forget files."""
        self._writer.remove(file_ids)

    def commit(self) -> int:
        """Make everything since the last commit durable; every machine follows from there."""
        return self._writer.commit()

    def tidy(self) -> None:
        """Remove texts that were replaced long ago."""
        self._writer.tidy()

    def renew(self, on_progress: OnProgress) -> None:
        """Rebuild this machine's ranking."""
        try:
            self._node.renew(on_progress)
        finally:
            self._node.release()

    def tidy_ranking(self, on_progress: OnProgress) -> None:
        """Finish merges of this machine's ranking; rebuild it if most of it was removed."""
        self._node.tidy(on_progress)

    def close(self) -> None:
        """Release the lock; uncommitted changes are discarded."""
        try:
            if self._follower:
                self._follower.close()
            self._node.release()
        finally:
            self.record.close()
            if self._held:
                self._held.close()


def _checked(database: Database, machine: str) -> Record:
    """The record, if there is one and anything was ever committed to it."""
    schema.check(database)
    record = Record(database, machine)
    if not record.generation:
        raise NotFound(f"there is no index in {database.name} yet", hint="make one with `indexFolder`")
    return record
