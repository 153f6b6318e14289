"""Escape foreign text for people: names, addresses, paths, a model's answer.

In: any text.  Out: text without control over the terminal or page.
Always: nothing in it begins a line, moves the cursor, changes colours or turns the direction of what stands around it; what would is
shown as an escape, so that two different texts still look different.
"""

from __future__ import annotations

import re

from smart_context import later

# Controls; separators of lines and paragraphs; marks and embeddings of direction; what has no shape of its own, but for the joiners
# that emoji and some scripts need; halves of a pair.
_STEERS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e0fff"
)
_IN_A_LINE = later.pattern(rf"[\t\n{_STEERS}]")
_IN_LINES = later.pattern(f"[{_STEERS}]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def line(text: str) -> str:
    """Write text on one line."""
    return text if text.isprintable() else _IN_A_LINE.sub(_shown, text)


def lines(text: str) -> str:
    """Write text that may have lines and tabs of its own."""
    return text if text.isprintable() else _IN_LINES.sub(_shown, text)


def masked(text: str) -> str:
    """Write text on one line, character for character, for those who count them."""
    return text if text.isprintable() else _IN_A_LINE.sub("?", text)


def quoted(text: str, most: int = 40) -> str:
    """What was typed, for an error message: as a whole or not at all, because half a secret cannot be recognised."""
    return repr(text) if len(text) <= most else f"{len(text):,} characters"


def json_text(document: str) -> str:
    """Escape the same in JSON, the way JSON does; what is read from it stays the same."""
    return document if document.isprintable() else _IN_LINES.sub(_escaped, document)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _NAMED.get(match[0]) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
