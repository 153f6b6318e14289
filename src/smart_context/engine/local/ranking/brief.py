"""Compress packed segments: a common word gets a short number, and a word that occurred shortly before is written as the distance back to it.

In: packed segments, as `codes` makes them, with their numbers, and the `Table` of numbered words.  Out: the same in about half of the bytes, and back.
Always: decompression restores the codes in their order, and the short codes once each; a table only grows, so that what was written with an older one can be read;
data that was changed, or belongs to another number, raises ValueError, except one in 65,536.

A compressed segment begins with a checksum of two bytes, over its number and all that follows. Then come, seven bits to a byte, its length in words, how many codes its text, its other
terms and its heads have, and how many short codes (of words of which only the presence is stored) have a number, and have none. The rest are bits, the lowest of a byte first. Three for each code tell its kind (`_NUMBERS` and those
below), and in bytes of their own two for each short code with a number (`_GAPS`). Then come, in the same order, the bits that belong to each: a number; the distance back to the same code; the code
itself; the gap between two numbers of short codes, which are ascending. Last come the short codes without a number, ascending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from smart_context.data import dataclass
from smart_context.text import codes

try:
    from smart_context.engine.local.ranking import _brief as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

CLASSES = (9, 11, 13, 16)  # bits of a number, in each class of words; the commonest words are in the first
SHORTS = 4096  # short codes that have a number, at most
_WIDTH, _SHORT = codes.WIDTH, codes.SHORT
_FIRST = tuple(sum(1 << bits for bits in CLASSES[:at]) for at in range(len(CLASSES) + 1))  # of each class, and all
_BACK, _AGAIN, _BARE = (4, 5), 6, 7  # kinds after those of the classes: a distance back, the last one again, no number
_BITS = (*CLASSES, 4, 6, 0, 8 * _WIDTH)  # that belong to each kind
_NEAREST = (1, 17, 81)  # the first distance of each kind, and the first that has none
_GAPS, _LEAST_GAP = (1, 3, 5, 12), (0, 2, 10, 42)  # bits of each kind of distance between numbers, and the least
_KIND, _GAP_KIND = 3, 2  # bits of a kind
_SAMPLE = 1 << 19  # codes that are counted to find common ones
_OFTEN = 4  # occurrences from which a short code is worth its place in a table
# Only a third of the free numbers is given at a time, but at least 64: later files have other words.
_SHARE, _LEAST = 3, 64
_WORTH = 48  # bits that must be saved for a word to be worth its place in a table, which is three bytes
_CHECK = 2
_MOST = 0xFFFF  # of anything that a header counts
_MIX, _SEED, _ALL = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Table:
    """Numbered words: the code of each number, zeros for free numbers; the short codes by number; and how many words each class has."""

    words: bytes = bytes(_WIDTH * _FIRST[-1])
    shorts: bytes = b""
    taken: tuple[int, ...] = (0,) * len(CLASSES)


Learnt = tuple[bytes, bytes, bytes, bytes, bytes]  # the words to take into each class, and short codes


def extended(table: Table, parts: Iterable[Sequence[bytes]]) -> Table:
    """A table with more words, added in the order in which they were learnt.

    Raises: ValueError where there is no room for them.
    """
    held, shorts, taken = bytearray(table.words), bytearray(table.shorts), list(table.taken)
    for *words, short in parts:
        shorts += short
        for which, own in enumerate(words):
            start = _WIDTH * (_FIRST[which] + taken[which])
            taken[which] += len(own) // _WIDTH
            if taken[which] > 1 << CLASSES[which] or len(shorts) > _SHORT * SHORTS:
                raise ValueError("a table has more words than fit")
            held[start : start + len(own)] = own
    return Table(bytes(held), bytes(shorts), tuple(taken))


def learnt(packed: Sequence[bytes], table: Table) -> Learnt:
    """The words to add to a table: those that are frequent in segments that are about to be compressed, the commonest first.

    Raises: ValueError for what is no packed segment.
    """
    if compiled:
        return compiled.learnt(packed, table.words, table.shorts, table.taken)
    parts = [_counts(one) for one in packed]
    step = sum(sum(counts[1:4]) for counts in parts) // _SAMPLE + 1
    times, there = Counter[bytes](), Counter[bytes]()
    left = _SAMPLE
    for one, counts in list(zip(packed, parts, strict=True))[::step]:
        wide, short = _codes(one, counts)
        last: dict[bytes, int] = {}
        for at, word in enumerate(wide[:left]):
            if at - last.get(word, -_NEAREST[-1]) >= _NEAREST[-1]:
                times[word] += 1
            last[word] = at
        left -= min(left, len(wide))
        there.update(set(short))
    found = _chosen(times, _numbers(table), table.taken, step)
    known = set(_cut(table.shorts, _SHORT))
    room = SHORTS - len(table.shorts) // _SHORT
    often = [one for one, count in there.items() if count * step >= _OFTEN and one not in known]
    often.sort(key=lambda one: (-there[one], one[::-1]))
    new = b"".join(often[: max(room // _SHARE, min(room, _LEAST))])
    return (found[0], found[1], found[2], found[3], new)


def _chosen(times: Counter[bytes], known: dict[bytes, int], taken: Sequence[int], step: int) -> list[bytes]:
    """The words to add to each class: those that save more bits than their place in the table takes."""
    rooms = [(1 << bits) - own for bits, own in zip(CLASSES, taken, strict=True)]
    most = [max(room // _SHARE, min(room, _LEAST)) for room in rooms]
    found: list[list[bytes]] = [[] for _ in CLASSES]
    which = 0
    for word in sorted(times, key=lambda word: (-times[word], word[::-1])):
        while which < len(CLASSES) and len(found[which]) == most[which]:
            which += 1
        if which == len(CLASSES):
            break
        own = _BITS[_class(known[word]) if word in known else _BARE]
        if times[word] * step * (own - CLASSES[which]) > _WORTH and any(word):
            found[which].append(word)
    return [b"".join(own) for own in found]


def shortened(packed: Sequence[bytes], numbers: Sequence[int], table: Table) -> list[bytes]:
    """Compressed segments, each with its number.

    Raises: ValueError for what is no packed segment.
    """
    if compiled:
        return compiled.shortened(packed, numbers, table.words, table.shorts)
    known = _numbers(table)
    there = {one: number for number, one in enumerate(_cut(table.shorts, _SHORT))}
    return [_short(one, number, known, there) for one, number in zip(packed, numbers, strict=True)]


def restored(pieces: Sequence[bytes], numbers: Sequence[int], table: Table) -> list[bytes]:
    """Segments as they were packed.

    Raises: ValueError for what was not shortened by this table under these numbers.
    """
    if compiled:
        return compiled.restored(pieces, numbers, table.words, table.shorts)
    return [_long(one, number, table) for one, number in zip(pieces, numbers, strict=True)]


def _short(packed: bytes, number: int, known: dict[bytes, int], there: dict[bytes, int]) -> bytes:
    counts = _counts(packed)
    wide, short = _codes(packed, counts)
    numbered = sorted(there[one] for one in set(short) if one in there)
    bare = sorted({int.from_bytes(one, "little") for one in short if one not in there})
    kinds, gaps, bits = _Bits(), _Bits(), _Bits()
    last: dict[bytes, int] = {}
    distance = 0
    for at, word in enumerate(wide):
        back, own = at - last.get(word, -_NEAREST[-1]), known.get(word)
        last[word] = at
        if 0 < distance <= at and wide[at - distance] == word:
            kind, more = _AGAIN, 0
        elif back < _NEAREST[-1]:
            which = int(back >= _NEAREST[1])
            kind, more, distance = _BACK[which], back - _NEAREST[which], back
        elif own is not None:
            kind = _class(own)
            more = own - _FIRST[kind]
        else:
            kind, more = _BARE, int.from_bytes(word, "little")
        kinds.add(kind, _KIND)
        bits.add(more, _BITS[kind])
    for before, after in pairwise([-1, *numbered]):
        gap = after - before - 1
        kind = sum(gap >= least for least in _LEAST_GAP[1:])
        gaps.add(kind, _GAP_KIND)
        bits.add(gap - _LEAST_GAP[kind], _GAPS[kind])
    for one in bare:
        bits.add(one, 8 * _SHORT)
    body = b"".join(map(_varied, (*counts[:4], len(numbered), len(bare)))) + kinds.all() + gaps.all() + bits.all()
    return _check(body, number) + body


def _long(piece: bytes, number: int, table: Table) -> bytes:
    body = piece[_CHECK:]
    if len(piece) < _CHECK or piece[:_CHECK] != _check(body, number):
        raise ValueError(_DAMAGED)
    try:
        return _read(body, table)
    except IndexError:
        raise ValueError(_DAMAGED) from None


_DAMAGED = "a segment is not as it was written"


def _read(body: bytes, table: Table) -> bytes:
    (*counts, numbered, bare), start = _six(body)
    many = sum(counts[1:])
    gaps = start + (_KIND * many + 7) // 8
    at = 8 * (gaps + (_GAP_KIND * numbered + 7) // 8)
    if at > 8 * len(body) or max(*counts, numbered + bare) > _MOST or bare > len(body):
        raise IndexError
    found: list[bytes] = []
    distance = 0
    for done in range(many):
        kind = _bits(body, 8 * start + _KIND * done, _KIND)
        more = _bits(body, at, _BITS[kind])
        at += _BITS[kind]
        if kind < len(CLASSES):
            found.append(_entry(table.words, _FIRST[kind] + more, _WIDTH))
            if not any(found[-1]):
                raise IndexError
        elif kind == _BARE:
            found.append(more.to_bytes(_WIDTH, "little"))
        else:
            distance = distance if kind == _AGAIN else _NEAREST[kind - _BACK[0]] + more
            if not 0 < distance <= done:
                raise IndexError
            found.append(found[-distance])
    which = -1
    for done in range(numbered):
        kind = _bits(body, 8 * gaps + _GAP_KIND * done, _GAP_KIND)
        which += 1 + _LEAST_GAP[kind] + _bits(body, at, _GAPS[kind])
        at += _GAPS[kind]
        found.append(_entry(table.shorts, which, _SHORT))
    for _ in range(bare):
        found.append(_bits(body, at, 8 * _SHORT).to_bytes(_SHORT, "little"))
        at += 8 * _SHORT
    if (at + 7) // 8 != len(body):
        raise IndexError
    return codes.HEADER.pack(*counts, numbered + bare) + b"".join(found)


def _entry(entries: bytes, number: int, width: int) -> bytes:
    """One of many entries, of which a reader needs few: they are not cut apart."""
    if (number + 1) * width > len(entries):
        raise IndexError
    return entries[number * width : (number + 1) * width]


def _bits(body: bytes, at: int, many: int) -> int:
    """So many bits from a place on; zeros behind the end."""
    return int.from_bytes(body[at // 8 : at // 8 + 8], "little") >> at % 8 & ((1 << many) - 1)


def _six(body: bytes) -> tuple[list[int], int]:
    """The six numbers that a segment begins with, and where they end."""
    found, at = [], 0
    for _ in range(6):
        value = 0
        for shift in (0, 7, 14):
            byte = body[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                break
        found.append(value)
    return found, at


def _varied(number: int) -> bytes:
    """A number, seven bits to a byte, the lowest first; all but the last byte have the eighth bit."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


class _Bits:
    def __init__(self) -> None:
        self._bytes = bytearray()
        self._held = self._many = 0

    def add(self, value: int, many: int) -> None:
        """Append a value of so many bits."""
        self._held |= value << self._many
        self._many += many
        while self._many >= 8:
            self._bytes.append(self._held & 255)
            self._held >>= 8
            self._many -= 8

    def all(self) -> bytes:
        """Everything, with zeros up to a whole byte."""
        return bytes(self._bytes) + (bytes([self._held]) if self._many else b"")


def _check(body: bytes, number: int) -> bytes:
    """Two bytes by which a segment is known to be the one that was written under a number."""
    mixed = (number * _SEED + len(body)) & _ALL
    for at in range(0, len(body), 8):
        mixed = (mixed ^ int.from_bytes(body[at : at + 8], "little")) * _MIX & _ALL
        mixed ^= mixed >> 32
    return (mixed * _MIX & _ALL).to_bytes(8, "little")[6:]


def _class(number: int) -> int:
    return sum(number >= first for first in _FIRST[1:-1])


def _numbers(table: Table) -> dict[bytes, int]:
    """The number of each word of a table; of several, that of the fewest bits."""
    found: dict[bytes, int] = {}
    for number, word in enumerate(_cut(table.words, _WIDTH)):
        if any(word):
            found.setdefault(word, number)
    return found


def _counts(packed: bytes) -> tuple[int, ...]:
    """What the header of a segment says."""
    if not codes.is_packed(packed):
        raise ValueError("not a packed segment")
    return codes.HEADER.unpack_from(packed)


def _codes(packed: bytes, counts: Sequence[int]) -> tuple[list[bytes], list[bytes]]:
    """The codes of a segment, and those of what is only there."""
    end = codes.HEADER.size + _WIDTH * sum(counts[1:4])
    return _cut(packed[codes.HEADER.size : end], _WIDTH), _cut(packed[end:], _SHORT)


def _cut(data: bytes, width: int) -> list[bytes]:
    return [data[at : at + width] for at in range(0, len(data), width)]
