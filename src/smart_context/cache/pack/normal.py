"""Bring text into the form in which words are counted.

In: text.  Out: its words in UTF-8, with spaces between them: lower case, without accents and compatibility forms. A run of a script
that writes no spaces between words stands as one word.
Always: the result depends on the text alone: what Unicode says of a character is taken from our own tables, or from rules that
Unicode promises never to change.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from smart_context.cache import lowercase

_ASCII = bytes(code if code >= 0x80 or chr(code).isalnum() else 0x20 for code in range(256))
_FOREIGN = re.compile("[^\x00-\x7f]+")
# Scripts without spaces between words: Han, kana, Hangul, Thai, Lao, Burmese, Khmer.
_RUN = (
    "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U000323af"
)
_UNSPACED = re.compile(f"[{_RUN}]+")
_MARK = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06e8\u093c\u200c\u200d]"
)
_LETTERS = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "þ": "th", "ħ": "h", "ς": "σ",
    "ٱ": "ا", "ى": "ي", "ئ": "ي", "ؤ": "و", "ة": "ه", "ک": "ك", "ی": "ي", "ँ": "ं",
}  # fmt: skip


def words(text: str) -> bytes:
    """Return the words of a text."""
    lowered = lowercase.lower(text)
    if not lowered.isascii():
        lowered = _FOREIGN.sub(_plain, lowered)
    return lowered.encode().translate(_ASCII)


def spoken(text: str) -> list[str]:
    """Return the words of a text in lower case with their accents, as lists of stop words have them."""
    from smart_context.cache.pack.tables import SEPARATORS

    lowered = lowercase.lower(text)
    apart = [letter if letter.isascii() or not _within(letter, SEPARATORS) else " " for letter in lowered]
    return "".join(apart).encode().translate(_ASCII).decode().split()


def is_unspaced(word: str) -> bool:
    """Whether a word is a run of a script that writes no spaces between words."""
    return not word.isascii() and _UNSPACED.match(word) is not None


def pairs(run: str) -> list[str]:
    """Cut such a run into what is counted of it: overlapping pairs of characters, and the last one."""
    return [run[at : at + 2] for at in range(len(run))]


def _plain(found: re.Match[str]) -> str:
    plain = found[0].translate(_FORMS)
    return _UNSPACED.sub(r" \g<0> ", plain)


class _Forms(dict[int, str]):
    """The form of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _form(chr(code))
        return plain


def _form(letter: str) -> str:
    from smart_context.cache.pack.tables import FORMS, SEPARATORS

    if _MARK.match(letter):
        return ""
    if _within(letter, SEPARATORS):
        return " "
    letter = _LETTERS.get(letter, letter)
    if not _within(letter, FORMS):
        return letter
    import unicodedata

    bare = _MARK.sub("", unicodedata.normalize("NFKD", letter))
    whole = lowercase.lower(unicodedata.normalize("NFC", bare))
    return "".join(
        _LETTERS.get(part, " " if not part.isascii() and _within(part, SEPARATORS) else part) for part in whole
    )


def _within(letter: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    code = ord(letter[0])
    at = bisect_right(ranges, (code, 0x110000)) - 1
    return at >= 0 and ranges[at][0] <= code <= ranges[at][1]


_FORMS = _Forms()
