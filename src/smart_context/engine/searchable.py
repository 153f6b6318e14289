"""What a file is found by: the entries of its segments, made where it is read, and carried from there as bytes.

In: a file's path, its title, its judged segments.  Out: an `Entry` for each; as bytes, and back.
Always: what is hidden in a segment reaches no entry; bytes that are no entry raise `ValueError`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from smart_context.engine import entry
from smart_context.engine.entry import Entry
from smart_context.engine.model import RankedSegment
from smart_context.model import Segment
from smart_context.text import codes, languages, whole

_HEAD = struct.Struct("<IIIIIIB")


def every(path: str, title: str, segments: Sequence[Segment | RankedSegment]) -> list[Entry]:
    """The entries of a file's segments, in their order."""
    return list(entry.every(path, whole.head(title), _pieces(segments, texts(segments))))


def carried(path: str, title: str, segments: Sequence[Segment], shown: Sequence[str]) -> list[bytes]:
    """The same as bytes. `shown`: what `texts` says of the segments."""
    return [
        _joined(made.length, made.language, (made.text, made.also, made.compounds, made.border, made.packed))
        for made in entry.written(path, whole.head(title), _pieces(segments, shown))
    ]


def _pieces(segments: Sequence[Segment | RankedSegment], shown: Sequence[str]) -> list[RankedSegment]:
    return [
        RankedSegment(0, whole.head(one.heading), text, one.pointer) for one, text in zip(segments, shown, strict=True)
    ]


def texts(segments: Iterable[Segment | RankedSegment]) -> list[str]:
    """What of each segment may be searched."""
    return [whole.masked(one.text, one.hidden) for one in segments]


def packed(made: Entry) -> bytes:
    """An entry as bytes."""
    texts = (made.text.encode(), made.also.encode(), made.compounds.encode(), made.border.encode())
    return _joined(made.length, made.language, (*texts, made.packed))


def _joined(length: int, language: str, parts: tuple[bytes, ...]) -> bytes:
    return b"".join((_HEAD.pack(length, *map(len, parts), languages.CODES.index(language)), *parts))


def unpacked(data: bytes) -> Entry:
    """An entry from its bytes.

    Raises: ValueError for anything else.
    """
    try:
        length, *sizes, language = _HEAD.unpack_from(data)
        code = languages.CODES[language]
    except (struct.error, IndexError) as error:
        raise ValueError("not an entry") from error
    if _HEAD.size + sum(sizes) != len(data):
        raise ValueError("not an entry")
    parts = []
    at = _HEAD.size
    for size in sizes:
        parts.append(data[at : at + size])
        at += size
    if not codes.is_packed(parts[4]):
        raise ValueError("not an entry")
    text, also, compounds, border = (part.decode("utf-8") for part in parts[:4])
    return Entry(text, also, parts[4], length, code, compounds, border)
