"""Tell whether a text or a name has an identifier as it was typed.

In: what was typed, texts, paths.  Out: yes or no.
Always: case counts where a capital was typed; what is hidden in a text has no part in it. The index finds an identifier however it is joined
(`array_size`, `arraySize`): only the text itself says how it is written there.
"""

from __future__ import annotations

import re

from smart_context.engine import names
from smart_context.text import analysis

_INNER = re.compile("[a-z][A-Z]")  # nobody types a capital inside of a word by chance
SIGNED = re.compile(r"\w[\w.]*(?:\+\+|#)")  # `C++`, `F#`: the index knows the letters alone


def identifier(text: str) -> str:
    """A text that is one thing written in an own way, such as `ARRAY_SIZE`, `xFunc`, `C++` or `1,249.50`; else nothing."""
    is_one = text in analysis.cut(text).odd or SIGNED.fullmatch(text)
    return text if is_one and not analysis.has_no_spaces(text) else ""


class Spelling:
    """How an identifier was typed."""

    def __init__(self, typed: str) -> None:
        self._typed = typed
        self._has_inner = bool(_INNER.search(typed))
        flags = re.IGNORECASE if typed == typed.lower() else re.NOFLAG
        self._pattern = re.compile(rf"(?<!\w){re.escape(typed)}(?!\w)", flags)

    def stands_in(self, text: str) -> bool:
        """Whether a text has it as it was typed."""
        return bool(self._pattern.search(text))

    def names(self, path: str) -> bool:
        """Whether a file is called so, whatever lies before its name."""
        return names.is_spelt(path, self._typed) and (not self._has_inner or self.stands_in(path))
