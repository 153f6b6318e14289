"""Unpack the RTF body of an Outlook message (LZFu).

In: the packed stream.  Out: RTF.
Always: the output is at most as long as the header claims, and at most a thousand times the input.
"""

from __future__ import annotations

import struct

_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096


def unpacked(packed: bytes) -> bytes:
    """The RTF; as much as there is where it breaks off, b"" where it is not RTF at all."""
    if len(packed) < 16:
        return b""
    size, raw_size, magic = struct.unpack_from("<LL4s", packed)
    content = packed[16 : size + 4]
    if magic == b"MELA":
        return content[:raw_size]
    return _inflated(content, raw_size) if magic == b"LZFu" else b""


def _inflated(content: bytes, raw_size: int) -> bytes:
    window = bytearray(_DICTIONARY.ljust(_WINDOW, b"\0"))
    write = len(_DICTIONARY)
    out = bytearray()
    at = 0
    while at < len(content) and len(out) < raw_size:
        flags = content[at]
        at += 1
        for bit in range(8):
            if not flags >> bit & 1:
                if at >= len(content):
                    break
                run = content[at : at + 1]
                at += 1
            else:
                if at + 2 > len(content):
                    return bytes(out)
                token = content[at] << 8 | content[at + 1]
                at += 2
                start = token >> 4
                if start == write:
                    return bytes(out)  # how the end is marked
                run = _run(window, start, write, (token & 15) + 2)
            out += run
            for byte in run:
                window[write] = byte
                write = (write + 1) % _WINDOW
    return bytes(out[:raw_size])


def _run(window: bytearray, start: int, write: int, length: int) -> bytes:
    """Bytes from the window; a run that reaches the write position repeats itself."""
    distance = (write - start) % _WINDOW or _WINDOW
    seen = [window[(start + step) % _WINDOW] for step in range(min(length, distance))]
    return bytes(seen[step % len(seen)] for step in range(length))
