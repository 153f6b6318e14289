"""The port: the interface of an engine, and all that searching and indexing know of it.

In: files with their text; expressions and filters.  Out: candidates, rows, passages, counts.
Always: readers see whole commits and never wait for a writer; there is one writer at a time; the same files, put in any order
and interrupted at any commit, give the same answers. `tests/engine/test_contract.py` checks that for every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from itertools import repeat
from typing import TYPE_CHECKING, Protocol, overload

from smart_context.data import NamedTuple
from smart_context.engine.expression import Expression, Filters
from smart_context.engine.facts import Label, Labelled, Marked
from smart_context.engine.model import (
    Batch,
    FileRow,
    Following,
    LastRun,
    NewFile,
    Passage,
    SegmentRow,
    SharedState,
    Stamp,
    Tally,
)
from smart_context.model import OnProgress, Segment

if TYPE_CHECKING:
    from types import TracebackType

    from smart_context.access.ledger import Ledger
    from smart_context.access.tokens import TokenStore
    from smart_context.engine.entry import Entry
    from smart_context.engine.vectors import Vectors


class Candidate(NamedTuple):
    """A segment that may answer, with the engine's own rough score."""

    segment_id: int
    file_id: int
    language: str
    score: float


class Candidates(Sequence[Candidate]):
    """Candidates as columns, because a search has hundreds and looks at a few: a `Candidate` is made on access."""

    __slots__ = ("_languages", "_scores", "file_ids", "segment_ids")

    def __init__(self, segment_ids: list[int], file_ids: list[int], languages: list[str], scores: list[float]) -> None:
        self.segment_ids, self.file_ids = segment_ids, file_ids
        self._languages, self._scores = languages, scores

    @classmethod
    def of(cls, several: Iterable[Candidate]) -> Candidates:
        """Columns of candidates that were made one by one."""
        rows = list(several)
        return cls(*map(list, zip(*rows, strict=True))) if rows else cls([], [], [], [])

    def only(self, places: Iterable[int]) -> Candidates:
        """The candidates at some positions."""
        some, columns = list(places), (self.segment_ids, self.file_ids, self._languages, self._scores)
        return Candidates(*([column[at] for at in some] for column in columns))  # type: ignore[arg-type]

    def __add__(self, others: Candidates) -> Candidates:
        return Candidates(
            self.segment_ids + others.segment_ids,
            self.file_ids + others.file_ids,
            self._languages + others._languages,
            self._scores + others._scores,
        )

    def __len__(self) -> int:
        return len(self.segment_ids)

    @overload
    def __getitem__(self, at: int) -> Candidate: ...
    @overload
    def __getitem__(self, at: slice) -> Candidates: ...
    def __getitem__(self, at: int | slice) -> Candidate | Candidates:
        columns = (self.segment_ids, self.file_ids, self._languages, self._scores)
        if isinstance(at, slice):
            return Candidates(*(column[at] for column in columns))  # type: ignore[arg-type]  # each of its own kind
        return Candidate(*(column[at] for column in columns))  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Candidate]:
        rows = zip(self.segment_ids, self.file_ids, self._languages, self._scores, strict=True)
        return map(tuple.__new__, repeat(Candidate), rows)  # as `Candidate._make` does, without a call for each

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list


def segment_ids(candidates: Sequence[Candidate]) -> list[int]:
    """The segment id of each candidate."""
    if isinstance(candidates, Candidates):
        return candidates.segment_ids
    return [candidate.segment_id for candidate in candidates]


class Matches(Protocol):
    """The matches of an expression under filters. It belongs to one search."""

    count: int

    def top(self, limit: int, start: int = 0) -> Candidates:
        """The best candidates by the rough score, best first, from the offset `start`."""

    def scores(self, limit: int) -> Sequence[float]:
        """The rough scores of the best candidates, best first."""

    def files(self, limit: int) -> list[int]:
        """The file of each of the best candidates."""


class View(Protocol):
    """One committed state of the ranking. Counts are exact, and of live segments only."""

    segments: int
    dead: int

    @property
    def average_length(self) -> float:
        """The mean number of words in a segment."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that segments are in."""

    def having(self, term: str) -> int:
        """How many segments have a term."""

    def standing(self, terms: Collection[str]) -> list[str]:
        """Those of the terms that any segment has."""

    def count(self, wanted: Expression, filters: Filters = ...) -> int:
        """How many segments match."""

    def matches(self, wanted: Expression, filters: Filters) -> Matches:
        """The matches, searched once for several questions about them."""

    def all_of(self, wanted: Expression, filters: Filters, among: Set[int] | None = None) -> Candidates:
        """Every match, in no order; only of the segments in `among`, if given."""

    def those(self, wanted: Mapping[int, int], filters: Filters, required: Expression = ...) -> Sequence[Candidate]:
        """Those of the segments, given by id with their files, that are here, pass the filters and match, in no order."""

    def packed(self, candidates: Sequence[Candidate]) -> list[bytes]:
        """The data of each candidate for exact scoring, as `text.codes` packed it."""

    def first_segments(self, filters: Filters) -> Candidates:
        """The first segment of every file, in no order."""

    def file_count(self, filters: Filters) -> int:
        """How many files have a segment."""

    def compounds(self, part: str) -> list[str]:
        """The long words, of languages that compound, that contain a part."""

    def terms(self, prefix: str, *, rough: bool = False) -> list[str]:
        """Every term with a prefix, the commonest first; `rough`: perhaps terms too that no segment has, for callers that count each anyway."""

    def within(self, folders: tuple[str, ...]) -> View:
        """The same state as if only the files below some folders existed: every match, count, length and word is of these alone."""


class Record(Protocol):
    """What is known about every file. Its opener closes it."""

    @property
    def generation(self) -> int:
        """The number of the last commit."""

    def stamps(self, folder: str) -> dict[str, Stamp]:
        """Every file recorded at or below a folder, by path."""

    def stamped(self, folder: str) -> Iterable[Stamp]:
        """The same as a stream, in no order; paths are those of this machine."""

    def file(self, path: str) -> FileRow | None:
        """One file by its path."""

    def files(self, file_ids: Iterable[int]) -> dict[int, FileRow]:
        """Files by id."""

    def file_ids(self) -> set[int]:
        """The id of every file."""

    def same_size(self, size: int) -> bool:
        """Whether some file that was read has this size."""

    def same_content(self, sha256: str, size: int, ext: str) -> FileRow | None:
        """A file that was read with this content and extension."""

    def segments(self, segment_ids: Iterable[int]) -> dict[int, SegmentRow]:
        """Segments by id, without their text."""

    def segments_of(self, file_id: int) -> list[SegmentRow]:
        """A file's segments in reading order, without their text."""

    def texts(self, segment_ids: Iterable[int]) -> dict[int, str]:
        """The text of segments, by id."""

    def passages(self, segment_ids: Iterable[int]) -> dict[int, Passage]:
        """Segments' text by id, each with its redacted spans."""

    def between(self, since: str, until: str, modified_since: str, modified_until: str) -> list[int]:
        """The files between days: by their own date, else by their last change; and by their last change alone."""

    def labels(self, label: Label) -> list[Labelled]:
        """The files that have a title, an author or a name."""

    def has_any(self, folder: str) -> bool:
        """Whether any file below a folder is recorded."""

    def marks(self, file_ids: Iterable[int]) -> list[Marked]:
        """The marks that identify copies, of some files."""

    def judged_otherwise(self, rules: str) -> Iterator[FileRow]:
        """Files with text that were judged by other rules than these, by id."""

    def mark_judged(self, file_id: int, rules: str) -> None:
        """Record that a file was judged by rules that hide nothing more of it, and nothing less."""

    def by_path(self) -> Iterator[list[int]]:
        """The id of every file that gave text, in the order of their paths, in batches."""

    def living(self) -> list[int]:
        """The id of every live segment, ascending."""

    def last_run(self, folder: str) -> LastRun | None:
        """The last finished run over a folder or one above it."""

    def mounts(self, folder: str) -> dict[str, int]:
        """The folders at or below one that lay on another device than their parent at the last run."""

    def device(self, folder: str) -> int | None:
        """The device of a folder at the last run over it."""

    def tallies(self, folder: str) -> list[Tally]:
        """The totals of a folder's files, by kind, state and reason."""

    def without_text(self, folder: str, limit: int, name: str = "") -> list[FileRow]:
        """A folder's files that gave no text, those that failed first; of that name only, if one is given."""

    def unread(self, folder: str) -> list[FileRow]:
        """A folder's files with pages or pictures that wait for OCR, by path."""

    def read_pages(self, folder: str) -> int:
        """How many places in a folder's files have text that OCR read."""

    def flaw(self) -> str:
        """Check everything; the first damage found, or ""."""

    def restamp(self, file_id: int, mtime_ns: int) -> None:
        """Record that a file has a new modification time and the same content."""

    def finish_run(self, folder: str, run: LastRun, mounts: Mapping[str, int]) -> None:
        """Record that a run over a folder finished."""

    def rollback(self) -> None:
        """Discard what was put and removed since the last commit."""

    def close(self) -> None:
        """Close; what was not committed is forgotten."""


class Index(Protocol):
    """An open index: to search, or as the only writer. Close it, or use it in a `with`."""

    @property
    def record(self) -> Record:
        """The record."""

    unranked: frozenset[str]
    """What `FileRow.judged` says of files that are recorded and not searched, because nobody has judged them yet."""

    own_folder: str
    """A folder that the engine keeps for itself and a walk must not enter; "" for none."""

    renewed: str
    """Why what is searched was built anew from the record since this was opened, in one line; "" where it was not."""

    @property
    def generation(self) -> int:
        """The commit that a search sees."""

    def refresh(self) -> None:
        """See what has been committed since; cheap when nothing was."""

    def following(self) -> Following:
        """How far the view lags behind a record that others write."""

    def both(self, key: str = "") -> tuple[Record, View]:
        """The record and the view that belongs to it, even if other threads refresh meanwhile.

        key: the caller's token, by which a shared record shows texts. Raises: Forbidden if it needs one.
        """

    def put(
        self,
        new: NewFile,
        segments: Sequence[Segment],
        years: Sequence[str],
        indexed_at: str,
        entries: Sequence[Entry] = (),
    ) -> None:
        """Put a file's text in place of its old one; searches see it after `commit`.

        entries: the index entry of each segment (`engine.searchable`); made here if not given.
        """

    def remove(self, file_ids: Iterable[int]) -> None:
        """Forget files."""

    def commit(self) -> int:
        """Make everything since the last commit durable and searchable; the generation of the commit."""

    def tidy(self) -> None:
        """Free the space that a run left unused; quick."""

    def close(self) -> None:
        """Close; what was not committed is forgotten."""

    def __enter__(self) -> Index: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Beside(Index, Protocol):
    """The index of one of many writers."""

    def look_up(self, files: Mapping[str, int]) -> dict[str, Stamp]:
        """The stamps of some files, given with their sizes; what `same_size` and `same_content` need for these sizes is fetched with them."""

    def __enter__(self) -> Beside: ...


class Engine(Protocol):
    """The location of an index, which need not exist. `folder`: its files on this machine. `made_of`: the arguments of `engine.at`, to make it
    in another process too; they may contain a password."""

    folder: str
    made_of: tuple[str, str, tuple[str, ...]]

    @property
    def address(self) -> str:
        """Its name for people."""

    def open(self, *, writable: bool = False, follow: bool = False, on_progress: OnProgress = ...) -> Index:
        """Open the index; a writer creates a missing one, and repairs it.

        follow: keep up with the record from now on, and answer meanwhile from the present state: for a server.
        Raises: NotFound if there is none to read; Conflict when another process writes; SearchFailed when it is damaged.
        """

    def record(self, key: str = "") -> Record:
        """Open the record alone, to read, as a caller may see it (`Index.both`). Raises: as `open`."""

    def is_there(self) -> bool:
        """Whether anything was ever recorded."""

    def writer(self) -> str:
        """Who is writing now; "" for nobody."""

    def size(self) -> int:
        """Its size on disk, in bytes."""

    def damage(self) -> str:
        """Check the files that are derived from the record: the name of a damaged one, or ""."""

    def repair(self, on_progress: OnProgress = ...) -> str:
        """Rebuild what is derived from the record; the path that a damaged record was moved to, or "". Raises: as `open`."""

    def forget(self, folder: str, keep: Sequence[str] = (), on_progress: OnProgress = ...) -> int:
        """Remove the files at or below a folder, except at or below those in `keep`, so that nothing of their text is left; how many.
        Raises: as `open`; Conflict when another process embeds."""

    def is_forgetting(self) -> bool:
        """Whether `forget` was interrupted, so that the next one or `maintain` has to finish it."""

    def maintain(self, on_progress: OnProgress = ...) -> str:
        """Free space, finish merges, look for damage; why the ranking was rebuilt, or "". Raises: as `open`."""

    # Vectors, one set per model

    def vectors(self, model: str, dimension: int = 0) -> Vectors:
        """The vectors of a model, by its fingerprint."""

    def has_vectors(self) -> bool:
        """Whether there are vectors of any model."""

    def keep_vectors(self, model: str) -> None:
        """Remove the vectors of every other model."""

    def embedding(self) -> AbstractContextManager[None]:
        """Hold the lock for embedding. Raises: Conflict when another process does."""


class Queue(Protocol):
    """Files that wait to be read, by any machine that has their root."""

    def put(self, root: str, batches: Iterable[Sequence[str]], *, full: bool = False) -> int:
        """Enqueue batches of paths below a root; how many were not waiting already."""

    def put_scans(self, root: str, paths: Iterable[str]) -> int:
        """Enqueue files below a root that wait for OCR, one by one, behind all batches; how many were not waiting already."""

    def run(
        self, roots: Callable[[], Sequence[str]], take: Callable[[Batch], None], *, wait: bool, scans: bool
    ) -> None:
        """Process batches below the current roots, one at a time, until a signal comes; without `wait`, until none is left. scans:
        files that wait for OCR too, when there is no batch. If `take` raises or its worker dies, the batch is retried later."""

    def waiting(self) -> int:
        """How many batches are not done yet."""


class Shared(Engine, Protocol):
    """An engine whose record other machines use too."""

    def queue(self) -> Queue:
        """Its queue."""

    def tokens(self) -> TokenStore:
        """Its tokens, which are valid on every machine."""

    def ledger(self) -> Ledger:
        """Its audit lines, of all machines."""

    def beside(self) -> Beside:
        """Open the index as one of many writers: for a worker."""

    def init(self) -> list[str]:
        """Create missing tables and roles; what was created, in words. Raises: ConfigError if this user may not."""

    def migrate(self) -> int:
        """Migrate the tables; the number of steps taken. Raises: SearchFailed for tables of a newer program."""

    def state(self) -> SharedState:
        """Its state, and how far this machine has followed it."""
