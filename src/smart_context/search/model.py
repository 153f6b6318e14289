"""Frozen data of the search flow: what is cut, recorded, ranked and reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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
    years: the years that stand in its name or text, sorted. generation: of the commit that wrote the row.
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
class Stamp:
    """What decides whether a file is read again: its row, size, modification time and state."""

    file_id: int
    size: int
    mtime_ns: int
    state: State


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


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing run did.

    indexed: read and stored anew; skipped: unchanged; removed: gone from disk; failed: could not be read or parsed, in this run;
    moved: of the indexed, those whose text was known under another name; problems: folders the walk could not read.
    """

    indexed: int = 0
    skipped: int = 0
    removed: int = 0
    failed: int = 0
    duration_ms: int = 0
    moved: int = 0
    problems: tuple[str, ...] = ()
    kinds: dict[str, KindCount] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KindCount:
    """What one run did with one kind of file; `chars` is the text it gave."""

    files: int = 0
    failed: int = 0
    no_text: int = 0
    chars: int = 0
