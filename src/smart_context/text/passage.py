"""Analyse a text for the index: cut it into words once, then give its language and its terms.

In: a text.  Out: a `Passage` with its language and terms.
Always: the results are those of `analysis` and `languages`, compiled or not. In compiled code known words and tokens have numbers
in a table: a text is an array of numbers, and new words are added here, by the rules of `analysis`. A table beyond its size limit is replaced by a new one.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Sequence
from functools import cache

from smart_context.data import NamedTuple
from smart_context.text import analysis, codes, identifiers, languages, stems, words
from smart_context.text.analysis import Terms

try:
    from smart_context.text import _passage as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_MOST = 40_000_000  # bytes of the table: some 400,000 words and tokens, in all languages together
_LONGEST = (
    1 << 22
)  # characters of a text that is cut into numbers; without compatibility forms it may have many times as many
# Flags of words: evidence for languages, and for English alone; the other bits are for stop words.
_VOTES, _ENGLISH = 1 << 30, 1 << 31


BREAK = "\x1d"  # a term that no text has: no phrase reaches from a head into the text, nor from one text into the next
_BREAK = BREAK.encode()
REACH = 4  # words on either side of a border between segments that a phrase across it may have
_REACHED = 100  # characters that are enough for so many words
ENTRY = struct.Struct("<IIIIIIB")
"""What an entry begins with as bytes: how many words its text has, the lengths of its parts (those of `entry`), and the number of its language."""


class Heads(NamedTuple):
    """The heads above a text (title, heading …), in UTF-8: the terms of each in order, further terms, their codes, and the short codes."""

    line: bytes
    also: bytes
    codes: bytes
    present: bytes


class Head(NamedTuple):
    """One of the heads: its terms, each once, with a break after them; further terms; the codes of both; and the short codes."""

    line: bytes
    also: bytes
    line_codes: bytes
    also_codes: bytes
    present: bytes


class Around(NamedTuple):
    """The parts of an entry beside its text. begins: the `beginning` of the next segment, in which the text goes on; None where it does not."""

    heads: Heads
    explained: list[str]
    begins: str | None = None
    compounds: bytes = b""


def entry(
    language: str, length: int, text: bytes, also: bytes, compounds: bytes, border: bytes, packed: bytes
) -> bytes:
    """Serialize an entry: a text of `length` words, and its parts."""
    parts = text, also, compounds, border, packed
    return b"".join((ENTRY.pack(length, *map(len, parts), languages.CODES.index(language)), *parts))


def beginning(text: str) -> str:
    """Enough of a text for its first words."""
    return " ".join(text[:_REACHED].split(None, REACH)[:REACH])


class _Cut:
    """A passage as its words: its language, what it is found by in a language, and its long words."""

    def __init__(self, text: str) -> None:
        self._found = analysis.cut(words.shortened(words.plainly(text)))

    def language(self, least: float = 1.0) -> str:
        return languages.detect(self._found.words, least)

    def terms(self, language: str) -> Terms:
        return analysis.read(self._found, language)

    def head(self, language: str) -> Head:
        found = self.terms(language)
        once = list(dict.fromkeys(found.line.split()))
        line_codes = b"".join(map(codes.code, once))
        line = f"{' '.join(once)} {BREAK} ".encode()
        return Head(line, found.also.encode(), line_codes, found.also_codes, found.present_codes)

    def written(self, language: str, around: Around, _others: Sequence[Passage] = ()) -> bytes:
        body = self.terms(language)
        heads, explained, begins, compounds = around
        length = body.line.count(" ") + 1
        also_codes = body.also_codes + b"".join(map(codes.code, explained))
        packed = codes.pack(length, body.line_codes, also_codes, heads.codes, body.present_codes + heads.present)
        also = b" ".join([heads.also, body.also.encode(), *map(str.encode, explained)])
        last = body.line.rsplit(None, REACH)[-REACH:]
        first = " ".join(analysis.line(analysis.cut_words(begins), language)).split()[:REACH] if begins else []
        border = " ".join([*last, BREAK, *first]) if begins is not None else ""
        return entry(language, length, heads.line + body.line.encode(), also, compounds, border.encode(), packed)

    def surfaces(self, shortest: int) -> list[str]:
        return analysis.surfaces(self._found, shortest)


class _Numbered:
    """A passage as the numbers of its words and tokens in a table."""

    __slots__ = ("_english", "_letters", "_table", "_tokens", "_words")

    def __init__(self, table: compiled.Table, text: str) -> None:
        self._table = table
        text, is_lowered = _plainly(text)
        text = words.shortened(text)
        if text.isascii():
            self._letters = 0
            self._words, self._english, self._tokens = table.both(text)
            return
        self._letters = languages.SAMPLE
        self._words, self._english = table.words(text if is_lowered else text.lower())
        self._tokens, untold = table.tokens(text)
        for token in untold:
            table.tell(token, identifiers.wholes(token), identifiers.parts(token))

    def language(self, least: float = 1.0) -> str:
        return _language(self._table, self._words, self._english, self._letters, least)

    def terms(self, language: str) -> Terms:
        _learn(self._table, language, self._words, self._tokens)
        return Terms(*self._table.terms(languages.CODES.index(language), self._words, self._tokens))

    def head(self, language: str) -> Head:
        number = languages.CODES.index(language)
        found = self._table.head(number, self._words, self._tokens, _BREAK + b" ")
        if found is None:
            _learn(self._table, language, self._words, self._tokens)
            found = self._table.head(number, self._words, self._tokens, _BREAK + b" ")
            assert found
        return Head(*found)

    def written(self, language: str, around: Around, others: Sequence[Passage] = ()) -> bytes:
        """The entry. others: passages in the same language, of which new words are learned along with those of this one."""
        table, number = self._table, languages.CODES.index(language)
        heads, explained, begins, compounds = around
        if begins is not None:
            begins = words.shortened(begins if begins.isascii() else _plainly(begins)[0].lower())
        given = number, self._words, self._tokens, heads, explained, compounds, begins, _BREAK, REACH
        found = table.written(*given)
        if found is None:
            first = table.words(begins)[0] if begins else b""
            known = [one for one in (self, *others) if isinstance(one, _Numbered) and one._table is table]
            _learn(
                table,
                language,
                b"".join([first, *(one._words for one in known)]),
                b"".join([one._tokens for one in known]),
            )
            found = table.written(*given)
            assert found
        return found

    def surfaces(self, shortest: int) -> list[str]:
        return analysis.surfaces(analysis.Cut(self._table.long(self._words, shortest), []), shortest)


Passage = _Cut | _Numbered


def of(text: str) -> Passage:
    """Cut a text."""
    return _Numbered(_table(), text) if compiled and len(text) <= _LONGEST else _Cut(text)


def language(text: str) -> str:
    """The language of a text, as `analysis.language` says."""
    if not compiled:
        return analysis.language(text)
    table = _table()
    return _language(table, *table.words(words.normal(text)), languages.SAMPLE, 1.0)


def is_narrow(text: str) -> bool:
    """Whether a text surely has no character beyond the BMP; without the compiled code this is known of few texts."""
    return text.isascii() or (compiled is not None and not compiled.is_wide(text))


def _plainly(text: str) -> tuple[str, bool]:
    """`words.plainly` of a text, and whether only its ASCII letters may change in lower case."""
    if text.isascii():
        return text, True
    text, is_normal, is_lowered = compiled.plain(text)
    return (text, is_lowered) if is_normal else (unicodedata.normalize("NFKC", text), False)


def forget() -> None:
    """Clear the table; it costs time, and changes nothing else."""
    global _known  # noqa: PLW0603
    _known = None


_known: compiled.Table | None = None


def _table() -> compiled.Table:
    """The table of words and tokens. A caller keeps the table that it has, even if a new one is begun."""
    global _known  # noqa: PLW0603
    known = _known
    if known is None or known.size() > _MOST:
        # Seeded by Python's own hashes, which differ from process to process: nobody can predict collisions.
        _known = known = compiled.Table(hash("seed"), hash("factor"), _ranges(), _flags())
    return known


@cache
def _ranges() -> list[tuple[int, int, int]]:
    """The ranges of characters of each class, with its bit."""
    pattern = re.compile("(.)(?:-(.))?", re.DOTALL)
    return [
        (ord(first), ord(last or first), 1 << number)
        for number, characters in enumerate((*words.CLASSES, languages.RARE))
        for first, last in pattern.findall(characters)
    ]


@cache
def _flags() -> dict[str, int]:
    """The flags of each stop word: its languages, and whether it is evidence for one."""
    flags = dict.fromkeys(languages.OTHER_STOP_WORDS, _flag(""))
    for language, listed in languages.STOP_WORDS.items():
        for word in listed:
            flags[word] = flags.get(word, 0) | _flag(language)
    for word in languages.BY_WORD:
        flags[word] |= _VOTES | (_ENGLISH if word in languages.ENGLISH else 0)
    return dict(sorted(flags.items()))  # the table adds up votes in the order of the words' numbers


def _flag(rules: str) -> int:
    """The flag of a language's stop words; scripts that need no detection share one."""
    return 1 << languages.CODES.index(rules) if rules in languages.STOP_WORDS else 1


def _language(table: compiled.Table, met: bytes, english: int, letters: int, least: float) -> str:
    """The language of words; letters: of how many words the letters are examined, 0 for text in ASCII."""
    if english >= languages.SURELY:
        return "en"
    votes = table.votes(met, letters)
    if votes is None:
        return languages.weighed(*table.evidence(met, languages.SAMPLE), least)
    best, said, told, distinct = votes
    return languages.decided(languages.CODES[best], said, told, distinct, least)


def _learn(table: compiled.Table, language: str, met: bytes, tokens: bytes) -> None:
    """Add the new words of a text to the table: all together, because one call of the stemmer for many is cheap."""
    number = languages.CODES.index(language)
    numbers, plain, others, rest = table.unknown(number, met, tokens)
    if numbers:
        _learn_group(table, number, language, numbers, plain.split(" "))
    if not others:
        return
    found = rest.split(" ")
    groups: dict[str, list[int]] = {}
    for at, word in enumerate(found):
        groups.setdefault(analysis.rules_of(word, language), []).append(at)
    for rules, places in groups.items():
        which = b"".join([others[4 * at : 4 * at + 4] for at in places])
        _learn_group(table, number, rules, which, [found[at] for at in places])


def _learn_group(table: compiled.Table, number: int, rules: str, numbers: bytes, group: list[str]) -> None:
    """Add words with the same stemming rules, as `analysis` does."""
    bare = words.fold_all(group)
    kept = stems.stem(group, rules)
    folded = kept if bare == group else stems.stem(bare, rules)
    keeps_whole = rules in analysis.SURFACE
    table.learn(number, analysis.tag_of(rules), _flag(rules), keeps_whole, numbers, bare, words.fold_all(kept), folded)
