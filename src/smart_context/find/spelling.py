"""Find the words that were probably meant by one that stands nowhere.

In: a word, its terms, a view of the index.  Out: at most three terms of the index, the likeliest first; none for short words.
Always: the choice depends on the live content of the index alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from smart_context.engine.port import View
from smart_context.text import analysis

_MOST = 3
_SMALL = 20_000  # segments up to which every word with the same first letter is looked at


def words(unit: str, terms: Iterable[str], view: View, least: int = 1) -> tuple[str, ...]:
    """The terms nearest to a word that has no hits, or hardly any: terms that at least so many segments have."""
    best: list[tuple[int, int, str]] = []
    for term in sorted(terms):
        stem, _, language = term.partition(analysis.TAG)
        # The stem of a mistyped word may be cut elsewhere than that of the right one.
        for own in dict.fromkeys((stem, analysis.fold(unit))) if unit.isalpha() else ():
            best += [(steps, -count, other) for steps, count, other in _near(own, language, view, least)]
    best.sort()
    return tuple(dict.fromkeys(term for steps, _, term in best if steps == best[0][0]))[:_MOST]


def written(term: str, shown: Mapping[str, int]) -> str:
    """A term as a reader knows it: the commonest of the shown words that have it, or what is common to all its forms."""
    stem, _, language = term.partition(analysis.TAG)
    forms = list(shown)
    having = [word for word, terms in zip(forms, analysis.words(forms, language or "en"), strict=True) if term in terms]
    return min(having, key=lambda word: (-shown[word], len(word), word), default=f"{stem}…")


def _near(own: str, language: str, view: View, least: int) -> Iterator[tuple[int, int, str]]:
    """The terms near to one: how far, how many segments have it, and which."""
    room = _room(own)
    letters = set(own)
    for other in _alike(own, view) if room else ():
        candidate, _, tag = other.partition(analysis.TAG)
        # Cheap tests first: most words are far away.
        if tag != language or abs(len(candidate) - len(own)) > room or len(letters ^ set(candidate)) > 2 * room:
            continue
        steps = distance(own, candidate, room) if candidate.isalpha() else room + 1
        if 0 < steps <= room and (count := view.having(other)) >= least:
            yield steps, count, other


def _alike(stem: str, view: View) -> list[str]:
    """The terms that begin alike. In a large index that means two letters, or the same two swapped: others are too many to look at."""
    if view.segments <= _SMALL:
        beginnings = {stem[0], stem[1]}
    else:
        beginnings = {stem[:2], stem[1] + stem[0], stem[0] + stem[2]}
    return [term for beginning in sorted(beginnings) for term in view.terms(beginning, rough=True)]


def _room(stem: str) -> int:
    """How far a term may be from a stem: the longer, the further."""
    return 0 if len(stem) < 4 else 1 if len(stem) < 8 else 2


def distance(a: str, b: str, most: int) -> int:
    """How many letters must be put in, left out, changed or swapped with their neighbour; more than `most` is `most` + 1."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
