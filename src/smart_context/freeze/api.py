"""Freezing from Python: compare caches.

In: paths, queries, budgets.  Out: data.
Always: the same rules and checks as on the command line.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smart_context.freeze.diff import Difference


def diff(
    old: str | os.PathLike[str], new: str | os.PathLike[str], *, query: str | None = None, budget: int = 0
) -> Difference:
    """Compare two caches; with a query, also what it selects from each within the budget.

    Raises: InvalidQuery, InvalidBudget, CacheMissing, CacheInvalid, IoError.
    """
    from smart_context.freeze import diff as stage

    return stage.caches(old, new, query=query, budget=budget)
