"""Queries of the engine for any of several terms.

In: the terms, or what they all begin with.  Out: queries for those that a field has.
Always: together they match what a set of all of the terms matches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smart_context.engine.local.ranking import engine

if TYPE_CHECKING:
    import tantivy

FEW = 200  # terms up to which a query for each is faster than one for their set
_KEPT = 100  # queries for beginnings

Beginnings = dict[tuple[str, str], "tantivy.Query"]
"""Queries for the terms of a field with a prefix: making one takes longer than most searches."""


def terms(searcher: tantivy.Searcher, schema: tantivy.Schema, field: str, wanted: Sequence[str]) -> list[tantivy.Query]:
    """Queries for those of the terms that a field has.

    It lacks most of the stems of compounds, which are made in every language; and a set of terms takes as long to make as many terms take to look up.
    """
    there = [term for term in wanted if searcher.doc_freq(field, term)]
    if len(there) > FEW:
        return [engine.query().term_set_query(schema, field, there)]
    return [engine.query().term_query(schema, field, term, "basic") for term in there]


def beginning(schema: tantivy.Schema, field: str, prefix: str, known: Beginnings) -> tantivy.Query:
    """A query for the terms of a field with a prefix; known: a cache."""
    found = known.get((field, prefix))
    if found is None:
        if len(known) >= _KEPT:
            known.clear()
        found = known[field, prefix] = engine.query().regex_query(schema, field, f"{re.escape(prefix)}.*")
    return found
