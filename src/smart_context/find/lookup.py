"""Look up a word of a query: its terms, how many segments have it, and its weight.

In: lower-case words, and a view of the index.  Out: one `Sought` per word; with another word's terms if no segment has the typed one.
Always: what is known of a word depends on the query and on the live content of the index; each is looked up once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

from smart_context.data import replace
from smart_context.engine.entry import COMPOUNDING
from smart_context.engine.expression import AnyOf, Filters
from smart_context.engine.port import View
from smart_context.find import clauses, corrections, questions
from smart_context.find.plan_model import Sought
from smart_context.text import analysis, codes, stems

_NEAR_WORD = 0.6  # the weight of a correction
_SHORTEST_PART = 4
_HARDLY = 2  # segments, at most, that have a word which may be mistyped; in a large index
_SELDOM = 10_000  # one in so many, if the mistake is a common one
_LONG = 6  # letters that such a word has at least
_LOOKED_AT = 400  # segments, at most, that are read for the word exactly as typed
_FEW = 3  # words of a query, at most, in which a rare word is corrected: in a sentence, the others say what is meant
_HARDLY_ANY = 20  # a word is not looked for in compounds if other languages have it in so many times as many segments
_MAX_PARTS = 300  # compounds that a word is looked for in, the shortest ones
_BEGUN, _MOST = 4, 3  # letters from which a word may be a prefix, and how many words it then stands for
_COUNTED = 300  # words that are counted for that, the commonest by the engine's counts, which include removed segments
_MAX_WITH_PREFIX = 20_000  # terms that a prefix may stand for


class Cut:
    """Cuts the texts of a query into words; cached, because several steps ask for them. Callers must not change the lists."""

    def __init__(self, of_decimals: Mapping[str, str]) -> None:
        """of_decimals: those of `words.fractions`."""
        self.of_decimals = of_decimals
        self._units: dict[str, list[str]] = {}
        self._odd: dict[str, list[str]] = {}

    def units(self, text: str) -> list[str]:
        """The words of a text, without question words in Chinese and Japanese."""
        if text not in self._units:
            self._units[text] = analysis.units(questions.rest(text))
        return self._units[text]

    def odd(self, text: str) -> list[str]:
        """Its tokens that are more than one plain word."""
        if text not in self._odd:
            self._odd[text] = analysis.cut(text).odd
        return self._odd[text]


class Lookup:
    """The words of one query. `found`: those that were looked up, in that order; `present`: the languages that the index holds."""

    def __init__(self, view: View, units: Sequence[str], asked: str, fractions: Mapping[str, str]) -> None:
        """units: the words of the query without stop words. asked: its language, "" if unknown. fractions: those of `words.fractions`."""
        self.found: dict[str, Sought] = {}
        self.present = view.languages or ("en",)
        self._view = view
        self._fractions = fractions
        self._forms: dict[str, set[str]] = {}
        self._is_short = len(units) <= _FEW
        compounds = COMPOUNDING.intersection(self.present)
        self._compounds = bool(compounds) and (not asked or asked in compounds)

    def word(self, unit: str) -> Sought:
        """A word, looked up once."""
        if unit not in self.found:
            self.found[unit] = self._look_up(unit)
        return self.found[unit]

    def prefix(self, key: str, unit: str, fraction: str = "") -> Sought:
        """A word of which only a prefix is given. fraction: what those that are fractions of long decimals begin with."""
        prefix = analysis.fold(unit)
        found = self._view.terms(prefix)[:_MAX_WITH_PREFIX]
        terms = frozenset(found) | (self.terms(unit) if len(found) <= clauses.MANY else frozenset())
        parts = frozenset(self._view.terms(fraction)[:_MAX_WITH_PREFIX] if fraction else ())
        return self.weighted(Sought(key, terms, parts, prefix=prefix, commonest=tuple(found[: clauses.MANY])))

    def _look_up(self, unit: str) -> Sought:
        if analysis.is_part(unit):
            return self.prefix(unit, unit)
        terms = self.terms(unit)
        parts = self._parts(unit)
        found = self.weighted(Sought(unit, terms, parts - terms, typed=unit))
        if found.count:
            return self._corrected(found)
        for character in clauses.alone(unit, self._view):
            if (part := self.prefix(unit, character)).count:
                return part
        if not unit.isalpha():
            return found
        instead = self._pieces(unit)
        # A compound is cut into words that segments have; one with a rare piece is more likely mistyped (`direc` and `troy`).
        rarer = min(map(self._view.having, instead), default=0)
        instead = (rarer and corrections.slipped(unit, terms, self._view, rarer)) or instead or self._meant(unit, terms)
        if not instead:
            return found
        return self.weighted(Sought(unit, frozenset(instead), instead=tuple(instead)))

    def _corrected(self, word: Sought) -> Sought:
        """A word, with its probable correction if hardly any segment has it and the correction is far commoner."""
        unit, count, terms = word.text, word.count, word.terms
        seldom = max(_HARDLY, self._view.segments // _SELDOM)
        if not unit.isalpha() or len(unit) < _LONG or not self._is_short:
            return word
        main = frozenset(clauses.line(unit, self.present[0]))
        if count > seldom or not main & terms:
            # Hits in other languages may be other words with the same stem: `adresses` in French, for `adress`.
            in_main = self._counted(main & terms)
            if count > seldom and (count > _LOOKED_AT or not 0 < in_main <= seldom):
                return word
            as_typed = self._as_typed(word)
            if count > seldom or not as_typed:
                terms, count = main, as_typed
        if count > seldom:
            return word
        look = corrections.words if word.count <= _HARDLY else corrections.slipped
        near = look(unit, terms, self._view, corrections.FAR * (count or word.count))
        if not near:
            return word
        if not count:
            return self.weighted(Sought(unit, frozenset(near), word.terms, instead=tuple(near)))
        # The correction counts half: segments with the word as typed come first.
        return replace(word, parts=word.parts | frozenset(near), instead=tuple(near))

    def _as_typed(self, word: Sought) -> int:
        """How many segments have a word exactly as typed, not in another form."""
        plain = analysis.fold(word.text)
        stems = [term for term in word.terms if term.partition(analysis.TAG)[0] == plain]
        found = self._view.all_of(AnyOf(tuple(sorted(word.terms))), Filters())
        return sum(codes.stands(packed, analysis.form(word.text), stems) for packed in self._view.packed(found))

    def learn(self, units: list[str]) -> None:
        """Analyse words in every language that the index holds: all words at once, because that takes far fewer calls."""
        for unit in units:
            self._forms.setdefault(unit, set())
        depend = [unit for unit in units if analysis.depends_on_language(unit)]
        for language in self.present:
            asked = forms = units if language == self.present[0] else depend
            if language in clauses.SPELT_TWICE:
                spelt = [(unit, form) for unit in asked for form in clauses.spellings(unit, language)]
                asked, forms = [unit for unit, _ in spelt], [form for _, form in spelt]
            for unit, terms in zip(asked, analysis.words(forms, language), strict=True):
                self._forms[unit].update(terms)

    def terms(self, unit: str) -> frozenset[str]:
        """The terms of a word: those that the index has, if any."""
        if unit not in self._forms:
            self.learn([unit])
        found = frozenset(self._view.standing(self._forms[unit]))
        return found | self._borrowed(unit, found) or frozenset(clauses.line(unit, self.present[0]))

    def _borrowed(self, unit: str, found: frozenset[str]) -> frozenset[str]:
        """An English word in texts of languages without rules, where no text has it as typed: of `pipes`, `pipe` as Vietnamese texts have it."""
        tags = {analysis.tag_of(language) for language in self.present if not stems.has_rules(language)}
        tags = {tag for tag in tags if unit + tag not in found}
        if not tags or not (unit.isascii() and unit.isalpha()):
            return frozenset()
        [stem] = stems.stem([unit], "en")
        return frozenset(self._view.standing({form + tag for tag in tags for form in (stem, f"{unit}s")}))

    def line(self, text: str, asked: str) -> list[str]:
        """The terms of a sentence in its detected language; if the index lacks one, in a language in which it has all: detection by few words may be wrong."""
        shown = clauses.line(text, asked or self.present[0])
        if self._has_all(shown) or not all(word.count for word in self.found.values()):
            return shown
        others = (clauses.line(text, language) for language in self.present)
        return next(filter(self._has_all, others), shown)

    def _has_all(self, terms: list[str]) -> bool:
        return len(self._view.standing(set(terms))) == len(set(terms))

    def _parts(self, unit: str) -> frozenset[str]:
        """The terms of compounds that contain a word, and what the index has of a fraction with many digits."""
        if unit in self._fractions:
            return frozenset({self._fractions[unit]})
        if not self._compounds or not unit.isalpha() or not analysis.depends_on_language(unit):
            return frozenset()
        out: set[str] = set()
        holding = cache(self._shortest)  # a scan of all long words: languages mostly agree on a stem
        for language in sorted(COMPOUNDING.intersection(self.present)) if self._may_compound(unit) else ():
            [[term, *_]] = analysis.words([unit], language)
            stem = term.partition(analysis.TAG)[0]
            if len(stem) < _SHORTEST_PART:
                continue
            out.update(analysis.stems_of(holding(stem), language))
        return frozenset(out)

    def _shortest(self, stem: str) -> list[str]:
        """The shortest compounds that contain a stem; ties in alphabetical order."""
        return sorted(sorted(self._view.compounds(stem)), key=len)[:_MAX_PARTS]

    def _may_compound(self, unit: str) -> bool:
        """Whether a word belongs to languages that compound: not if nearly all segments that have it are in other languages."""
        counts = {term: self._view.having(term) for term in self._forms.get(unit, ())}
        own = sum(n for term, n in counts.items() if term.rpartition(analysis.TAG)[2] in COMPOUNDING)
        return _HARDLY_ANY * own >= sum(counts.values())

    def _meant(self, unit: str, terms: frozenset[str]) -> tuple[str, ...]:
        """Words that begin with a word, or else its corrections; if a correction is far commoner than the words that begin with it, a long word is mistyped."""
        begun = self._begun(unit)
        commoner = corrections.FAR * self._view.having(begun[0]) if begun else 1
        near = corrections.words(unit, terms, self._view, least=commoner) if not begun or len(unit) >= _LONG else ()
        return near or begun

    def _begun(self, unit: str) -> tuple[str, ...]:
        """The commonest words that begin with a word, which may be typed only in part, or truncated."""
        found = self._view.terms(analysis.fold(unit)) if len(unit) >= _BEGUN else []
        counts = {term: self._view.having(term) for term in found[:_COUNTED]}
        return tuple(sorted((term for term, n in counts.items() if n), key=lambda term: (-counts[term], term))[:_MOST])

    def _pieces(self, unit: str) -> tuple[str, ...]:
        """A compound that no segment has, cut into two words that some have: the cut with the longest first part."""
        if not self._compounds or not 2 * _SHORTEST_PART <= len(unit) <= analysis.MAX_TERM:
            return ()
        cuts = range(len(unit) - _SHORTEST_PART, _SHORTEST_PART - 1, -1)
        self.learn([part for cut in cuts for part in (unit[:cut], unit[cut:])])
        for cut in cuts:
            first, second = self.terms(unit[:cut]), self.terms(unit[cut:])
            if not self._counted(second):
                continue
            if not self._counted(first):
                first = self.terms(unit[: cut - 1]) if unit[cut - 1] in "sn" else first  # the linking letter
            if self._counted(first):
                return tuple(sorted(first | second))
        return ()

    def _counted(self, terms: frozenset[str], prefix: str = "") -> int:
        if len(terms) > clauses.MANY:
            return self._view.count(AnyOf(tuple(sorted(terms)), prefix=prefix))
        # Terms of different languages are in different segments, so the sum is close enough.
        return min(self._view.segments, sum(map(self._view.having, terms)))

    def weighted(self, word: Sought) -> Sought:
        """The word with its count and idf."""
        exact = self._counted(word.terms, word.prefix)
        count = exact or (self._view.count(AnyOf(tuple(sorted(word.parts)))) if word.parts else 0)
        total = self._view.segments
        idf = math.log(1 + (total - count + 0.5) / (count + 0.5))
        share = _NEAR_WORD if word.instead else 1.0
        return replace(word, count=count, idf=idf * share)
