"""A page of a PDF as a picture, with redacted text blacked out.

In: a PDF below a root, its segments with what is hidden in them, a page, words to mark.  Out: a PNG, cached or drawn now.
Always: the page is drawn in a jailed process, and its pixels are checked before they become a PNG; the picture and the redacted text are of the same
state of the file, or there is no picture.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct
import threading
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context import pointer as grammar
from smart_context.access.roots import Roots
from smart_context.errors import NotFound
from smart_context.model import Extracted, Limits, Segment, Skipped, Stop, changed_at
from smart_context.sources import picture_child
from smart_context.sources.picture_child import Wanted

if TYPE_CHECKING:
    from smart_context.sources.worker import Pool

_KEPT_BYTES = 32 * 1024 * 1024
_MOST_SIDE = 4000
_LOOK_EVERY = 0.1  # seconds between two checks whether a waiting caller has gone
_HINT = "read its text instead"
Stamp = tuple[int, int]
"""Size and modification time of a file."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as PNG. left_out: how many pictures on the page are not shown."""

    png: bytes
    left_out: int


class Pictures:
    """Pictures of pages, for the callers of any thread. Close it, to end its drawing process."""

    def __init__(self, roots: Roots, limits: Limits, jail: str) -> None:
        self._roots = roots
        self._limits = limits
        self._jail = jail
        self._drawing = threading.Lock()
        self._pool: Pool | None = None
        self._kept: OrderedDict[object, Picture] = OrderedDict()
        self._bytes = 0

    def stamp(self, path: str) -> Stamp:
        """The size and modification time of a file, to be read before its text."""
        fd = self._roots.open_file(path)
        try:
            info = os.fstat(fd)
        finally:
            os.close(fd)
        return info.st_size, changed_at(info)

    def of(
        self, path: str, stamp: Stamp, segments: Sequence[Segment], page: int, marked: Sequence[str], stop: Stop
    ) -> Picture:
        """Give the picture of a page.

        Raises: NotFound where there is none, saying why; what `stop` raises.
        """
        # Text read by OCR is in pictures, which are not drawn.
        own = [segment for segment in segments if page_of(segment.pointer) == page and segment.certainty is None]
        hidden = {segment.text[start:end] for segment in own for start, end, _ in segment.hidden}
        if not own:
            raise NotFound("there is no picture of this page: it has no text", hint="open it in its application")
        text = "".join(segment.text for segment in own)
        wanted = Wanted(page, text, tuple(sorted(hidden)), tuple(sorted(set(marked))))
        key = (path, stamp, wanted)
        while not self._drawing.acquire(timeout=_LOOK_EVERY):
            stop()
        try:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            found = self._drawn(path, stamp, wanted, stop)
            self._keep(key, found)
            return found
        finally:
            self._drawing.release()

    def close(self) -> None:
        """End the drawing process."""
        if self._drawing.acquire(timeout=_LOOK_EVERY):
            if self._pool is not None:
                self._pool.close()
                self._pool = None
            self._drawing.release()

    def _drawn(self, path: str, stamp: Stamp, wanted: Wanted, stop: Stop) -> Picture:
        from smart_context.sources.worker import Pool, Task

        self._pool = self._pool or Pool(
            self._limits, workers=1, jail=self._jail, start_with=picture_child.started_with()
        )
        task = Task(path, path, lambda: self._roots.open_file(path), name=wanted.to_json())
        (done,) = self._pool.run([task], stop)
        if isinstance(done.outcome, Skipped):
            why = done.outcome.detail or done.outcome.reason
            raise NotFound(f"there is no picture of this page: {why}", hint=_HINT)
        if (done.size, done.mtime_ns) != stamp or not isinstance(done.outcome, Extracted):
            raise NotFound("there is no picture of this page: the file has just changed", hint="load it again")
        try:
            return _checked(done.outcome)
        except (ValueError, TypeError, IndexError, zlib.error) as error:
            raise NotFound("there is no picture of this page: it could not be drawn", hint=_HINT) from error

    def _keep(self, key: object, picture: Picture) -> None:
        self._kept[key] = picture
        self._bytes += len(picture.png)
        while self._bytes > _KEPT_BYTES:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.png)


def page_of(pointer: str) -> int:
    """The page of the file itself that a pointer names, or 0."""
    parts = grammar.parse(pointer) if pointer else ()
    return parts[0].first if parts and parts[0].kind == "page" else 0


def _checked(outcome: Extracted) -> Picture:
    """Make a PNG of the pixels, after checking that their number is as announced and nothing follows them."""
    width, height, left_out = json.loads(outcome.title)
    if not all(type(number) is int for number in (width, height, left_out)):
        raise ValueError
    if not (0 < width <= _MOST_SIDE and 0 < height <= _MOST_SIDE):
        raise ValueError
    packed = base64.b64decode(outcome.units[0].text, validate=True)
    size = height * (1 + 3 * width)
    inflated = zlib.decompressobj()
    rows = inflated.decompress(packed, size + 1)
    if len(rows) != size or not inflated.eof or inflated.unused_data or any(rows[:: 1 + 3 * width]):
        raise ValueError
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", packed), (b"IEND", b""))
    return Picture(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks), left_out)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", binascii.crc32(kind + data))
