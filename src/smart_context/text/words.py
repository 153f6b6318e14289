"""Cut text into words and tokens, in every script.

In: any text.  Out: its lower-case words in order, and its tokens: what is written without a space and is more than one word,
such as `os.path.join`.
Always: the same text gives the same words. Scripts without spaces are cut into overlapping pairs of characters (bigrams). Known runs
are cached: it saves time, and changes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import filterfalse, pairwise

from smart_context import later
from smart_context.data import dataclass

MAX_TERM = 64  # characters; longer runs are blobs, which their beginning identifies well enough

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
WORD = later.pattern(rf"[\w{_MARKS}]+")
# A syllable, near enough: vowels written before their consonant, the consonant, and what stands on it or follows it.
_BEFORE = "\u0e40-\u0e44\u0ec0-\u0ec4"
_AFTER = "\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
_CLUSTER = later.pattern(f"[{_BEFORE}]?.[{_AFTER}]*", re.DOTALL)
# The same characters for what is compiled, which knows no script: in words beside `\w`, without spaces between words by characters and by syllables,
# and in these.
CLASSES = (_MARKS, _HAN + _KANA + _HANGUL, _SOUTH_EAST, _BEFORE, _AFTER)
# What joins several words to one token: an identifier, a version, a number. A comma joins digits only, and a token has at most eight
# parts, so that a line of a table does not become one.
_JOINT = r"(?:[-./+&'’@]|::?|(?<=[0-9]),(?=[0-9]))"
_TOKEN = later.pattern(rf"[\w{_MARKS}]+(?:{_JOINT}[\w{_MARKS}]+){{0,7}}")
_OPTION = later.pattern(r"(?<![\w-])--[A-Za-z][\w-]*")  # of a program
# The same by tables, for text in ASCII: many times as quick as a pattern.
_TO_WORDS = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_TO_RUNS = "".join(chr(code) if chr(code).isalnum() or chr(code) in "_-./+&'@:," else " " for code in range(128))
_PLAIN = (("’", "'"), ("‘", "'"), ("“", " "), ("”", " "), ("–", " "), ("—", " "), ("…", " "), ("\xa0", " "), ("•", " "))


@cache  # compiled when the first such character comes: it takes as long as the rest of this module
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_HAN}{_KANA}{_HANGUL}{_SOUTH_EAST}]+")


@cache
def _run() -> re.Pattern[str]:
    together = f"{_HAN}{_KANA}{_HANGUL}"
    return re.compile(f"([{together}]+)|([{_SOUTH_EAST}]+)|([^{together}{_SOUTH_EAST}]+)")


@dataclass(frozen=True, slots=True)
class Cut:
    """A text's words in order, lower case; and its different tokens that are more than one plain word, as they are written."""

    words: list[str]
    odd: list[str]


def cut(text: str) -> Cut:
    """Cut a text into its words, and find its tokens."""
    text = plainly(text)
    return Cut(split(text), _odd(text.translate(_TO_RUNS).split()) if text.isascii() else _tokens(text))


def cut_words(text: str) -> list[str]:
    """The words of a text in order, as the index has them."""
    return split(shortened(plainly(text)))


_DIGITS = 5  # of a long decimal's fraction, after its zeros, that are kept
_FRACTION = "0q"  # before them: no other word begins so
_HAS_LONG_DECIMAL = later.pattern(r"\.[0-9]{6}")
# Neither part of a version, of a number with thousands or of an identifier, nor a date (`1.20240115`) or a telephone number (`06.12345678`).
_LONG_DECIMAL = later.pattern(
    r"(?<![\w.])(0|[1-9][0-9]?|(?<![0-9][,'])[1-9][0-9]{2})\.(?=[0-9]{6})(?!(?:19|20)[0-9]{6}(?![0-9]))"
    rf"((0*[0-9]{{{_DIGITS}}})[0-9]*)(?:(e)[-+]?[0-9]{{1,3}})?(?!\w|\.[0-9])",
    re.IGNORECASE,
)
_PARTS = 5  # into which it splits a text for each match: its groups, and what comes after
_BEGUN = later.pattern(rf"[0-9]{{1,3}}[.,](0*[0-9]{{1,{_DIGITS}}})[0-9]*")
_LONG_MARK = later.pattern(r"(?<=[0-9])[.,](?=[0-9]{6})")


def shortened(text: str) -> str:
    """A plain text in which a decimal with six digits or more after its point has only the first ones, as a word of their own: they tell it well enough, and all
    of them would make indexes of measurements much larger. The text itself tells which of several it is."""
    if "." not in text or not _HAS_LONG_DECIMAL.search(text):
        return text
    # Split and put together again: a template of `sub` that names groups is filled in by Python code for each match.
    before, *found = _LONG_DECIMAL.split(text)
    parts = zip(found[::_PARTS], found[2::_PARTS], found[4::_PARTS], strict=True)
    return before + "".join([f" {whole} {_FRACTION}{begun} {after}" for whole, begun, after in parts])


def with_other_mark(text: str) -> str:
    """A text with a comma for the point of decimals with many digits, and a point for their comma."""
    if "." not in text and "," not in text:
        return text
    return _LONG_MARK.sub(lambda mark: "," if mark[0] == "." else ".", text)


def begun_fraction(text: str) -> str:
    """What the index has of long decimals that begin with this one; "" if it is none."""
    begun = _BEGUN.fullmatch(text) if text[:1].isdigit() else None
    return _FRACTION + begun[1] if begun else ""


def fractions(text: str) -> dict[str, str]:
    """The words of a text that are the fractions of long decimals, with either mark, and what `shortened` makes of them."""
    if "." not in text and "," not in text:  # as in most queries: nothing is compiled for these
        return {}
    found = (match for one in (text, with_other_mark(text)) for match in _LONG_DECIMAL.finditer(one))
    return {f"{match[2]}{match[4] or ''}".lower(): _FRACTION + match[3] for match in found}


def plainly(text: str) -> str:
    """The same text with plain quotes, dashes and spaces, and without compatibility forms."""
    if text.isascii():
        return text
    for mark, plain in _PLAIN:
        text = text.replace(mark, plain)
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def forget() -> None:
    """Clear the cache."""
    _plain.clear()


_MAX_KNOWN, _LONGEST = 100_000, 40  # runs remembered, and their characters: some ten megabytes
_JOINTS = "-./+&'@:,"  # what stands in runs of ASCII beside letters, digits and underscores
_plain: set[str] = set()  # runs that are a plain word, with a comma or a full stop perhaps


def _odd(runs: list[str]) -> list[str]:
    """The different tokens of runs of ASCII that are more than one plain word, as `_tokens` has them of the whole text."""
    odd: list[str] = []
    fresh: list[str] = []
    for run in dict.fromkeys(filterfalse(_plain.__contains__, runs)):
        bare = run.strip(_JOINTS)
        if bare.isalpha() and (bare.islower() or bare.istitle() or bare.isupper()):
            (odd if "--" in run else fresh).append(run)
        elif bare and not bare.isdigit():
            odd.append(run)
    if fresh:
        if len(_plain) > _MAX_KNOWN:
            _plain.clear()
        _plain.update([run for run in fresh if len(run) <= _LONGEST])
    return _tokens(" ".join(odd)) if odd else []


def _tokens(text: str) -> list[str]:
    """The different tokens that are more than one plain word: options of programs first."""
    return [*_options(text), *_other_tokens(text)]


def _options(text: str) -> list[str]:
    return [*dict.fromkeys(_OPTION.findall(text))] if "--" in text else []


def _other_tokens(text: str) -> list[str]:
    found = dict.fromkeys(_TOKEN.findall(text))
    return [token for token in found if not token.isdigit() and not _is_plain(token)]


def _is_plain(run: str) -> bool:
    return run.isalpha() and (run.islower() or run.istitle() or run.isupper())


def split(text: str) -> list[str]:
    """The words of a text, in order: lower case, without compatibility forms, runs without spaces cut into pairs."""
    if text.isascii():
        return text.lower().translate(_TO_WORDS).split()
    plain = WORD.findall(normal(text).replace("_", " "))
    if not has_no_spaces(text) and not has_no_spaces("".join(plain)):
        return plain
    return [piece for word in plain for piece in (pairs(word) if has_no_spaces(word) else (word,))]


def units(text: str) -> list[str]:
    """The words of a query: as `split`, but a run's last character is left out where it stands in a pair already."""
    out: list[str] = []
    for word in WORD.findall(normal(text).replace("_", " ")):
        if not has_no_spaces(word):
            out.append(word)
            continue
        for run in _run().finditer(word):
            if len(run[0]) == 2 and run[0][1] in _PARTICLES:
                out.append(run[0][0])  # a Korean noun of one syllable: it stands before other particles too
                continue
            pieces = pairs(run[0]) if not run[3] else [run[0]]
            out += pieces[:-1] if len(pieces) > 1 else pieces
    return out


def pairs(word: str) -> list[str]:
    """Cut runs without spaces into overlapping pairs; the last character stands alone too, so that every one begins a term."""
    out: list[str] = []
    for run in _run().finditer(word):
        if run[3]:
            out.append(run[3])
            continue
        characters = run[1] or _CLUSTER.findall(run[2])
        out += [a + b for a, b in pairwise(characters)]
        out.append(characters[-1])
    return out


def has_no_spaces(word: str) -> bool:
    """Whether a word is of a script that has no spaces between words."""
    return not word.isascii() and bool(_unspaced().search(word))


def spaced(text: str) -> list[str]:
    """The words of a text as they stand in it, but for those of scripts without spaces."""
    found: list[str] = WORD.findall(_unspaced().sub(" ", text.replace("_", " ")))
    return found


def is_part(unit: str) -> bool:
    """Whether a unit of a query is a single character of a script without spaces: it is looked for as the beginning of a term."""
    return not unit.isascii() and bool(_unspaced().match(unit)) and len(pairs(unit)) == 1


def normal(text: str) -> str:
    """Lower case, full-width and other compatibility forms made plain, accents kept."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


_MARK = later.pattern(
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


def fold_all(words: list[str]) -> list[str]:
    """Words without their accents, each as `fold` has it."""
    # Nothing is composed across the end of a line, so all words are folded in one call.
    joined = "\n".join(words)
    if joined.isascii():
        return words
    return [bare or word for bare, word in zip(fold(joined).split("\n"), words, strict=True)]
