"""A plan: the words that segments are scored by, and the expression that candidates must match."""

from __future__ import annotations

from smart_context.data import dataclass
from smart_context.engine.expression import Everything, Expression

_EVERYTHING = Everything()


@dataclass(frozen=True, slots=True)
class Sought:
    """One word that segments are scored by.

    text: as typed. terms: any of them is a hit. parts: terms that are hits at less weight, such as compounds with the word; alike: those of
    the parts that are synonyms, which are not marked. instead: the terms
    tried because no segment, or hardly any, has the word. beginning: the prefix that all terms have, if only that was typed; commonest: some of
    the most frequent terms. times: its weight, mostly how often it was typed. count, idf: the number of live segments that have it, and the idf of that.
    typed: the word as it is written, if its form counts; stands: whether it is a word among others, with neighbours; is_joined: whether it is several
    words typed as one token; name: the file name that it is; is_empty: whether it is a stop word in a short query, which finds and marks nothing.
    """

    text: str
    terms: frozenset[str]
    parts: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()
    instead: tuple[str, ...] = ()
    beginning: str = ""
    commonest: tuple[str, ...] = ()
    times: float = 1.0
    count: int = 0
    idf: float = 0.0
    typed: str = ""
    stands: bool = True
    is_joined: bool = False
    name: str = ""
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to match, and what to score by. `left_out`: stop words and question words. `meant`: the text to compare by meaning;
    `binding`: the required clauses, which hold even for a segment that has none of the words; `verbatim`: the query as a sequence, if it is a sentence.
    `nowhere`: the words other than stop words, if no segment has any of them and the stop words are looked for; `identifier`: the whole query,
    if it is one identifier with a spelling of its own; `asks`: whether it is a question; `lacking`: the factor by which a lacking word costs more than
    usual; `missing`: words and phrases of a short query that no segment has, and for which nothing else is looked for.
    """

    wanted: Expression
    sought: tuple[Sought, ...]
    left_out: tuple[str, ...] = ()
    meant: str = ""
    binding: Expression = _EVERYTHING
    verbatim: Expression | None = None
    nowhere: tuple[str, ...] = ()
    identifier: str = ""
    asks: bool = False
    lacking: float = 1.0
    missing: tuple[str, ...] = ()
