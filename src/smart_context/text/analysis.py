"""Turn text into terms: in the same way for indexing and for queries.

In: text and its language (for Latin letters; other scripts need none).
Out: `Terms`: one term for each word, in order (`line`), and further terms of the words (`also`): the whole of an identifier, its parts,
a form without accents.
Always: terms depend on the text and the language alone; a change here raises `ranking_state.ANALYSIS_VERSION`, and the
ranking is built anew. Known words are cached: it saves time, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from functools import lru_cache

from smart_context.data import dataclass
from smart_context.text import codes, identifiers, languages, stems
from smart_context.text import words as text_words
from smart_context.text.words import (
    MAX_TERM,
    WORD,
    Cut,
    cut,
    cut_words,
    fold,
    has_no_spaces,
    is_part,
    normal,
    split,
    units,
)

__all__ = [
    "FORM", "MAX_TERM", "TAG", "WORD", "Cut", "Hits", "Terms", "cut", "cut_words", "depends_on_language", "fold", "forget", "form", "has_no_spaces",
    "hits", "is_part", "language", "line", "read", "split", "stems_of", "surfaces", "terms", "units", "words",
]  # fmt: skip

TAG = "~"  # between a stem and its language
FORM = "="  # before a word as it is written
_MAX_KNOWN = 200_000  # words and tokens remembered, in all languages together
_PAIR = 3  # characters: shorter runs need not be cut into pairs


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one text: `line` in order, joined by spaces; `also` without order.

    The codes are the same for `codes.pack`: of the line without stop words, of `also`, and of terms of which only the presence counts: words as
    they are written, where their stems differ, and stop words.
    """

    line: str
    also: str
    line_codes: bytes
    also_codes: bytes
    present_codes: bytes


@dataclass(frozen=True, slots=True)
class Hits:
    """The numbered terms in a token: (position in it, number), and the numbers found by its other forms."""

    places: tuple[tuple[int, int], ...]
    also: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)  # one for each word: compared by identity, which takes no time
class _Extra:
    """What most words do not have: further terms, their codes, and the code of which only the presence counts."""

    terms: str
    codes: bytes
    there: bytes


_Known = tuple[str, bytes, _Extra | None]  # its term, its code ("" of a stop word), and what most words do not have


class _Table:
    """The cache of one language: its words, and the further terms of tokens with their codes."""

    __slots__ = ("tokens", "words")

    def __init__(self) -> None:
        self.words: dict[str, _Known] = {}
        self.tokens: dict[str, tuple[str, bytes]] = {}


class _Tables(dict[str, _Table]):
    """The caches by language. `size`: the words and tokens in all of them, counted as they are added, because summing up takes longer than adding a word."""

    size = 0

    def clear(self) -> None:
        super().clear()
        self.size = 0


_tables = _Tables()


def terms(text: str, language: str) -> Terms:
    """Analyse one text."""
    return read(cut(text), language)


def read(found: Cut, language: str) -> Terms:
    """Analyse a text that was cut into words."""
    every = _known(found.words, language)
    extra = list(filter(None, dict.fromkeys([one[2] for one in every])))
    odd = _odd(found.odd, language) if found.odd else []
    also = [one.terms for one in extra if one.terms] + [one[0] for one in odd if one[0]]
    return Terms(
        " ".join([one[0] for one in every]),
        " ".join(also),
        b"".join([one[1] for one in every]),
        b"".join([one.codes for one in extra] + [one[1] for one in odd]),
        b"".join([one.there for one in extra]),
    )


def line(words: Collection[str], language: str) -> list[str]:
    """The terms of a text's words, in order."""
    return [one[0] for one in _known(words, language)]


def hits(runs: Set[str], language: str, numbers: Mapping[str, tuple[int, ...]]) -> dict[str, Hits]:
    """The written words of a text that have one of the numbered terms: at which position, and which numbers by further terms."""
    out: dict[str, Hits] = {}
    # A pair of characters is already a word: it is not cut again.
    cuts = {run: [normal(run)] if len(run) < _PAIR and has_no_spaces(run) else split(run) for run in runs}
    every = list({word for cut in cuts.values() for word in cut})
    known = dict(zip(every, _known(every, language), strict=True))  # learnt together
    odd = [run for run in runs if not (run.isalpha() and run.islower())]
    others = {run: more.split() for run, (more, _) in zip(odd, _odd(odd, language), strict=True) if more}
    for run, words in cuts.items():
        places = tuple((at, number) for at, word in enumerate(words) for number in numbers.get(known[word][0], ()))
        also = [term for word in words if (extra := known[word][2]) for term in extra.terms.split()]
        found = frozenset(number for term in (*also, *others.get(run, ())) for number in numbers.get(term, ()))
        if places or found:
            out[run] = Hits(places, found)
    return out


def words(found: Collection[str], language: str) -> list[list[str]]:
    """The terms of each of these lower-case words: its stem first, then forms without accents and the like."""
    table = _tables.get(language)
    known = table.words if table else {}
    # Most words of a query, and of text to be marked for it, occur once: they are not cached.
    new = [word for word in dict.fromkeys(found) if word not in known]
    letters = "".join(new)
    if new and not (letters.isascii() and letters.isalpha() and all(new)):
        return list(map(_terms_of, _known(found, language)))
    terms = dict(zip(new, _of_letters(new, language), strict=True)) if new else {}
    return [terms.get(word) or _terms_of(known[word]) for word in found]


def stems_of(found: Collection[str], language: str) -> list[str]:
    """The first term of each of these lower-case words, its stem: what is stemmed alone takes half of the time of all its terms."""
    plain = [word for word in found if word.isascii() and word.isalpha()]
    others = [word for word in found if not (word.isascii() and word.isalpha())]
    tag = tag_of(language)
    short = [stem[:MAX_TERM] + tag for stem in text_words.fold_all(stems.stem(plain, language))] if plain else []
    terms = dict(zip(plain, short, strict=True))
    terms.update(zip(others, [several[0] for several in words(others, language)], strict=True))
    return [terms[word] for word in found]


def _terms_of(known: _Known) -> list[str]:
    term, _, extra = known
    return [term, *extra.terms.split()] if extra else [term]


def _of_letters(words: list[str], language: str) -> list[list[str]]:
    """The terms of words in ASCII letters, as `_learn` makes them."""
    tag, found = tag_of(language), stems.stem(words, language)
    if language not in SURFACE and "".join(found).isascii():
        return [[stem[:MAX_TERM] + tag] for stem in found]
    rows = zip(words, map(fold, found), found, strict=True)  # some rules end a stem in `ç`
    own = [
        _word(False, word[:MAX_TERM], stem[:MAX_TERM], other[:MAX_TERM], tag, language) for word, stem, other in rows
    ]
    return list(map(_terms_of, own))


def depends_on_language(word: str) -> bool:
    """Whether the terms of a lower-case word depend on the language; otherwise its script, or a digit in it, decides."""
    return word.isalpha() if word.isascii() else not _script_of(word[0])


def form(word: str) -> str:
    """The term of a lower-case word as it is written."""
    return FORM + fold(word)[:MAX_TERM]


def forget() -> None:
    """Clear the caches; it costs time, and changes nothing else."""
    _tables.clear()
    text_words.forget()


def surfaces(found: Cut, shortest: int) -> list[str]:
    """The different long words as written, without case and accents, sorted."""
    long = {fold(word)[:MAX_TERM] for word in found.words if len(word) >= shortest}
    return sorted(word for word in long if len(word) >= shortest)


def language(text: str, otherwise: str = "") -> str:
    """The language of a text's Latin words; `otherwise` without evidence."""
    return languages.detect(split(text)) or otherwise


def _table(language: str) -> _Table:
    if _tables.size > _MAX_KNOWN:
        _tables.clear()
    return _tables.setdefault(language, _Table())


def _known(words: Collection[str], language: str) -> list[_Known]:
    table = _tables.get(language) or _table(language)
    try:
        return list(map(table.words.__getitem__, words))
    except KeyError:
        table = _table(language)
        # They are learnt together, because one call of the stemmer for many is cheap.
        new = list(set(words).difference(table.words))
        _learn(new, language, table.words)
        _tables.size += len(new)
        return list(map(table.words.__getitem__, words))


def _odd(tokens: list[str], language: str) -> list[tuple[str, bytes]]:
    """The further terms of tokens, beside their words."""
    table = _tables.get(language) or _table(language)
    try:
        return list(map(table.tokens.__getitem__, tokens))
    except KeyError:
        table = _table(language)
        for token in tokens:
            if token not in table.tokens:
                also = dict.fromkeys(identifiers.wholes(token))
                if parts := identifiers.parts(token):
                    also |= dict.fromkeys([term for term, _, _ in _known(parts, language)])
                table.tokens[token] = " ".join(also), b"".join(map(codes.code, also))
                _tables.size += 1
        return list(map(table.tokens.__getitem__, tokens))


def _learn(words: list[str], language: str, known: dict[str, _Known]) -> None:
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(rules_of(word, language), []).append(word)
    for rules, group in groups.items():
        # A Latin stem belongs to its language: French "rates" and English "rats" must not meet in "rat".
        tag = tag_of(rules)
        empty = languages.STOP_WORDS.get(rules, languages.OTHER_STOP_WORDS)
        bare = [word if word.isascii() else fold(word) for word in group]
        kept = stems.stem(group, rules)
        folded = kept if bare == group else stems.stem(bare, rules)
        for word, plain, stem, other in zip(group, bare, kept, folded, strict=True):
            if (
                word == stem == other
                and word == plain
                and len(word) <= MAX_TERM
                and word.isascii()
                and word not in empty
            ):
                known[word] = (
                    word + tag,
                    codes.code(word + tag, True),
                    None,
                )  # it is its own stem, like most rare words
            else:
                short = fold(stem)[:MAX_TERM]
                known[word] = _word(word in empty, plain[:MAX_TERM], short, other[:MAX_TERM], tag, rules)


def tag_of(rules: str) -> str:
    """The suffix of the stems of a language."""
    return f"{TAG}{rules}" if rules in languages.STOP_WORDS and rules != "en" else ""


def _word(is_empty: bool, plain: str, stem: str, other: str, tag: str, rules: str) -> _Known:
    term = stem + tag
    others = [other + tag] if other != stem else []
    if rules in SURFACE and plain not in (stem, other):
        others.append(plain)
    there = term if is_empty else FORM + plain if plain != stem else ""
    # A stop word is not in the line of codes: only its presence is stored.
    code = b"" if is_empty else codes.code(term, not there)
    if not others and not there:
        return term, code, None
    more = _Extra(" ".join(others), b"".join(map(codes.code, others)), codes.short(there) if there else b"")
    return term, code, more


SURFACE = frozenset({"ar", "he", "hi"})  # rules that cut much: the whole word is kept beside the stem


@lru_cache(maxsize=4096)
def _script_of(char: str) -> str:
    code = ord(char)
    if 0x0370 <= code <= 0x03FF or 0x1F00 <= code <= 0x1FFF:
        return "el"
    if 0x0400 <= code <= 0x052F:
        return "ru"
    if 0x0590 <= code <= 0x05FF:
        return "he"
    if 0x0600 <= code <= 0x06FF or 0x0750 <= code <= 0x077F:
        return "ar"
    if 0x0900 <= code <= 0x097F:
        return "hi"
    if 0x0B80 <= code <= 0x0BFF:
        return "ta"
    if code >= 0x0E00 and (has_no_spaces(char) or code >= 0x2E80):
        return "none"
    return ""


def rules_of(word: str, language: str) -> str:
    """The language whose rules stem a word: that of its script, else of the text; "" for a word in ASCII with a digit."""
    if word.isascii():
        return language if word.isalpha() else ""
    return _script_of(word[0]) or language
