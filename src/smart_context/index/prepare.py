"""Make a file ready for the index: cut it, judge it as a whole, see what it is found by.

In: what a reader made of a file.  Out: `Prepared`.
Always: it depends on the file, its name, the longest segment and the rules of redaction alone; its text can be written as UTF-8.
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
    """How files are made ready: the longest segment, what a configuration hides, and whether they will be searched."""

    max_chars: int
    patterns: tuple[str, ...] = ()
    searched: bool = True


def file(doc: Extracted, path: str, how: Preparing, redactor: Redactor) -> Prepared:
    """Make a file ready."""
    segments = tuple(document.judged(list(map(_valid, segment.cut(doc, how.max_chars))), redactor))
    title, author = (document.head(valid(text), segments, redactor) for text in (doc.title, doc.author))
    about = replace(doc, title=title, author=author, notes=tuple(map(valid, doc.notes)), units=())
    shown = searchable.texts(segments)
    entries = tuple(searchable.carried(path, about.title, segments, shown)) if how.searched else ()
    known = copies.marks(shown) if how.searched else Marks()
    return Prepared(about, segments, _years(path, shown), entries, known.same, known.like)


def marks(segments: Iterable[Segment]) -> Marks:
    """What tells copies of a judged file: made of what of it may be searched, so that it says nothing of what is hidden."""
    return copies.marks(searchable.texts(segments))


def named_years(path: str, segments: Iterable[Segment]) -> tuple[str, ...]:
    """The years in a file's name, and in what of its text may be searched."""
    return _years(path, searchable.texts(segments))


def _years(path: str, shown: list[str]) -> tuple[str, ...]:
    return years.named_in([os.path.basename(path), *shown])


def _valid(one: Segment) -> Segment:
    """A segment whose texts can be written: nearly always itself."""
    heading, text = valid(one.heading), valid(one.text)
    if heading is one.heading and text is one.text:
        return one
    return replace(one, heading=heading, text=text)


def valid(text: str) -> str:
    """Text that can be written as UTF-8, whatever a file made of it."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-8", "replace").decode()
    return text
