"""OCR of a file: count its pages and pictures without text, and read them where an engine is available.

In: places in a file, each with a function that gives its pixels.  Out: units of text with their certainty, and how many places still wait.
Always: places come in the same order and number each time the file is read; one that cannot be read becomes a note; without an
engine nothing is rendered or decoded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from smart_context import pointer
from smart_context.data import dataclass, field
from smart_context.model import Pointer, Unit

NOT_READ = "not read by OCR"
_MOST_NOTES = 20
_FOR_EVER = float("inf")


class Unreadable(Exception):
    """Pixels that cannot be rendered, decoded or read; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Bitmap:
    """Pixels in shades of grey, row by row, a byte each. dpi: the resolution, as far as is known."""

    width: int
    height: int
    pixels: bytes
    dpi: int


@dataclass(frozen=True, slots=True)
class Recognized:
    """What was read from pixels; `certainty` is of 100."""

    text: str
    certainty: int


class Engine(Protocol):
    """An OCR engine."""

    def read(self, bitmap: Bitmap) -> Recognized:
        """Read them; no text where there is none.

        Raises: Unreadable when it takes too long.
        """
        ...


Pixels = Callable[[], Iterable[Bitmap]]
"""The pictures of one place, decoded or drawn when asked for; raises Unreadable."""


@dataclass(slots=True)
class Sight:
    """The OCR of one top-level file, shared by everything nested in it.

    known: what was read before, by pointer: it is kept while its place waits. done: how many places were finished then. until: process time after which no
    further place is begun. lost: why the next place cannot be read, if trying it crashed a process.
    met, read, waiting: places so far, those that gave text, and those that are left for later.
    """

    engine: Engine | None = None
    known: Mapping[str, Recognized] = field(default_factory=dict)
    done: int = 0
    until: float = _FOR_EVER
    lost: str = ""
    notes: list[str] = field(default_factory=list)
    met: int = 0
    waiting: int = 0
    _begun: int = 0

    def look(self, within: Pointer, where: Pointer, pixels: Pixels, *, heading: str, beside: str) -> Iterator[Unit]:
        """Register a place: yield its OCR text if it is read now or was before, unless the place's own text has all of its words.

        within: the pointer of the file that the place is in. beside: the place's own text.
        """
        self.met += 1
        found = self._found(pointer.format((*within, *where)), pixels)
        if found is not None and found.text and not _is_said(found.text, beside):
            yield Unit(where, found.text, heading=heading, certainty=found.certainty)

    def _found(self, where: str, pixels: Pixels) -> Recognized | None:
        if self.met <= self.done:
            return self.known.get(where)
        # The first place is always read, however late it is: each turn must make progress.
        if self.engine is None or (self._begun and time.process_time() > self.until):
            self.waiting += 1
            return self.known.get(where)
        self._begun += 1
        try:
            if self.lost:
                reason, self.lost = self.lost, ""
                raise Unreadable(reason)
            return _joined([self.engine.read(each) for each in pixels()])
        except Unreadable as error:
            self._note(where, str(error))
            return None

    def _note(self, where: str, why: str) -> None:
        if len(self.notes) < _MOST_NOTES:
            self.notes.append(f"{NOT_READ}: {where}: {why}" if where else f"{NOT_READ}: {why}")


def _joined(parts: list[Recognized]) -> Recognized:
    """The pictures of one place as one text, with the mean certainty of its characters."""
    told = [part for part in parts if part.text]
    chars = sum(len(part.text) for part in told)
    certainty = sum(part.certainty * len(part.text) for part in told) // chars if chars else 0
    return Recognized("\n".join(part.text for part in told), certainty)


def _is_said(text: str, beside: str) -> bool:
    return bool(beside) and set(text.lower().split()) <= set(beside.lower().split())
