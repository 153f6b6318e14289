"""Write the codes of segments in fewer bytes: a word that is common in an index has a number of one or two bytes there.

In: packed segments, as `codes` makes them, and the table of numbered words.  Out: the same in about two thirds of the bytes, and back.
Always: what is restored is what was shortened, byte for byte; a table only grows, so that what was written by a shorter one is read by it.

A shortened segment has the header of the packed one, then a byte for each of its codes, then what of each does not fit into that byte, then what it ended
with. A byte below `_ONE` is a word's number; up to 254 it is the first half of one, and one more byte follows; 255 stands before a code that has no number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from smart_context.text import codes

try:
    from smart_context.engine.local.ranking import _brief as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_ONE = 128  # numbers of one byte
_BARE = 255
MOST = _ONE + (_BARE - _ONE) * 256  # words that a table can hold
_SAMPLE = 1 << 18  # codes that are looked at to find common ones
_OFTEN = 2  # times that a common one stands among them
_SHARE, _LEAST = (
    4,
    256,
)  # of the room that is left, one part in so many is taken at once, and at least so much: other files have other words
_WIDTH = codes.WIDTH


def learnt(packed: Sequence[bytes], table: bytes) -> bytes:
    """The words to append to a table, by what stands often in segments that are about to be shortened: the commonest first.

    Raises: ValueError for what is no packed segment.
    """
    room = MOST - len(table) // _WIDTH
    if room <= 0:
        return b""
    if compiled:
        return compiled.learnt(packed, table)
    wide = b"".join([_parts(one)[1] for one in packed])
    step = len(wide) // _WIDTH // _SAMPLE + 1
    times = Counter(_words(wide)[::step])
    for known in _words(table):
        times.pop(known, None)
    new = [word for word, count in times.items() if count >= _OFTEN]
    return b"".join(sorted(new, key=lambda word: (-times[word], word[::-1]))[: min(room, max(room // _SHARE, _LEAST))])


def shortened(packed: Sequence[bytes], table: bytes) -> list[bytes]:
    """Segments in fewer bytes.

    Raises: ValueError for what is no packed segment.
    """
    if compiled:
        return compiled.shortened(packed, table)
    numbers = {word: _written(number) for number, word in enumerate(_words(table))}
    return [_short(one, numbers) for one in packed]


def restored(pieces: Sequence[bytes], table: bytes) -> list[bytes]:
    """Segments as they were packed.

    Raises: ValueError for what was not shortened by this table.
    """
    if compiled:
        return compiled.restored(pieces, table)
    words = _words(table)
    return [_long(one, words) for one in pieces]


def _written(number: int) -> tuple[int, bytes]:
    """A word's number as it is written: its first byte, and the rest."""
    high, low = divmod(number - _ONE, 256)
    return (number, b"") if number < _ONE else (_ONE + high, bytes([low]))


def _short(packed: bytes, numbers: dict[bytes, tuple[int, bytes]]) -> bytes:
    head, wide, rest = _parts(packed)
    found = [numbers.get(word) or (_BARE, word) for word in _words(wide)]
    return b"".join([head, bytes([first for first, _ in found]), *[more for _, more in found], rest])


def _long(piece: bytes, words: Sequence[bytes]) -> bytes:
    size = codes.HEADER.size
    _, *wide, there = codes.HEADER.unpack_from(piece) if len(piece) >= size else (0, 0, 0, 0, len(piece))
    first = piece[size : size + sum(wide)]
    at = size + len(first)
    bare = first.count(_BARE)
    end = at + sum(byte >= _ONE for byte in first) + (_WIDTH - 1) * bare
    if len(first) < sum(wide) or len(piece) != end + there * codes.SHORT:
        raise ValueError("not a shortened segment")
    found = [piece[:size]]
    try:
        for byte in first:
            if byte == _BARE:
                found.append(piece[at : at + _WIDTH])
                at += _WIDTH
            elif byte < _ONE:
                found.append(words[byte])
            else:
                found.append(words[_ONE + (byte - _ONE) * 256 + piece[at]])
                at += 1
    except IndexError:
        raise ValueError("a word has a number that is not in the table") from None
    return b"".join([*found, piece[end:]])


def _parts(packed: bytes) -> tuple[bytes, bytes, bytes]:
    """The header of a segment, its codes, and what it ends with."""
    if not codes.is_packed(packed):
        raise ValueError("not a packed segment")
    size = codes.HEADER.size
    _, *wide, _ = codes.HEADER.unpack_from(packed)
    end = size + _WIDTH * sum(wide)
    return packed[:size], packed[size:end], packed[end:]


def _words(wide: bytes) -> list[bytes]:
    return [wide[at : at + _WIDTH] for at in range(0, len(wide), _WIDTH)]
