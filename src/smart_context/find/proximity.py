"""Proximity: which words of a query are neighbours, and what a segment gains if it has them near each other.

In: the words that segments are scored by, in the order of the query.  Out: `Neighbours`.
Always: every word and the next one are neighbours, except pairs of characters, which overlap, so that their order is known already. In Japanese, the pairs of one
run of ideographs or of katakana are one word; pairs with hiragana (mostly particles and endings) are between words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from smart_context.data import dataclass
from smart_context.find.plan_model import Sought
from smart_context.text import analysis

WINDOW = 5  # words within which two are near each other; the nearer, the more they count
CHARACTERS = 12  # the same in characters, for Japanese,
CLOSE = 4.0  # where they count this much at any distance, because a particle or a verb may be between
RUNS = 1.5  # factor of the weight of neighbours in Japanese, where a word is several pairs


@dataclass(frozen=True, slots=True)
class Neighbours:
    """places: for each word its number in the sequence of neighbours, -1 for one between them; None if the words are numbered as they are.
    worth: the weight of each two neighbours. close: the factor of that weight, by distance in words or characters."""

    places: tuple[int, ...] | None
    worth: tuple[float, ...]
    close: tuple[float, ...]


def of(standing: Sequence[Sought]) -> Neighbours:
    """The neighbours among the ordinary words of a query."""
    texts = [word.typed or word.text for word in standing]
    worth = [word.idf * min(word.times, 1.0) for word in standing]
    if any(map(_has_hiragana, texts)):
        return _in_japanese(texts, worth)
    apart = [not (analysis.has_no_spaces(one) and analysis.has_no_spaces(other)) for one, other in pairwise(texts)]
    both = tuple(min(two) if free else 0.0 for two, free in zip(pairwise(worth), apart, strict=True))
    return Neighbours(None, both, (0.0, *(1.0 / apart**2 for apart in range(1, WINDOW + 1))))


def _in_japanese(texts: Sequence[str], worth: Sequence[float]) -> Neighbours:
    places: list[int] = []
    most: list[float] = []  # the weight of the rarest pair of each run
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
    """Whether a pair of characters belongs to no word: it has hiragana, or two scripts."""
    return _has_hiragana(text) or (len(text) == 2 and not text.isascii() and _script(text[0]) != _script(text[1]))


def _goes_on(before: str, text: str) -> bool:
    """Whether a pair of characters continues the run of the pair before it."""
    return len(before) == len(text) == 2 and not text.isascii() and before[1] == text[0]


def _has_hiragana(text: str) -> bool:
    return not text.isascii() and any("\u3041" <= char <= "\u309f" for char in text)


def _script(char: str) -> str:
    if "\u30a0" <= char <= "\u30ff":
        return "katakana"
    return "ideographs" if "\u3400" <= char <= "\u9fff" or char == "々" else "other"
