"""Recognise copies and near-duplicates of a text.

In: the pieces of a text, without what is hidden in them.  Out: `Marks`: a hash of all of it, and a sketch of its words.
Always: case, and how a text is broken into lines, pages and segments, make no difference; the marks reveal nothing that is not in the pieces.

The sketch is a MinHash with `BINS` bins: words are hashed into bins, and it has one byte for each bin, of the least hash. The share of equal bytes of two
sketches is near the share of words that the texts have in common, of all words of both (Jaccard); for texts of few words it is nearly exact.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable
from itertools import pairwise

from smart_context.data import dataclass
from smart_context.digest import blake2b

try:
    from smart_context.text import _copies as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_DIGEST = 16  # bytes
BINS = 128
_MAP = BINS // 8  # bytes with a bit for each bin
_AS_BITS = b"0" + b"1" * 255  # of a byte, whether it is zero
_ENOUGH = 8  # hashes for each bin that are sorted
_SPACES = b" \t\n\r\v\f"
_UNBROKEN = 16  # bytes per word on average, above which a text has no spaces
_SPREAD = 0x9E3779B1  # odd: products with it are spread over 32 bits
_MASK = 0xFFFFFFFF
LEAST = 24  # filled bins that near-duplicates need: a note of a few words that differs in one word means something else
# Where nine tenths of the words of each text are in the other, this share of all words is in both.
ALIKE = 0.9 / (2 - 0.9)
DIFFERING = int(BINS * (1 - ALIKE))  # bins in which texts that are alike may differ, at most
_LOW = int.from_bytes(b"\x7f" * BINS, "little")
_HIGH = int.from_bytes(b"\x80" * BINS, "little")


@dataclass(frozen=True, slots=True)
class Marks:
    """The hash and the sketch of a text; both are empty for a text without words."""

    same: bytes = b""
    like: bytes = b""


def marks(pieces: Iterable[str]) -> Marks:
    """The marks of a text that comes in pieces."""
    pieces = list(pieces)
    if compiled and (made := _sketched(pieces)):
        plain, sketch = made
        return Marks(_digest(plain), sketch)
    data = "\n".join(pieces).encode("utf-8", "replace").lower()
    words = data.split()
    if not words:
        return Marks()
    plain = data.translate(None, _SPACES)
    numbers = _pairs(plain) if len(plain) > _UNBROKEN * len(words) else list(map(zlib.crc32, set(words)))
    return Marks(_digest(plain), _sketch(numbers))


def _sketched(pieces: list[str]) -> tuple[bytes, bytes] | None:
    try:
        return compiled.sketched(pieces)
    except UnicodeEncodeError:  # a lone surrogate is no text
        return compiled.sketched([piece.encode("utf-8", "replace").decode() for piece in pieces])


def _digest(plain: bytes) -> bytes:
    return blake2b(plain, digest_size=_DIGEST).digest()


def _sketch(numbers: list[int]) -> bytes:
    """The least number of each bin, a byte of it."""
    if len(numbers) > BINS * _ENOUGH:  # large hashes, which are hardly ever the least of their bin, are not sorted
        below = _MASK // len(numbers) * BINS * _ENOUGH
        numbers = [number for number in numbers if number <= below]
    numbers.sort(reverse=True)  # so that the least of each bin is written last
    least = {number % BINS: number for number in numbers}
    return bytes((least[at] >> 7) % 255 + 1 if at in least else 0 for at in range(BINS))


def sparse(sketch: bytes) -> bytes:
    """A sketch without its empty bins, where that is shorter: a bit for each bin, the lowest first, and the bytes of those that are filled."""
    filled = sketch.translate(None, b"\0")
    if len(sketch) != BINS or _MAP + len(filled) >= BINS:
        return sketch
    return int(sketch[::-1].translate(_AS_BITS), 2).to_bytes(_MAP, "little") + filled


def dense(kept: bytes) -> bytes:
    """The sketch that `sparse` shortened; any other bytes as they are."""
    if not _MAP <= len(kept) < BINS:
        return kept
    if compiled:
        return compiled.dense(kept)
    bits, filled = int.from_bytes(kept[:_MAP], "little"), iter(kept[_MAP:])
    if bits.bit_count() != len(kept) - _MAP:
        return kept
    return bytes(next(filled) if bits >> at & 1 else 0 for at in range(BINS))


def first_near(one: bytes, others: list[bytes]) -> int | None:
    """The index of the first of other sketches whose text shares nine tenths with that of one; never for texts of a few words."""
    return compiled.first_near(one, others) if compiled else _first_near(_number(one), map(_number, others))


def standing(same: list[bytes], like: list[bytes]) -> list[bool]:
    """For each text, by its marks, whether no earlier one is the same, or nearly."""
    if compiled:
        return compiled.standing(same, like)
    out: list[bool] = []
    hashes, numbers = set[bytes](), list[int]()
    for own, sketch in zip(same, map(_number, like), strict=True):
        stands = own not in hashes and _first_near(sketch, numbers) is None
        if stands:
            numbers.append(sketch)
            hashes.update([own] if own else ())
        out.append(stands)
    return out


def _number(sketch: bytes) -> int:
    """A sketch as a number; 0, which is near nothing, for bytes that are not a sketch."""
    return int.from_bytes(sketch, "little") if len(sketch) == BINS else 0


def _first_near(one: int, others: Iterable[int]) -> int | None:
    if _filled(one) < ALIKE * LEAST:  # near texts have that many bins in common, so each of them has that many
        return None
    for at, other in enumerate(others):
        differing = one ^ other
        count = (((differing & _LOW) + _LOW | differing) & _HIGH).bit_count()
        if count <= DIFFERING and (filled := _filled(one | other)) >= LEAST and filled - count >= ALIKE * filled:
            return at
    return None


def _filled(number: int) -> int:
    """How many bytes of a sketch are not 0, computed on all bytes at once: an addition carries into the highest bit of each."""
    return (((number & _LOW) + _LOW | number) & _HIGH).bit_count()


def _pairs(plain: bytes) -> list[int]:
    """Neighbouring characters, of a text whose words have no spaces between them."""
    if plain.isascii():
        pairs = _neighbours(plain)
    else:
        pairs = [(ord(first), ord(second)) for first, second in set(pairwise(plain.decode("utf-8")))]
    return [(first << 16 ^ second) * _SPREAD >> 8 & _MASK for first, second in pairs]


def _neighbours(data: bytes) -> list[tuple[int, int]]:
    """The different pairs of neighbouring bytes. Two bytes are read as one number, which takes less than half of the time."""
    view = memoryview(data)
    found = set(view[: len(data) // 2 * 2].cast("H"))
    found.update(view[1 : 1 + (len(data) - 1) // 2 * 2].cast("H"))
    return [(pair[0], pair[1]) for pair in (number.to_bytes(2, sys.byteorder) for number in found)]
