"""Check whether single segments match an expression, term by term.

In: an expression made of terms, and whether a segment has a term.  Out: whether it matches.
Always: the answer is that of the engine's own query for the expression. Each term is checked with the engine's `explain` for one document; for larger queries that does not always
respect exclusions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from smart_context.engine.expression import Everything, Expression, Group, Term

if TYPE_CHECKING:
    import tantivy

_NO_MATCH = "does not match"  # the engine's error if there is no match to explain


def is_of_terms(wanted: Expression) -> bool:
    """Whether an expression can be checked like this: sequences and sets of terms would be searched again for each segment."""
    if isinstance(wanted, Group):
        return all(map(is_of_terms, (*wanted.must, *wanted.should, *wanted.must_not)))
    return isinstance(wanted, Term | Everything)


def is_match(wanted: Expression, has: Callable[[str], bool]) -> bool:
    """Whether a segment that has these terms matches."""
    if isinstance(wanted, Term):
        return has(wanted.text)
    if not isinstance(wanted, Group):
        return isinstance(wanted, Everything)
    if any(is_match(item, has) for item in wanted.must_not):
        return False
    if wanted.must:
        return all(is_match(item, has) for item in wanted.must)
    return any(is_match(item, has) for item in wanted.should) if wanted.should else bool(wanted.must_not)


def is_found(query: tantivy.Query, searcher: tantivy.Searcher, place: tantivy.DocAddress) -> bool:
    """Whether one document matches a query of the engine."""
    try:
        query.explain(searcher, place)
    except ValueError as error:
        if _NO_MATCH not in str(error):
            raise
        return False
    return True
