"""Read a text for the index: cut it once, tell its language, and say what it is found by.

In: a text.  Out: `Passage`, which answers for it.
Always: it answers what `analysis` and `languages` say of the text, compiled or not. Compiled, words and tokens that were met before have numbers
in a table: a text is a row of numbers, and what is new is learnt here, by the rules of `analysis`. The table has a size, and is begun anew beyond it.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from functools import cache

from smart_context.data import NamedTuple
from smart_context.text import analysis, codes, identifiers, languages, stems, words
from smart_context.text.analysis import Terms

try:
    from smart_context.text import _passage as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_MOST = 40_000_000  # bytes that words and tokens are remembered in: some 400,000 of them, in all languages together
_LONGEST = (
    1 << 22
)  # characters of a text that is cut into numbers; without compatibility forms it may have many times as many
# Flags of words: one speaks for languages, for English alone; the others are for stop words.
_VOTES, _ENGLISH = 1 << 30, 1 << 31


BREAK = "\x1d"  # a term that no text has: no phrase reaches from a head into the text, nor from one text into the next
_BREAK = BREAK.encode()
REACH = 4  # words on either side of a border between texts that a phrase across it may have
_REACHED = 100  # characters that so many words have at most
ENTRY = struct.Struct("<IIIIIIB")
"""What an entry begins with as bytes: how many words its text has, the lengths of its parts (those of `entry`), and the number of its language."""


class Heads(NamedTuple):
    """What stands above a text, in UTF-8: the terms of each head in order, other terms, their codes, and those of what is there."""

    line: bytes
    also: bytes
    codes: bytes
    present: bytes


class Head(NamedTuple):
    """One of the heads: its terms, each once, with a break after them; other terms; the codes of either; and of what is there."""

    line: bytes
    also: bytes
    line_codes: bytes
    also_codes: bytes
    present: bytes


class Around(NamedTuple):
    """What an entry is made of beside its text. begins: how the text goes on elsewhere, as `beginning` has it; None where it does not."""

    heads: Heads
    explained: list[str]
    begins: str | None = None
    compounds: bytes = b""


def entry(
    language: str, length: int, text: bytes, also: bytes, compounds: bytes, border: bytes, packed: bytes
) -> bytes:
    """An entry as bytes: a text of so many words, by its parts."""
    parts = text, also, compounds, border, packed
    return b"".join((ENTRY.pack(length, *map(len, parts), languages.CODES.index(language)), *parts))


def beginning(text: str) -> str:
    """Enough of a text for its first words."""
    return " ".join(text[:_REACHED].split(None, REACH)[:REACH])


class _Cut:
    """A passage as its words: its language, what it is found by in a language, and its long words."""

    def __init__(self, text: str) -> None:
        self._found = analysis.cut(text)

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

    def written(self, language: str, around: Around) -> bytes:
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

    def written(self, language: str, around: Around) -> bytes:
        table, number = self._table, languages.CODES.index(language)
        heads, explained, begins, compounds = around
        if begins is not None and not begins.isascii():
            begins = _plainly(begins)[0].lower()
        given = number, self._words, self._tokens, heads, explained, compounds, begins, _BREAK, REACH
        found = table.written(*given)
        if found is None:
            first = table.words(begins)[0] if begins else b""
            _learn(table, language, self._words + first, self._tokens)
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
    """Whether a text surely has no character beyond the first plane of Unicode, which is known of few without looking at them where nothing is compiled."""
    return text.isascii() or (compiled is not None and not compiled.is_wide(text))


def _plainly(text: str) -> tuple[str, bool]:
    """What `words.plainly` says of a text, and whether no letter but those of ASCII has another one in lower case."""
    if text.isascii():
        return text, True
    text, is_normal, is_lowered = compiled.plain(text)
    return (text, is_lowered) if is_normal else (unicodedata.normalize("NFKC", text), False)


def forget() -> None:
    """Forget what was met before; it costs time, and changes nothing else."""
    global _known  # noqa: PLW0603
    _known = None


_known: compiled.Table | None = None


def _table() -> compiled.Table:
    """What is known of words and tokens. Who holds a table goes on with it, though another one may be begun."""
    global _known  # noqa: PLW0603
    known = _known
    if known is None or known.size() > _MOST:
        # Python's own hashes differ from process to process: nobody knows which words fall together.
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
    """Of each word that carries little meaning: in which languages, and whether it tells one."""
    flags = dict.fromkeys(languages.OTHER_STOP_WORDS, _flag(""))
    for language, listed in languages.STOP_WORDS.items():
        for word in listed:
            flags[word] = flags.get(word, 0) | _flag(language)
    for word in languages.BY_WORD:
        flags[word] |= _VOTES | (_ENGLISH if word in languages.ENGLISH else 0)
    return dict(sorted(flags.items()))  # the table adds up what they say in the order of their numbers


def _flag(rules: str) -> int:
    """The flag of stop words that are a language's; those of scripts that need no detection have one in common."""
    return 1 << languages.CODES.index(rules) if rules in languages.STOP_WORDS else 1


def _language(table: compiled.Table, met: bytes, english: int, letters: int, least: float) -> str:
    """The language of words; letters: of how many of them letters are looked at, none of text in ASCII."""
    if english >= languages.SURELY:
        return "en"
    votes = table.votes(met, letters)
    if votes is None:
        return languages.weighed(*table.evidence(met, languages.SAMPLE), least)
    best, said, told, distinct = votes
    return languages.decided(languages.CODES[best], said, told, distinct, least)


def _learn(table: compiled.Table, language: str, met: bytes, tokens: bytes) -> None:
    """Learn what is new in a text: words together, because one call of the stemmer for many is cheap."""
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
    """As `analysis` learns words of the same rules."""
    bare = words.fold_all(group)
    kept = stems.stem(group, rules)
    folded = kept if bare == group else stems.stem(bare, rules)
    keeps_whole = rules in analysis.SURFACE
    table.learn(number, analysis.tag_of(rules), _flag(rules), keeps_whole, numbers, bare, words.fold_all(kept), folded)
