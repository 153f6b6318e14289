"""Compare a frozen cache with what the same question gives now.

In: where the cache comes from, and the texts of now.  Out: a `Change` for each document, those of the cache first, then new ones.
Always: a document is the same if its text is; its rank is its place among the results.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from smart_context.frozen import freeze
from smart_context.frozen.collect import Text
from smart_context.frozen.provenance import Provenance

State = Literal["unchanged", "changed", "missing", "moved in rank", "new"]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a document. Ranks are from 1, 0 where it is not there."""

    id: str
    state: State
    was: int
    now: int


def changes(origin: Provenance, texts: Sequence[Text]) -> list[Change]:
    """Return what became of each document. Raises: SameId."""
    found = {row.id: (rank, row.version) for rank, (_, row) in enumerate(freeze.documents(texts), 1)}
    out = []
    for was, row in enumerate(origin.documents, 1):
        now, version = found.pop(row.id, (0, ""))
        out.append(Change(row.id, _state(was, now, is_same=version == row.version), was, now))
    return [*out, *(Change(name, "new", 0, rank) for name, (rank, _) in found.items())]


def is_same(found: Sequence[Change]) -> bool:
    """Whether nothing changed."""
    return all(one.state == "unchanged" for one in found)


def to_json(origin: Provenance, found: Sequence[Change]) -> bytes:
    """Return the changes as compact JSON with a newline at the end."""
    rows = [{"id": one.id, "state": one.state, "was": one.was, "now": one.now} for one in found]
    whole = {"query": origin.question.query, "same": is_same(found), "documents": rows}
    return (json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _state(was: int, now: int, *, is_same: bool) -> State:
    if not now:
        return "missing"
    if not is_same:
        return "changed"
    return "unchanged" if was == now else "moved in rank"
