"""Read a question: which words to count, and how much each weighs.

In: a query.  Out: its terms, each with the test that a word of a document must pass.
Always: the terms depend on the query alone; a word that is asked for twice weighs double.
"""

from __future__ import annotations

from functools import cache

from smart_context.cache.pack import normal, stem
from smart_context.data import NamedTuple
from smart_context.text import languages

MOST_TERMS = 64  # different ones; a longer query is cut off here


class Term(NamedTuple):
    """What is looked for: words that begin so and have this stem, or, of a script without spaces, this very text."""

    text: str
    beginning: bytes
    weight: int
    is_unspaced: bool


class Question(NamedTuple):
    """A query's terms in the order of the text, and the language whose rules stem its words."""

    terms: tuple[Term, ...]
    language: str


def read(query: str) -> Question:
    """Return the terms of a query."""
    found = normal.words(query).decode().split()
    # Stop words are listed with their accents; without them, a language would be taken for another.
    spoken = normal.spoken(query)
    language = languages.detect(spoken, least=0.2) or "en"
    stops = _stop_words(language)
    kept = [word for word in found if word not in stops] or found
    weights: dict[str, int] = {}
    unspaced: dict[str, bool] = {}
    for word in kept:
        is_unspaced = normal.is_unspaced(word)
        pieces = normal.pairs(word) if is_unspaced else [stem.stem(word, language)]
        for piece in pieces[:-1] if len(pieces) > 1 else pieces:
            if piece in weights or len(weights) < MOST_TERMS:
                weights[piece] = weights.get(piece, 0) + 1
                unspaced[piece] = is_unspaced
    terms = [
        Term(text, (text if unspaced[text] else stem.beginning(text, language)).encode(), weight, unspaced[text])
        for text, weight in weights.items()
    ]
    return Question(tuple(terms), language)


@cache
def _stop_words(language: str) -> frozenset[str]:
    listed = languages.STOP_WORDS[language] | languages.OTHER_STOP_WORDS
    return frozenset(normal.words(" ".join(listed)).decode().split())
