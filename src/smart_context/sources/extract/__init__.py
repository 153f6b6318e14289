"""Turn the bytes of one file into units of text with pointers.

In: the bytes (in memory or mapped), the file's name, and limits.  Out: `Extracted`, or `Skipped` with the reason.
Always: a reader uses nothing but those bytes, and stops at its limits. There is one module per family of formats; each has
`read(data, job)`, and raises `Refused` for a file it cannot or will not read.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from importlib import import_module

from smart_context.data import dataclass, field, replace
from smart_context.model import Extracted, Limits, Pointer, Skipped, Unit
from smart_context.sources.extract.sight import Pixels, Sight
from smart_context.sources.formats import FORMATS

Buffer = bytes | mmap.mmap
"""What readers take: `len`, slices (which are bytes) and `find` work on both."""

# kind → module below this package
READERS: dict[str, str] = {each.kind: each.reader for each in FORMATS}

# kinds without text, each with the reason and detail of `Skipped`
NO_TEXT: dict[str, tuple[str, str]] = {
    "empty": ("empty", "the file has no bytes"),
    "encrypted": ("encrypted", "a password protects this Office file"),
    "unknown": ("unknown type", "neither text nor a known format"),
}


class Refused(Exception):
    """Raised by a reader for a file without readable text: `reason` is a few stable words, `detail` is for people."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass(slots=True)
class Meter:
    """The inflated bytes and nested files of one top-level file so far, shared by everything nested in it."""

    limits: Limits
    inflated: int = 0
    entries: int = 0

    def inflate(self, count: int) -> None:
        """Count inflated bytes; refuse when the file exceeds its limit."""
        self.inflated += count
        if self.inflated > self.limits.max_inflated_bytes:
            raise Refused("too large when unpacked", f"more than {self.limits.max_inflated_bytes:,} bytes")

    def enter(self) -> None:
        """Count an archive entry or attachment; refuse when there are too many."""
        self.entries += 1
        if self.entries > self.limits.max_entries:
            raise Refused("too many entries", f"more than {self.limits.max_entries:,}")


@dataclass(frozen=True, slots=True)
class Job:
    """What a reader needs in addition to the bytes. `kind` is the detected format: a module may read several.

    where: the pointer of this file inside the top-level one. sight: the pages and pictures of the top-level file that need OCR.
    opened: a container of these bytes, where its kind was told by opening it.
    """

    name: str
    limits: Limits
    meter: Meter
    depth: int = 0
    kind: str = ""
    where: Pointer = ()
    sight: Sight = field(default_factory=Sight)
    opened: object = None

    def look(self, place: Pointer, pixels: Pixels, *, heading: str = "", beside: str = "") -> Iterator[Unit]:
        """Register a place that needs OCR; yield its text, if OCR reads it now or did before."""
        return self.sight.look(self.where, place, pixels, heading=heading, beside=beside)

    def nested(self, name: str, place: Pointer = ()) -> Job:
        """The job for a file inside this one; refuse when it is nested too deep."""
        if self.depth >= self.limits.max_depth:
            raise Refused("nested too deep", f"more than {self.limits.max_depth} levels")
        return Job(name, self.limits, self.meter, self.depth + 1, where=(*self.where, *place), sight=self.sight)


def extract(data: Buffer, name: str, limits: Limits, sight: Sight | None = None) -> Extracted | Skipped:
    """Read one top-level file; `sight` reads pages and pictures by OCR; without it they are only counted."""
    sight = sight or Sight()
    found = extract_nested(data, Job(name, limits, Meter(limits), sight=sight))
    if isinstance(found, Skipped) or not sight.met:
        return found
    return replace(found, notes=(*found.notes, *sight.notes), unread_pages=sight.waiting)


def extract_nested(data: Buffer, job: Job) -> Extracted | Skipped:
    """Read one file, at the top or inside another."""
    from smart_context.sources import sniff

    kind, opened = sniff.opened(data, job.name)
    if kind in NO_TEXT:
        return Skipped(kind, *NO_TEXT[kind])
    if kind not in READERS:
        return Skipped(kind, "no text in this type", kind)
    try:
        module = import_module(f"{__name__}.{READERS[kind]}")
        found: Extracted = module.read(data, replace(job, kind=kind, opened=opened))
        return found
    except Refused as refusal:
        return Skipped(kind, refusal.reason, refusal.detail)
    except MemoryError:
        raise
    except Exception as error:
        if job.depth == 0:
            raise  # the reading process answers for it
        # A parser's own failure on hostile bytes: it costs this file, and not its neighbours in a container.
        return Skipped(kind, "cannot be parsed", type(error).__name__)
