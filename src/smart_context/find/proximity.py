"""Tell which words of a query are neighbours, and what it is worth where they stand near each other in a text.

In: the words that segments are scored by, in the order of the query.  Out: `Neighbours`.
Always: every word has the next one for a neighbour, but for pairs of characters, which overlap: that those follow each other is in the pairs already. In
Japanese, the pairs of one run of ideographs or of katakana are one word; what has hiragana, particles and endings mostly, stands between words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from smart_context.data import dataclass
from smart_context.find.plan_model import Sought
from smart_context.text import analysis

WINDOW = 5  # words within which two are near each other: the nearer, the more
CHARACTERS = 12  # within which words of Japanese are,
CLOSE = 4.0  # and how near they count there, at any distance: a particle or a verb may stand between
RUNS = 1.5  # what neighbours are worth there: a word is several pairs, each of which is worth something


@dataclass(frozen=True, slots=True)
class Neighbours:
    """places: the place of each word among those that are neighbours of the next, -1 for what stands between them; none where each word has its own.
    worth: of each two neighbours. close: how near two words are, by the words or characters that they stand apart."""

    places: tuple[int, ...] | None
    worth: tuple[float, ...]
    close: tuple[float, ...]


def of(standing: Sequence[Sought]) -> Neighbours:
    """The neighbours among words that stand beside each other."""
    texts = [word.typed or word.text for word in standing]
    worth = [word.idf * min(word.times, 1.0) for word in standing]
    if any(map(_has_hiragana, texts)):
        return _in_japanese(texts, worth)
    apart = [not (analysis.has_no_spaces(one) and analysis.has_no_spaces(other)) for one, other in pairwise(texts)]
    both = tuple(min(two) if free else 0.0 for two, free in zip(pairwise(worth), apart, strict=True))
    return Neighbours(None, both, (0.0, *(1.0 / apart**2 for apart in range(1, WINDOW + 1))))


def _in_japanese(texts: Sequence[str], worth: Sequence[float]) -> Neighbours:
    places: list[int] = []
    most: list[float] = []  # of each run, what its rarest pair is worth
    before = ""
    for text, one in zip(texts, worth, strict=True):
        if _stands_between(text):
            places.append(-1)
            before = ""
            continue
        if not _goes_on(before, text):
            most.append(0.0)
        most[-1] = max(most[-1], one)
        places.append(len(most) - 1)
        before = text
    both = tuple(RUNS * min(two) for two in pairwise(most))
    return Neighbours(tuple(places), both, (0.0, *[CLOSE] * CHARACTERS))


def _stands_between(text: str) -> bool:
    """Whether a pair of characters is of no one word: it has hiragana, or ends one script and begins another."""
    return _has_hiragana(text) or (len(text) == 2 and not text.isascii() and _script(text[0]) != _script(text[1]))


def _goes_on(before: str, text: str) -> bool:
    """Whether a pair of characters goes on with the run of the one before it."""
    return len(before) == len(text) == 2 and not text.isascii() and before[1] == text[0]


def _has_hiragana(text: str) -> bool:
    return not text.isascii() and any("\u3041" <= char <= "\u309f" for char in text)


def _script(char: str) -> str:
    if "\u30a0" <= char <= "\u30ff":
        return "katakana"
    return "ideographs" if "\u3400" <= char <= "\u9fff" or char == "々" else "other"
