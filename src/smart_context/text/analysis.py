"""Turn text into terms: the same way when it is indexed and when it is asked for.

In: text and its language (for Latin letters; other scripts speak for themselves).
Out: `Terms`: one term for each word, in order (`line`), and what else the words are found by (`also`): the whole of an
identifier, its parts, a form without accents.
Always: terms depend on the text and the language alone; a change here raises `ranking_state.ANALYSIS_VERSION`, and the
ranking is built anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from smart_context.text import languages, stems

TAG = "~"  # between a stem and its language
MAX_TERM = 64  # characters; longer runs are blobs, told apart well enough by their beginning
_MAX_KNOWN = 300_000  # words remembered a language

# Combining marks that belong to a word; `\w` leaves them out. Indic signs and letters stand together in their blocks.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8"
    "\u0900-\u0963\u0971-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u200c\u200d\u3099\u309a"
)
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_SOUTH_EAST = "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer

_PARTICLES = frozenset("은는이가을를의에로와과도만")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
WORD = re.compile(rf"[\w{_MARKS}]+")
_UNSPACED = re.compile(f"[{_HAN}{_KANA}{_HANGUL}{_SOUTH_EAST}]")
_RUN = re.compile(f"([{_HAN}{_KANA}{_HANGUL}]+)|([{_SOUTH_EAST}]+)|([^{_HAN}{_KANA}{_HANGUL}{_SOUTH_EAST}]+)")
# A syllable, near enough: vowels written before their consonant, the consonant, and what stands on it or follows it.
_CLUSTER = re.compile(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?.[\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3]*",
    re.DOTALL,
)
# What is one thing to people though it has several words: an identifier, a version, a number. Found in the text as it is written.
# Each begins where its first run does: to try again inside of the run would find the same, and take a dump in hexadecimal the square of its length.
_JOINED = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*|(?<![A-Z])[A-Z]{2,}[a-z]{2}[A-Za-z0-9]*"  # getUserName, HTTPServer
    r"|(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[-_./:+&'’@,][A-Za-z0-9]+)+"  # snake_case, v2.1.3, ISO-27001, 1,000, O'Brien
    r"|(?<![A-Za-z])[A-Za-z]{2,}[0-9]{2,}|(?<![0-9])[0-9]{2,}[A-Za-z]{2,}"  # ISO27001
)
_DECIMAL = re.compile(r"[0-9]+[.,](?:[0-9]{1,2}|[0-9]{4,})")  # with three digits, it may be a thousand
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALNUM = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one text: `line` in order, joined by spaces; `also` without order, joined by spaces."""

    line: str
    also: str


@dataclass(frozen=True, slots=True)
class Hits:
    """What a run of text has of what is sought: (place in the run, number), and numbers found by its other forms."""

    places: tuple[tuple[int, int], ...]
    also: frozenset[int]


@dataclass(slots=True)
class _Known:
    """What was met before, in one language: words, and the runs between spaces that they stand in."""

    primary: dict[str, str]
    also: dict[str, str]
    line_of: dict[str, str]
    also_of: dict[str, str]


_known: dict[str, _Known] = {}


def terms(text: str, language: str) -> Terms:
    """Analyse one text."""
    runs = text.split()
    known = _knowledge(language)
    try:
        lines = [line for line in map(known.line_of.__getitem__, runs) if line]
    except KeyError:
        _meet(runs, language, known)
        lines = [line for line in map(known.line_of.__getitem__, runs) if line]
    return Terms(" ".join(lines), " ".join([known.also_of[run] for run in runs if run in known.also_of]))


def hits(runs: Set[str], language: str, numbers: Mapping[str, tuple[int, ...]]) -> dict[str, Hits]:
    """Of runs between spaces, those that have one of the numbered terms: where in the run, and which by what else it is found by."""
    known = _knowledge(language)
    line_of, also_of = known.line_of, known.also_of
    new = [run for run in runs if run not in line_of]
    if new:
        _meet(sorted(new), language, known)
    out: dict[str, Hits] = {}
    for run in [run for run in runs if (line := line_of[run]) in numbers or " " in line or run in also_of]:
        terms = enumerate(line_of[run].split())
        places = tuple((at, number) for at, term in terms if term in numbers for number in numbers[term])
        also = frozenset(number for term in also_of.get(run, "").split() for number in numbers.get(term, ()))
        if places or also:
            out[run] = Hits(places, also)
    return out


def _meet(runs: list[str], language: str, known: _Known) -> None:
    # Words are learnt together, because one call of the stemmer for many is cheap.
    new = {run: split(run) for run in runs if run not in known.line_of}
    learn([word for words in new.values() for word in words], language, known)
    for run, words in new.items():
        known.line_of[run] = " ".join([known.primary[word] for word in words])
        also = [known.also[word] for word in words if word in known.also]
        also += joined(run, language, known)
        if also:
            known.also_of[run] = " ".join(also)


def forget() -> None:
    """Forget what was met before; it costs time, and changes nothing else."""
    _known.clear()


def _knowledge(language: str) -> _Known:
    known = _known.get(language)
    if known is None or len(known.line_of) > _MAX_KNOWN or len(known.primary) > _MAX_KNOWN:
        known = _known[language] = _Known({}, {}, {}, {})
    return known


def surfaces(text: str) -> frozenset[str]:
    """The different words of a text as they stand, but for case and accents."""
    return frozenset(fold(word)[:MAX_TERM] for word in split(text))


def units(text: str) -> list[str]:
    """The words of a query: as `split`, but a run's last character is left out where it stands in a pair already."""
    out: list[str] = []
    for word in WORD.findall(normal(text).replace("_", " ")):
        if not _UNSPACED.search(word):
            out.append(word)
            continue
        for run in _RUN.finditer(word):
            if len(run[0]) == 2 and run[0][1] in _PARTICLES:
                out.append(run[0][0])  # a Korean noun of one syllable: it stands before other particles too
                continue
            pieces = _pairs(run[0]) if not run[3] else [run[0]]
            out += pieces[:-1] if len(pieces) > 1 else pieces
    return out


def has_no_spaces(word: str) -> bool:
    """Whether a word is of a script that writes none between words."""
    return not word.isascii() and bool(_UNSPACED.search(word))


def is_part(unit: str) -> bool:
    """Whether a unit of a query is a single character of a script without spaces: it is looked for as the beginning of a term."""
    return bool(_UNSPACED.match(unit)) and len(_pairs(unit)) == 1


def split(text: str) -> list[str]:
    """The words of a text, in order: lower case, without compatibility forms, runs without spaces cut into pairs."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    words = WORD.findall(normal(text).replace("_", " "))
    if not _UNSPACED.search(text) and not _UNSPACED.search("".join(words)):
        return words
    return [piece for word in words for piece in (_pairs(word) if _UNSPACED.search(word) else (word,))]


def normal(text: str) -> str:
    """Lower case, full-width and other compatibility forms made plain, accents kept."""
    return unicodedata.normalize("NFKC", text).lower()


def _pairs(word: str) -> list[str]:
    """Cut runs without spaces into overlapping pairs; the last character stands alone too, so that every one begins a term."""
    out: list[str] = []
    for run in _RUN.finditer(word):
        if run[3]:
            out.append(run[3])
            continue
        characters = list(run[1]) if run[1] else _CLUSTER.findall(run[2])
        out += [a + b for a, b in pairwise(characters)]
        out.append(characters[-1])
    return out


def learn(words: list[str], language: str, known: _Known | None = None) -> None:
    """Know every one of these words in a language: its term, and what else it is found by."""
    known = known or _knowledge(language)
    new = [word for word in dict.fromkeys(words) if word not in known.primary]
    if new:
        _learn(new, language, known)


def _learn(new: list[str], language: str, known: _Known) -> None:
    groups: dict[str, list[str]] = {}
    for word in new:
        groups.setdefault(_rules(word, language), []).append(word)
    for rules, group in groups.items():
        # A Latin stem belongs to its language: French "rates" and English "rats" must not meet in "rat".
        tag = f"{TAG}{rules}" if rules in languages.STOP_WORDS and rules != "en" else ""
        bare = [fold(word) for word in group]
        for word, plain, kept, folded in zip(
            group, bare, stems.stem(group, rules), stems.stem(bare, rules), strict=True
        ):
            first = fold(kept)[:MAX_TERM] + tag
            known.primary[word] = first
            others = {folded[:MAX_TERM] + tag, plain[:MAX_TERM] if rules in _SURFACE else first} - {first}
            if others:
                known.also[word] = " ".join(sorted(others))


_SURFACE = frozenset({"ar", "he", "hi"})  # rules that cut much: the whole word is kept beside the stem


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
    if code >= 0x0E00 and (_UNSPACED.match(char) or code >= 0x2E80):
        return "none"
    return ""


def _rules(word: str, language: str) -> str:
    """Whose rules a word is stemmed by: its script's, else the text's; what holds a digit is nobody's."""
    if word.isascii():
        return language if word.isalpha() else ""
    return _script_of(word[0]) or language


_MARK = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06e8\u093c\u200c\u200d]"
)
_LETTER = str.maketrans(
    {
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "þ": "th", "ħ": "h", "ς": "σ",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ئ": "ي", "ؤ": "و", "ة": "ه", "ک": "ك", "ی": "ي", "ँ": "ं",
    }
)  # fmt: skip


def fold(word: str) -> str:
    """A word without its accents, and with one form where a letter has several."""
    if word.isascii():
        return word
    bare = _MARK.sub("", unicodedata.normalize("NFD", word.translate(_LETTER)))
    # A word of accents alone stays: every word has a stem.
    return unicodedata.normalize("NFC", bare).translate(_LETTER) or word


def joined(run: str, language: str, known: _Known) -> list[str]:
    """What identifiers are found by beside their words: whole (`iso27001`), and in parts (`get user name`)."""
    if run.isalpha() and (run.islower() or run.isupper() or run.istitle()):
        return []
    out: list[str] = []
    for found in _JOINED.findall(run):
        words = _ALNUM.findall(found)
        pieces = [_PIECE.findall(word) for word in words]
        parts = [piece for several in pieces if len(several) > 1 for piece in several if len(piece) > 1]
        if len(words) > 1 and not _DECIMAL.fullmatch(found):  # nobody looks for 3.14 by 314
            parts.append("".join(words))
        lower = [part.lower()[:MAX_TERM] for part in parts]
        learn(lower, language, known)
        out += [known.primary[part] for part in lower]
    return out


def language(text: str, otherwise: str = "") -> str:
    """The language of a text's Latin words; without evidence, the other one given."""
    return languages.detect(text[:800].lower().split()) or otherwise
