"""Tell whether a text or a name has an identifier as it was typed.

In: what was typed, texts, paths.  Out: yes or no.
Always: case counts where a capital was typed; what is hidden in a text has no part in it. The index finds an identifier however it is joined
(`array_size`, `arraySize`): only the text itself says how it is written there.
"""

from __future__ import annotations

import re
from functools import cached_property

from smart_context import later
from smart_context.engine import names
from smart_context.text import analysis, identifiers

_OTHER_CASES = re.compile("[\u0130\u0131\u017f\u212a]")  # what is a letter of ASCII in another case, and is none itself
SIGNED = re.compile(r"\w[\w.]*(?:\+\+|#)")  # `C++`, `F#`: the index knows the letters alone

PRICE = later.pattern(r"[€$£¥]\s*[0-9]|[0-9]\s*[€$£¥]")
_VERSION = later.pattern(r"[vV]?[0-9]{1,4}(?:\.[0-9]{1,4}){2,3}|[vV][0-9]{1,4}\.[0-9]{1,4}")


def wholes(token: str) -> list[str]:
    """What a typed token of several words may be as one. A number that reads as thousands is no fraction: `250,000` is not 250. A version is the
    same with a `v` before it and without."""
    found = identifiers.wholes(token)
    if _VERSION.fullmatch(token):
        return [*found, *identifiers.wholes(token[1:] if token[0] in "vV" else f"v{token}")]
    is_thousands = len(found) > 1 and ("," in token or token.endswith("000"))
    return found[:1] if is_thousands else found


def identifier(text: str) -> str:
    """A text that is one thing written in an own way, such as `ARRAY_SIZE`, `xFunc`, `C++` or `1,249.50`; else nothing."""
    is_one = text in analysis.cut(text).odd or SIGNED.fullmatch(text)
    return text if is_one and not analysis.has_no_spaces(text) else ""


class Spelling:
    """How an identifier was typed."""

    def __init__(self, typed: str) -> None:
        self._typed = typed
        self._is_any_case = typed == typed.lower()
        self._is_name = typed[:1].isalpha()

    def stands_in(self, text: str) -> bool:
        """Whether a text has it as it was typed."""
        found = text
        if self._is_any_case:
            # Letters of ASCII are found in a text that is made lower; what others are the same in any case, the pattern knows.
            if not self._typed.isascii() or (not text.isascii() and _OTHER_CASES.search(text)):
                return bool(self._pattern.search(text))
            found = text.lower()
        at = found.find(self._typed)  # a pattern would try every place of the text
        while at >= 0:
            end = at + len(self._typed)
            if not self._is_joined(text[max(at - 2, 0) : at]) and not _is_word(text[end : end + 1]):
                return True
            at = found.find(self._typed, at + 1)
        return False

    def _is_joined(self, before: str) -> bool:
        """Whether it is the end of a longer one: `ed25519` of `id-Ed25519`. Before a number, a dash may say from where it goes."""
        return _is_word(before[-1:]) or (self._is_name and before[-1:] == "-" and _is_word(before[:-1]))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        joined = r"(?<!\w-)" if self._is_name else ""
        return re.compile(rf"(?<!\w){joined}{re.escape(self._typed)}(?!\w)", re.IGNORECASE)

    def names(self, path: str) -> bool:
        """Whether a file is called so, whatever lies before its name."""
        return names.is_spelt(path, self._typed) and (self._is_any_case or self.stands_in(path))


def _is_word(side: str) -> bool:
    """Whether a character is one that patterns call a word's."""
    return side.isalnum() or side == "_"
