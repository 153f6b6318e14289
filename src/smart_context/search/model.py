"""Frozen data of the search flow: what is cut, recorded, ranked, asked, answered and reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

MAX_CHARS = 1800  # of a segment, where nothing else is asked for

State = Literal["ok", "no_text", "failed"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a file's text. `seq` counts from 0 in reading order; `pointer` is in the grammar of `pointer.format`."""

    seq: int
    pointer: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file as the record knows it.

    path, root: absolute; names that are not UTF-8 carry surrogate escapes. ext: lower case with its dot, or "".
    state: `ok`; `no_text` where a file was read and holds none; `failed` with `reason` and `detail`.
    years: the years that stand in its name or text, sorted. reader: the version of this program that read it.
    generation: of the commit that wrote the row.
    """

    file_id: int
    path: str
    root: str
    ext: str
    kind: str
    size: int
    mtime_ns: int
    sha256: str
    state: State
    reason: str
    detail: str
    title: str
    years: tuple[str, ...]
    notes: tuple[str, ...]
    indexed_at: str
    chars: int
    reader: str
    generation: int


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One segment as the record knows it, without its text (`Record.texts` has that)."""

    segment_id: int
    file_id: int
    seq: int
    pointer: str
    heading: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A segment's text, and some of what stands before and after it in its file."""

    text: str
    before: str = ""
    after: str = ""


Stamp = tuple[bytes, int, int, int]
"""What decides whether a file is read again: (path, file_id, size, mtime_ns). A bare row, because a run over an unchanged
folder does little else than look at these; mtime_ns is -1 where the file should be tried again whatever its time."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """What an indexing run learnt about one file, ready to be recorded."""

    path: str
    root: str
    kind: str
    size: int
    mtime_ns: int
    sha256: str
    state: State
    reason: str = ""
    detail: str = ""
    title: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """What the recorded files of one kind, state and reason come to."""

    kind: str
    state: State
    reason: str
    files: int
    chars: int
    size: int
    segments: int


@dataclass(frozen=True, slots=True)
class RankedFile:
    """What ranking needs of a file."""

    file_id: int
    path: str
    ext: str
    title: str
    years: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedSegment:
    """What ranking needs of a segment."""

    segment_id: int
    heading: str
    text: str
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked for, before anything is read from the text.

    folders: the search stays below them. never_show: patterns of files to leave out.
    """

    query: str
    k: int = 10
    offset: int = 0
    exts: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    never_show: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchItem:
    """One result. `highlights`: where sought words stand in the snippet; `why`: makes the explanation, for whoever asks."""

    path: str
    pointer: str
    snippet: str
    score: float
    ext: str
    modified: str
    highlights: tuple[tuple[int, int], ...] = ()
    why: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False, repr=False)

    @property
    def explanation(self) -> tuple[str, ...]:
        """Why it is where it is, in lines."""
        return self.why()

    def answer(self) -> dict[str, Any]:
        """The result as `searchFiles` answers it."""
        return {name: getattr(self, name) for name in ("path", "pointer", "snippet", "score", "ext", "modified")}


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page. `interpretation`: how the query was read, in lines; `remarks`: those of them that a person should know anyway."""

    items: tuple[SearchItem, ...]
    offset: int
    total_estimate: int
    interpretation: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def answer(self) -> dict[str, Any]:
        """The page as `searchFiles` answers it."""
        counts = {"offset": self.offset, "returned": len(self.items), "total_estimate": self.total_estimate}
        return {"items": [item.answer() for item in self.items], "pagination": counts}

    def explained(self) -> dict[str, Any]:
        """The same with how the query was read and why each result is where it is."""
        items = [{**item.answer(), "explanation": list(item.explanation)} for item in self.items]
        return {"interpretation": list(self.interpretation), **self.answer(), "items": items}


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last run over a folder that came to its end. `device`: what it lay on then (`st_dev`)."""

    started_at: str
    finished_at: str
    device: int


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
    problems: what the walk could not look into, and why; nothing below it was removed.
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


@dataclass(frozen=True, slots=True)
class Changes:
    """What an indexing run would find; `hidden` are the folders that could not be looked into."""

    new: int
    changed: int
    gone: int
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file that gives no text, and why; `path` is as `roots.shown` writes it."""

    path: str
    state: State
    kind: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class RootStatus:
    """One root: what is indexed of it, and how far that is behind. `last_run` is "" where none has finished."""

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


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the segments have a vector of the model in use."""

    model: str
    embedded: int
    segments: int


@dataclass(frozen=True, slots=True)
class Status:
    """The index as a whole: where it is, its size in bytes, who is writing ("" for nobody), every root, and what is embedded
    (None: there is no model)."""

    data_dir: str
    size: int
    writer: str
    generation: int
    roots: tuple[RootStatus, ...]
    meaning: Coverage | None = None
