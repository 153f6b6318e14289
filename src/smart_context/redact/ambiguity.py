"""Bound the steps that a regular expression can take at one place, on the text that suits it worst.

In: a pattern.  Out: the bound.
Always: two things that follow each other multiply only where one character can belong to either: `\\w{1,1000}@` takes a thousand
steps, `\\w{1,1000}\\w{1,1000}@` a million. A repetition without an end counts once; it may stand only where nothing follows it, and what
it takes it has found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

ENOUGH = 10**9
"""Steps beyond which nobody needs to count."""
_parser: Any = import_module("re._parser")
_SAMPLE = frozenset(range(0x180)) | {0x4E00}  # characters that stand for all others
_CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}

Letters = frozenset[int]


def steps(pattern: str) -> int:
    """Return the bound for a pattern that `re` can compile."""
    tree = _parser.parse(pattern)
    letters = _SAMPLE | set(map(ord, pattern))
    return _Count(letters, bool(tree.state.flags & re.IGNORECASE)).row(list(tree), frozenset()).steps


def keeps_in_possessive(pattern: str) -> bool:
    """Whether a group that is kept stands in something possessive or atomic: there, `re` of some versions fails on texts that it should match."""
    return _keeps(_parser.parse(pattern), is_within=False)


def _keeps(item: Any, *, is_within: bool) -> bool:
    """Whether something of a parsed pattern is a group that is kept, within something possessive."""
    name = str(item[0]) if isinstance(item, tuple) and item else ""
    if name == "SUBPATTERN" and item[1][0] is not None and is_within:
        return True
    is_within = is_within or name in {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}
    parts = item if isinstance(item, tuple | list) else getattr(item, "data", ())
    return any(_keeps(part, is_within=is_within) for part in parts)


class _Cost(NamedTuple):
    """Steps to try everything, and in how many ways it can come out."""

    steps: int
    ways: int


class _Count:
    """The characters that are told apart, and whether case is."""

    def __init__(self, letters: Letters | set[int], ignores_case: bool) -> None:
        self._all = frozenset(letters)
        self._ignores_case = ignores_case

    def row(self, items: Sequence[Any], after: Letters) -> _Cost:
        """The cost of things in a row. after: the characters with which what follows them may begin."""
        total, ways = 0, 1
        for i, item in enumerate(items):
            cost = self._one(item, self._first(items[i + 1 :], after))
            total = min(ENOUGH, total + ways * cost.steps)
            ways = min(ENOUGH, ways * cost.ways)
        return _Cost(max(1, total), ways)

    def _one(self, item: Any, after: Letters) -> _Cost:
        name, value = str(item[0]), item[1]
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            return self._repeat(value[0], value[1], value[2], after)
        if name == "POSSESSIVE_REPEAT":
            return _Cost(self._repeat(value[0], value[1], value[2], after).steps, 1)
        if name == "ATOMIC_GROUP":
            return _Cost(self.row(list(value), after).steps, 1)
        if name == "SUBPATTERN":
            return self.row(list(value[3]), after)
        if name == "BRANCH":
            return self._branch([list(branch) for branch in value[1]], after)
        if name in {"ASSERT", "ASSERT_NOT"}:
            return _Cost(self.row(list(value[1]), self._all).steps, 1)
        if name == "GROUPREF_EXISTS":
            return self._branch([list(branch or ()) for branch in value[1:]], after)
        return _Cost(1, 1)

    def _repeat(self, least: int, most: int, what: Any, after: Letters) -> _Cost:
        inner = list(what)
        times = least + 1 if most == _parser.MAXREPEAT else int(most)
        first = self._first(inner, frozenset())
        each = self.row(inner, (first | after) if times > 1 else after)
        if each.ways > 1 and times > 1:
            ways = ENOUGH if times > 30 else min(ENOUGH, each.ways**times)
            return _Cost(min(ENOUGH, ways * each.steps), ways)
        return _Cost(min(ENOUGH, times * each.steps), (times - least + 1) * each.ways if first & after else each.ways)

    def _branch(self, branches: list[list[Any]], after: Letters) -> _Cost:
        costs = [self.row(branch, after) for branch in branches]
        total = min(ENOUGH, sum(cost.steps for cost in costs))
        seen: set[int] = set()
        for first in (self._first(branch, after) for branch in branches):
            if seen & first:
                return _Cost(total, sum(cost.ways for cost in costs))
            seen |= first
        return _Cost(total, max((cost.ways for cost in costs), default=1))

    def _first(self, items: Sequence[Any], after: Letters) -> Letters:
        """The characters with which things in a row may begin."""
        found: Letters = frozenset()
        for item in items:
            letters, may_be_empty = self._begins(item)
            found |= letters
            if not may_be_empty:
                return found
        return found | after

    def _begins(self, item: Any) -> tuple[Letters, bool]:
        name, value = str(item[0]), item[1]
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            return self._first(list(value[2]), frozenset()), value[0] == 0 or self._may_be_empty(list(value[2]))
        if name in {"SUBPATTERN", "ATOMIC_GROUP"}:
            inner = list(value[3] if name == "SUBPATTERN" else value)
            return self._first(inner, frozenset()), self._may_be_empty(inner)
        if name in {"BRANCH", "GROUPREF_EXISTS"}:
            branches = [list(branch or ()) for branch in (value[1] if name == "BRANCH" else value[1:])]
            letters = frozenset().union(*(self._first(branch, frozenset()) for branch in branches))
            return letters, any(map(self._may_be_empty, branches))
        if name in {"AT", "ASSERT", "ASSERT_NOT"}:
            return frozenset(), True
        return self._letters(name, value), name == "GROUPREF"

    def _may_be_empty(self, items: Sequence[Any]) -> bool:
        return all(self._begins(item)[1] for item in items)

    def _letters(self, name: str, value: Any) -> Letters:
        if name == "LITERAL":
            return self._cases({value})
        if name == "NOT_LITERAL":
            return self._all - self._cases({value})
        if name == "IN":
            return self._set(value)
        return self._all

    def _set(self, parts: Sequence[Any]) -> Letters:
        found: set[int] = set()
        for kind, value in parts:
            name = str(kind)
            if name == "LITERAL":
                found.add(value)
            elif name == "RANGE":
                found |= {c for c in self._all if value[0] <= c <= value[1]}
            elif name == "CATEGORY":
                found |= self._category(str(value).rpartition("CATEGORY_")[2])
        letters = self._cases(found)
        return self._all - letters if parts and str(parts[0][0]) == "NEGATE" else letters

    def _category(self, name: str) -> set[int]:
        negated = name.startswith("NOT_")
        known = re.compile(_CATEGORIES.get(name.removeprefix("NOT_").removeprefix("UNI_"), r"."), re.DOTALL)
        return {c for c in self._all if (known.match(chr(c)) is None) == negated}

    def _cases(self, letters: set[int]) -> Letters:
        if not self._ignores_case:
            return frozenset(letters)
        return frozenset(
            letters | {ord(other) for c in letters for other in (chr(c).lower(), chr(c).upper()) if len(other) == 1}
        )
