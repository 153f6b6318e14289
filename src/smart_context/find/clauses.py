"""Build the clauses of an expression: of words and phrases in a language, and several of them in one group.

In: expressions, words.  Out: one expression, or terms.
Always: optional clauses are one flat list, because the engine skips documents only in a flat list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from smart_context.data import replace
from smart_context.engine import expression
from smart_context.engine.expression import AnyOf, Expression, Group, Term
from smart_context.engine.port import View
from smart_context.find.plan_model import Sought
from smart_context.text import analysis
from smart_context.text.words import with_other_mark

_MIXED = 0.5  # the weight of a pair of characters in which a word ends and a particle begins, or the other way round
_OVERLAP = 0.25  # each pair of a run of ideographs is divided by their number to this power
PART = 0.5  # the weight of a word inside a compound
_APART = 0.01  # the weight of how often a correction stands: it orders matches that are else as good
MANY = 24  # terms above which one set of terms is faster than a clause for each
SPELT_TWICE = frozenset({"de"})  # languages in which `spellings` gives more than a word itself
_RARE = 200  # a character is looked for alone if at most one segment in so many has it


def any_of(items: list[Expression]) -> Expression:
    """Any of these."""
    several = flat(items)
    return several[0] if len(several) == 1 else Group(should=tuple(several))


def flat(optional: list[Expression]) -> list[Expression]:
    """The same clauses, with groups that have optional clauses only replaced by these."""
    out: list[Expression] = []
    for one in optional:
        if isinstance(one, Group) and not one.must and not one.must_not:
            out += one.should
        else:
            out.append(one)
    return out


def also(wanted: Expression, optional: list[Expression]) -> Expression:
    """The same with further optional clauses, unless it has required or excluded ones."""
    if isinstance(wanted, Group) and (wanted.must or not wanted.must_not):
        return replace(wanted, should=(*wanted.should, *optional)) if not wanted.must else wanted
    return wanted if isinstance(wanted, Group) else Group(should=(wanted, *optional))


def spellings(unit: str, language: str) -> list[str]:
    """A word and, in German, the same with its umlauts written the other way."""
    if language not in SPELT_TWICE:
        return [unit]
    other = unit
    for plain, umlaut in (("ae", "ä"), ("oe", "ö"), ("ue", "ü")):
        other = other.replace(umlaut, plain) if umlaut in unit else other.replace(plain, umlaut)
    return [unit, other] if other != unit else [unit]


def worth(unit: str) -> float:
    """The weight of a word by its script: in Japanese, a pair of a hiragana and another character has half of the weight of others."""
    return _MIXED if len(_of_words(unit)) == 1 else 1.0


def worths(units: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Each word with its weight. Pairs of ideographs overlap: the longer their run, the less weight has each, so that a long name does not outweigh the rest
    of the query."""
    run: list[str] = []
    for unit in units:
        if run and not (_is_ideographs(run[-1]) and _is_ideographs(unit) and run[-1][1] == unit[0]):
            yield from _of_run(run)
            run = []
        if unit.isascii():
            yield unit, 1.0
        else:
            run.append(unit)
    yield from _of_run(run)


def _of_run(run: list[str]) -> Iterator[tuple[str, float]]:
    return ((unit, worth(unit) * len(run) ** -_OVERLAP) for unit in run)


def _is_ideographs(unit: str) -> bool:
    return len(unit) == 2 and all("\u3400" <= char <= "\u9fff" for char in unit)


def alone(unit: str, view: View) -> list[str]:
    """The characters of a pair that no segment has which may be looked for alone: of a hiragana and another character, the other one; else those that hardly
    any segment has."""
    found = _of_words(unit)
    if len(found) == 1:
        return found
    few = max(2, view.segments // _RARE)
    return [char for char in found if sum(map(view.having, view.terms(char))) <= few]


def _of_words(pair: str) -> list[str]:
    """The characters of a pair that are not hiragana, most of which are particles or endings; none if it is not a pair."""
    if pair.isascii() or len(pair) != 2 or not analysis.has_no_spaces(pair):
        return []
    return [char for char in pair if not "\u3041" <= char <= "\u309f"]


def line(text: str, language: str) -> list[str]:
    """The terms of a text, in order, as they are inside of a longer text."""
    words = analysis.cut_words(text)
    # The last character of a run without spaces is a term of its own only where the run ends; the last run may go on.
    if (
        len(words) > 1
        and analysis.has_no_spaces(words[-1])
        and words[-2].endswith(words[-1])
        and words[-2] != words[-1]
    ):
        words = words[:-1]
    return analysis.line(words, language)


def sequence(text: str, languages: Sequence[str]) -> Expression:
    """The words of a text as a phrase, in one of the languages; a decimal with many digits as it is written with a point, and with a comma."""
    texts = dict.fromkeys((text, with_other_mark(text)))
    lines = dict.fromkeys(tuple(line(one, language)) for one in texts for language in languages)
    return any_of([expression.Sequence(terms) for terms in lines if terms] or [Group()])


def close(first: str, then: str, distance: int, languages: Sequence[str]) -> Expression:
    """Two texts, one after the other, with at most `distance` words between them, in one of the languages."""
    pairs = dict.fromkeys((tuple(line(first, language)), tuple(line(then, language))) for language in languages)
    found: list[Expression] = []
    for one, other in pairs:
        if one and other:
            # Only between two terms does the engine count words the same way however common they are.
            near = expression.Sequence((one[-1], other[0]), distance)
            whole = [expression.Sequence(terms) for terms in (one, other) if len(terms) > 1]
            found.append(Group((near, *whole)) if whole else near)
    return any_of(found or [Group()])


def of_word(word: Sought, view: View) -> Expression:
    """The clause of a word: its terms, each with the weight of the word instead of its own."""
    if len(word.terms) > MANY:
        # All of them match; the commonest are enough for the rough score.
        every = AnyOf(tuple(sorted(word.terms)), 0.0, word.prefix)
        return Group((every,), tuple(_alike(word, word.commonest, view)))
    items: list[Expression] = list(_alike(word, sorted(word.terms), view))
    if word.parts:
        items.append(AnyOf(tuple(sorted(word.parts)), round(PART * word.idf, 3)))
    # What is probably meant may have thousands of matches, all as good by that: all would have to be scored exactly.
    meant = sorted(word.parts.intersection(word.instead))
    items += (Term(term, round(_APART * _weight(term, word, view), 3)) for term in meant)
    return Group(should=tuple(items))


def _alike(word: Sought, terms: Iterable[str], view: View) -> Iterable[Term]:
    return map(Term, terms) if len(word.terms) == 1 else (Term(term, _weight(term, word, view)) for term in terms)


def _weight(term: str, word: Sought, view: View) -> float:
    count = view.having(term)
    own = math.log(1 + (view.segments - count + 0.5) / (count + 0.5))
    return round(word.idf / own, 3) if count else 1.0
