"""Score many segments at once, as NumPy arrays.

In: the weights of a query's words, packed segments, and which of them have the typed sentence.  Out: the score of each.
Always: the numbers of `score_each`, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

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
)
from smart_context.text import forward
from smart_context.text.forward import ALSO, TEXT, Found
from smart_context.text.forward import HEAD as IN_HEAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.float64]  # one row per segment, one column per word
    Column = NDArray[np.float64]  # one value per segment


def scores(weighed: Weighed, packed: Sequence[bytes], has_all: Sequence[bool]) -> Scores:
    """Score segments; has_all: which of them have the typed sentence, empty for none."""
    worth = np.array(weighed.worth)
    found = forward.scan(packed, weighed.numbers, weighed.there)
    counted = _counts(weighed, found)
    times = _times(weighed, found, counted)
    room = K1 * (1 - B + B * found.sizes.astype(np.float64) / weighed.average)
    shares = worth * (K1 + 1) * times / (times + room[:, None]) * _typed(weighed, found, counted)
    near = _near(weighed, found, room)
    share = np.where(times > 0, worth, 0.0).sum(axis=1) / weighed.all
    share[(times[:, weighed.covers] > 0).any(axis=1)] = 1.0
    told = _told(weighed, found)
    totals = np.minimum((shares.sum(axis=1) + near) / weighed.most * share**weighed.whole, 1.0) * told
    runs = _runs(weighed, found)
    gained = RUN * runs**NEARLY
    if has_all:
        gained[has_all] = VERBATIM
    totals += gained * (1 - totals)
    made = Made(times, shares / weighed.most, near / weighed.most, share, gained, told)
    return Scores(totals.round(DIGITS).tolist(), made)


def _told(weighed: Weighed, found: Found) -> Column:
    """The factor by which a question lowers the score of each segment with few sentences, told by its share of stop words."""
    if not weighed.listed:
        return np.ones(len(found.sizes))
    stop = 1 - found.telling.astype(np.float64) / np.maximum(found.sizes, 1)
    told: Column = 1 - weighed.listed * (1 - np.clip(stop / PROSE, 0.0, 1.0))
    return told


def _times(weighed: Weighed, found: Found, counted: NDArray[np.float64]) -> Table:
    """How often each segment has each word."""
    words = weighed.words
    text, also, head = counted[TEXT], counted[ALSO], counted[IN_HEAD]
    # Other forms count where the word itself does not stand, lest one word count twice; and compounds where neither does.
    counts = np.where(text > 0, text, also) + np.array(weighed.heads) * head
    for column, number in enumerate(weighed.stop, words):  # a stop word is there or not
        counts[:, number] = np.maximum(counts[:, number], found.present[:, column])
    times: Table = np.where(counts[:, :words] > 0, counts[:, :words], PART * counts[:, words : 2 * words])
    return times


def _typed(weighed: Weighed, found: Found, counted: NDArray[np.float64]) -> Table:
    """The weight of each word in each segment by its form: less if it is not as typed."""
    words = weighed.words
    as_typed = found.present[:, :words].copy()
    mine = (found.numbers >= 2 * words) & (found.as_written | (found.kinds == IN_HEAD))
    as_typed[found.owners[mine], found.numbers[mine] - 2 * words] = True
    worth = np.where(as_typed | ~np.array(weighed.is_typed, np.bool_), 1.0, weighed.other)
    # Several words typed as one thing stand among the other forms, however they are joined; as a word they are written without.
    apart = (counted[ALSO] + counted[IN_HEAD])[:, :words] > 0
    worth[np.array(weighed.is_joined, np.bool_) & ~apart] = 1 - OTHER
    return worth


def _counts(weighed: Weighed, found: Found) -> NDArray[np.float64]:
    """How often each segment has each word and its compounds: in its text, by other forms, in its heads."""
    rows, columns = len(found.sizes), 2 * weighed.words
    mine = found.numbers < columns
    kinds, owners, numbers = found.kinds[mine], found.owners[mine], found.numbers[mine]
    flat = np.bincount((kinds * rows + owners) * columns + numbers, minlength=3 * rows * columns)
    return flat.astype(np.float64).reshape(3, rows, columns)


def _near(weighed: Weighed, found: Found, room: Column) -> Column:
    """The worth of the query's neighbours that are within a window of each other."""
    near = weighed.neighbours
    pairs, reach = len(near.worth), len(near.close) - 1
    if pairs < 1:
        return np.zeros(len(room))
    mine = (found.kinds == TEXT) & (found.numbers < weighed.standing)
    numbers = found.numbers
    if near.places is not None:
        numbers = np.where(mine, np.array(near.places)[np.where(mine, numbers, 0)], -1)
        mine &= numbers >= 0
    owners, places, numbers = found.owners[mine], found.places[mine], numbers[mine]
    close = np.zeros(len(room) * pairs)
    for ahead in range(1, 2 * reach + 1):
        apart = places[ahead:] - places[:-ahead]
        inside = (owners[ahead:] == owners[:-ahead]) & (apart <= reach)
        if not inside.any():
            break  # what stands further ahead is further away
        first, second = numbers[:-ahead], numbers[ahead:]
        both = inside & (apart > 0) & (abs(second - first) == 1)
        if both.any():
            key = owners[:-ahead][both] * pairs + np.minimum(first, second)[both]
            close += np.bincount(key, weights=np.array(near.close)[apart[both]], minlength=len(close))
    table = close.reshape(len(room), pairs)
    worth: Column = (NEAR * np.array(near.worth) * (K1 + 1) * table / (table + room[:, None])).sum(axis=1)
    return worth


def _runs(weighed: Weighed, found: Found) -> Column:
    """The share of the query, by worth, that each segment has as one run: its words in order, one after the other."""
    out: Column = np.zeros(len(found.sizes))
    if not weighed.is_sentence:
        return out
    mine = (found.kinds == TEXT) & (found.numbers < weighed.standing)
    owners, places, numbers = found.owners[mine], found.places[mine], found.numbers[mine]
    ahead = places[1:] - places[:-1]
    links = (owners[1:] == owners[:-1]) & (ahead > 0) & (ahead <= LINK) & (numbers[1:] - numbers[:-1] == 1)
    if not links.any():
        return out
    which = np.concatenate(([0], np.cumsum(~links)))
    sizes = np.bincount(which)
    long = np.flatnonzero(sizes >= weighed.least_run)
    every = np.array(weighed.worth)
    worth = np.bincount(which, weights=every[numbers])[long] / every[: weighed.standing].sum()
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    np.maximum.at(out, owners[first[long]], worth)
    return out
