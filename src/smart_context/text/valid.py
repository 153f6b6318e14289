"""Make a text valid UTF-8.

In: a text, as a file or its name has it.  Out: itself, or with a question mark in place of each surrogate.
Always: what comes out can be encoded, and has as many characters.
"""

from __future__ import annotations


def utf8(text: str) -> str:
    """The text made valid UTF-8."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-8", "replace").decode()
    return text
