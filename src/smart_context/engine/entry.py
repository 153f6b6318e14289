"""Decide what of a segment goes into the ranking index.

In: a segment and the file it stands in.  Out: an `Entry`, engine-neutral.
Always: an entry depends on the segment, its file's name, title and language alone.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from smart_context.engine.model import RankedFile, RankedSegment
from smart_context.text import analysis, forward

COMPOUNDING = frozenset({"de", "nl", "sv", "da", "nb", "fi", "hu"})
_COMPOUND = 8  # letters from which a word may be a compound
BREAK = "\x1d"  # a term that no text has: no phrase reaches from a heading into the text
REACH = 4  # words on either side of a border between segments that a phrase across it may have
# What a pointer says about the place in one text, as against another one, such as the next slide or attachment.
_PLACE = re.compile(r"(?:(?:^| )(?:page|lines|rows|paragraphs) [0-9-]+)+$")
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


def language_of(segments: Sequence[RankedSegment]) -> str:
    """The language of a file as a whole: what holds for a segment that does not show its own."""
    return analysis.language(" ".join(s.text[:_SAMPLE] for s in segments[:_SEGMENTS])) or "en"


def make(file: RankedFile, segment: RankedSegment, otherwise: str, after: RankedSegment | None) -> Entry:
    """Make a segment's entry; `after`: the next one of the file."""
    language = analysis.language(segment.text, otherwise)
    body = analysis.terms(segment.text, language)
    head = _head(words_of_name(file.path), _text(file.title), _text(segment.heading), language)
    packed = forward.pack(body.line, body.also, f"{head.line.replace(BREAK, ' ')} {head.also}")
    compounds = ""
    if language in COMPOUNDING:
        compounds = " ".join(sorted(word for word in analysis.surfaces(segment.text) if len(word) >= _COMPOUND))
    also = f"{head.also} {body.also}".strip()
    border = _border(body.line, after.text, language) if after and _goes_on(segment.pointer, after.pointer) else ""
    return Entry(head.line + body.line, also, packed, body.line.count(" ") + 1, language, compounds, border)


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
    return hashlib.blake2b(os.fsencode(folder.rstrip("/") or "/"), digest_size=9).hexdigest()


@lru_cache(maxsize=64)  # the segments of a file share their head, mostly
def _head(name: str, title: str, heading: str, language: str) -> analysis.Terms:
    parts = [analysis.terms(text, language) for text in dict.fromkeys((name, title, heading)) if text]
    # Each head says a word once, so that a name that repeats itself gains nothing.
    line = "".join(" ".join(dict.fromkeys(part.line.split())) + f" {BREAK} " for part in parts)
    return analysis.Terms(line, " ".join(filter(None, (part.also for part in parts))))


def _goes_on(pointer: str, following: str) -> bool:
    return _PLACE.sub("", pointer) == _PLACE.sub("", following)


def _border(line: str, following: str, language: str) -> str:
    first = analysis.terms(" ".join(following[:_SAMPLE].split()[:REACH]), language).line.split()[:REACH]
    return " ".join([*line.rsplit(None, REACH)[-REACH:], BREAK, *first])


def _text(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
