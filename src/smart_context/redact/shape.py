"""The shape of a text, to find quickly where it may hold numbers of some kind.

In: folded text.  Out: its shape, as bytes, and where numbers may stand in it.
Always: the shape is as long as the text, character by character; a stretch that is not in the shape is not in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TABLE = bytes.maketrans(b"123456789./", b"000000000--")
_NUMBER = re.compile(rb"0[0 ()\-\t\r\n]{4,}+")
# Two letters and two digits, and something after them: how an account begins.
_ACCOUNT = re.compile(
    rb"00(?:(?<=[A-Za-z]{2}00)(?<![A-Za-z0][A-Za-z]{2}00)|(?<=[A-Za-z]{2} 00)(?<![A-Za-z0][A-Za-z]{2} 00))"
    rb"(?=[ \-]?[A-Za-z0]|[ \t]?\r?\n[A-Za-z0])"
)


def of(text: str) -> bytes:
    """Every digit as `0`, every dot, slash and hyphen as `-`; what is not ASCII as `?`."""
    return text.encode("ascii", "replace").translate(_TABLE)


def numbers(shape: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of digits, spaces, hyphens and brackets that hold at least that many digits."""
    for match in _NUMBER.finditer(shape):
        start, end = match.span()
        if shape.count(b"0", start, end) >= least:
            yield start, end


def accounts(shape: bytes) -> Iterator[int]:
    """Yield where two letters stand that two digits follow."""
    for match in _ACCOUNT.finditer(shape):
        yield match.start() - (3 if shape[match.start() - 1] == ord(" ") else 2)
