"""Frozen data that passes between stages. No behaviour beyond what a value can say about itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from smart_context.data import dataclass, field

if TYPE_CHECKING:
    import os

Divisible = Literal["lines", "rows", "paragraphs"]

HIDDEN_KINDS = ("custom", "secret", "iban", "card", "email", "phone")
"""What redaction hides. The first wins where two see the same characters; an index keeps them by their place here."""

Hidden = tuple[tuple[int, int, str], ...]
"""What must not show of a text: (start, end, kind), in text order, apart from each other."""


@dataclass(frozen=True, slots=True)
class Part:
    """One step of a pointer: `page 3` is `Part("page", first=3)`, `sheet 'Q2' rows 1-4` is two parts.

    kind: page, slide, sheet, lines, rows, paragraphs, section, message, attachment, entry.
    name: of a sheet, section, attachment or entry. nth: 2 for the second one of that name.
    first, last: a page or slide number (first alone), or a range of lines, rows or paragraphs.
    """

    kind: str
    name: str = ""
    nth: int = 1
    first: int = 0
    last: int = 0


Pointer = tuple[Part, ...]
"""Where in a file, from the outside in: `entry 'a.docx' section 'Pricing'` has two parts. Empty: the file as a whole."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One page, slide, sheet, section, message or run of text, as an extractor found it.

    `divisible` says that each line of `text` (separated by a newline) is one line, row or paragraph, numbered from `first`;
    segmentation may then cut between lines and add the range to the pointer.
    certainty: how certain it is, in per cent, that a text was read rightly from a picture; None where the file itself has the text.
    """

    pointer: Pointer
    text: str
    heading: str = ""
    divisible: Divisible | None = None
    first: int = 1
    certainty: int | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of one file with where it stands.

    kind: the short name of the format ("pdf", "docx", "text", …), by content. title: the file's own title, or "".
    units: in reading order; empty where the file holds no text ("no text; scanned?" for a PDF is in `notes`).
    notes: what a user should know ("cut at 20,000 pages", "attachment x.bin skipped: unknown type"), in order.
    author, dated: who wrote it and on which day (`2024-03-31`), as the file itself says, or "".
    unread_pages: those that have no text of their own and were not read from their picture.
    """

    kind: str
    title: str
    units: tuple[Unit, ...]
    notes: tuple[str, ...] = ()
    author: str = ""
    dated: str = ""
    unread_pages: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that gave no text, and why: a stable `reason` word or two, and `detail` for people."""

    kind: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost. Every extractor takes its bounds from here."""

    max_file_bytes: int = 512 * 1024 * 1024
    max_text_chars: int = 20_000_000
    max_units: int = 50_000
    max_inflated_bytes: int = 256 * 1024 * 1024
    max_inflate_ratio: int = 200
    max_entries: int = 10_000
    max_depth: int = 3
    max_sheet_cells: int = 5_000_000
    cpu_seconds: int = 60
    memory_bytes: int = 2 * 1024 * 1024 * 1024


def changed_at(info: os.stat_result) -> int:
    """When a file was last changed, in nanoseconds, as a record can hold it: the year 2262 is the last, whatever a file claims."""
    return max(-_MOST_NS, min(info.st_mtime_ns, _MOST_NS))


def memory_for(size: int, limits: Limits) -> int:
    """Bytes of memory that reading a file of this size may take: many times its own, and enough for any small file that is not a bomb."""
    return min(limits.memory_bytes, _LEAST_MEMORY + _MEMORY_PER_BYTE * size)


_LEAST_MEMORY = 256 * 1024 * 1024
_MEMORY_PER_BYTE = 40
_MOST_NS = 2**63 - 1  # of a number in a database

JAIL_LAYERS = ("landlock", "seccomp")
SLIDE_NOTES = "Notes:"  # the line that stands between what a slide shows and what its speaker says


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller: identified by a token or by the process that started us; never by what a client claims.

    roots: the folders this caller may see; None for every configured one. is_owner: may index and maintain, too. key: the token itself, by which
    a shared record knows the caller too; it is never shown.
    """

    name: str
    roots: tuple[str, ...] | None = None
    is_owner: bool = True
    key: str = field(default="", repr=False, compare=False)


OWNER = Caller("owner")
"""Whoever runs the command line, and whoever has the server's own token."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of long work: how far, of how much (None: unknown yet), what is being worked on, how many files can be searched already, and how many are
    large and come first."""

    done: int
    total: int | None = None
    what: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    searchable: int = 0
    large: int = 0


OnProgress = Callable[[Progress], None]
"""Called often; the receiver decides how often to show."""


def silent(_step: Progress) -> None:
    """An `OnProgress` that shows nothing."""


Stop = Callable[[], None]
"""Called between steps of long work; raises (`CallTimeout`, `CallCancelled`, …) when the work should end now."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a file's text. `seq` counts from 0 in reading order; `pointer` is in the grammar of `pointer.format`.

    hidden: what of the text must not show, judged over the whole file. certainty: as `Unit` has it.
    """

    seq: int
    pointer: str
    heading: str
    text: str
    hidden: Hidden = ()
    certainty: int | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file ready for the index: what the reader said of it (its units are left out), and its text, cut and judged.

    years: those that stand in its name or its text. entries: what each segment is found by, as `engine.searchable` packs it; none where
    nobody will search it. same_text, like_text: what tells copies, as `text.copies` makes it.
    """

    about: Extracted
    segments: tuple[Segment, ...]
    years: tuple[str, ...]
    entries: tuple[bytes, ...] = ()
    same_text: bytes = b""
    like_text: bytes = b""
