"""The port: what searching and indexing know of an engine, and all that they know.

In: files with their text; expressions and filters.  Out: candidates, rows, passages, counts.
Always: readers see whole commits and never wait for a writer; there is one writer at a time; the same files, put in any order
and cut off at any commit, give the same answers. `tests/engine/test_contract.py` says so for every engine.
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
    from smart_context.access.tokens import Kept
    from smart_context.engine.entry import Entry
    from smart_context.engine.vectors import Vectors


class Candidate(NamedTuple):
    """A segment that may answer, with the engine's own rough score."""

    segment_id: int
    file_id: int
    language: str
    score: float


class Candidates(Sequence[Candidate]):
    """Candidates as columns, because a search has hundreds and looks at a few: one is made when it is asked for."""

    __slots__ = ("_languages", "_scores", "file_ids", "segment_ids")

    def __init__(self, segment_ids: list[int], file_ids: list[int], languages: list[str], scores: list[float]) -> None:
        self.segment_ids, self.file_ids = segment_ids, file_ids
        self._languages, self._scores = languages, scores

    @classmethod
    def of(cls, several: Iterable[Candidate]) -> Candidates:
        """Candidates that were made one by one."""
        rows = list(several)
        return cls(*map(list, zip(*rows, strict=True))) if rows else cls([], [], [], [])

    def only(self, places: Iterable[int]) -> Candidates:
        """Those at some places."""
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
    """The number of each candidate."""
    if isinstance(candidates, Candidates):
        return candidates.segment_ids
    return [candidate.segment_id for candidate in candidates]


class Matches(Protocol):
    """What an expression matches under filters. It belongs to one search."""

    count: int

    def top(self, limit: int, start: int = 0) -> Candidates:
        """The best candidates by the rough score, best first; without so many at the start."""

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
        """Those of some terms that any segment has."""

    def count(self, wanted: Expression, filters: Filters = ...) -> int:
        """How many segments match."""

    def matches(self, wanted: Expression, filters: Filters) -> Matches:
        """Look once for what will be asked several times."""

    def all_of(self, wanted: Expression, filters: Filters, among: Set[int] | None = None) -> Candidates:
        """Every match, in no order; of some segments alone where given."""

    def those(self, wanted: Mapping[int, int], filters: Filters, binding: Expression = ...) -> Sequence[Candidate]:
        """Those of some segments, each with its file, that are here, pass the filters and match, in no order."""

    def packed(self, candidates: Sequence[Candidate]) -> list[bytes]:
        """What exact scoring needs of each candidate, as `text.forward` packed it."""

    def first_segments(self, filters: Filters) -> Candidates:
        """The first segment of every file, in no order."""

    def file_count(self, filters: Filters) -> int:
        """How many files have a segment."""

    def compounds(self, part: str) -> list[str]:
        """The long words, of languages that compound, that hold a part."""

    def terms(self, beginning: str, *, rough: bool = False) -> list[str]:
        """Every term that begins so, the commonest first; `rough`: perhaps others too, for whoever counts each of them anyway."""

    def within(self, folders: tuple[str, ...]) -> View:
        """The same state as if there were nothing but what lies below some folders: every match, count, length and word is of that alone."""


class Record(Protocol):
    """What is known about every file. Closed by whoever opened it."""

    @property
    def generation(self) -> int:
        """The number of the last commit."""

    def stamps(self, folder: str) -> dict[str, Stamp]:
        """Every file recorded at or below a folder, by path."""

    def stamped(self, folder: str) -> Iterable[Stamp]:
        """The same without an object for each that lasts, in no order; paths are those of this machine."""

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
        """Segments' text by id, each with what of it must not show."""

    def between(self, since: str, until: str, modified_since: str, modified_until: str) -> list[int]:
        """The files that lie between days: by the date that they have themselves, else by their last change; and by their last change."""

    def labels(self, label: Label) -> list[Labelled]:
        """The files that have a title, an author or a path."""

    def has_any(self, folder: str) -> bool:
        """Whether any file below a folder is recorded."""

    def marks(self, file_ids: Iterable[int]) -> list[Marked]:
        """What tells copies of some files."""

    def judged_otherwise(self, rules: str) -> Iterator[FileRow]:
        """Files with text that were judged by other rules than these, by id."""

    def mark_judged(self, file_id: int, rules: str) -> None:
        """Record that a file was judged by rules that hide nothing more of it, and nothing less."""

    def by_path(self) -> Iterator[list[int]]:
        """The id of every file that gave text, in the order of their paths, in batches."""

    def living(self) -> list[int]:
        """The number of every segment that is in force, ascending."""

    def last_run(self, folder: str) -> LastRun | None:
        """The last finished run over a folder or one above it."""

    def mounts(self, folder: str) -> dict[str, int]:
        """The folders at or below one that lay on another device than their parent at the last run."""

    def device(self, folder: str) -> int | None:
        """What a folder lay on at the last run over it."""

    def tallies(self, folder: str) -> list[Tally]:
        """What a folder's files come to, by kind, state and reason."""

    def without_text(self, folder: str, limit: int) -> list[FileRow]:
        """A folder's files that gave no text, those that failed first."""

    def unread(self, folder: str) -> list[FileRow]:
        """A folder's files with pages or pictures that wait for OCR, by path."""

    def read_pages(self, folder: str) -> int:
        """How many places in a folder's files have text that OCR read."""

    def flaw(self) -> str:
        """Look at everything; the first thing that is wrong, or ""."""

    def restamp(self, file_id: int, mtime_ns: int) -> None:
        """Record that a file has a new modification time and the same content."""

    def finish_run(self, folder: str, run: LastRun, mounts: Mapping[str, int]) -> None:
        """Record that a run over a folder came to its end."""

    def rollback(self) -> None:
        """Forget what was put and removed since the last commit."""

    def close(self) -> None:
        """Close; what was not committed is forgotten."""


class Index(Protocol):
    """An open index: to search, or the only one that may write. Close it, or use it in a `with`."""

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
        """How far the view is behind a record that others write."""

    def both(self, key: str = "") -> tuple[Record, View]:
        """The record and the view that belongs to it, whatever other threads refresh meanwhile.

        key: the caller's token, by which a shared record shows texts. Raises: Forbidden where it needs one.
        """

    def put(
        self,
        new: NewFile,
        segments: Sequence[Segment],
        years: Sequence[str],
        indexed_at: str,
        entries: Sequence[Entry] = (),
    ) -> None:
        """Take in a file's text in place of what was there; searches see it after `commit`.

        entries: what each segment is found by (`engine.searchable`); made here where they are not given.
        """

    def remove(self, file_ids: Iterable[int]) -> None:
        """Forget files."""

    def commit(self) -> int:
        """Make everything since the last commit lasting and searchable; its generation."""

    def tidy(self) -> None:
        """Give back what a run left over; quick."""

    def close(self) -> None:
        """Close; what was not committed is forgotten."""

    def __enter__(self) -> Index: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Beside(Index, Protocol):
    """An index as one of many writers has it."""

    def look_up(self, files: Mapping[str, int]) -> dict[str, Stamp]:
        """The stamps of some files, given with their sizes; what else is asked of files of these sizes is fetched with them."""

    def __enter__(self) -> Beside: ...


class Engine(Protocol):
    """Where an index is, there or not. `folder`: where it keeps what it has on this machine. `made_of`: what `engine.at` makes it of, in
    another process too; it may hold a password."""

    folder: str
    made_of: tuple[str, str, tuple[str, ...]]

    @property
    def address(self) -> str:
        """Its name for people."""

    def open(self, *, writable: bool = False, follow: bool = False, on_progress: OnProgress = ...) -> Index:
        """Open the index; a writer makes it where there is none, and repairs it.

        follow: keep up with the record from now on, and answer meanwhile from what is there: for a server.
        Raises: NotFound where there is none to read; Conflict when another process writes; SearchFailed when it is damaged.
        """

    def record(self, key: str = "") -> Record:
        """Open the record alone, to read, as a caller may see it (`Index.both`). Raises: as `open`."""

    def is_there(self) -> bool:
        """Whether anything was ever recorded."""

    def writer(self) -> str:
        """Who is writing now; "" for nobody."""

    def size(self) -> int:
        """Bytes that it takes on the disk."""

    def damage(self) -> str:
        """Read what is derived from the record: the name of a file that is not as it was written, or ""."""

    def repair(self, on_progress: OnProgress = ...) -> str:
        """Derive anew what can be; where a damaged record was moved to, or "". Raises: as `open`."""

    def forget(self, folder: str, keep: Sequence[str] = (), on_progress: OnProgress = ...) -> int:
        """Remove the files at or below a folder, but for those at or below others, so that nothing of their text is left anywhere; how many.
        Raises: as `open`; Conflict when another process embeds."""

    def maintain(self, on_progress: OnProgress = ...) -> str:
        """Give space back, finish merges, look for damage; why the ranking was built anew, or "". Raises: as `open`."""

    # Vectors, one set per model

    def vectors(self, model: str, dimension: int = 0) -> Vectors:
        """The vectors of a model, by its fingerprint."""

    def has_vectors(self) -> bool:
        """Whether there are vectors of any model."""

    def keep_vectors(self, model: str) -> None:
        """Remove the vectors of every other model."""

    def embedding(self) -> AbstractContextManager[None]:
        """Be the only process that embeds. Raises: Conflict when another does."""


class Queue(Protocol):
    """Files that wait to be read, by any machine that has their root."""

    def put(self, root: str, batches: Iterable[Sequence[str]], *, full: bool = False) -> int:
        """Put batches of paths below a root; how many were not waiting already."""

    def put_scans(self, root: str, paths: Iterable[str]) -> int:
        """Put files below a root of which something waits for OCR, each by itself, behind all batches; how many were not waiting already."""

    def run(
        self, roots: Callable[[], Sequence[str]], take: Callable[[Batch], None], *, wait: bool, scans: bool
    ) -> None:
        """Take batches below what the roots are then, one at a time, until a signal comes; without `wait`, until there is none left. scans:
        and files that wait for OCR, when there is no batch. What `take` raises brings the batch back later, as does the death of its worker."""

    def waiting(self) -> int:
        """How many batches are not done yet."""


class Shared(Engine, Protocol):
    """An engine whose record other machines use too."""

    def queue(self) -> Queue:
        """Its queue."""

    def tokens(self) -> Kept:
        """Its tokens, which hold on every machine."""

    def ledger(self) -> Ledger:
        """Its audit lines, of all machines."""

    def beside(self) -> Beside:
        """Open the index as one of many writers: for a worker."""

    def init(self) -> list[str]:
        """Make what is missing of tables and roles; what that was, in words. Raises: ConfigError where this user may not."""

    def migrate(self) -> int:
        """Bring the tables up to date; how many steps that took. Raises: SearchFailed for those of a newer program."""

    def state(self) -> SharedState:
        """How it is, and how far this machine has come."""
