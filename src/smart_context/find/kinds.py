"""Tell whether a word such as "slides" asks for files of that kind, or is a word of a sentence.

In: a query, and where the word stands in it.  Out: yes or no.
Always: in a few words it asks ("budget pdf"); in a sentence or a question only where one would ask for files: first, before what they are about, or
last. Work is bounded.
"""

from __future__ import annotations

import re

_SENTENCE = 6  # words
_REACH = 200  # characters on either side that are looked at
_PUNCTUATION = ".,;:!?()[]–—-\"'"
_LEAD = frozenset(
    [
        "find",
        "show",
        "list",
        "give",
        "get",
        "open",
        "search",
        "look",
        "looking",
        "me",
        "us",
        "i",
        "we",
        "need",
        "want",
        "please",
        "for",
        "all",
        "any",
        "some",
        "the",
        "my",
        "our",
        "your",
        "their",
        "a",
        "an",
        "of",
        "latest",
        "recent",
        "new",
        "newest",
        "old",
        "which",
        "what",
        "where",
        "are",
        "is",
        "do",
        "does",
        "have",
        "has",
        "in",
        "there",
        "suche",
        "finde",
        "zeige",
        "zeig",
        "mir",
        "alle",
        "die",
        "der",
        "das",
        "meine",
        "unsere",
        "welche",
        "wo",
        "sind",
        "cherche",
        "trouve",
        "montre",
        "moi",
        "les",
        "des",
        "mes",
        "nos",
        "quels",
        "où",
        "busca",
        "muestra",
        "los",
        "las",
        "mis",
    ]
)
_ABOUT = frozenset(
    [
        "about",
        "on",
        "regarding",
        "concerning",
        "covering",
        "mentioning",
        "containing",
        "with",
        "from",
        "for",
        "by",
        "that",
        "which",
        "where",
        "since",
        "until",
        "mention",
        "mentions",
        "discuss",
        "discusses",
        "contain",
        "contains",
        "cover",
        "covers",
        "describe",
        "describes",
        "say",
        "says",
        "show",
        "shows",
        "über",
        "zu",
        "zum",
        "zur",
        "mit",
        "von",
        "aus",
        "vom",
        "zum",
        "erwähnen",
        "sur",
        "avec",
        "de",
        "du",
        "des",
        "sobre",
        "con",
        "del",
        "en",
    ]
)
_ASKS = frozenset(
    [
        "how",
        "why",
        "what",
        "when",
        "where",
        "who",
        "whom",
        "whose",
        "which",
        "can",
        "could",
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "should",
        "would",
        "will",
        "may",
        "wie",
        "warum",
        "was",
        "wann",
        "wer",
        "kann",
        "comment",
        "pourquoi",
        "quand",
        "qui",
        "est",
        "cómo",
        "por",
        "qué",
        "cuándo",
        "quién",
    ]
)
_OWN = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "his",
        "her",
        "its",
        "my",
        "your",
        "our",
        "their",
        "two",
        "three",
        "some",
        "many",
        "der",
        "die",
        "das",
        "ein",
        "eine",
        "le",
        "la",
        "les",
        "un",
        "une",
        "el",
        "los",
    ]
)
_BESIDE = re.compile(r"(?:19|20)[0-9]{2}(?:[-–](?:19|20)?[0-9]{2})?|from|in|of|and|or|und|oder|et|ou|y|o")


def is_asked_for(text: str, start: int, end: int, *, is_type: bool) -> bool:
    """Whether the words at a place ask for files; `is_type` tells by itself, as `*.pdf` and `pdf files` do."""
    words = text[: 20 * _REACH].split()
    before = _words(text[max(0, start - _REACH) : start])
    after = _words(text[end : end + _REACH])
    is_last = len(text) - end < _REACH and all(map(_BESIDE.fullmatch, after))
    is_question = words[0].lower().strip(_PUNCTUATION) in _ASKS if words else False
    if is_type or (len(words) < _SENTENCE and not is_question):
        return True
    if start < _REACH and all(word in _LEAD for word in before):
        return is_last or after[0] in _ABOUT
    return is_last and not is_question and not (before and before[-1] in _OWN)


def _words(text: str) -> list[str]:
    return [word for part in text.lower().split() if (word := part.strip(_PUNCTUATION))]
