"""Names of files as UTF-8, whatever the locale makes of them.

In: a name or argument as Python got it from the system, or text.  Out: the other.
Always: the bytes on disk are the UTF-8 of the text; what is not UTF-8 keeps its bytes as lone surrogates, and `is_text` tells.
"""

from __future__ import annotations

import os
import sys

_IS_UTF8 = sys.getfilesystemencoding() == "utf-8"


def as_text(name: str) -> str:
    """Return a name from the system as text."""
    return name if _IS_UTF8 else os.fsencode(name).decode("utf-8", "surrogateescape")


def for_system(text: str) -> str:
    """Return the name for the system of a text."""
    return text if _IS_UTF8 else os.fsdecode(text.encode("utf-8", "surrogateescape"))


def is_text(text: str) -> bool:
    """Whether a text is valid Unicode, so that it stands for valid UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
