"""Choose passages for a budget.

In: documents, best first, and a question.  Out: excerpts.
Always: the choice follows from the texts, their order and the numbers alone. Together the excerpts' Markdown has no more tokens
than the budget; passages that are neighbours become one excerpt; of passages that say nearly the same, the best is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from smart_context.cache.pack import normal, render, score
from smart_context.cache.pack.count import Counter
from smart_context.cache.pack.model import Excerpt
from smart_context.cache.pack.passages import Passage
from smart_context.cache.pack.tokens import Count
from smart_context.data import NamedTuple

# Every further passage of a document counts for half of what the one before it did: others' best come first.
_FURTHER = (1, 2)
_WHOLE = 1 << 20
_ALIKE = (4, 5)  # of a passage's shingles found in another: it says nearly the same
_HEAD = 12  # tokens of a heading line, about
_LEAST_BLOCK = 16  # tokens; what is less is left alone
_TOKEN = 4  # bytes, about


_Shingle = tuple[bytes, ...]  # three words that follow each other, or all there are


class Ranked(NamedTuple):
    """A document that matches: its number in the manifest, its score, and its text."""

    number: int
    id: str
    version: str
    score: int
    text: str


Cutter = Callable[[Ranked], list[Passage]]


class _Candidate(NamedTuple):
    """A passage that may be taken: in the order of this tuple, the best first."""

    minus_score: int
    document: int
    number: int
    words: bytes


class _Opened(NamedTuple):
    """A document whose passages are candidates."""

    ranked: Ranked
    passages: list[Passage]


def excerpts(
    found: Iterable[Ranked], counter: Counter, weights: Sequence[int], budget: int, count: Count, cutter: Cutter
) -> list[Excerpt]:
    """Return the excerpts that fit the budget. The counter has counted every document whole; `cutter` gives what `passages.cut` gives."""
    counter.met()
    opened: list[_Opened] = []
    candidates: list[_Candidate] = []
    wanted = budget + budget // 4 if budget else -1
    for ranked in found:
        if wanted < 0:
            break
        cut = cutter(ranked)
        new = list(_candidates(len(opened), ranked, cut, counter, weights))
        opened.append(_Opened(ranked, cut))
        candidates += new
        wanted -= sum(_HEAD + len(one.words) // _TOKEN for one in new[:1])
    return _Choice(opened, budget, count).made(sorted(candidates, key=lambda one: one[:3]))


def _candidates(
    document: int, ranked: Ranked, cut: list[Passage], counter: Counter, weights: Sequence[int]
) -> Iterator[_Candidate]:
    """Yield the passages of a document that hold a term, best first; if none does, because its name alone matches, the first."""
    whole = normal.words(ranked.text) if ranked.text.isascii() else None
    scored = []
    headings: dict[str, dict[int, int]] = {"": {}}
    for number, one in enumerate(cut):
        # Where each character is one byte, the words of a part are a part of the words.
        words = normal.words(ranked.text[one.start : one.end]) if whole is None else whole[one.start : one.end]
        counts = counter.count_part(words)
        if number and one.heading:
            if one.heading not in headings:
                headings[one.heading] = counter.count_part(normal.words(one.heading))
            for term, times in headings[one.heading].items():
                counts[term] = counts.get(term, 0) + times
        if counts:
            size = len(words) if whole is not None else len(ranked.text[one.start : one.end].encode())
            scored.append((-score.passage(counts, weights, size), number, words))
    if not scored and cut:
        scored = [(0, 0, normal.words(ranked.text[cut[0].start : cut[0].end]))]
    share = _WHOLE
    for minus, number, words in sorted(scored):
        yield _Candidate((minus - ranked.score) * share // _WHOLE, document, number, words)
        share = share * _FURTHER[0] // _FURTHER[1]


def _cost(document: _Opened, run: tuple[int, int], count: Count) -> int:
    return count(render.block(document.ranked.id, document.ranked.version, *_shown(document, run)))


def _shown(document: _Opened, run: tuple[int, int]) -> tuple[tuple[int, int], str]:
    """The lines and the text of consecutive passages."""
    start, end = document.passages[run[0]].start, document.passages[run[1]].end
    text = document.ranked.text
    first = text.count("\n", 0, start) + 1
    return (first, first + text.count("\n", start, end)), text[start:end]


class _Choice:
    """What is taken so far: for each document its runs of passages, with what they cost and their best score."""

    def __init__(self, opened: list[_Opened], budget: int, count: Count) -> None:
        self._opened, self._left, self._count = opened, budget, count
        self._runs: dict[int, dict[tuple[int, int], tuple[int, int]]] = {}
        self._said: set[_Shingle] = set()
        self._taken: dict[tuple[int, int], frozenset[_Shingle]] = {}
        self._also: dict[tuple[int, int], set[int]] = {}

    def made(self, candidates: list[_Candidate]) -> list[Excerpt]:
        for one in candidates:
            if self._left < _LEAST_BLOCK:
                break
            if len(one.words) > _TOKEN * self._left:
                continue  # it cannot fit, so nothing more need be known of it
            shingles = _shingles(one.words)
            twin = self._twin(shingles)
            if twin is None:
                self._take(one, shingles)
            elif twin[0] != one.document:
                self._also.setdefault(twin, set()).add(one.document)
        return [
            self._excerpt(document, run, cost, best)
            for document, runs in self._runs.items()
            for run, (cost, best) in sorted(runs.items())
        ]

    def _take(self, one: _Candidate, shingles: frozenset[_Shingle]) -> None:
        runs = self._runs.get(one.document, {})
        first = last = one.number
        best, freed = -one.minus_score, 0
        neighbours = [run for run in runs if run[1] == first - 1 or run[0] == last + 1]
        for run in neighbours:
            first, last = min(first, run[0]), max(last, run[1])
            freed += runs[run][0]
            best = max(best, runs[run][1])
        cost = _cost(self._opened[one.document], (first, last), self._count)
        if cost - freed > self._left:
            return
        self._left -= cost - freed
        runs = self._runs.setdefault(one.document, runs)
        for run in neighbours:
            del runs[run]
        runs[first, last] = (cost, best)
        self._said |= shingles
        self._taken[one.document, one.number] = shingles

    def _twin(self, shingles: frozenset[_Shingle]) -> tuple[int, int] | None:
        """A chosen passage with nearly the same text."""
        least = -(-len(shingles) * _ALIKE[0] // _ALIKE[1])
        if len(shingles & self._said) < least:
            return None
        return min((taken for taken, said in self._taken.items() if len(shingles & said) >= least), default=None)

    def _excerpt(self, document: int, run: tuple[int, int], cost: int, best: int) -> Excerpt:
        opened = self._opened[document]
        lines, text = _shown(opened, run)
        start = len(opened.ranked.text[: opened.passages[run[0]].start].encode())
        also = set().union(*(self._also.get((document, number), ()) for number in range(run[0], run[1] + 1)))
        return Excerpt(
            opened.ranked.id,
            opened.ranked.version,
            opened.passages[run[0]].heading,
            lines,
            (start, start + len(text.encode())),
            best * 1000 // score.UNIT,
            cost,
            text,
            tuple(sorted(self._opened[other].ranked.id for other in also)),
        )


def _shingles(words: bytes) -> frozenset[_Shingle]:
    parts = words.split()
    if not words.isascii():
        parts = [piece.encode() for word in words.decode().split() for piece in _apart(word)]
    return frozenset(zip(parts, parts[1:], parts[2:], strict=False)) or frozenset([tuple(parts)])


def _apart(word: str) -> list[str]:
    return normal.pairs(word) if normal.is_unspaced(word) else [word]
