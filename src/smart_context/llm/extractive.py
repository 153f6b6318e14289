"""Summarize without a model: pick the sentences that answer the query.

In: a query, and snippets in the order of their relevance, already redacted.  Out: `Picked` sentences, the best first; none where
the snippets do not answer.
Always: the same input gives the same output; every sentence stands in its snippet, of a table only a part; no two say the same.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from smart_context.llm import passages
from smart_context.llm.model import Snippet
from smart_context.text import analysis, languages

_CONTEXT = 0.35  # what a query word is worth when it stands in a neighbour or the heading, not in the sentence itself
_PAIR = 0.3  # two query words side by side, as in the query
_CUE = 0.8  # the sentence has what the question word asks for, in words of average weight
_RANK = 0.15  # what the first snippet is ahead of the last
_ALIKE = 0.7
_ENOUGH = 0.3  # of the best score
_LONG = 40  # words; a sentence beyond this is probably a list, and says less for its length
_MAX_SENTENCES = 2000
# How much of the question, by the weight of its words, the best sentence and its neighbours must have to be an answer. Of sixty
# questions over documents that answer them none falls below; over documents that do not, one of sixty comes above.
_COVERED, _COVERED_OF_TWO = 0.38, 0.51
_HALF_AS_MUCH = 0.45  # of what the best sentence has
_COVERED_OF_PAIRS = 0.3  # in scripts without spaces words are pairs of characters, and some pairs mean nothing
_BESIDE, _ABOVE = 0.5, 0.8  # what a word counts for that when it stands beside the sentence or in its heading
_TABLE = 0.6  # what a piece of a table is worth beside a sentence
_MAX_TABLES = 2
_HOW = frozenset(
    "many much long high often far fast old big large tall deep viel viele lange hoch oft teuer groß combien cuanto cuanta cuantos cuantas".split()  # noqa: SIM905
)
_ABOUT = frozenset(
    "summarize summarise summary overview explain describe tell show give find list document documents file files folder about everything get gets".split()  # noqa: SIM905
)

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty "
    "thirty forty fifty sixty seventy eighty ninety hundred thousand million half third quarter percent every first daily weekly"
)
_NUMBER = re.compile(rf"\d|[一二三四五六七八九十百千万〇]|\b(?:{_NUMBER_WORDS.replace(' ', '|')})\b", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:1[0-9]|20)\d\d\b|\d{1,2}[:.]\d\d|[年月日時时]|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|winter|morning|night|day|days|week|weeks|month|months|year|years|"
    r"hour|hours|minutes|januar|februar|märz|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|uhr|jahr|"
    r"janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|"
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÄÖÜÉÀ][\w'’-]+")
_CAUSE = re.compile(
    r"\b(?:because|since|due to|so that|in order|therefore|weil|da|wegen|damit|parce|car|afin|porque|debido)\b|因为|ため|ので",
    re.IGNORECASE,
)

_ASKS = (
    (re.compile(r"\b(?:how (?:many|much|long|high|often|far|fast|old|big|large|tall|deep)|by how|what (?:price|percentage|number|is the cost)|at what|wie ?(?:viele?|lange|hoch|oft|teuer|groß)|combien|cu[aá]nt[oa]s?)\b|几|多少|何|いくら", re.IGNORECASE), _NUMBER),
    (re.compile(r"\b(?:when|since when|until when|which (?:day|year|date|hours)|wann|quand|cu[aá]ndo)\b|什么时候|いつ|何時", re.IGNORECASE), _TIME),
    (re.compile(r"\b(?:who|whom|whose|where|which (?:company|person|city|courts?|country)|wer|wem|wo|qui|où|qui[eé]n(?:es)?|d[oó]nde)\b", re.IGNORECASE), _NAME),
    (re.compile(r"\b(?:why|what for|warum|weshalb|wieso|pourquoi|por qu[eé])\b|为什么|なぜ", re.IGNORECASE), _CAUSE),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Picked:
    """One sentence of the summary, and the place of its snippet in the list."""

    text: str
    snippet: int
    score: float


@dataclass(slots=True)
class _Sentence:
    """A sentence, its terms, and which of the query's words it has, in their order."""

    text: str
    kind: passages.Kind
    snippet: int
    place: int
    terms: frozenset[str]
    length: int
    hits: tuple[int, ...] = ()
    near: frozenset[int] = frozenset()
    heads: frozenset[int] = frozenset()
    score: float = 0.0


def pick(query: str, snippets: Sequence[Snippet]) -> list[Picked]:
    """Return the sentences that answer the query, the best first, without repetition; none if nothing does."""
    asked = _asked(query, snippets)
    found = _sentences(snippets, asked)
    counts = Counter(word for sentence in found for word in set(sentence.hits))
    weights = {word: math.log(1 + len(found) / count) for word, count in sorted(counts.items())}
    answering = _answering(found, asked, weights)
    cues = [cue for asks, cue in _ASKS if asks.search(query)]
    for sentence in answering:
        sentence.score = _score(sentence, weights, cues) + _RANK / (1 + sentence.snippet)
    return list(_without_repetition(answering, frozenset(word.lower() for word in asked.words)))


def absent(query: str, snippets: Sequence[Snippet]) -> list[str]:
    """Return the words of the query that no snippet has."""
    asked = _asked(query, snippets)
    there = {
        word for sentence in _sentences(snippets, asked) for word in (*sentence.hits, *sentence.near, *sentence.heads)
    }
    return [word for place, word in enumerate(asked.words) if place in asked.telling and place not in there]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The query's words; the terms that a language makes of each; those that an answer must have."""

    words: tuple[str, ...]
    terms: Mapping[str, int]
    telling: frozenset[int]


def _asked(query: str, snippets: Sequence[Snippet]) -> _Asked:
    """Read the query's words by every language of query or snippets; words without meaning are left out."""
    from smart_context.find import filters

    spoken = sorted({analysis.language(snippet.text) for snippet in snippets} | {analysis.language(query, "en")})
    words = analysis.split(query)
    empty = languages.stop_words(words)
    kept = tuple(word for word in dict.fromkeys(words) if word not in empty) or tuple(dict.fromkeys(words))
    terms: dict[str, int] = {}
    for place, word in enumerate(kept):
        for language in spoken:
            for term in analysis.terms(word, language).line.split():
                terms.setdefault(term, place)
    # File types and years in a question are filters to search, and need not stand in the text; "how many" asks for a number.
    sought = set(analysis.split(filters.read(query).text)) - _ABOUT - _HOW - set(empty)
    return _Asked(kept, terms, frozenset(place for place, word in enumerate(kept) if word in sought))


def _sentences(snippets: Sequence[Snippet], asked: _Asked) -> list[_Sentence]:
    found: list[_Sentence] = []
    for number, snippet in enumerate(snippets):
        language = analysis.language(snippet.text)
        own: list[_Sentence] = []
        for place, piece in enumerate(passages.read(snippet)):
            words = analysis.terms(piece.text, language).line.split()
            if words and len(found) + len(own) < _MAX_SENTENCES:
                hits = tuple(asked.terms[word] for word in words if word in asked.terms)
                own.append(_Sentence(piece.text, piece.kind, number, place, frozenset(words), len(words), hits))
        label = f"{os.path.basename(snippet.path)} {snippet.pointer}".replace("_", " ")
        named = {asked.terms[term] for term in analysis.terms(label, language).line.split() if term in asked.terms}
        for at, sentence in enumerate(own):
            # The sentences before and after say what "it" is; so do the headings and the names of file and section.
            near = {word for other in own[max(0, at - 2) : at + 2] for word in other.hits}
            heads = {word for other in own[:at] if other.kind == "heading" for word in other.hits}
            sentence.heads = frozenset(heads - set(sentence.hits))
            sentence.near = frozenset((near | named) - heads - set(sentence.hits))
        found += own
    return found


def _answering(found: list[_Sentence], asked: _Asked, weights: Mapping[int, float]) -> list[_Sentence]:
    """The sentences to choose from; none where the best of them has too little of what was asked for."""
    rarest = math.log(1 + max(1, len(found)))  # what a word weighs that stands nowhere
    total = sum(weights.get(word, rarest) for word in sorted(asked.telling))
    if not total:
        return found
    covered = [_covered(sentence, asked.telling, weights) / total for sentence in found]
    if any(analysis.has_no_spaces(word) for word in asked.words):
        return found if max(covered, default=0.0) >= _COVERED_OF_PAIRS else []
    if len(asked.telling) == 2:  # half of such a question is another question
        return [sentence for sentence, much in zip(found, covered, strict=True) if much >= _COVERED_OF_TWO]
    best = max(covered, default=0.0)
    if best < _COVERED:
        return []
    return [sentence for sentence, much in zip(found, covered, strict=True) if much >= _HALF_AS_MUCH * best]


def _covered(sentence: _Sentence, telling: frozenset[int], weights: Mapping[int, float]) -> float:
    parts = ((1.0, frozenset(sentence.hits)), (_ABOVE, sentence.heads), (_BESIDE, sentence.near))
    return sum(worth * weights.get(word, 0.0) for worth, words in parts for word in sorted(telling & words))


def _score(sentence: _Sentence, weights: Mapping[int, float], cues: list[re.Pattern[str]]) -> float:
    own, near = set(sentence.hits), {word for word in sentence.near | sentence.heads if word in weights}
    if not own and not near:
        return 0.0
    score = sum(weights[word] for word in sorted(own)) + _CONTEXT * sum(weights[word] for word in sorted(near))
    score += _PAIR * sum(
        min(weights[a], weights[b]) for a, b in sorted(set(pairwise(sentence.hits))) if abs(a - b) == 1
    )
    average = sum(weights.values()) / len(weights)
    cue = _CUE * average * sum(bool(pattern.search(sentence.text)) for pattern in cues)
    worth = _TABLE if sentence.kind == "table" else 1.0
    return worth * (score + (cue if own else cue / 4)) / (1 + max(0, sentence.length - _LONG) / _LONG)


def _without_repetition(found: Sequence[_Sentence], words: frozenset[str]) -> Iterator[Picked]:
    spoken = [sentence for sentence in found if sentence.kind != "heading"] or list(found)
    ranked = sorted(spoken, key=lambda s: (-round(s.score, 9), s.snippet, s.place))
    best = ranked[0].score if ranked else 0.0
    taken: list[_Sentence] = []
    tables = 0
    for sentence in ranked:
        if sentence.score < _ENOUGH * best and taken:
            break
        is_table = sentence.kind == "table"
        if (is_table and tables == _MAX_TABLES) or any(_alike(sentence.terms, other.terms) for other in taken[:200]):
            continue
        taken.append(sentence)
        tables += is_table
        yield Picked(
            passages.clipped(sentence.text, words) if is_table else sentence.text, sentence.snippet, sentence.score
        )


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    shared = len(a & b)
    return shared >= _ALIKE * len(a | b) or (shared == min(len(a), len(b)) and shared >= 5)
