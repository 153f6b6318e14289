"""Rows of the record as frozen data, and back.

In: what an indexing run learnt about a file; a row.  Out: the values to bind; a `FileRow`.
Always: text is kept compressed; a name is kept as the bytes that the system knows it by.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import Any

from smart_context import __version__
from smart_context.engine.model import FileRow, NewFile, extension
from smart_context.model import Segment

FILE = (
    "file_id, path, root, ext, kind, size, mtime_ns, sha256, state, reason, detail, title, years, notes, indexed_at,"
    " chars, reader, generation, judged"
)
"""The columns of a file, in the order of `FileRow`."""


def packed(text: str) -> bytes:
    """A text as it is kept."""
    return zlib.compress(text.encode("utf-8", "replace"), 6)


def unpacked(data: bytes) -> str:
    """A text that was kept."""
    return zlib.decompress(data).decode("utf-8")


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
    )


def file_row(row: tuple[Any, ...]) -> FileRow:
    """A file's row as data."""
    years, notes = row[12:14]
    listed = (tuple(years.split()), tuple(notes.split("\n")) if notes else ())
    values = (row[0], os.fsdecode(row[1]), os.fsdecode(row[2]), *row[3:12], *listed, *row[14:])
    return FileRow(*values)
