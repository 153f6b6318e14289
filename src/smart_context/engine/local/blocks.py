"""Segments as the local record stores them: consecutive ones in one block, compressed together.

In: a file's segments, in order; a block.  Out: blocks; the rows and the texts of segments.
Always: what is read is what was written; an impossible block raises zlib.error.

A block is raw deflate, compressed against `PHRASES`; one that was made without them is read in the same way. It begins with its head, lines of text:
the number of its first segment in the file and the size of each text in bytes; rare properties of segments, as JSON, or nothing; and for each segment
its pointer and its heading. The texts follow. So a row is read without inflating the texts, and a heading that repeats in the text takes hardly any space.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from smart_context.data import dataclass
from smart_context.engine.local.phrases import PHRASES
from smart_context.engine.model import SegmentRow
from smart_context.model import Segment
from smart_context.text import hidden

TOGETHER = 24  # segments in a block: a hundredth of the record smaller than with 16; what a search reads of one takes a thirtieth of a millisecond
COLUMNS = "first, count, file_id, head, data"
"""The columns of a block, in the order of `Kept`."""

_LEVEL = 4  # 3 % larger than by 5, for seven tenths of the time
_HEADING = "\x1a"  # in a pointer, for the heading, which most pointers contain
_SAME = "\x1a"  # for the same heading as the segment before
_ESCAPE = "\x1b"  # before the code of a character with a special meaning here
_FAULTS = (ValueError, LookupError, TypeError, AttributeError)  # raised by reading a damaged block
_ESCAPED = {ord("\n"): f"{_ESCAPE}n", ord(_HEADING): f"{_ESCAPE}h", ord(_ESCAPE): f"{_ESCAPE}e"}


@dataclass(frozen=True, slots=True)
class Block:
    """A block to write. head: the size of its head in bytes; seen: how many of its segments OCR has read."""

    count: int
    head: int
    seen: int
    data: bytes


class Kept(NamedTuple):
    """A block as it is kept. first: the id of its first segment, the others are consecutive; many: how many it has."""

    first: int
    many: int
    file_id: int
    head: int
    data: bytes


class Text(NamedTuple):
    """The text of a segment, and what is hidden in it, as `hidden.pack` writes it."""

    segment_id: int
    text: str
    hidden: bytes


def made(segments: Sequence[Segment]) -> Iterator[Block]:
    """A file's segments as blocks."""
    for at in range(0, len(segments), TOGETHER):
        some = segments[at : at + TOGETHER]
        texts = [one.text.encode("utf-8", "replace") for one in some]
        head = _head(some, list(map(len, texts)))
        deflate = _deflate().copy()
        data = deflate.compress(head + b"".join(texts)) + deflate.flush()
        yield Block(len(some), len(head), sum(one.certainty is not None for one in some), data)


@cache  # a copy takes less time than preparing one for each block
def _deflate() -> zlib._Compress:
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=PHRASES)


class Opened:
    """A block whose head was read. From any thread."""

    __slots__ = ("_kept", "_left", "_lines", "_rare", "_seq", "first")

    def __init__(self, kept: Kept) -> None:
        """Raises: zlib.error for what is damaged."""
        self._kept, self.first = kept, kept.first
        inflate = zlib.decompressobj(-zlib.MAX_WBITS, PHRASES)
        try:
            self._lines = inflate.decompress(kept.data, kept.head).decode().split("\n")
            self._seq = int(self._lines[0].partition(" ")[0])
            self._rare: dict[str, dict[str, Any]] = json.loads(self._lines[1]) if self._lines[1] else {}
        except _FAULTS as error:
            raise zlib.error(f"the block of segment {kept.first} is damaged") from error
        self._left = [inflate]  # continues with the texts, for the first thread that takes it

    def rows(self, wanted: Iterable[int] | None = None) -> list[SegmentRow]:
        """The rows of some of its segments, or of all.

        Raises: zlib.error for what is damaged.
        """
        try:
            return [self._row(number) for number in wanted or range(self.first, self.first + self._kept.many)]
        except _FAULTS as error:
            raise zlib.error(f"the block of segment {self.first} is damaged") from error

    def texts(self, wanted: Sequence[int]) -> list[Text]:
        """The texts of some of its segments, ascending.

        Raises: zlib.error for what is damaged.
        """
        try:
            last = wanted[-1] - self.first
            ends = [0, *accumulate(map(int, self._lines[0].split(None, last + 2)[1 : last + 2]))]
            held = self._inflated(ends[last + 1])  # only up to the last wanted text
            places = [(number, number - self.first) for number in wanted]
            return [Text(number, held[ends[at] : ends[at + 1]].decode(), self._hidden(at)) for number, at in places]
        except _FAULTS as error:
            raise zlib.error(f"the block of segment {self.first} is damaged") from error

    def _inflated(self, needed: int) -> bytes:
        """The first `needed` bytes of its texts."""
        try:
            inflate = self._left.pop()
        except IndexError:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS, PHRASES)
            inflate.decompress(self._kept.data, self._kept.head)
        held = inflate.decompress(inflate.unconsumed_tail, needed) if needed else b""
        if len(held) < needed:
            raise ValueError("not whole")
        return held

    def _row(self, number: int) -> SegmentRow:
        at = number - self.first
        pointer, heading = self._lines[2 + 2 * at], self._lines[3 + 2 * at]
        before = at
        while heading == _SAME and before:
            before -= 1
            heading = self._lines[3 + 2 * before]
        if _HEADING in pointer:
            pointer = pointer.replace(_HEADING, heading)
        if _ESCAPE in pointer or _ESCAPE in heading:
            pointer, heading = _plain(pointer), _plain(heading)
        seq, certainty = self._seq + at, None
        if self._rare:
            seq, certainty = self._of("seq", at, seq), self._of("certainty", at, None)
        return SegmentRow(number, self._kept.file_id, seq, pointer, heading, certainty)

    def _hidden(self, at: int) -> bytes:
        return bytes.fromhex(self._of("hidden", at, "")) if self._rare else b""

    def _of(self, what: str, at: int, otherwise: Any) -> Any:
        return self._rare[what].get(str(at), otherwise) if what in self._rare else otherwise


def _head(some: Sequence[Segment], sizes: Sequence[int]) -> bytes:
    first = some[0].seq
    lines = [f"{first} {' '.join(map(str, sizes))}", _rare(some, first)]
    before = ""
    for one in some:
        pointer, heading = _escaped(one.pointer), _escaped(one.heading)
        lines += (
            pointer.replace(heading, _HEADING) if heading else pointer,
            _SAME if heading and heading == before else heading,
        )
        before = heading
    return "\n".join([*lines, ""]).encode("utf-8", "replace")


def _rare(some: Sequence[Segment], first: int) -> str:
    """Rare properties of segments: a number in the file that does not follow the one before, redacted spans, a certainty."""
    found = {
        "seq": {at: one.seq for at, one in enumerate(some) if one.seq != first + at},
        "hidden": {at: hidden.pack(one.hidden).hex() for at, one in enumerate(some) if one.hidden},
        "certainty": {at: one.certainty for at, one in enumerate(some) if one.certainty is not None},
    }
    told = {what: own for what, own in found.items() if own}
    return json.dumps(told, separators=(",", ":")) if told else ""


def _escaped(text: str) -> str:
    return text if text.isprintable() else text.translate(_ESCAPED)


def _plain(text: str) -> str:
    for code, stands in _ESCAPED.items():  # the escape itself at last
        text = text.replace(stands, chr(code))
    return text
