"""The shared engine: a record in PostgreSQL, and a folder of this machine for the ranking and vectors. Implements `port.Shared`.

In: `postgresql://…`, a data directory.  Out: a `port.Shared`.
Always: making one loads nothing and connects to nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.engine.local import lock
from smart_context.engine.local.engine import Local, vector_file
from smart_context.errors import Conflict, ContextError
from smart_context.model import OnProgress, silent

if TYPE_CHECKING:
    from smart_context.engine.model import SharedState
    from smart_context.engine.postgres.database import Database
    from smart_context.engine.postgres.index import Index
    from smart_context.engine.postgres.ledger import SharedLedger
    from smart_context.engine.postgres.queue import Queue
    from smart_context.engine.postgres.record import Record
    from smart_context.engine.postgres.tokens import SharedTokens
    from smart_context.engine.vectors import Vectors

_FRESH = 5.0  # seconds after which the database is asked again whether there are vectors
_PATIENCE = 10.0  # seconds for vectors to be copied
_PAUSE = 0.05
NODE = "node"  # the folder in the data directory; a local index beside it is left alone


class Postgres:
    """An engine with its record in a database."""

    def __init__(self, address: str, data_dir: str, places: Sequence[str]) -> None:
        """places: where folders of the record lie on this machine, if elsewhere (`paths.PathMap`)."""
        self.made_of = (data_dir, address, tuple(places))
        self.folder = data_dir
        self._node = Path(data_dir) / NODE
        self._beside = Local(str(self._node))  # vectors lie where the ranking does
        self._machine = os.uname().nodename
        self._embeds = False
        self._asked, self._found = -_FRESH, False  # when the database was asked for vectors, and what it said

    @property
    def address(self) -> str:
        """The address of the database, without secrets."""
        return self._database.name

    @cached_property
    def _database(self) -> Database:
        from smart_context.engine.postgres.database import Database

        return Database(*self.made_of[1:])

    def open(self, *, writable: bool = False, follow: bool = False, on_progress: OnProgress = silent) -> Index:
        """Open the index; a writer creates a missing one."""
        from smart_context.engine.postgres.database import Database
        from smart_context.engine.postgres.index import Index

        self._make_folder()
        database = Database(*self.made_of[1:])
        if follow:
            return Index.followed(database, self._node, self._machine)
        return Index.open(database, self._node, self._machine, writable=writable, on_progress=on_progress)

    def record(self, key: str = "") -> Record:
        """The record alone, to read, as a caller may see it."""
        from smart_context.engine.postgres import schema
        from smart_context.engine.postgres.record import Record

        schema.check(self._database)
        return Record(self._database, self._machine, key)

    def is_there(self) -> bool:
        """Whether anything was ever recorded."""
        from smart_context.engine.postgres import schema

        return schema.version(self._database) > 0

    def init(self) -> list[str]:
        """Create missing tables and roles."""
        from smart_context.engine.postgres import queue, roles

        made = roles.init(self._database)
        return [*made, "queue"] if queue.prepare(self._database) else made

    def migrate(self) -> int:
        """Migrate the tables; the number of steps taken."""
        from smart_context.engine.postgres import queue, roles, schema

        steps = schema.migrate(self._database)
        steps += queue.prepare(self._database)
        with self._database.connection() as db:
            roles.grant(db)
        return steps

    def queue(self) -> Queue:
        """The queue of files to read."""
        from smart_context.engine.postgres.queue import Queue

        return Queue(self._database)

    def tokens(self) -> SharedTokens:
        """The tokens, which are valid on every machine."""
        from smart_context.engine.postgres.tokens import SharedTokens

        return SharedTokens(self._database)

    def ledger(self) -> SharedLedger:
        """The audit lines of all machines."""
        from smart_context.engine.postgres.ledger import SharedLedger

        return SharedLedger(self._database)

    def beside(self) -> Index:
        """Open the index as one of many writers."""
        from smart_context.engine.postgres import schema
        from smart_context.engine.postgres.database import Database
        from smart_context.engine.postgres.index import Index
        from smart_context.engine.postgres.writer import Writer

        schema.check(self._database)
        self._make_folder()
        database = Database(*self.made_of[1:])
        return Index(database, self._node, Writer(database, self._machine), None)

    def state(self) -> SharedState:
        """The state of the record, and how far this machine has followed it."""
        from smart_context.engine.postgres import node, roles

        return roles.state(self._database, node.state_of(self._node))

    def writer(self) -> str:
        """Who is writing from this machine now; "" for nobody."""
        return lock.holder(self._node)

    def damage(self) -> str:
        """Check the files of this machine's ranking: the name of a damaged one, or ""."""
        return self._beside.damage()

    def size(self) -> int:
        """Bytes of the record's tables, and of what this machine derived from them."""
        query = """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'smart_context' AND c.relkind = 'r'"""
        total: int = self._database.rows(query)[0][0]
        return total + self._beside.size()

    def repair(self, on_progress: OnProgress = silent) -> str:
        """Rebuild this machine's ranking."""
        with self.open(writable=True) as index:
            index.renew(on_progress)
        return ""

    def forget(self, folder: str, keep: Sequence[str] = (), on_progress: OnProgress = silent) -> int:
        """Remove the files at or below a folder, except at or below those in `keep`, with everything left of their text."""
        from smart_context.engine.postgres import upkeep

        self._make_folder()
        with ExitStack() as held:
            self._take_turn(held)
            index = held.enter_context(self.open(writable=True))
            return upkeep.forget(self._database, index, self._node, folder, keep, on_progress)

    def is_forgetting(self) -> bool:
        """Never: nothing is noted here of a `forget` that was interrupted."""
        return False

    def maintain(self, on_progress: OnProgress = silent) -> str:
        """Free space, finish merges, look for damage; always "": a machine rebuilds its ranking by itself."""
        from smart_context.engine.postgres import schema, upkeep

        schema.check(self._database)
        with self.open(writable=True) as index:
            upkeep.maintain(self._database, index, on_progress)
        return ""

    def vectors(self, model: str, dimension: int = 0) -> Vectors:
        """The vectors of a model, by its fingerprint: those that any machine made, as far as they were copied here."""
        from smart_context.engine.postgres.vectors import SharedVectors

        self._make_folder()
        file = vector_file(self._node, model)
        found = SharedVectors(file, dimension, self._database, model, self._beside.embedding)
        if self._embeds:
            found.pull()
        return found

    def has_vectors(self) -> bool:
        """Whether there are vectors of any model, here or in the database."""
        if self._beside.has_vectors():
            return True
        from smart_context.engine.postgres import vectors

        if time.monotonic() - self._asked > _FRESH:
            self._asked = time.monotonic()
            try:
                self._found = vectors.are_there(self._database)
            except ContextError:
                self._found = False
        return self._found

    def keep_vectors(self, model: str) -> None:
        """Remove the vectors of every other model."""
        self._beside.keep_vectors(model)

    @contextmanager
    def embedding(self) -> Iterator[None]:
        """Hold the lock for embedding, across machines."""
        from smart_context.engine.postgres import vectors

        self._make_folder()
        with ExitStack() as held:
            self._take_turn(held)
            held.enter_context(vectors.turn(self._database))
            self._embeds = True
            try:
                yield
            finally:
                self._embeds = False

    def _take_turn(self, held: ExitStack) -> None:
        """Hold this machine's lock for appending vectors; wait a while for a process that copies them."""
        late = time.monotonic() + _PATIENCE
        while True:
            try:
                held.enter_context(self._beside.embedding())
                return
            except Conflict:
                if time.monotonic() > late:
                    raise
                time.sleep(_PAUSE)

    def _make_folder(self) -> None:
        from smart_context.engine.local.index import make_private

        make_private(self._node.parent)
        make_private(self._node)
