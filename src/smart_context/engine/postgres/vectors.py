"""Vectors that machines share: made once, by a machine that may read texts, and copied to every other beside its ranking.

In: the database, the file of a model's vectors on this machine.  Out: `Vectors` with the rows of all machines.
Always: a vector is in the database before it is here; rows of removed segments are removed from the database with these; while the database
does not answer, the copy on this machine is used.
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from smart_context.engine.postgres.database import WRITE_SECONDS, Database
from smart_context.engine.vectors import Vectors
from smart_context.errors import Conflict, ContextError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_FRESH = 2.0  # seconds between two checks for new rows of other machines
_TOGETHER = 2000  # rows fetched at a time
_SCALE = struct.Struct("<f")
_LOCK = 0x53435645  # "SCVE"
_PUT = """INSERT INTO smart_context.vectors (model, segment_id, file_id, data)
    SELECT %s, s, f, d FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) AS given (s, f, d)
    WHERE EXISTS (SELECT FROM smart_context.segments g WHERE g.segment_id = s AND g.dead IS NULL)
    ON CONFLICT DO NOTHING"""

Alone = Callable[[], AbstractContextManager[None]]


class SharedVectors(Vectors):
    """The vectors of one model. alone: makes this process the only one of the machine that appends."""

    def __init__(self, file: Path, dimension: int, database: Database, model: str, alone: Alone) -> None:
        self._database = database
        self._model = model
        self._alone = alone
        self._looked = float("-inf")
        self._looking = threading.Lock()
        self._seeing = threading.RLock()
        super().__init__(file, dimension)

    def reload(self) -> None:
        """Reload the local copy; rows of other machines are copied by a thread, and seen by a later refresh."""
        with self._seeing:
            super().reload()
        if time.monotonic() - self._looked > _FRESH and self._looking.acquire(blocking=False):
            self._looked = time.monotonic()
            threading.Thread(target=self._look, name="vectors", daemon=True).start()

    def append(self, rows: Iterable[tuple[int, int, Floats]]) -> None:
        """Add rows: for every machine, then here."""
        made = list(rows)
        if made:
            segments, files, vectors = zip(*made, strict=True)
            data = [_packed(vector) for vector in vectors]
            with self._database.connection(WRITE_SECONDS) as db:
                db.execute(_PUT, (self._model, list(segments), list(files), data))
        super().append(made)

    def compact(self, keep: Iterable[int]) -> int:
        """Drop the rows of segments that are gone, as the database knows them: this machine may not see which live."""
        return super().compact(self._shared())

    def pull(self) -> int:
        """Copy what others made; how many rows. The caller holds the lock."""
        missing = np.setdiff1d(np.array(self._shared(), np.int64), self.segments())
        for start in range(0, len(missing), _TOGETHER):
            rows = list(self._fetched(missing[start : start + _TOGETHER].tolist()))
            if rows:
                self._dimension = self._dimension or len(rows[0][2])
                super().append(rows)
        return len(missing)

    def _look(self) -> None:
        try:
            with suppress(Conflict), self._alone():  # else another process of this machine copies
                self.pull()
        except ContextError:
            return  # the local copy is used; the next try may succeed
        finally:
            self._looking.release()

    def _shared(self) -> list[int]:
        query = "SELECT segment_id FROM smart_context.vectors WHERE model = %s ORDER BY segment_id"
        return [row[0] for row in self._database.rows(query, (self._model,))]

    def _fetched(self, segments: Sequence[int]) -> Iterator[tuple[int, int, Floats]]:
        query = """SELECT segment_id, file_id, data FROM smart_context.vectors
            WHERE model = %s AND segment_id = ANY(%s) ORDER BY segment_id"""
        for segment, file, data in self._database.rows(query, (self._model, list(segments))):
            yield segment, file, _unpacked(data)


def are_there(database: Database) -> bool:
    """Whether any machine has made vectors of any model."""
    return bool(database.rows("SELECT EXISTS (SELECT FROM smart_context.vectors)")[0][0])


@contextmanager
def turn(database: Database) -> Iterator[None]:
    """Hold the lock for embedding, across machines.

    Raises: Conflict when another does.
    """
    with database.connection() as db:
        if db.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchone() != (True,):
            raise Conflict("the index is being embedded by another machine", hint="its vectors come here by themselves")
        yield
        db.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


def _packed(vector: Floats) -> bytes:
    """Eight bits of each component, as the file has them."""
    top = float(np.abs(vector).max(initial=0.0)) or 1.0
    components: bytes = np.rint(vector * (127 / top)).astype(np.int8).tobytes()
    return _SCALE.pack(top / 127) + components


def _unpacked(data: bytes) -> Floats:
    """What packs into the same again: in float64, where the product is exact."""
    (scale,) = _SCALE.unpack_from(data)
    found: Floats = np.frombuffer(data, np.int8, offset=_SCALE.size).astype(np.float64) * scale
    return found
