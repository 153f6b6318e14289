"""Decide what to look for: the words of a query, in every language that the index holds, with their weights.

In: a query tree and a view of the index.  Out: a `Plan`: the expression that candidates must match, and the words that
they are scored by.
Always: the plan depends on the query and on the live content of the index, never on how that came to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from smart_context.data import replace
from smart_context.engine.expression import AnyOf, Everything, Expression, Group, Sequence, Term
from smart_context.engine.port import View
from smart_context.find import clauses, dates, exact, missing, naming, query, questions, synonyms
from smart_context.find.lookup import Cut, Lookup
from smart_context.find.plan_model import Plan, Sought, has_name
from smart_context.find.query import Query
from smart_context.text import analysis, explained, identifiers, languages, topics
from smart_context.text.words import begun_fraction, fractions

_MAX_SOUGHT = 48  # words of a query, at most: of a pasted page, those with the highest weights
_OF_WHOLE = 0.3  # the weight of the words of an identifier, if the index has the whole of it
_PIECE = (
    0.2  # the weight of the pieces of one word, if the index has the word; and of a number's, if it has not the number
)
_SHORT = 2  # digits that such a piece of a number has at most
_EXPLAINED = 3.0  # the weight of explaining an identifier or the only word of a query, in words of the highest weight
_TOPIC = (
    1.0  # the weight of being the section or file whose heading or title is the whole query, in words as rare as that
)
_TOPIC_LESS = 0.25  # and of one whose heading is all of the query but one word
_FEW = 3  # words of a query up to which its stop words count
_LARGE = 20_000  # segments from which an index is large: in such an index,
_COMMON = 12  # a word of a sentence finds nothing by itself if more than one segment in so many has it
_ENOUGH = 3  # and so many words of the sentence are rarer;
_SENTENCE = (5, 40)  # words of what may be a sentence of some text,
_PHRASE = 3  # or so many with a stop word among them: "the end of file"
_LACKING = 2.0  # a lacking word of a few that are no question costs so many times as much: some text has them all
_EVERYTHING = Everything()


def make(tree: Query | None, view: View, typed: str = "") -> Plan:
    """Plan a query. None matches everything; `typed`: the whole query as typed, which may be a file name."""
    if tree is None:
        return Plan(Everything(), ())
    texts = _texts(tree)
    text = " ".join(texts)
    request = questions.request(text) if isinstance(tree, query.Some) else frozenset()
    asks = isinstance(tree, query.Some) and questions.is_question(text)
    cut = Cut(fractions(text))
    units = [unit for each in texts for unit in cut.units(each)]
    planner = _Planner(view, cut, units, request, asks=asks)
    wanted = planner.expression(tree)
    named = planner.names(texts, tree, typed) or planner.explained(tree)
    topic = planner.topics(tree, text)
    nowhere: tuple[str, ...] = ()
    if not named and query.is_plain(tree) and (others := planner.others()):
        planner, nowhere = others, planner.telling
        wanted = planner.expression(tree)
    if isinstance(tree, query.Some | query.Word) and (whole := (*named, *topic)):
        wanted = clauses.also(wanted, [Term(term) for word in whole for term in sorted(word.terms)])
    empty = planner.empty() if isinstance(tree, query.Some) and not asks and not nowhere else []
    if empty and view.segments >= _LARGE:  # there, segments that have them may not be among the best by the other words
        wanted = Group((wanted,), tuple(Term(term) for word in empty for term in sorted(word.terms)))
    counted = {word.text for word in empty}
    left_out = tuple(dict.fromkeys(word for word in planner.left_out if word not in counted))
    sought = (*planner.sought(), *empty, *named, *topic)
    meant = questions.about(text) if request else text
    identifier = (exact.identifier(text) if isinstance(tree, query.Word | query.Phrase) else "") or exact.decimal(text)
    verbatim = planner.verbatim(tree, text, least=_SENTENCE[0] if topic else _PHRASE)
    is_few = not asks and sum(word.stands for word in sought) > 1
    lacking = _LACKING if is_few and view.segments >= _LARGE else 1.0
    required = planner.required(tree)
    looks = not nowhere and not has_name(named)
    lost = planner.missing(tree, {word.name for word in named if not word.instead}) if looks else ()
    return Plan(wanted, sought, left_out, meant, required, verbatim, nowhere, identifier, asks, lacking, lost)


def _texts(tree: Query) -> list[str]:
    """The text of every leaf that is not excluded."""
    match tree:
        case query.Word() | query.Prefix() | query.Phrase():
            return [tree.text]
        case query.Near():
            return _texts(tree.left) + _texts(tree.right)
        case query.Not():
            return []
        case _:
            return [text for item in tree.items for text in _texts(item)]


class _Planner:
    def __init__(
        self, view: View, cut: Cut, units: list[str], request: Set[str], *, asks: bool = False, keep: bool = False
    ) -> None:
        """keep: leave no stop word out, and score by words too that no segment has."""
        self._view, self._cut = view, cut
        self._units, self._keep = units, keep
        self._times: dict[str, float] = {}
        self.left_out: list[str] = []
        self._common: Set[str] = frozenset()
        stop = languages.stop_words(units) | request
        self._stop = stop if any(unit not in stop for unit in units) and not keep else frozenset()
        self._light = questions.light(units, self._stop) if asks else {}
        self._asked = languages.detect(units, least=0.2)
        self._may_be_told_otherwise = asks and self._asked in {"", "en"}
        telling = [unit for unit in dict.fromkeys(units) if unit not in self._stop]
        self._words = Lookup(view, telling, self._asked, cut.of_decimals)
        self._words.learn(telling)

    @property
    def telling(self) -> tuple[str, ...]:
        """The words that are not left out."""
        return tuple(dict.fromkeys(unit for unit in self._units if unit not in self._stop))

    def others(self) -> _Planner | None:
        """A planner that keeps the stop words, if no other word is in the index; None if the stop words are not in it either."""
        if not self._stop.intersection(self._units) or any(word.count for word in self._words.found.values()):
            return None
        planner = _Planner(self._view, self._cut, self._units, frozenset(), keep=True)
        return planner if any(planner._words.word(unit).count for unit in self._units) else None

    def sought(self) -> tuple[Sought, ...]:
        """The words to score by; if there are too many, those with the highest weights."""
        found = [
            (self._with_others(word), self._times[unit])
            for unit, word in self._words.found.items()
            if unit in self._times and (word.count or self._keep)
        ]
        words = [word if word.times == times else replace(word, times=times) for word, times in found]
        words.sort(key=lambda word: not word.stands)
        if len(words) > _MAX_SOUGHT:
            kept = {
                id(word) for word in sorted(words, key=lambda word: (-word.idf * word.times, word.text))[:_MAX_SOUGHT]
            }
            words = [word for word in words if id(word) in kept]  # by id: comparing the words would be quadratic
        return tuple(words)

    def empty(self) -> list[Sought]:
        """The stop words of a query of at most three words, of which each is meant. They raise matches that have them, but find none."""
        left = [unit for unit in dict.fromkeys(self._units) if unit in self._stop]
        if not left or len(self._units) > _FEW:
            return []
        self._words.learn(left)
        found = (self._words.weighted(Sought(unit, self._words.terms(unit), typed=unit)) for unit in left)
        return [replace(word, stands=False, is_stop_word=True) for word in found if word.count]

    def missing(self, tree: Query, files: Set[str]) -> tuple[str, ...]:
        """The words and phrases of a short query that no segment has."""
        looked_for = {unit: word for unit, word in self._words.found.items() if unit in self._times}
        return missing.of(tree, looked_for, self._cut.units, self._has_line, files)

    def _has_line(self, text: str) -> bool:
        return self._view.count(clauses.sequence(text, self._words.present)) > 0

    def _with_others(self, word: Sought) -> Sought:
        """A word with its synonyms, for a question in English. Synonyms are scored, but find nothing by themselves."""
        others = synonyms.of(word.typed) if self._may_be_told_otherwise and word.count else ()
        terms = (terms[0] for terms in analysis.words(others, "en")) if others else ()
        alike = frozenset(term for term in terms if term not in word.terms and self._view.having(term))
        return replace(word, parts=word.parts | alike, synonyms=alike) if alike else word

    # The tree into an expression

    def expression(self, tree: Query, *, scored: bool = True) -> Expression:
        match tree:
            case query.Some():
                return self._some(tree, scored=scored)
            case query.Word(text):
                return clauses.any_of(self._word_clauses(text, scored=scored) or [Group()])
            case query.Prefix(text):
                return self._prefix(text, scored=scored)
            case query.Phrase(text):
                self._score(analysis.units(text), scored=scored)
                return clauses.sequence(text, self._words.present)
            case query.Near():
                return self._near(tree, scored=scored)
            case query.And(items):
                return self._all(items, scored=scored)
            case query.Or(items):
                return clauses.any_of([self.expression(item, scored=scored) for item in items])
            case query.Not(item):
                return Group(must_not=(self.expression(item, scored=False),))

    def required(self, tree: Query) -> Expression:
        """The required clauses of a query; words side by side are optional."""
        if not isinstance(tree, query.Some):
            return Everything() if isinstance(tree, query.Word) else self.expression(tree, scored=False)
        free = _free(tree)
        bound = tuple(item for item in tree.items if not isinstance(item, free))
        return self.expression(query.Some(bound), scored=False) if bound else Everything()

    def _some(self, tree: query.Some, *, scored: bool) -> Expression:
        optional: list[Expression] = []
        if tree.is_prose:
            self._common = self._commonest(tree)
        for item in tree.items:
            if isinstance(item, query.Word):
                optional += self._word_clauses(item.text, scored=scored, optional=True)
            elif isinstance(item, query.Prefix):
                optional.append(self._prefix(item.text, scored=scored))
            elif isinstance(item, query.Phrase) and tree.is_prose:
                optional += self._word_clauses(item.text, scored=scored, optional=True)
        optional += self._named_days(tree) if scored else []
        free = (*_free(tree), query.Not)
        bound = [item for item in tree.items if not isinstance(item, free)]
        must = [self.expression(item, scored=scored) for item in bound]
        without = [self.expression(item.item, scored=False) for item in tree.items if isinstance(item, query.Not)]
        only_exclusions = all(isinstance(item, query.Not) for item in tree.items)
        if not must and not optional and not only_exclusions:
            return Group()
        if must or not without or not optional:
            return Group(tuple(must), tuple(clauses.flat(optional)), tuple(without))
        return Group((Group(should=tuple(clauses.flat(optional))),), (), tuple(without))

    def _all(self, items: Iterable[Query], *, scored: bool) -> Expression:
        must: list[Expression] = []
        without: list[Expression] = []
        for item in items:
            if isinstance(item, query.Word):
                must += [clauses.any_of([one]) for one in self._word_clauses(item.text, scored=scored, keep=True)] or [
                    Group()
                ]
            elif isinstance(item, query.Some) and all(isinstance(part, query.Not) for part in item.items):
                without += [
                    self.expression(part.item, scored=False) for part in item.items if isinstance(part, query.Not)
                ]
            elif isinstance(item, query.Not):
                without.append(self.expression(item.item, scored=False))
            else:
                must.append(self.expression(item, scored=scored))
        return Group(tuple(must), (), tuple(without))

    def _word_clauses(self, text: str, *, scored: bool, keep: bool = False, optional: bool = False) -> list[Expression]:
        """One expression for each word of a text that is no stop word; optional: other words may find without them."""
        units = self._cut.units(text)
        if whole := self._identifier(text, units, scored=scored, optional=optional):
            return whole
        wanted = [unit for unit in units if unit not in self._stop]
        self.left_out += [*(unit for unit in units if unit in self._stop), *questions.words(text)]
        if keep and not wanted:
            wanted = units
        # The digits of `2.1.1.5`, which no text has, say little: most texts with numbers have them.
        is_lost = len(units) > 1 and all(unit.isdigit() and len(unit) <= _SHORT for unit in units)
        is_lost = is_lost and not self._stop.union(units).issuperset(self._units)
        self._score(wanted, scored=scored, times=_PIECE if is_lost else 1.0)
        pieces = self._pieces_of(text, scored=scored) if len(units) == 1 else []
        return [
            clauses.of_word(self._words.word(unit), self._view) for unit in wanted if unit not in self._common
        ] + pieces

    def names(self, texts: list[str], tree: Query, typed: str) -> list[Sought]:
        """File names in the query: the whole of it, or words of it."""
        return naming.files("" if query.excluded(tree) else typed, texts, self._view, self._best())

    def _best(self) -> float:
        """The weight of the rarest word."""
        return max((word.idf for word in self._words.found.values() if word.count), default=1.0) or 1.0

    def explained(self, tree: Query) -> list[Sought]:
        """What some text explains: an identifier, or a word that is the whole query."""
        best = self._best()
        is_all = isinstance(tree, query.Word | query.Phrase)
        out: dict[str, Sought] = {}
        for text in _texts(tree):
            # A mark that ends a sentence or stands before a message does not make a word an identifier: "error: permission denied."
            if not is_all and not identifiers.is_code(text.rstrip(".,:;!?")):
                continue
            if "@" in text[1:]:  # an address: the `org` at its end is not what it asks about
                continue
            whole, *rest = explained.asked(text) or [""]
            # Its last part alone is something else, unless no segment has the whole.
            asked = [whole, *rest[:-1]] if f"{text} (whole)" in self._words.found else [whole, *rest]
            for term in [term for term in asked if self._view.having(term)][:1]:
                out[term] = Sought(
                    f"{text} explained",
                    frozenset({term}),
                    times=_EXPLAINED,
                    count=self._view.having(term),
                    idf=self._idf_beside(text, best),
                    stands=False,
                )
        return list(out.values())

    def topics(self, tree: Query, text: str) -> list[Sought]:
        """The heading or title that the query is as a whole; if no text has it, those that are all of the query but one word."""
        if not query.is_plain(tree):
            return []
        for terms, times in ((topics.of_heading(text), _TOPIC), (topics.less_one(text), _TOPIC_LESS)):
            if there := frozenset(term for term in terms if self._view.having(term)):
                return [self._words.weighted(Sought(f"{text} as a heading", there, times=times, stands=False))]
        return []

    def _idf_beside(self, text: str, best: float) -> float:
        """The weight of explaining an identifier beside the rarest word of the query: `LibreOffice` is the subject of thousands of texts,
        and a query for it with a rare word is about that word."""
        words = (self._words.found.get(key) for key in (f"{text} (whole)", *analysis.units(text)))
        own = max((word.idf for word in words if word and word.count), default=best)
        return own * own / best

    def verbatim(self, tree: Query, text: str, least: int) -> Expression | None:
        """The query as one sequence, if it is a sentence, in its language: so that texts that have it are found, whatever else has its words. least: the words
        of a query with a stop word that are enough."""
        words = tree.items if isinstance(tree, query.Some) else (tree,)
        has_no_spaces = analysis.has_no_spaces(text)
        if not all(isinstance(word, query.Word) for word in words) or not (len(words) >= _PHRASE or has_no_spaces):
            return None
        telling = sum(word.stands and bool(word.typed) for word in self._words.found.values())
        if has_no_spaces and telling < _ENOUGH:
            return None
        least = least if self._stop.intersection(self._units) and not has_no_spaces else _SENTENCE[0]
        terms = self._words.line(text, self._asked)
        return Sequence(tuple(terms)) if least <= len(terms) <= _SENTENCE[1] else None

    def _commonest(self, tree: query.Some) -> Set[str]:
        """The words of a sentence whose posting lists are so long that reading them would cost more than the rest."""
        if self._view.segments < _LARGE:
            return frozenset()
        units = [unit for text in _texts(tree) for unit in self._cut.units(text) if unit not in self._stop]
        counts = {unit: self._words.word(unit).count for unit in units}
        common = set(filter(self._is_common, counts))
        rarer = [unit for unit, count in counts.items() if count and unit not in common]
        return common if len(rarer) >= _ENOUGH else frozenset()

    def _is_common(self, unit: str) -> bool:
        """Whether so many segments of a large index have a word that it hardly tells them apart."""
        segments = self._view.segments
        return segments >= _LARGE and self._words.word(unit).count > segments // _COMMON

    def _identifier(self, text: str, units: list[str], *, scored: bool, optional: bool) -> list[Expression]:
        """An identifier of several words, such as the number of an invoice, if a segment has it."""
        odd = self._cut.odd(text)
        options = [token for token in odd if token.startswith("--") and self._view.having(identifiers.wholes(token)[0])]
        tokens = options or [token for token in odd if not token.startswith("--")]
        wholes = exact.wholes(tokens[0]) if len(tokens) == 1 else []
        if not wholes or any(map(analysis.has_no_spaces, units)):
            return []
        other = dates.elsewhere(tokens[0], self._view, self._words.present)
        terms = frozenset(
            term
            for whole in wholes
            # `2.3.1` is no word: the forms of its numbers are not forms of the whole.
            for term in ((whole,) if other or not whole.isalnum() else (*self._words.terms(whole), whole))
            if self._view.having(term)
        )
        key = f"{tokens[0]} (whole)"
        whole = self._words.found.get(key) or self._words.weighted(
            Sought(tokens[0], terms, other.terms - terms, stands=False, is_joined=True)
        )
        has_digit = any(char.isdigit() for char in text)
        is_sought = has_digit and len(units) > 1 and not (optional and terms and self._needs_no_line(units))
        sequence = [clauses.sequence(text, self._words.present)] if is_sought else []
        sequence += other.lines
        if not whole.count and not (sequence and self._view.count(clauses.any_of(sequence))):
            return []
        is_code = identifiers.is_code(tokens[0])
        wanted = [unit for unit in units if unit not in self._stop or is_code]
        self._score(wanted, scored=scored, times=_OF_WHOLE if is_code else 1.0, keep=is_code)
        if whole.count:
            self._words.found[key] = whole
            self._times[key] = self._times.get(key, 0) + scored
        found: list[Expression] = [Term(term) for term in sorted(terms | other.terms)]
        if has_digit:
            return [clauses.any_of([*sequence, *found])]
        return found + [
            clauses.of_word(self._words.word(unit), self._view) for unit in wanted if unit not in self._common
        ]

    def _needs_no_line(self, units: list[str]) -> bool:
        """Whether the words of an identifier that stands as a whole somewhere, such as `1.3`, need not be found one after the other too: they are so common that
        this takes longer than the rest, and the query has other words."""
        return not self._stop.union(units).issuperset(self._units) and all(map(self._is_common, units))

    def _named_days(self, tree: query.Some) -> list[Expression]:
        """Days with a named month, as they are written in numbers: their terms count as parts of the month's word."""
        out: list[Expression] = []
        for month, day in dates.named(" ".join(item.text for item in tree.items if isinstance(item, query.Word))):
            terms = dates.as_terms([day], self._view)
            word = self._words.word(month)
            if terms and not word.instead:
                self._words.found[month] = self._words.weighted(replace(word, parts=word.parts | terms))
                out.append(AnyOf(tuple(sorted(terms)), round(clauses.PART * word.idf, 3)))
        return out

    def _pieces_of(self, text: str, *, scored: bool) -> list[Expression]:
        """The pieces of one word in mixed case or with digits; of little weight if the index has the whole word."""
        tokens = self._cut.odd(text)
        pieces = identifiers.parts(tokens[0]) if len(tokens) == 1 else []
        stands = bool(self._words.word(analysis.units(text)[0]).count) if pieces else False
        wanted = [piece for piece in dict.fromkeys(pieces) if not (stands and piece.isdigit())]
        self._score(wanted, scored=scored, times=_PIECE if stands else 1.0)
        finding = [piece for piece in wanted if not (stands and self._is_common(piece))]
        return [clauses.of_word(self._words.word(piece), self._view) for piece in finding]

    def _score(self, units: Iterable[str], *, scored: bool, times: float = 1.0, keep: bool = False) -> None:
        for unit, worth in clauses.worths(units):
            if scored and (keep or unit not in self._stop):
                self._words.word(unit)
                self._times[unit] = self._times.get(unit, 0) + times * worth * self._light.get(unit, 1.0)

    def _prefix(self, text: str, *, scored: bool) -> Expression:
        units = analysis.units(text)
        if not units:
            return Group()
        *before, last = units
        self._score(before, scored=scored)
        key = f"{last}*"
        if key not in self._words.found:
            self._words.found[key] = self._words.prefix(key, last, begun_fraction(text))
        if scored:
            self._times[key] = self._times.get(key, 0) + 1
        ending = clauses.of_word(self._words.found[key], self._view)
        return (
            Group((*(clauses.of_word(self._words.word(unit), self._view) for unit in before), ending))
            if before
            else ending
        )

    def _near(self, tree: query.Near, *, scored: bool) -> Expression:
        left, right = list(_texts(tree.left)), list(_texts(tree.right))
        if isinstance(tree.left, query.Near) and isinstance(tree.left.right, query.Word):
            left = [tree.left.right.text]  # `a NEAR b NEAR c`: b must be near c
        both = self._all((tree.left, tree.right), scored=scored)
        if len(left) != 1 or len(right) != 1:
            return both
        pairs = ((left[0], right[0]), (right[0], left[0]))
        close = clauses.any_of([clauses.close(*pair, tree.distance, self._words.present) for pair in pairs])
        return Group((close, both)) if isinstance(tree.left, query.Near) else close


def _free(tree: query.Some) -> tuple[type, ...]:
    """The kinds of items side by side that are optional."""
    return (query.Word, query.Prefix, query.Phrase) if tree.is_prose else (query.Word, query.Prefix)
