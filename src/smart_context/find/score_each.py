"""Score segments one by one, where the C module is not compiled or a segment is damaged.

In: the weights of a query's words, packed segments, and which of them have the typed sentence.  Out: the score of each.
Always: the numbers of `_score.c`, to the last bit: the same operations in the same order.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from smart_context.find.clauses import PART
from smart_context.find.score import (
    DIGITS,
    K1,
    LINK,
    NEAR,
    NEARLY,
    OTHER,
    PROSE,
    RUN,
    VERBATIM,
    B,
    Made,
    Scores,
    Weighed,
    summed,
)
from smart_context.text import codes

_TEXT, _ALSO, _HEAD = 0, 1, 2
_SHARP = 10.0**DIGITS


Hit = tuple[int, int, int, bool]
"""Where a numbered term stands: its place, its number, in what, and whether as its stem is spelt. Plain tuples: a search makes hundreds."""


def scores(weighed: Weighed, packed: Sequence[bytes], has_all: Sequence[bool]) -> Scores:
    """Score segments; has_all: which of them have the typed sentence, empty for none."""
    terms = by_code(weighed.numbers)
    there = [codes.number(term) & 0xFFFF for term in weighed.there]
    rows = [
        _row(weighed, *read(data, terms, there), has_all=bool(has_all) and has_all[at])
        for at, data in enumerate(packed)
    ]
    columns = map(list, zip(*rows, strict=True)) if rows else ([] for _ in range(7))
    times, shares, near, found, gained, told, totals = columns
    return Scores(totals, Made(times, shares, near, found, gained, told))


Row = tuple[list[float], list[float], float, float, float, float, float]
"""A segment's row of `Made`, and its score."""
Terms = list[tuple[bytes, bool, tuple[int, ...]]]


def by_code(numbered: Mapping[str, tuple[int, ...]]) -> Terms:
    """Numbered terms as codes: three bytes, the flag in their last bit, and the numbers of all terms of that code."""
    numbers: dict[int, list[int]] = {}
    for term, own in numbered.items():
        numbers.setdefault(codes.number(term), []).extend(own)
    return [
        ((code | (codes.AS_WRITTEN if flag else 0)).to_bytes(codes.WIDTH, "little"), flag, tuple(sorted(own)))
        for code, own in numbers.items()
        for flag in (False, True)
    ]


def read(data: bytes, terms: Terms, there: Sequence[int]) -> tuple[int, int, list[Hit], list[bool]]:
    """A segment's size in words, how many of these are no stop words, its hits in order, and which of the short codes it has."""
    size, in_text, in_also, in_head, short = codes.HEADER.unpack_from(data)
    in_either = in_text + in_also
    start = codes.HEADER.size
    end = start + codes.WIDTH * (in_either + in_head)
    wide = data[start:end]
    hits: list[Hit] = []
    for code, flag, numbers in terms:
        at = wide.find(code)
        while at >= 0:
            place, beside = divmod(at, codes.WIDTH)
            if not beside:
                kind = (place >= in_text) + (place >= in_either)
                for number in numbers:
                    hits.append((place, number, kind, flag))  # noqa: PERF401  # mostly one
            at = wide.find(code, at + 1)
    hits.sort()
    known = set(struct.unpack_from(f"<{short}H", data, end)) if there else set()
    return size, in_text, hits, [code in known for code in there]


def _row(
    weighed: Weighed, size: int, telling: int, hits: Sequence[Hit], present: Sequence[bool], *, has_all: bool
) -> Row:
    """The score of a segment, and what it is made of."""
    counted, as_typed = _counts(weighed, hits, present)
    times = _times(weighed, present, counted)
    room = K1 * (1 - B + B * size / weighed.average)
    shares = [
        worth * (K1 + 1) * time / (time + room) * form
        for worth, time, form in zip(weighed.worth, times, _typed(weighed, counted, as_typed), strict=True)
    ]
    near = _near(weighed, hits, room)
    share = summed([worth if time > 0 else 0.0 for worth, time in zip(weighed.worth, times, strict=True)]) / weighed.all
    for number in weighed.covers:
        if times[number] > 0:
            share = 1.0
    most = weighed.most
    told = _told(weighed, size, telling)
    total = min((summed(shares) + near) / most * share**weighed.whole, 1.0) * told
    gained = VERBATIM if has_all else RUN * _run(weighed, hits) ** NEARLY
    total += gained * (1 - total)
    return times, [one / most for one in shares], near / most, share, gained, told, round(total * _SHARP) / _SHARP


def _told(weighed: Weighed, size: int, telling: int) -> float:
    """The factor by which a question lowers the score of a segment with few sentences, told by its share of stop words."""
    if not weighed.listed:
        return 1.0
    stop = 1 - telling / max(size, 1)
    return 1 - weighed.listed * (1 - min(max(stop / PROSE, 0.0), 1.0))


def _counts(weighed: Weighed, hits: Sequence[Hit], present: Sequence[bool]) -> tuple[list[list[float]], list[bool]]:
    """How often a segment has each word and its compounds (in its text, by other forms, in its heads), and which words as they were typed."""
    columns = 2 * weighed.words
    counted = [[0.0] * columns, [0.0] * columns, [0.0] * columns]
    as_typed = list(present[: weighed.words])
    for _, number, kind, as_written in hits:
        if number < columns:
            counted[kind][number] += 1.0
        elif as_written or kind == _HEAD:
            as_typed[number - columns] = True
    return counted, as_typed


def _times(weighed: Weighed, present: Sequence[bool], counted: list[list[float]]) -> list[float]:
    """How often a segment has each word."""
    words = weighed.words
    counts = [
        (text if text > 0 else also) + worth * head
        for text, also, head, worth in zip(*counted, weighed.heads, strict=True)
    ]
    for column, number in enumerate(weighed.stop, words):
        counts[number] = max(counts[number], float(present[column]))
    return [counts[n] if counts[n] > 0 else PART * counts[words + n] for n in range(words)]


def _typed(weighed: Weighed, counted: list[list[float]], as_typed: Sequence[bool]) -> list[float]:
    """The weight of each word in a segment by its form."""
    return [
        1 - OTHER
        if weighed.is_joined[n] and not counted[_ALSO][n] + counted[_HEAD][n] > 0
        else (1.0 if is_so or not weighed.is_typed[n] else weighed.other)
        for n, is_so in enumerate(as_typed)
    ]


def _near(weighed: Weighed, hits: Sequence[Hit], room: float) -> float:
    """The worth of the query's neighbours that are within a window of each other."""
    near = weighed.neighbours
    pairs, reach = len(near.worth), len(near.close) - 1
    if pairs < 1:
        return 0.0
    mine = [(place, number) for place, number, kind, _ in hits if kind == _TEXT and number < weighed.standing]
    if near.places is not None:
        mine = [(place, near.places[number]) for place, number in mine if near.places[number] >= 0]
    close = [0.0] * pairs
    for ahead in range(1, 2 * reach + 1):
        sums: dict[int, float] = {}
        is_inside = False
        for (place, first), (further, second) in zip(mine, mine[ahead:], strict=False):
            apart = further - place
            if apart > reach:
                continue
            is_inside = True
            if apart > 0 and abs(second - first) == 1:
                pair = min(first, second)
                sums[pair] = sums.get(pair, 0.0) + near.close[apart]
        if not is_inside:
            break
        for pair, value in sums.items():
            close[pair] += value
    worth = zip(near.worth, close, strict=True)
    return summed([NEAR * one * (K1 + 1) * value / (value + room) for one, value in worth])


def _run(weighed: Weighed, hits: Sequence[Hit]) -> float:
    """The share of the query, by worth, that a segment has as one run."""
    if not weighed.is_sentence:
        return 0.0
    best = 0.0
    every = summed(weighed.worth[: weighed.standing])
    size, worth = 0, 0.0
    before: tuple[int, int] | None = None
    for place, number, kind, _ in hits:
        if kind != _TEXT or number >= weighed.standing:
            continue
        is_next = before and 0 < place - before[0] <= LINK and number - before[1] == 1
        size, worth = (size + 1, worth + weighed.worth[number]) if is_next else (1, 0.0 + weighed.worth[number])
        before = place, number
        if size >= weighed.least_run:
            best = max(best, worth / every)
    return best
