"""Rows of the record as frozen data, and back.

In: what an indexing run learnt about a file; a row.  Out: the values to bind; a `FileRow`.
Always: text is stored compressed; a name is stored as the bytes that the system has.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from smart_context import __version__
from smart_context.engine.model import FileRow, NewFile, extension
from smart_context.model import Segment

FILE = (
    "file_id, path, root, ext, kind, size, mtime_ns, sha256, state, reason, detail, title, years, notes, indexed_at,"
    " chars, reader, generation, judged, author, dated, same_text, like_text, unread_pages"
)
"""The columns of a file, in the order of `FileRow`."""

_TOGETHER = 16  # segments in a block: a third of a millisecond to read, a quarter smaller than one by one


def blocks(segments: Sequence[Segment]) -> Iterator[tuple[list[tuple[Segment, int, int]], bytes]]:
    """A file's segments as blocks: some segments, each with its offset and size in bytes, and their texts, compressed together."""
    for first in range(0, len(segments), _TOGETHER):
        some: list[tuple[Segment, int, int]] = []
        texts: list[bytes] = []
        at = 0
        for segment in segments[first : first + _TOGETHER]:
            texts.append(segment.text.encode("utf-8", "replace"))
            some.append((segment, at, len(texts[-1])))
            at += len(texts[-1])
        yield some, zlib.compress(b"".join(texts), 5)  # half a per cent larger than by 6, for six sevenths of the time


def texts_of(rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, str, bytes]]:
    """(segment, text, what is hidden) of rows of segments with their blocks.

    Raises: zlib.error for what is damaged.
    """
    known: dict[int, bytes] = {}
    needed: dict[int, int] = {}  # of each block, no more than the last text that is wanted
    for _, _, _, block_id, start, size, _ in rows:
        needed[block_id] = max(needed.get(block_id, 0), start + size)
    found: list[tuple[int, str, bytes]] = []
    for segment_id, hidden, alone, block_id, start, size, data in rows:
        if not block_id:
            found.append((segment_id, _text(zlib.decompress(alone)), hidden))
            continue
        if block_id not in known:
            known[block_id] = zlib.decompressobj().decompress(data or b"", needed[block_id])
        if len(known[block_id]) < start + size:
            raise zlib.error(f"block {block_id} is not whole")
        found.append((segment_id, _text(known[block_id][start : start + size]), hidden))
    return found


def _text(kept: bytes) -> str:
    try:
        return kept.decode("utf-8")
    except UnicodeDecodeError as error:
        raise zlib.error("a text is not UTF-8") from error


def file_values(
    new: NewFile, segments: Sequence[Segment], years: Sequence[str], indexed_at: str, generation: int
) -> tuple[Any, ...]:
    """The values of a file's columns, but for its id."""
    return (
        os.fsencode(new.path),
        os.fsencode(new.root),
        extension(new.path),
        new.kind,
        new.size,
        new.mtime_ns,
        new.sha256,
        new.state,
        new.reason,
        new.detail,
        new.title,
        " ".join(years),
        "\n".join(new.notes),
        indexed_at,
        sum(len(s.text) for s in segments),
        __version__,
        generation,
        new.judged,
        new.author,
        new.dated,
        new.same_text,
        new.like_text,
        new.unread_pages,
    )


def file_row(row: tuple[Any, ...]) -> FileRow:
    """A file's row as data."""
    years, notes = row[12:14]
    listed = (tuple(years.split()), tuple(notes.split("\n")) if notes else ())
    values = (row[0], os.fsdecode(row[1]), os.fsdecode(row[2]), *row[3:12], *listed, *row[14:])
    return FileRow(*values)
