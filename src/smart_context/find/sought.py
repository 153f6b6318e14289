"""What a plan says: the words that segments are scored by, and the expression that candidates must match."""

from __future__ import annotations

from smart_context.data import dataclass
from smart_context.engine.expression import Everything, Expression

_EVERYTHING = Everything()


@dataclass(frozen=True, slots=True)
class Sought:
    """One word that segments are scored by.

    text: as typed. terms: any of them is a hit. parts: so are these, compounds that hold the word, at less; alike: those of them
    that say the same in another word, which are not marked. instead: the words
    tried because this one stands nowhere. beginning: of the terms, where only that was asked for; commonest: some of those that
    most segments have. times: how often it was asked for. count, idf: the live segments that have it, and what that makes it worth.
    typed: the word as it is written, where that counts; stands: whether it is a word among others, with neighbours; is_joined: whether it is several
    words typed as one thing; name: the name of a file that it is; is_empty: whether it is a stop word beside a few others, which finds and marks nothing.
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
    """What to match, and what to score by. `left_out`: words without meaning of their own. `meant`: what is wished for, as text;
    `binding`: what holds even for a segment that has none of the words; `verbatim`: all that was typed, word after word, where that is a sentence.
    `nowhere`: the words that tell something, where none of them stands anywhere, and the others are looked for; `identifier`: all that was typed,
    where that is one thing written in an own way; `asks`: whether it is a question; `lacking`: what it costs that a word is lacking, in what it
    costs elsewhere; `missing`: words and phrases of a few that nothing has, and for which nothing else is looked for.
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
