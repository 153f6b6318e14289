"""Read a text for the index: cut it once, tell its language, and say what it is found by.

In: a text.  Out: `Passage`, which answers for it.
Always: it answers what `analysis` and `languages` say of the text, compiled or not. Compiled, words and tokens that were met before have numbers
in a table: a text is a row of numbers, and what is new is learnt here, by the rules of `analysis`. The table has a size, and is begun anew beyond it.
"""

from __future__ import annotations

import re
from functools import cache

from smart_context.data import dataclass
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


Written = tuple[int, bytes, bytes, bytes, bytes]
"""A text below its heads: its words, the terms of heads and text in order, their other terms, the last terms of the text, and the codes of all."""


@dataclass(frozen=True, slots=True)
class Heads:
    """What stands above a text, in UTF-8: the terms of each head in order, other terms, their codes, and those of what is there."""

    line: bytes
    also: bytes
    codes: bytes
    present: bytes


class _Cut:
    """A passage as its words: its language, what it is found by in a language, and its long words."""

    def __init__(self, text: str) -> None:
        self._found = analysis.cut(text)

    def is_surely_english(self) -> bool:
        return languages.is_surely_english(self._found.words)

    def language(self, least: float = 1.0) -> str:
        return languages.detect(self._found.words, least)

    def terms(self, language: str) -> Terms:
        return analysis.read(self._found, language)

    def written(self, language: str, heads: Heads, explained: list[str], reach: int) -> Written:
        body = self.terms(language)
        length = body.line.count(" ") + 1
        also_codes = body.also_codes + b"".join(map(codes.code, explained))
        packed = codes.pack(length, body.line_codes, also_codes, heads.codes, body.present_codes + heads.present)
        also = b" ".join([heads.also, body.also.encode(), *map(str.encode, explained)])
        last = " ".join(body.line.rsplit(None, reach)[-reach:])
        return length, heads.line + body.line.encode(), also, last.encode(), packed

    def surfaces(self, shortest: int) -> list[str]:
        return analysis.surfaces(self._found, shortest)


class _Numbered:
    """A passage as the numbers of its words and tokens in a table."""

    __slots__ = ("_english", "_table", "_tokens", "_words")

    def __init__(self, table: compiled.Table, text: str) -> None:
        self._table = table
        if text.isascii():
            self._words, self._english, self._tokens = table.both(text)
            return
        self._words, self._english = table.words(text.lower())
        self._tokens, untold = table.tokens(text)
        for token in untold:
            table.tell(token, identifiers.wholes(token), identifiers.parts(token))

    def is_surely_english(self) -> bool:
        return self._english >= languages.SURELY

    def language(self, least: float = 1.0) -> str:
        return _language(self._table, self._words, self._english, least)

    def terms(self, language: str) -> Terms:
        _learn(self._table, language, self._words, self._tokens)
        return Terms(*self._table.terms(languages.CODES.index(language), self._words, self._tokens))

    def written(self, language: str, heads: Heads, explained: list[str], reach: int) -> Written:
        number = languages.CODES.index(language)
        above = heads.line, heads.also, heads.codes, heads.present
        found = self._table.written(number, self._words, self._tokens, *above, explained, reach)
        if found is None:
            _learn(self._table, language, self._words, self._tokens)
            found = self._table.written(number, self._words, self._tokens, *above, explained, reach)
            assert found
        return found

    def surfaces(self, shortest: int) -> list[str]:
        return analysis.surfaces(analysis.Cut(self._table.long(self._words, shortest), []), shortest)


Passage = _Cut | _Numbered


def of(text: str) -> Passage:
    """Cut a text."""
    return _Numbered(_table(), words.plainly(text)) if compiled and len(text) <= _LONGEST else _Cut(text)


def language(text: str) -> str:
    """The language of a text, as `analysis.language` says."""
    if not compiled:
        return analysis.language(text)
    table = _table()
    return _language(table, *table.words(words.normal(text)), 1.0)


def line(text: str, language: str) -> str:
    """The terms of a text's words, in order."""
    if not compiled:
        return " ".join(analysis.line(analysis.cut_words(text), language))
    table, number = _table(), languages.CODES.index(language)
    plain = words.plainly(text).lower()
    found = table.line(number, plain)
    if found is None:
        _learn(table, language, table.words(plain)[0], b"")
        found = table.line(number, plain)
        assert found is not None
    return found


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
        for number, characters in enumerate(words.CLASSES)
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
    return flags


def _flag(rules: str) -> int:
    """The flag of stop words that are a language's; those of scripts that need no detection have one in common."""
    return 1 << languages.CODES.index(rules) if rules in languages.STOP_WORDS else 1


def _language(table: compiled.Table, met: bytes, english: int, least: float) -> str:
    if english >= languages.SURELY:
        return "en"
    return languages.weighed(*table.evidence(met, languages.SAMPLE), least)


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
