"""What numbers look like, to tell in a moment that a text holds none of a kind.

In: folded text.  Out: its shape, as bytes.
Always: the shape is as long as the text, character by character; a stretch that is not in the shape is not in the text.
"""

from __future__ import annotations

_TABLE = bytes.maketrans(b"123456789./", b"000000000--")


def of(text: str) -> bytes:
    """Every digit as `0`, every dot, slash and hyphen as `-`; what is not ASCII as `?`."""
    return text.encode("ascii", "replace").translate(_TABLE)
