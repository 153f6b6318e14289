"""Find out whether a text or a file name has an identifier exactly as it was typed.

In: what was typed; texts without what is hidden in them; paths.  Out: whether they have it.
Always: case matters only if a capital was typed. The index finds an identifier in any spelling (`array_size`, `arraySize`), so that the text itself must be read.
"""

from __future__ import annotations

import re
from functools import cached_property

from smart_context import later
from smart_context.engine import names
from smart_context.text import analysis, identifiers
from smart_context.text.words import fractions, with_other_mark

_OTHER_CASES = re.compile("[\u0130\u0131\u017f\u212a]")  # not ASCII, but equal to an ASCII letter if case is ignored
SIGNED = re.compile(r"\w[\w.]*(?:\+\+|#)")  # `C++`, `F#`: the index has only the letters
_MARKED = later.pattern(
    r"[.$@#%\\](?:[A-Za-z_]\w*|(?<=#)\d+)(?:[./:-]\w+)*"
)  # `.NET`, `$HOME`, `@scope/pkg`, `#define`, `\frac`

PRICE = later.pattern(r"[€$£¥]\s*[0-9]|[0-9]\s*[€$£¥]")
_VERSION = later.pattern(r"[vV]?[0-9]{1,4}(?:\.[0-9]{1,4}){2,3}|[vV][0-9]{1,4}\.[0-9]{1,4}")


def wholes(token: str) -> list[str]:
    """The terms of a typed token of several words as one. `250,000` is a number with thousands, not the fraction 250.000; a version is the same with and
    without a `v` before it."""
    found = identifiers.wholes(token)
    if _VERSION.fullmatch(token):
        return [*found, *identifiers.wholes(token[1:] if token[0] in "vV" else f"v{token}")]
    if not found and identifiers.is_number(token):
        return [token]  # the index has its first digits alone: it is looked for as a sequence of words
    is_thousands = len(found) > 1 and ("," in token or token.endswith("000"))
    return found[:1] if is_thousands else found


def decimal(text: str) -> str:
    """The only decimal with many digits in a text, such as `0.38774098` in `0.38774098 %`; "" if there is none, or another. The index has its first digits alone."""
    found = [token for token in analysis.cut(text).odd if fractions(token)] if fractions(text) else []
    return found[0] if len(found) == 1 else ""


def identifier(text: str) -> str:
    """The text, if it is one identifier or number with a spelling of its own, such as `ARRAY_SIZE`, `xFunc`, `C++`, `.NET` or `1,249.50`; else ""."""
    is_one = text in analysis.cut(text).odd or SIGNED.fullmatch(text) or _MARKED.fullmatch(text)
    return text if is_one and not analysis.has_no_spaces(text) else ""


class Spelling:
    """How an identifier was typed."""

    def __init__(self, typed: str, *, either: bool = True) -> None:
        self._typed = typed
        other = with_other_mark(typed) if either and identifiers.is_number(typed) else typed
        self._other = Spelling(other, either=False) if other != typed else None
        self._is_any_case = typed == typed.lower()
        self._is_name = typed[:1].isalpha()

    def stands_in(self, text: str) -> bool:
        """Whether a text has it as it was typed; a decimal with many digits with either mark."""
        return self._stands_in(text) or (self._other is not None and self._other.stands_in(text))

    def _stands_in(self, text: str) -> bool:
        found = text
        if self._is_any_case:
            # ASCII is found in the text in lower case; for other letters that are equal without case, the regular expression is needed.
            if not self._typed.isascii() or (not text.isascii() and _OTHER_CASES.search(text)):
                return bool(self._pattern.search(text))
            found = text.lower()
        at = found.find(self._typed)  # faster than a regular expression, which tries every position
        while at >= 0:
            end = at + len(self._typed)
            if not self._is_joined(text[max(at - 2, 0) : at]) and not _is_word(text[end : end + 1]):
                return True
            at = found.find(self._typed, at + 1)
        return False

    @property
    def may_be_option(self) -> bool:
        """Whether it may be meant as an option, typed without its dashes: `force-with-lease`."""
        return self._is_name and "-" in self._typed

    def stands_apart_in(self, text: str) -> bool:
        """Whether a text has it otherwise than as an option: `human-readable`, not `--human-readable`."""
        # Without dashes there is no option to leave out, and no pattern to compile.
        return self.stands_in(self._option.sub(" ", text) if "--" in text else text)

    @cached_property
    def _option(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)--{re.escape(self._typed)}(?!\w)", re.IGNORECASE)

    def _is_joined(self, before: str) -> bool:
        """Whether it is the end of a longer identifier: `ed25519` of `id-Ed25519`. A dash before a number may be that of a range."""
        return _is_word(before[-1:]) or (self._is_name and before[-1:] == "-" and _is_word(before[:-1]))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        joined = r"(?<!\w-)" if self._is_name else ""
        return re.compile(rf"(?<!\w){joined}{re.escape(self._typed)}(?!\w)", re.IGNORECASE)

    def names(self, path: str) -> bool:
        """Whether a file has this name, in any folder."""
        return names.is_spelt(path, self._typed) and (self._is_any_case or self.stands_in(path))


def _is_word(side: str) -> bool:
    """Whether a character matches `\\w`."""
    return side.isalnum() or side == "_"
