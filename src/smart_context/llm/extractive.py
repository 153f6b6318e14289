"""Summarize without a model: pick the sentences that answer the query.

In: a query, and snippets in the order of their relevance, already redacted.  Out: `Picked` sentences, the best first.
Always: the same input gives the same output; every sentence stands in its snippet; no two say the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from smart_context.llm import sentences
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
    snippet: int
    place: int
    terms: frozenset[str]
    length: int
    hits: tuple[int, ...] = ()
    score: float = 0.0


def pick(query: str, snippets: Sequence[Snippet]) -> list[Picked]:
    """Return the sentences that answer the query, the best first, without repetition."""
    spoken = {analysis.language(snippet.text) for snippet in snippets} | {analysis.language(query, "en")}
    asked = _asked(query, sorted(spoken))
    found = _sentences(snippets, asked)
    counts = Counter(word for sentence in found for word in set(sentence.hits))
    weights = {word: math.log(1 + len(found) / count) for word, count in sorted(counts.items())}
    cues = [cue for asks, cue in _ASKS if asks.search(query)]
    for i, sentence in enumerate(found):
        # The sentences before and after say what "it" is.
        near = {
            word for other in found[max(0, i - 2) : i + 2] if other.snippet == sentence.snippet for word in other.hits
        }
        sentence.score = _score(sentence, near, weights, cues) + _RANK / (1 + sentence.snippet)
    return list(_without_repetition(found))


def _asked(query: str, spoken: Sequence[str]) -> dict[str, int]:
    """The query's words by every term that a language of query or snippets makes of them; words without meaning left out."""
    words = analysis.split(query)
    empty = languages.stop_words(words)
    telling = [word for word in dict.fromkeys(words) if word not in empty] or words
    asked: dict[str, int] = {}
    for place, word in enumerate(telling):
        for language in spoken:
            for term in analysis.terms(word, language).line.split():
                asked.setdefault(term, place)
    return asked


def _sentences(snippets: Sequence[Snippet], asked: dict[str, int]) -> list[_Sentence]:
    found: list[_Sentence] = []
    for number, snippet in enumerate(snippets):
        language = analysis.language(snippet.text)
        for place, text in enumerate(sentences.split(snippet.text)):
            words = analysis.terms(text, language).line.split()
            if words and len(found) < _MAX_SENTENCES:
                hits = tuple(asked[word] for word in words if word in asked)
                found.append(_Sentence(text, number, place, frozenset(words), len(words), hits))
    return found


def _score(sentence: _Sentence, near: set[int], weights: dict[int, float], cues: list[re.Pattern[str]]) -> float:
    own = set(sentence.hits)
    if not own and not near:
        return 0.0
    score = sum(weights[word] for word in sorted(own)) + _CONTEXT * sum(weights[word] for word in sorted(near - own))
    score += _PAIR * sum(
        min(weights[a], weights[b]) for a, b in sorted(set(pairwise(sentence.hits))) if abs(a - b) == 1
    )
    average = sum(weights.values()) / len(weights)
    cue = _CUE * average * sum(bool(pattern.search(sentence.text)) for pattern in cues)
    return (score + (cue if own else cue / 4)) / (1 + max(0, sentence.length - _LONG) / _LONG)


def _without_repetition(found: list[_Sentence]) -> Iterator[Picked]:
    ranked = sorted(found, key=lambda s: (-round(s.score, 9), s.snippet, s.place))
    best = ranked[0].score if ranked else 0.0
    taken: list[_Sentence] = []
    for sentence in ranked:
        if sentence.score < _ENOUGH * best and taken:
            break
        if not any(_alike(sentence.terms, other.terms) for other in taken[:200]):
            taken.append(sentence)
            yield Picked(sentence.text, sentence.snippet, sentence.score)


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    shared = len(a & b)
    return shared >= _ALIKE * len(a | b) or (shared == min(len(a), len(b)) and shared >= 5)
