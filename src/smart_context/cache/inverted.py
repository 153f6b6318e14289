"""Count every word of every document once, so that later queries read none of them.

In: documents' contents in the order of ids.  Out: for any terms, each document's matches, words and tokens.
Always: the numbers are those that reading the documents again would give.

Documents are counted many at a time, in arrays: no word becomes an object of its own. A word is known by sixteen bytes, its head
and its tail: itself, padded with a byte that UTF-8 does not have, or, if it is longer, that byte and fifteen of its SHA-256.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from smart_context.cache import select, words
from smart_context.data import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COUNTED_BYTES = 1024 * 1024  # of text counted at a time: what that needs for a moment stays near the processor
_COUNTED = 2048  # documents, at most
_MERGED = 32  # so many small blocks become a large one, whose documents' numbers still fit 16 bits
_STRIDE = 256
_HALF = 8  # bytes of a head, and of a tail
_WHOLE = 2 * _HALF
_IN_WORD = bytes(code not in words.ASCII_SPACES for code in range(256))
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def _padding(used: int) -> int:
    return (2**64 - 1) << 8 * min(max(used, 0), _HALF) & 2**64 - 1


# What pads the halves of a word, by its length.
_AFTER_HEAD = np.array([_padding(length) for length in range(_WHOLE + 1)], dtype=np.uint64)
_AFTER_TAIL = np.array([_padding(length - _HALF) for length in range(_WHOLE + 1)], dtype=np.uint64)


if TYPE_CHECKING:
    Found = tuple[NDArray[np.intp], NDArray[np.int64]]  # numbers of documents, and how many words each has


class _Words(NamedTuple):
    """Words in the order of a text: where each begins, and the halves by which it is known."""

    starts: NDArray[np.int64]
    heads: NDArray[np.uint64]
    tails: NDArray[np.uint64]


class _Block(NamedTuple):
    """The words of consecutive documents, sorted by their `mixed` halves.

    The word of `mixed[i]` and `tails[i]` is in `documents[starts[i] : starts[i + 1]]`, in each as often as `counts` says.
    """

    first: int
    size: int
    mixed: NDArray[np.uint64]
    tails: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    documents: NDArray[np.uint16]
    counts: NDArray[np.unsignedinteger]

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in (self.mixed, self.tails, self.starts, self.documents, self.counts))


class Inverted:
    """The words of a cache. `add` every document, `finish`, then ask."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._small: list[_Block] = []
        self._text = bytearray(b" ")  # of the documents that are not counted yet
        self._ends = array("Q")  # where each of them ends in it
        self._totals = array("Q")
        self._tokens = array("Q")

    def add(self, content: str, size: int) -> None:
        """Add the next document, and its size in bytes."""
        self.add_words(words.spaced(content), size)

    def add_words(self, spaced: bytes, size: int) -> None:
        """Add the next document as words, and its size in bytes: in UTF-8, separated by `words.ASCII_SPACES`."""
        self._text += spaced
        self._text += b" "
        self._ends.append(len(self._text))
        self._tokens.append(select.tokens_of(size))
        if len(self._ends) == _COUNTED or len(self._text) > _COUNTED_BYTES:
            self._count()
        if len(self._small) == _MERGED:
            self._merge()

    def finish(self) -> None:
        """Take in no more."""
        if self._ends:
            self._count()
        if self._small:
            self._merge()
        self.totals: NDArray[np.uint64] = np.frombuffer(self._totals, dtype=np.uint64)
        self.tokens: NDArray[np.uint64] = np.frombuffer(self._tokens, dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        """The memory that this takes, about."""
        blocks = sum(block.nbytes for block in self._blocks + self._small)
        return blocks + len(self._text) + 2 * self._tokens.itemsize * len(self._tokens)

    def matches(self, terms: Iterable[str]) -> NDArray[np.float64]:
        """Return how many words of each document are among the distinct terms."""
        wanted = _words(bytearray(f" {' '.join(terms)} ".encode()))
        hits = np.zeros(len(self.totals))
        for block in self._blocks:
            if spans := _spans(block, wanted):
                hits[block.first : block.first + block.size] = np.bincount(
                    np.concatenate([block.documents[span] for span in spans]),
                    np.concatenate([block.counts[span] for span in spans]),
                    block.size,
                )
        return hits

    def found(self, groups: Sequence[Sequence[str]]) -> list[Found]:
        """Return, for each group of distinct words, the documents that have one of them, in order, and how many each has."""
        wanted = _words(bytearray(f" {' '.join(word for group in groups for word in group)} ".encode()))
        parts: list[list[Found]] = [[] for _ in groups]
        for block in self._blocks:
            spans = iter(_spans_of_each(block, wanted))
            for group, part in zip(groups, parts, strict=True):
                of_group = [span for _ in group for span in next(spans)]
                if of_group:
                    part.append(_of_block(block, of_group))
        return [_joined(part) for part in parts]

    def scores(self, hits: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the documents' scores for so many matches each."""
        scores = np.zeros(len(hits), dtype=np.float32)
        np.divide(hits.astype(np.float32), self.totals.astype(np.float32), out=scores, where=self.totals > 0)
        return scores

    def _count(self) -> None:
        size = len(self._ends)
        found = _words(self._text)
        totals = np.diff(np.searchsorted(found.starts, self._ends), prepend=0)
        owners = np.repeat(np.arange(size, dtype=np.uint16), totals)
        self._small.append(_block(len(self._totals), size, found, owners))
        self._totals.extend(totals.tolist())
        self._text = bytearray(b" ")
        self._ends = array("Q")

    def _merge(self) -> None:
        self._blocks.append(_merged(self._small))
        self._small = []


def fill(scores: NDArray[np.float32], tokens: NDArray[np.uint64], budget: int) -> tuple[list[int], int]:
    """Choose as `select.fill` does, without looking at documents that are too large for what is left of the budget."""
    if budget == 0:
        return [], 0
    matching = np.flatnonzero(scores)
    best_first = matching[np.argsort(-scores[matching], kind="stable")]
    order = np.concatenate([best_first, np.flatnonzero(scores == 0)])
    costs = tokens[order]
    cheapest = np.minimum.accumulate(costs[::-1])[::-1]
    taken, left = [], budget
    for at in range(0, len(order), _STRIDE):
        if int(cheapest[at]) > left:
            break
        stride = slice(at, at + _STRIDE)
        for number, cost in zip(order[stride].tolist(), costs[stride].tolist(), strict=True):
            if cost <= left:
                taken.append(number)
                left -= cost
    return taken, budget - left


def _words(text: bytearray) -> _Words:
    """Find the words of a text that begins and ends with white space; the text itself is used up."""
    in_word = np.frombuffer(text.translate(_IN_WORD), dtype=np.bool_)
    edges = np.flatnonzero(in_word[1:] != in_word[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    lengths = ends - starts
    capped = np.minimum(lengths, _WHOLE)
    text += bytes(_WHOLE)  # so that there are two halves to read also from the last word on
    halves = np.ndarray(len(text) - _HALF + 1, dtype="<u8", buffer=text, strides=(1,))  # one from each byte on
    heads = halves[starts] | _AFTER_HEAD[capped]
    tails = halves[starts + _HALF] | _AFTER_TAIL[capped]
    for at in np.flatnonzero(lengths > _WHOLE).tolist():
        digest = sha256(memoryview(text)[starts[at] : ends[at]]).digest()
        heads[at], tails[at] = np.frombuffer(b"\xff" + digest[: _WHOLE - 1], dtype="<u8")
    return _Words(starts, heads, tails)


def _block(first: int, size: int, found: _Words, owners: NDArray[np.uint16]) -> _Block:
    mixed = _mix(found)
    order = _order(mixed)
    mixed, tails, owners = mixed[order], found.tails[order], owners[order]
    is_word = _is_new(mixed) | _is_new(tails)
    pairs = np.flatnonzero(is_word | _is_new(owners))
    counts = np.diff(pairs, append=len(order))
    starts = np.flatnonzero(is_word[pairs])
    return _Block(
        first,
        size,
        mixed[pairs[starts]],
        tails[pairs[starts]],
        np.append(starts, len(pairs)).astype(np.uint32),
        owners[pairs],
        counts.astype(np.min_scalar_type(int(counts.max(initial=0)))),
    )


def _order(mixed: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The order that brings equal numbers together, each kind in its own order.

    Sorting is much faster than finding the order that sorts, so the lower bits give way to the position. Numbers that differ
    there alone may alternate: their words stand in several places, until blocks are merged.
    """
    below = np.uint64((1 << len(mixed).bit_length()) - 1)
    return np.sort(mixed & ~below | np.arange(len(mixed), dtype=np.uint64)) & below


def _merged(blocks: Sequence[_Block]) -> _Block:
    mixed = np.concatenate([block.mixed for block in blocks])
    order = np.argsort(mixed, kind="stable")
    mixed, tails = mixed[order], np.concatenate([block.tails for block in blocks])[order]
    is_word = _is_new(mixed) | _is_new(tails)
    lengths = np.concatenate([np.diff(block.starts) for block in blocks]).astype(np.int64)
    old_starts = (np.cumsum(lengths) - lengths)[order]
    lengths = lengths[order]
    starts = np.cumsum(lengths) - lengths
    old = np.ones(lengths.sum(), dtype=np.int64)  # where each pair stood: one further than the one before it, or a jump
    old[starts] = np.diff(old_starts, prepend=0)
    old[starts[1:]] -= lengths[:-1] - 1
    np.cumsum(old, out=old)
    first = blocks[0].first
    return _Block(
        first,
        sum(block.size for block in blocks),
        mixed[is_word],
        tails[is_word],
        np.append(starts[is_word], len(old)).astype(np.uint32),
        np.concatenate([block.documents + np.uint16(block.first - first) for block in blocks])[old],
        np.concatenate([block.counts for block in blocks])[old],
    )


def _spans(block: _Block, wanted: _Words) -> list[slice]:
    """Where a block has the documents of words."""
    return [span for spans in _spans_of_each(block, wanted) for span in spans]


def _spans_of_each(block: _Block, wanted: _Words) -> list[list[slice]]:
    """Where a block has the documents of each word."""
    mixed = _mix(wanted)
    lows = np.searchsorted(block.mixed, mixed).tolist()
    highs = np.searchsorted(block.mixed, mixed, "right").tolist()
    return [
        [slice(int(block.starts[at]), int(block.starts[at + 1])) for at in range(low, high) if block.tails[at] == tail]
        for low, high, tail in zip(lows, highs, wanted.tails, strict=True)
    ]


def _of_block(block: _Block, spans: list[slice]) -> Found:
    """The documents that stand in some spans of a block, and how often."""
    if len(spans) == 1:  # they are in order, and each stands there once
        return block.documents[spans[0]].astype(np.intp) + block.first, block.counts[spans[0]].astype(np.int64)
    often = np.bincount(
        np.concatenate([block.documents[span] for span in spans]),
        np.concatenate([block.counts[span] for span in spans]),
        block.size,
    )
    within = np.flatnonzero(often)
    return within + block.first, often[within].astype(np.int64)


def _joined(parts: list[Found]) -> Found:
    if len(parts) == 1:
        return parts[0]
    numbers = np.concatenate([np.zeros(0, dtype=np.intp), *(part[0] for part in parts)])
    return numbers, np.concatenate([np.zeros(0, dtype=np.int64), *(part[1] for part in parts)])


def _mix(found: _Words) -> NDArray[np.uint64]:
    """One number for the two halves, mostly different for different words; with the tail it determines the head."""
    return (found.heads ^ found.tails * _SPREAD) * _SPREAD


def _is_new(numbers: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
    """Whether each number differs from the one before it."""
    return np.concatenate([np.ones(min(len(numbers), 1), np.bool_), numbers[1:] != numbers[:-1]])
