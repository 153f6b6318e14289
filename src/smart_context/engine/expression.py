"""Queries of the ranking index: a tree of terms, engine-neutral.

`find/query.py` parses what people write, `find/plan.py` turns that into an expression, `ranking` turns this into the engine's own queries.
"""

from __future__ import annotations

from smart_context.data import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A term of `analysis`, anywhere in a segment."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Any of many terms, each worth the same: the compounds that a word is part of, or what a `prefix` stands for (the commonest
    terms first)."""

    terms: tuple[str, ...]
    weight: float = 1.0
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Terms one after the other, with at most `slop` words between them; only of two terms, because what an engine finds of more may depend on
    how common they are."""

    terms: tuple[str, ...]
    slop: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Every one of `must`, none of `must_not`, and the more of `should` the better (at least one where there is no `must`)."""

    must: tuple[Expression, ...] = ()
    should: tuple[Expression, ...] = ()
    must_not: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Everything:
    """Every segment."""


Expression = Term | AnyOf | Sequence | Group | Everything


@dataclass(frozen=True, slots=True)
class Filters:
    """Which files count. Empty: all. `exts` with their dot, lower case; `folders` absolute; `files` by id; within one kind any
    suffices. `among`: these by id alone, where it is not None, and none where it is empty."""

    exts: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    files: tuple[int, ...] = ()
    among: tuple[int, ...] | None = None
