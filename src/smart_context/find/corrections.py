"""Correct the spelling of a word that no segment, or hardly any, has.

In: a word, its terms, a view of the index.  Out: at most three terms of the index, the most likely first; none for short words.
Always: the choice depends on the live content of the index alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from smart_context.engine import names
from smart_context.engine.port import View
from smart_context.text import analysis, languages

FAR = 50  # how many times as many segments a correction must have as the typed word
_MOST = 3
_FURTHEST = 3  # edit distance to the typed word beyond which all shown words count as equally far
_ALSO = 5  # how many times as common as another correction the commonest one may be for both to be kept
_SMALL = 20_000  # segments up to which every word with the same first letter is compared
_LETTERS = range(5, 25)  # letters of a word that is corrected by `slips`
_VOWELS = frozenset("aeiouy")
_SAID_ALIKE = {"c": "s", "s": "cz", "z": "s"}
_ANY_LETTER = "abcdefghijklmnopqrstuvwxyz"
_INTO, _LONG = 3, 9  # a surplus consonant is looked for after so many letters, in a word of at least so many


def words(unit: str, terms: Iterable[str], view: View, least: int = 1) -> tuple[str, ...]:
    """Corrections of a word that has no hits, or hardly any: terms that at least `least` segments have."""
    terms = sorted(terms)
    return slipped(unit, terms, view, least) or _nearest(unit, terms, view, least)


def slipped(unit: str, terms: Iterable[str], view: View, least: int = 1) -> tuple[str, ...]:
    """Corrections by common typing mistakes, of terms that at least `least` segments have: the commonest, and those not far rarer."""
    if len(unit) not in _LETTERS or not (unit.isascii() and unit.isalpha()):
        return ()
    forms = [form for form in dict.fromkeys(slips(unit)) if form not in languages.ANY_STOP_WORD]
    own = frozenset(terms)
    counts: dict[str, int] = {}
    # Only in the languages of the texts that have it: a word that is rare in English may be Italian.
    for language in sorted({term.partition(analysis.TAG)[2] or "en" for term in own}):
        found = {line[0] for line in analysis.words(forms, language)}.difference(own)
        counts.update((term, view.having(term)) for term in view.standing(found))
    best = max(counts.values(), default=0)
    meant = [term for term, count in counts.items() if count >= max(least, best // _ALSO, 1)]
    return tuple(sorted(meant, key=lambda term: (-counts[term], term))[:_MOST])


def named(typed: str, view: View) -> tuple[str, ...]:
    """The terms of the file names that people mistype as `typed`, in the same folder and with the same extension, if it has one."""
    folder, _, name = next(iter(names.asked(typed)), "").rpartition("/")
    stem, dot, extension = name.partition(".")
    if sum(map(str.isalpha, stem)) not in _LETTERS or not stem.isascii():
        return ()
    forms = {form for form in slips(stem) if _digits(form) == _digits(stem)}  # numbers are never corrected
    found = view.standing({f"{folder}/{form}{dot}{extension}" for form in forms if form != stem})
    return tuple(sorted(found, key=lambda term: (-view.having(term), term))[:_MOST])


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def slips(typed: str) -> Iterator[str]:
    """The words that people mistype as `typed`: two letters swapped, a letter single instead of double or the other way round, the wrong one of two doubled, a
    vowel for another, a letter left out or too many; but for swaps, the first and the last letter are right. Other words at an edit distance of one are mostly
    different words: `parsec` is no `parser`."""
    last = len(typed) - 1
    for at in range(last):
        if typed[at] != typed[at + 1]:
            yield typed[:at] + typed[at + 1] + typed[at] + typed[at + 2 :]
    for at in range(1, len(typed)):
        before, letter, after = typed[:at], typed[at], typed[at + 1 :]
        is_twice = letter == typed[at - 1]
        if is_twice or (at < last and (letter in _VOWELS or (at >= _INTO and len(typed) >= _LONG))):
            yield before + after
        if at < last:
            others = _VOWELS if letter in _VOWELS else _SAID_ALIKE.get(letter, "")
            yield from (before + other + after for other in sorted(others) if other != letter)
            if is_twice or letter == typed[at + 1]:  # `vaccum`: the other one of two
                yield before + after[0] + after if is_twice else before[:-1] + before[-1] * 2 + letter + after[1:]
        yield from (before + other + typed[at:] for other in _ANY_LETTER)
    yield typed + typed[last]


def _nearest(unit: str, terms: list[str], view: View, least: int) -> tuple[str, ...]:
    best: list[tuple[int, int, str]] = []
    for term in terms:
        stem, _, language = term.partition(analysis.TAG)
        # The stem of a mistyped word may be cut elsewhere than that of the right one.
        for own in dict.fromkeys((stem, analysis.fold(unit))) if unit.isalpha() else ():
            best += [(steps, -count, other) for steps, count, other in _near(own, language, view, least)]
    best.sort()
    return tuple(dict.fromkeys(term for steps, _, term in best if steps == best[0][0]))[:_MOST]


def written(term: str, shown: Mapping[str, int], typed: str = "") -> str:
    """A term as a readable word: of the shown words with this term, the one nearest to the typed word, then the commonest; if there is none, the
    stem."""
    stem, _, language = term.partition(analysis.TAG)
    forms = list(shown)
    having = [word for word, terms in zip(forms, analysis.words(forms, language or "en"), strict=True) if term in terms]
    far = {word: distance(typed, word, _FURTHEST) for word in having}
    return min(having, key=lambda word: (far[word], -shown[word], len(word), word), default=f"{stem}…")


def _near(own: str, language: str, view: View, least: int) -> Iterator[tuple[int, int, str]]:
    """The terms near to a stem: edit distance, number of segments, term."""
    room = _room(own)
    letters = set(own)
    size = len(own) + (len(analysis.TAG + language) if language else 0)
    sizes = range(size - room, size + room + 1)
    # Cheap tests first: most words are far away.
    for other in [term for term in _alike(own, view) if len(term) in sizes] if room else ():
        candidate, _, tag = other.partition(analysis.TAG)
        if tag != language or len(letters.symmetric_difference(candidate)) > 2 * room:
            continue
        steps = distance(own, candidate, room) if candidate.isalpha() else room + 1
        if 0 < steps <= room and (count := view.having(other)) >= least:
            yield steps, count, other


def _alike(stem: str, view: View) -> list[str]:
    """The terms to compare, by their beginning. In a large index that is the first two letters, also swapped or with the second left out: others are too many."""
    if view.segments <= _SMALL:
        prefixes = {stem[0], stem[1]}
    else:
        prefixes = {stem[:2], stem[1] + stem[0], stem[0] + stem[2]}
    return [term for prefix in sorted(prefixes) for term in view.terms(prefix, rough=True)]


def _room(stem: str) -> int:
    """The greatest edit distance from a stem, by its length."""
    return 0 if len(stem) < 4 else 1 if len(stem) < 8 else 2


def distance(a: str, b: str, most: int) -> int:
    """The edit distance with swaps of neighbours (Damerau-Levenshtein); more than `most` is `most` + 1."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    # What both begin and end with needs no steps: most of two words that are near to each other.
    while a and b and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if not (a and b):
        return max(len(a), len(b))
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
