"""Data of a plan: the words that segments are scored by, and the expressions that they are matched against."""

from __future__ import annotations

from collections.abc import Iterable

from smart_context.data import dataclass
from smart_context.engine.expression import Everything, Expression

_EVERYTHING = Everything()


@dataclass(frozen=True, slots=True)
class Sought:
    """One word that segments are scored by."""

    text: str  # as typed, for people
    terms: frozenset[str]  # any of them is a hit
    parts: frozenset[str] = frozenset()  # hits of less weight, such as compounds with the word, and its synonyms
    synonyms: frozenset[str] = frozenset()  # those of `parts` that are synonyms: they are scored, but not marked
    instead: tuple[str, ...] = ()  # terms looked for because no segment, or hardly any, has the word
    prefix: str = ""  # what all terms begin with, if only a prefix was typed
    commonest: tuple[str, ...] = ()  # some of the most frequent of the terms with that prefix
    times: float = 1.0  # factor of its weight, mostly how often it was typed
    count: int = 0  # live segments that have it
    idf: float = 0.0  # inverse document frequency, by `count`
    typed: str = ""  # the word in the form typed, if another form is worth less
    stands: bool = True  # whether it is an ordinary word of the query, with neighbours
    is_joined: bool = False  # whether it is several words typed as one token
    name: str = ""  # the file name that it is
    is_stop_word: bool = False  # a stop word of a short query: it is scored, but neither finds nor is marked


@dataclass(frozen=True, slots=True)
class Plan:
    """What to match, and what to score by."""

    wanted: Expression  # what candidates match
    sought: tuple[Sought, ...]
    left_out: tuple[str, ...] = ()  # stop words and question words
    meant: str = ""  # the text to compare by meaning
    required: Expression = _EVERYTHING  # the required clauses, which a segment found by meaning alone must satisfy too
    verbatim: Expression | None = None  # the query as a sequence, if it is a sentence
    nowhere: tuple[str, ...] = ()  # its words but the stop words, if no segment has any: then the stop words are sought
    identifier: str = ""  # the query, if it is one identifier with a spelling of its own
    asks: bool = False  # whether it is a question
    lacking: float = 1.0  # the factor by which a lacking word costs more than usual
    missing: tuple[str, ...] = ()  # words and phrases of a short query that no segment has, not replaced by others


def has_name(words: Iterable[Sought]) -> bool:
    """Whether one of these words is the whole query as the name of a file, typed without a mistake."""
    return any(word.name and word.times > 1 and not word.instead for word in words)
