"""Cut text into words, the units of scoring.

In: text.  Out: its words in lower case, in text order.
Always: words are separated by Unicode's White_Space and nothing else.
"""

from __future__ import annotations

import re

from smart_context.cache import lowercase

ASCII_SPACES = b"\t\n\v\f\r "

_WORD = "[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"


def of(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return split(lowercase.lower(text))


def spaced(text: str) -> bytes:
    """Return the words of a text, in lower case and UTF-8, with some of `ASCII_SPACES` between them and no other white space."""
    lowered = lowercase.lower(text)
    return (lowered if lowered.isascii() else " ".join(split(lowered))).encode()


def split(text: str) -> list[str]:
    """Return the runs between white space."""
    # Python's split is many times faster, but also cuts at U+001C to U+001F.
    if "\x1c" in text or "\x1d" in text or "\x1e" in text or "\x1f" in text:
        return re.findall(_WORD, text)
    if text.isascii() or lowercase.knows_python():
        return text.split()
    return re.findall(_WORD, text)
