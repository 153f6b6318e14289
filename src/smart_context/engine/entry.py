"""Make the entries of segments in the ranking index.

In: a segment's text, and what names it: the file's path and title, its heading.  Out: an `Entry`, engine-neutral.
Always: an entry depends on these alone, and on the text that goes on after it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache

from smart_context.data import dataclass
from smart_context.digest import blake2b
from smart_context.engine import names
from smart_context.text import codes, explained, passage, topics
from smart_context.text.passage import Around, Head, Heads

COMPOUNDING = frozenset({"de", "nl", "sv", "da", "nb", "fi", "hu"})
_COMPOUND = 8  # letters from which a word may be a compound
BREAK, REACH = passage.BREAK, passage.REACH
# Kinds of places in one continuous text; a slide, an attachment or the next row of a table begins another text.
_WITHIN = frozenset({"page", "lines", "paragraphs"})
_DIGITS = "0123456789-"
_OTHER = 2.0  # the evidence that a segment needs for a language of its own
_TOGETHER = 64  # segments whose new words are learned together
_SAMPLE, _SEGMENTS = 300, 20  # characters of each of the first segments, by which the language of a file is detected


@dataclass(frozen=True, slots=True)
class Entry:
    """A segment as the ranking index takes it.

    text: the terms of its heads and its text, in order. also: what else it is found by. packed: the same for `find.score`.
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


def written(
    path: str, title: str, pointers: Sequence[str], headings: Sequence[str], texts: Sequence[str]
) -> Iterator[bytes]:
    """The entries of a file's segments, in their order, as bytes: of each where it stands, what stands above it, and what it says."""
    title = _text(title)
    places = list(map(_place, pointers))
    begun = _topics(title, headings)
    otherwise: str | None = None  # detected on first need: most segments show their own language
    for first in range(0, len(texts), _TOGETHER):
        together: dict[str, list[passage.Passage]] = {}
        spoken: list[tuple[str, passage.Passage]] = []
        for text in texts[first : first + _TOGETHER]:
            found = passage.of(text)
            language = found.language(_OTHER)
            if not language:
                if otherwise is None:
                    otherwise = language_of(texts)
                # A word or two do not make a segment another language than its file. Where nothing tells, English rules do least harm.
                language = otherwise or found.language() or "en"
            spoken.append((language, found))
            together.setdefault(language, []).append(found)
        for at, (language, found) in enumerate(spoken, first):
            heads = _heads(path, title, _text(headings[at]), language)
            compounds = " ".join(found.surfaces(_COMPOUND)).encode() if language in COMPOUNDING else b""
            goes_on = places[at : at + 1] == places[at + 1 : at + 2]  # the text of one segment goes on in the next
            following = texts[at + 1] if goes_on else ""
            begins = passage.beginning(following) if following else None
            own = [*explained.terms(texts[at]), *begun[at]]
            yield found.written(language, Around(heads, own, begins, compounds), together[language])


def _topics(title: str, headings: Sequence[str]) -> list[tuple[str, ...]]:
    """What each segment is the beginning of: a section, by its heading; and the file, by its title, if no section has that."""
    own = [
        topics.of_heading(heading) if not at or heading != headings[at - 1] else ()
        for at, heading in enumerate(headings)
    ]
    if own:
        sections = {term for some in own for term in some}
        own[0] = (*own[0], *(term for term in topics.of_title(title) if term not in sections))
    return own


def language_of(texts: Sequence[str]) -> str:
    """The language of a file as a whole, "" if unknown; used for segments whose own language is not clear."""
    return passage.language(" ".join(text[:_SAMPLE] for text in texts[:_SEGMENTS]))


def words_of_name(path: str) -> str:
    """The file name without its extension, as text."""
    return _text(os.path.splitext(os.path.basename(path))[0])


def folder_keys(path: str) -> list[str]:
    """The key of every folder above a file."""
    folder = os.path.dirname(path)
    return list(_keys_from(folder)) if folder != path else []


@lru_cache(maxsize=256)  # files are met folder by folder
def _keys_from(folder: str) -> tuple[str, ...]:
    keys = [folder_key(folder)]
    while (parent := os.path.dirname(folder)) != folder:
        keys.append(folder_key(parent))
        folder = parent
    return tuple(keys)


_DECADE, _CENTURY = 3, 2  # digits of a year that its decade and its century share


def year_keys(years: Sequence[str]) -> list[str]:
    """The keys of a file's years: one for a decade or a century of which it names every year, as long tables of numbers do."""
    keys = set(years)
    for size in (_DECADE, _CENTURY):
        for shared in {key[:size] for key in keys}:
            every = {_year_key(f"{shared}{digit}") for digit in "0123456789"}
            if every <= keys:
                keys = keys - every | {_year_key(shared)}
    return sorted(keys)


def keys_of_year(year: str) -> list[str]:
    """The keys by which files that name a year are found."""
    return [year, _year_key(year[:_DECADE]), _year_key(year[:_CENTURY])]


def _year_key(digits: str) -> str:
    return digits.ljust(4, "*")


def folder_key(folder: str) -> str:
    """A folder as one term of fixed size, whatever its name."""
    return blake2b(os.fsencode(folder.rstrip("/") or "/"), digest_size=9).hexdigest()


@lru_cache(maxsize=64)  # the segments of a file share their heads, mostly
def _heads(path: str, title: str, heading: str, language: str) -> Heads:
    name, own, own_codes = _names(path)
    parts = [_part(text, language) for text in dict.fromkeys((name, title, heading)) if text]
    return Heads(
        b"".join([part.line for part in parts]),
        b" ".join([*(part.also for part in parts if part.also), *own]),
        b"".join([*(part.line_codes for part in parts), *(part.also_codes for part in parts), own_codes]),
        b"".join([part.present for part in parts]),
    )


@lru_cache(maxsize=256)
def _part(text: str, language: str) -> Head:
    # Each head says a word once, so that a name that repeats itself gains nothing.
    return passage.of(text).head(language)


@lru_cache(maxsize=4)
def _names(path: str) -> tuple[str, list[bytes], bytes]:
    own = list(filter(None, names.of_file(path)))
    return words_of_name(path), list(map(str.encode, own)), b"".join(map(codes.code, own))


def _place(pointer: str) -> str:
    """A pointer without the pages, lines and paragraphs at its end."""
    while (number := pointer[-1:]) and number in _DIGITS:
        before, _, number = pointer.rpartition(" ")
        before, _, kind = before.rpartition(" ")
        if kind not in _WITHIN or number.strip(_DIGITS):
            break
        pointer = before
    return pointer


def _text(name: str) -> str:
    return name if name.isascii() else name.encode("utf-8", "replace").decode()
