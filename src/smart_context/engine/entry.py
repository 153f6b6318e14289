"""Decide what of a segment goes into the ranking index.

In: a segment's text, and what names it: the file's path and title, its heading.  Out: an `Entry`, engine-neutral.
Always: an entry depends on these alone, and on the text that goes on after it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from smart_context import later
from smart_context.data import dataclass
from smart_context.digest import blake2b
from smart_context.engine import names
from smart_context.text import codes, explained, passage
from smart_context.text.passage import Heads

COMPOUNDING = frozenset({"de", "nl", "sv", "da", "nb", "fi", "hu"})
_COMPOUND = 8  # letters from which a word may be a compound
BREAK = "\x1d"  # a term that no text has: no phrase reaches from a heading into the text
REACH = 4  # words on either side of a border between segments that a phrase across it may have
# What a pointer says about the place in one text, as against another one, such as the next slide or attachment.
_PLACE = later.pattern(r"(?:(?:^| )(?:page|lines|rows|paragraphs) [0-9-]+)+$")
_OTHER = 2.0  # what must speak for another language than the file's
_REACHED = 100  # characters that so many words have at most
_SAMPLE, _SEGMENTS = 300, 20  # what of a file's text speaks for its language


@dataclass(frozen=True, slots=True)
class Entry:
    """A segment as the ranking index takes it.

    text: the terms of its heads and its text, in order. also: what else it is found by. packed: the same for `forward.scan`.
    length: of the text, in words. compounds: the long words of a language that compounds. border: the last words, a break, and the
    first words of the segment in which the text goes on.
    """

    text: str
    also: str
    packed: bytes
    length: int
    language: str
    compounds: str
    border: str


@dataclass(frozen=True, slots=True)
class Written:
    """An `Entry` as it is carried: its texts in UTF-8."""

    text: bytes
    also: bytes
    packed: bytes
    length: int
    language: str
    compounds: bytes
    border: bytes


class Piece(Protocol):
    """What of a segment its entry is made of."""

    @property
    def pointer(self) -> str:
        """Where it stands."""

    @property
    def heading(self) -> str:
        """What stands above it."""

    @property
    def text(self) -> str:
        """What it says."""


def every(path: str, title: str, segments: Sequence[Piece]) -> Iterator[Entry]:
    """The entries of a file's segments, in their order."""
    for made in written(path, title, segments):
        texts = (part.decode() for part in (made.text, made.also, made.compounds, made.border))
        text, also, compounds, border = texts
        yield Entry(text, also, made.packed, made.length, made.language, compounds, border)


def written(path: str, title: str, segments: Sequence[Piece]) -> Iterator[Written]:
    """The same as they are written."""
    title = _text(title)
    places = [_PLACE.sub("", segment.pointer) for segment in segments]
    otherwise: str | None = None  # most files are in English, and need not be looked at as a whole
    for at, segment in enumerate(segments):
        found = passage.of(segment.text)
        if found.is_surely_english():
            language = "en"
        else:
            if otherwise is None:
                otherwise = language_of([each.text for each in segments])
            # A word or two do not make a segment another language than its file. Where nothing tells, English rules do least harm.
            language = found.language(_OTHER if otherwise else 1.0) or otherwise or "en"
        heads = _heads(path, title, _text(segment.heading), language)
        explains = explained.terms(segment.text)
        length, text, also, last, packed = found.written(language, heads, explains, REACH)
        compounds = " ".join(found.surfaces(_COMPOUND)).encode() if language in COMPOUNDING else b""
        goes_on = places[at : at + 1] == places[at + 1 : at + 2]  # the text of one segment goes on in the next
        following = segments[at + 1].text if goes_on else ""
        border = _border(last, following, language) if following else b""
        yield Written(text, also, packed, length, language, compounds, border)


def language_of(texts: Sequence[str]) -> str:
    """The language of a file as a whole, "" where nothing tells: what holds for a segment that does not show its own."""
    return passage.language(" ".join(text[:_SAMPLE] for text in texts[:_SEGMENTS]))


def words_of_name(path: str) -> str:
    """What a file's name says: its stem, as text."""
    return _text(os.path.splitext(os.path.basename(path))[0])


def folder_keys(path: str) -> list[str]:
    """The key of every folder above a file."""
    keys: list[str] = []
    while (parent := os.path.dirname(path)) != path:
        keys.append(folder_key(parent))
        path = parent
    return keys


def folder_key(folder: str) -> str:
    """A folder as one term of fixed size, whatever its name."""
    return blake2b(os.fsencode(folder.rstrip("/") or "/"), digest_size=9).hexdigest()


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the heads: its terms, each once, with a break after them; other terms; the codes of either; and of what is there."""

    line: str
    also: str
    line_codes: bytes
    also_codes: bytes
    present: bytes


@lru_cache(maxsize=64)  # the segments of a file share their heads, mostly
def _heads(path: str, title: str, heading: str, language: str) -> Heads:
    name, own, own_codes = _names(path)
    parts = [_part(text, language) for text in dict.fromkeys((name, title, heading)) if text]
    return Heads(
        "".join([part.line for part in parts]).encode(),
        " ".join([*(part.also for part in parts if part.also), *own]).encode(),
        b"".join([*(part.line_codes for part in parts), *(part.also_codes for part in parts), own_codes]),
        b"".join([part.present for part in parts]),
    )


@lru_cache(maxsize=256)
def _part(text: str, language: str) -> _Part:
    found = passage.of(text).terms(language)
    # Each head says a word once, so that a name that repeats itself gains nothing.
    once = list(dict.fromkeys(found.line.split()))
    line_codes = b"".join(map(codes.code, once))
    return _Part(" ".join(once) + f" {BREAK} ", found.also, line_codes, found.also_codes, found.present_codes)


@lru_cache(maxsize=4)
def _names(path: str) -> tuple[str, list[str], bytes]:
    own = list(filter(None, names.of_file(path)))
    return words_of_name(path), own, b"".join(map(codes.code, own))


def _border(last: bytes, following: str, language: str) -> bytes:
    begins = " ".join(following[:_REACHED].split(None, REACH)[:REACH])
    first = passage.line(begins, language).split()[:REACH]
    return b" ".join([*last.split(), *map(str.encode, (BREAK, *first))])


def _text(name: str) -> str:
    return name if name.isascii() else name.encode("utf-8", "replace").decode()
