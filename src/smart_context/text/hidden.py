"""Serialize the hidden spans of a text, for the segments of an index.

In: `Hidden`.  Out: three variable-length numbers for each span (distance from the last one, length, kind), and back.
Always: `unpack(pack(x))` is `x`; invalid bytes hide the whole text.
"""

from __future__ import annotations

from smart_context.model import HIDDEN_KINDS, Hidden

_MORE = 0x80


def pack(hidden: Hidden) -> bytes:
    """Write what is hidden."""
    out = bytearray()
    at = 0
    for start, end, kind in hidden:
        for number in (start - at, end - start, HIDDEN_KINDS.index(kind)):
            rest = number
            while rest >= _MORE:
                out.append(rest & 0x7F | _MORE)
                rest >>= 7
            out.append(rest)
        at = end
    return bytes(out)


def unpack(data: bytes, length: int) -> Hidden:
    """Read what is hidden in a text of some length."""
    numbers: list[int] = []
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < _MORE:
            numbers.append(value)
            value = shift = 0
    out: list[tuple[int, int, str]] = []
    at = 0
    for gap, size, kind in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=False):
        start, at = at + gap, at + gap + size
        if kind >= len(HIDDEN_KINDS) or at > length:
            break
        out.append((start, at, HIDDEN_KINDS[kind]))
    if shift or 3 * len(out) != len(numbers):  # damaged: nothing of it may show
        return ((0, length, "secret"),) if length else ()
    return tuple(out)
