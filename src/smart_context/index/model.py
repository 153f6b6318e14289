"""Frozen data of indexing: what a run did, and how the index compares with the folders."""

from __future__ import annotations

from smart_context.data import dataclass, field
from smart_context.engine.model import State, Tally


@dataclass(frozen=True, slots=True)
class KindCount:
    """What one run did with one kind of file; `chars` is the text it gave."""

    files: int = 0
    failed: int = 0
    no_text: int = 0
    chars: int = 0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing run did.

    indexed: read and stored anew; skipped: unchanged; removed: gone from disk; failed: could not be read or parsed, in this run.
    Of the indexed, no_text: held none; moved: the text was known, from another name or time.
    problems: what the walk could not or would not look into, and why; nothing below it was removed.
    read_pages: pages and pictures that OCR read, or found to hold nothing; unread_pages: those that wait for it.
    renewed: why the ranking was built anew from the record, "" where it was not.
    """

    indexed: int = 0
    skipped: int = 0
    removed: int = 0
    failed: int = 0
    duration_ms: int = 0
    no_text: int = 0
    moved: int = 0
    problems: tuple[str, ...] = ()
    kinds: dict[str, KindCount] = field(default_factory=dict)
    read_pages: int = 0
    unread_pages: int = 0
    renewed: str = ""

    def answer(self) -> dict[str, int]:
        """The report as `indexFolder` answers it."""
        return {name: getattr(self, name) for name in ("indexed", "skipped", "removed", "duration_ms", "failed")}


@dataclass(frozen=True, slots=True)
class Changes:
    """What an indexing run would find; `hidden` are the folders that could not be looked into."""

    new: int
    changed: int
    gone: int
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file without text, and why; `path` is as `roots.shown` writes it."""

    path: str
    state: State
    kind: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class RootStatus:
    """One root: what is indexed of it, and how far that is behind. `last_run` is "" where none has finished.

    read_pages: pages and pictures whose text OCR read; unread_pages: those that wait for it.
    """

    root: str
    is_available: bool
    files: int
    segments: int
    chars: int
    failed: int
    no_text: int
    last_run: str
    changes: Changes | None
    kinds: tuple[Tally, ...]
    troubles: tuple[Trouble, ...]
    read_pages: int = 0
    unread_pages: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the segments have a vector of the model in use."""

    model: str
    embedded: int
    segments: int


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What is indexed of folders in none of the roots: how many files, and in which folders."""

    files: int
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """The index as a whole: where it is, its size in bytes, who is writing ("" for nobody), every root, what is embedded
    (None: there is no model), and what is in no root (None: nothing, or nobody looked)."""

    data_dir: str
    size: int
    writer: str
    generation: int
    roots: tuple[RootStatus, ...]
    meaning: Coverage | None = None
    elsewhere: Elsewhere | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """How the index is, for operators. is_sound: it could be read. record_away: a shared record does not answer, and searches use what was
    known before. files_to_take_in: of a shared record, by this machine. `oldest_run_seconds`: since the root that waited longest was last walked; None: never."""

    roots: int = 0
    roots_available: int = 0
    has_index: bool = False
    is_sound: bool = True
    files: int = 0
    segments: int = 0
    failures: int = 0
    without_text: int = 0
    index_bytes: int = 0
    vectors: int = 0
    queued: int = 0
    generation: int = 0
    record_away: bool = False
    files_to_take_in: int = 0
    oldest_run_seconds: float | None = None
    kinds: dict[str, int] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """Whether searches can be answered: there is an index that can be read, or there are no roots to search."""
        return self.is_sound and (self.has_index or not self.roots)
