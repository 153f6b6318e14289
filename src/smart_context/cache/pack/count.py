"""Count a question's terms in texts.

In: a `Question`, and texts in the form of `normal.words`.  Out: how often each term stands in each.
Always: the counts are those of cutting the text into words and stemming each; most words are never looked at.
"""

from __future__ import annotations

import re
from functools import cached_property

from smart_context.cache.pack import stem
from smart_context.cache.pack.question import Question

_FEW = 6  # terms: so many are sought one by one more quickly than a text is cut into words


class Counter:
    """Counts the terms of one question. It caches the words it has seen, so use one for all texts."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._language = question.language
        self._unspaced = [
            (number, term.text.encode()) for number, term in enumerate(question.terms) if term.is_unspaced
        ]
        self._stems: dict[bytes, str] = {}
        self._terms = {term.text: number for number, term in enumerate(question.terms) if not term.is_unspaced}
        self._beginnings = tuple({term.beginning for term in question.terms if not term.is_unspaced})
        self._numbers: dict[bytes, int] = {}

    @cached_property
    def _seekers(self) -> list[tuple[int, str, bytes, re.Pattern[bytes] | None]]:
        """For each term its number, its text, what stands in a text that has it, and what finds words that may be its."""
        return [
            (
                number,
                term.text,
                term.text.encode() if term.is_unspaced or not term.beginning else b" " + term.beginning,
                None if term.is_unspaced else re.compile(b" (" + re.escape(term.beginning) + b"[^ ]*)"),
            )
            for number, term in enumerate(self._question.terms)
        ]

    def count(self, words: bytes) -> dict[int, int]:
        """Return how often each term occurs, by its number; terms that do not occur are left out."""
        spaced = b" " + words
        found: dict[int, int] = {}
        for number, text, needle, pattern in self._seekers:
            if needle in spaced:
                if pattern is None:
                    times = _overlapping(spaced, needle)
                else:
                    times = sum([self.stem(word) == text for word in pattern.findall(spaced)])
                if times:
                    found[number] = times
        return found

    def met(self) -> None:
        """Take it that every text has been counted whole: from now on, parts of them may be counted."""
        self._numbers = {word: self._terms[stem] for word, stem in self._stems.items() if stem in self._terms}

    def count_part(self, words: bytes) -> dict[int, int]:
        """Return what `count` returns, of a part of a text that was counted before: only words that it may be cut through are new."""
        if len(self._question.terms) <= _FEW:
            return self.count(words)
        parts = words.split()
        numbers = self._numbers
        found: dict[int, int] = {}
        for number in [numbers[word] for word in parts if word in numbers]:
            found[number] = found.get(number, 0) + 1
        for word in parts if len(parts) < 2 else (parts[0], parts[-1]):
            if word.startswith(self._beginnings) and word not in numbers:
                known = self._terms.get(self.stem(word))
                if known is not None:
                    found[known] = found.get(known, 0) + 1
        for number, needle in self._unspaced:
            if times := _overlapping(words, needle):
                found[number] = times
        return found

    def stem(self, word: bytes) -> str:
        """Return the stem of a word in the question's language."""
        known = self._stems.get(word)
        if known is None:
            known = self._stems[word] = stem.stem(word.decode(), self._language)
        return known


def _overlapping(text: bytes, needle: bytes) -> int:
    times, at = 0, text.find(needle)
    while at >= 0:
        times += 1
        at = text.find(needle, at + 1)
    return times
