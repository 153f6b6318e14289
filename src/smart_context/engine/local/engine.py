"""The local engine: an index in a data directory. Implements `port.Engine`.

In: the directory.  Out: the index opened, repaired, tidied; its vectors.
Always: asking whether something is there loads neither SQLite nor tantivy nor numpy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.engine.local import lock
from smart_context.model import OnProgress, silent

if TYPE_CHECKING:
    from smart_context.engine.local.index import Index
    from smart_context.engine.local.record import Record
    from smart_context.engine.vectors import Vectors

RECORD = "record.sqlite"
RANKING = "ranking"  # the folder beside it, which is derived from it
UNFINISHED = "forget.unfinished"  # is there while text that was to be forgotten may still be in the index's files
_VECTORS = "vectors-{}.bin"
_EMBED_LOCK = "embed.lock"


class Local:
    """An engine in a folder of its own."""

    def __init__(self, address: str) -> None:
        self.address = self.folder = address
        self.made_of: tuple[str, str, tuple[str, ...]] = (address, "", ())
        self._folder = Path(address)

    def open(self, *, writable: bool = False, follow: bool = False, on_progress: OnProgress = silent) -> Index:
        """Open the index; a writer creates a missing one, and repairs it. There is nothing to follow: the ranking is beside its record."""
        from smart_context.engine.local.index import Index

        return Index.open(self._folder, writable=writable, on_progress=on_progress)

    def record(self, key: str = "") -> Record:
        """Open the record alone, to read."""
        from smart_context.engine.local.record import Record

        return Record.open(self._folder)

    def is_there(self) -> bool:
        """Whether anything was ever recorded."""
        return (self._folder / RECORD).exists()

    def writer(self) -> str:
        """Who is writing now; "" for nobody."""
        return lock.holder(self._folder)

    def size(self) -> int:
        """Bytes on the disk of the record, the ranking and the vectors."""
        total = 0
        folder = self._folder
        for path in (*folder.glob(f"{RECORD}*"), *folder.glob(f"{RANKING}*/*"), *vector_files(folder)):
            try:
                total += path.lstat().st_blocks * 512
            except OSError:  # a writer has just replaced it
                continue
        return total

    def damage(self) -> str:
        """Check the ranking's files: the name of a damaged one, or ""."""
        from smart_context.engine.local.ranking import parts

        return parts.flaw_of_last(self._folder / RANKING)

    def repair(self, on_progress: OnProgress = silent) -> str:
        """Rebuild the ranking; the path that a damaged record was moved to, or ""."""
        from smart_context.engine.local import upkeep

        return str(upkeep.repair(self._folder, on_progress) or "")

    def forget(self, folder: str, keep: Sequence[str] = (), on_progress: OnProgress = silent) -> int:
        """Remove the files at or below a folder, except at or below those in `keep`, with everything left of their text."""
        from smart_context.engine.local import upkeep

        with self.embedding():
            return upkeep.forget(self._folder, folder, keep, on_progress)

    def is_forgetting(self) -> bool:
        """Whether `forget` was interrupted."""
        return (self._folder / UNFINISHED).exists()

    def maintain(self, on_progress: OnProgress = silent) -> str:
        """Free space, finish merges, look for damage; why the ranking was rebuilt, or ""."""
        from smart_context.engine.local import upkeep

        # Only what finishes `forget` writes vectors.
        with self.embedding() if self.is_forgetting() else nullcontext():
            return upkeep.maintain(self._folder, on_progress)

    def vectors(self, model: str, dimension: int = 0) -> Vectors:
        """The vectors of a model, by its fingerprint."""
        from smart_context.engine.vectors import Vectors

        return Vectors(vector_file(self._folder, model), dimension)

    def has_vectors(self) -> bool:
        """Whether there are vectors of any model."""
        return any(vector_files(self._folder))

    def keep_vectors(self, model: str) -> None:
        """Remove the vectors of every other model."""
        for file in vector_files(self._folder):
            if file.name != _VECTORS.format(model):
                file.unlink(missing_ok=True)

    @contextmanager
    def embedding(self) -> Iterator[None]:
        """Hold the lock for embedding."""
        held = lock.WriteLock.take(self._folder, _EMBED_LOCK, "the index is being embedded by")
        try:
            yield
        finally:
            held.close()


def vector_file(folder: Path, model: str) -> Path:
    """The file of a model's vectors beside an index."""
    return folder / _VECTORS.format(model)


def vector_files(folder: Path) -> Iterator[Path]:
    """Every file of vectors beside an index, of whichever model."""
    yield from sorted(folder.glob(_VECTORS.format("*")))
