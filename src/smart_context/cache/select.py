"""Score documents against a query and choose what fits the budget.

In: a query's terms and documents' words, or their scores.  Out: scores, and which documents are taken, in order.
Always: the same numbers give the same choice; a score is a float32 from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from smart_context.cache import lowercase, words
from smart_context.cache.exact_json import float32
from smart_context.data import NamedTuple

_FEW = 2  # so many terms are counted one by one; more are looked up word by word


class Query(NamedTuple):
    """A query, and its terms as split, repetitions included."""

    text: str
    terms: list[str]


class Chosen(NamedTuple):
    """A document that was selected, and why."""

    id: str
    version: str
    content: str
    score: float
    tokens: int
    term_matches: int
    total_words: int


class Selection(NamedTuple):
    """The answer to a query."""

    documents: list[Chosen]
    query: Query
    budget: int
    tokens_used: int
    documents_considered: int

    @property
    def documents_excluded_by_budget(self) -> int:
        """How many documents were considered and not taken."""
        return self.documents_considered - len(self.documents)


def query_of(text: str) -> Query:
    """Return the query with its terms."""
    return Query(text, words.of(text))


def matches(content: str, terms: frozenset[str]) -> tuple[int, int]:
    """Return how many words of a content are terms, and how many words it has."""
    lowered = lowercase.lower(content)
    found = words.split(lowered)
    present = [term for term in terms if term in lowered]
    if len(present) <= _FEW:
        return sum(map(found.count, present)), len(found)
    return sum(map(terms.__contains__, found)), len(found)


def score(term_matches: int, total_words: int) -> float:
    """Return float32(matches) / float32(words), as a float32."""
    # Rounding the double quotient of two float32 once more gives the float32 quotient: doubles have enough digits for it.
    return float32(float32(term_matches) / float32(total_words)) if term_matches else 0.0


def tokens_of(size: int) -> int:
    """Return the tokens of a content of this many bytes in UTF-8."""
    return (size + 3) // 4


def fill(scores: Sequence[float], tokens: Sequence[int], budget: int) -> tuple[list[int], int]:
    """Choose among documents in the order of ids: return the numbers of those taken, best first, and the tokens used."""
    if budget == 0:
        return [], 0
    taken, used = [], 0
    # The sort is stable also in reverse, so equal scores stay in the order of ids.
    for number in sorted(range(len(scores)), key=scores.__getitem__, reverse=True):
        if used + tokens[number] <= budget:
            taken.append(number)
            used += tokens[number]
    return taken, used
