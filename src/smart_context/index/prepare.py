"""Prepare a file for the index: cut it into segments, run redaction on the whole of it, make its index entries.

In: the `Extracted` of a file.  Out: `Prepared`.
Always: it depends only on the file, its name, the longest segment and the redaction rules; its text is valid UTF-8.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from smart_context.data import replace
from smart_context.engine import searchable
from smart_context.index.reading import Preparing
from smart_context.model import Extracted, Prepared, Segment
from smart_context.redact import Redactor, document
from smart_context.text import copies, segment, valid, years
from smart_context.text.copies import Marks


def file(doc: Extracted, path: str, how: Preparing, redactor: Redactor) -> Prepared:
    """Prepare a file."""
    segments = tuple(document.judged(list(map(_valid, segment.cut(doc, how.max_chars))), redactor))
    title, author = (document.head(valid.utf8(text), segments, redactor) for text in (doc.title, doc.author))
    about = replace(doc, title=title, author=author, notes=tuple(map(valid.utf8, doc.notes)), units=())
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
    heading, text = valid.utf8(one.heading), valid.utf8(one.text)
    if heading is one.heading and text is one.text:
        return one
    return replace(one, heading=heading, text=text)
