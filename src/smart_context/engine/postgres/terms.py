"""The terms of segments, as the record stores them for every search node: analysed once, where a file was read.

In: segments' numbers with their entries.  Out: bytes of one block, and back.
Always: bytes that are no terms raise `ValueError`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence

from smart_context.engine import searchable
from smart_context.engine.entry import Entry

_HEAD = struct.Struct("<qI")
_LEVEL = 1  # half the size; the next level costs twice the time for a tenth


def pack(block: Sequence[tuple[int, Entry]]) -> bytes:
    """The terms of some segments, compressed together."""
    parts: list[bytes] = []
    for segment_id, entry in block:
        data = searchable.packed(entry)
        parts += [_HEAD.pack(segment_id, len(data)), data]
    return zlib.compress(b"".join(parts), _LEVEL)


def unpack(data: bytes) -> Iterator[tuple[int, Entry]]:
    """The segments of a block with their entries.

    Raises: ValueError.
    """
    try:
        plain = zlib.decompress(data)
        at = 0
        while at < len(plain):
            segment_id, size = _HEAD.unpack_from(plain, at)
            at += _HEAD.size + size
            yield segment_id, searchable.unpacked(plain[at - size : at])
    except (zlib.error, struct.error) as error:
        raise ValueError("not the terms of a block") from error
