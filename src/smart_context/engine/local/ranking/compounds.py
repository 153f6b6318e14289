"""The long words of languages that compound, to look for parts of them.

In: words; a part.  Out: the words that contain it: at the start, at the end, or between.
Always: the answer is that of a scan of every word. Each block of words has a filter of the four-byte sequences (grams) in it, so that of hundreds
of thousands of words some thousands are scanned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

try:
    from smart_context.engine.local.ranking import _compounds as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: every word is scanned

_LEAST_BEFORE = 3  # letters before a part that is not at the start
_BLOCK = 64  # words of a block at least,
_BLOCKS = 4096  # and blocks at most
_GRAM, _KIND_BITS = 4, 13  # bytes, and bits of the kind that they are of


class Compounds:
    """Words that do not change."""

    def __init__(self, words: Iterable[str]) -> None:
        every = sorted(words)
        size = max(_BLOCK, -(-len(every) // _BLOCKS))
        self._blocks = ["\n".join(["", *every[at : at + size], ""]) for at in range(0, len(every), size)]
        self._width = (len(self._blocks) + 7) // 8
        self._grams = compiled.grams([block.encode() for block in self._blocks]) if compiled else b""

    def holding(self, part: str) -> list[str]:
        """The words that contain a part, in order."""
        out: list[str] = []
        for words in self._may_hold(part.encode()):
            # One search in one long string is faster than one in each word.
            at = words.find(part)
            while at >= 0:
                start, end = words.rfind("\n", 0, at) + 1, words.find("\n", at)
                if at - start == 0 or at - start >= _LEAST_BEFORE:
                    out.append(words[start:end])
                at = words.find(part, end)
        return out

    def _may_hold(self, part: bytes) -> Iterator[str]:
        """The blocks that have every four bytes of a part."""
        left = (1 << len(self._blocks)) - 1
        for at in range(len(part) - _GRAM + 1) if self._grams else ():
            gram = int.from_bytes(part[at : at + _GRAM], "little")
            kind = (gram * 2654435761 & 0xFFFFFFFF) >> 32 - _KIND_BITS
            left &= int.from_bytes(self._grams[kind * self._width : (kind + 1) * self._width], "little")
            if not left:
                break
        while left:
            lowest = left & -left
            yield self._blocks[lowest.bit_length() - 1]
            left ^= lowest
