"""The index entries of a file's segments, made where the file is read, and passed on as bytes.

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
from smart_context.text import codes, languages, passage, whole

_HEAD = passage.ENTRY


def every(path: str, title: str, segments: Sequence[Segment | RankedSegment]) -> list[Entry]:
    """The entries of a file's segments, in their order."""
    return list(map(unpacked, carried(path, title, segments, texts(segments))))


def carried(path: str, title: str, segments: Sequence[Segment | RankedSegment], shown: Sequence[str]) -> list[bytes]:
    """The same as bytes. `shown`: what `texts` says of the segments."""
    pointers, headings = [one.pointer for one in segments], [whole.head(one.heading) for one in segments]
    return list(entry.written(path, whole.head(title), pointers, headings, shown))


def texts(segments: Iterable[Segment | RankedSegment]) -> list[str]:
    """The text of each segment that may be searched."""
    # Marks of the index itself are characters beyond the first plane of Unicode: nearly every text has none, and is used as it is.
    return [
        one.text if not one.hidden and passage.is_narrow(one.text) else whole.masked(one.text, one.hidden)
        for one in segments
    ]


def packed(made: Entry) -> bytes:
    """An entry as bytes."""
    text, also, compounds, border = map(str.encode, (made.text, made.also, made.compounds, made.border))
    return passage.entry(made.language, made.length, text, also, compounds, border, made.packed)


def unpacked(data: bytes) -> Entry:
    """An entry from its bytes.

    Raises: ValueError for anything else.
    """
    try:
        length, text, also, compounds, border, packed, language = _HEAD.unpack_from(data)
        code = languages.CODES[language]
    except (struct.error, IndexError) as error:
        raise ValueError("not an entry") from error
    also += (text := _HEAD.size + text)  # from here on, where each part ends
    compounds += also
    border += compounds
    terms = data[border:]
    if len(terms) != packed or not codes.is_packed(terms):
        raise ValueError("not an entry")
    return Entry(
        data[_HEAD.size : text].decode(),
        data[text:also].decode(),
        terms,
        length,
        code,
        data[also:compounds].decode(),
        data[compounds:border].decode(),
    )
