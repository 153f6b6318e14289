"""Prepare a file for the index: cut it into segments, run redaction on the whole of it, make its index entries.

In: the `Extracted` of a file.  Out: `Prepared`.
Always: it depends only on the file, its name, the longest segment and the redaction rules; its text is valid UTF-8.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from smart_context.data import dataclass, replace
from smart_context.engine import searchable
from smart_context.model import Extracted, Prepared, Segment
from smart_context.redact import Redactor, document
from smart_context.text import copies, segment, years
from smart_context.text.copies import Marks


@dataclass(frozen=True, slots=True)
class Preparing:
    """How files are prepared: the longest segment, the configured redaction patterns, and whether they will be searched."""

    max_chars: int
    patterns: tuple[str, ...] = ()
    searched: bool = True


def file(doc: Extracted, path: str, how: Preparing, redactor: Redactor) -> Prepared:
    """Prepare a file."""
    segments = tuple(document.judged(list(map(_valid, segment.cut(doc, how.max_chars))), redactor))
    title, author = (document.head(valid(text), segments, redactor) for text in (doc.title, doc.author))
    about = replace(doc, title=title, author=author, notes=tuple(map(valid, doc.notes)), units=())
    shown = searchable.texts(segments)
    entries = tuple(searchable.carried(path, about.title, segments, shown)) if how.searched else ()
    known = copies.marks(shown) if how.searched else Marks()
    return Prepared(about, segments, _years(path, shown), entries, known.same, known.like)


def marks(segments: Iterable[Segment]) -> Marks:
    """The marks for finding copies of a judged file: made of its searchable text alone, so that they reveal nothing hidden."""
    return copies.marks(searchable.texts(segments))


def named_years(path: str, segments: Iterable[Segment]) -> tuple[str, ...]:
    """The years in a file's name, and in its searchable text."""
    return _years(path, searchable.texts(segments))


def _years(path: str, shown: list[str]) -> tuple[str, ...]:
    return years.named_in([os.path.basename(path), *shown])


def _valid(one: Segment) -> Segment:
    """The segment with texts that are valid UTF-8: nearly always itself."""
    heading, text = valid(one.heading), valid(one.text)
    if heading is one.heading and text is one.text:
        return one
    return replace(one, heading=heading, text=text)


def valid(text: str) -> str:
    """The text made valid UTF-8, whatever the file had."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-8", "replace").decode()
    return text
