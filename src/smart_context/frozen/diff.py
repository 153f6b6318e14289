"""Compare two caches.

In: two cache directories, perhaps a query and a budget.  Out: a `Difference`.
Always: manifests are compared first, and only documents that differ are read; what is read is verified. Unchanged documents
have the same hash in both manifests: whether their files hold that is for `verify` to say.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from smart_context.cache import folder, resolve, verify
from smart_context.cache.exact_json import string

if TYPE_CHECKING:
    from smart_context.cache.folder import Folder
    from smart_context.cache.manifest import Entry, Manifest

Path = str | os.PathLike[str]
_LINE = re.compile("[^\n]*\n|[^\n]+")
_MOST_LINES = 5_000  # of both texts together; finding the least difference of longer ones takes minutes


class Changed(NamedTuple):
    """A document with another content: its versions, the lines that came and went, and a unified diff."""

    id: str
    old: str
    new: str
    lines_added: int
    lines_removed: int
    text: str


class Moved(NamedTuple):
    """A content that has another id."""

    old: str
    new: str
    version: str


class Selected(NamedTuple):
    """What a query selects from the second cache and not from the first, and the other way round, best first."""

    query: str
    budget: int
    gained: list[str]
    lost: list[str]
    kept: int


class Difference(NamedTuple):
    """How the second cache differs from the first; documents by id, sorted."""

    old: str
    new: str
    added: list[Entry]
    removed: list[Entry]
    moved: list[Moved]
    changed: list[Changed]
    selected: Selected | None

    @property
    def is_none(self) -> bool:
        """Whether the caches hold the same documents; then they select the same too."""
        return self.old == self.new


def caches(old: Path, new: Path, *, query: str | None = None, budget: int = 0) -> Difference:
    """Compare two caches; with a query, also what it selects from each within the budget.

    Raises: InvalidQuery, InvalidBudget, CacheMissing, CacheInvalid, IoError.
    """
    if query is not None:
        resolve.check(query, budget)
    found = folder.read(old, lambda one: folder.read(new, lambda other: _compared(one, other)))
    if query is None:
        return found
    return found._replace(selected=_selected(old, new, query, budget))


def to_json(found: Difference, *, with_text: bool = True) -> bytes:
    """Return a difference as compact JSON with a newline at the end."""
    selected = "null"
    if found.selected:
        query, budget, gained, lost, kept = found.selected
        selected = f'{{"query":{string(query)},"budget":{budget},"gained":[{_strings(gained)}],"lost":[{_strings(lost)}],"kept":{kept}}}'
    changed = ",".join(
        f'{{"id":{string(one.id)},"old":{string(one.old)},"new":{string(one.new)},"lines_added":{one.lines_added}'
        f',"lines_removed":{one.lines_removed}' + (f',"diff":{string(one.text)}}}' if with_text else "}")
        for one in found.changed
    )
    moved = ",".join(
        f'{{"old":{string(one.old)},"new":{string(one.new)},"version":{string(one.version)}}}' for one in found.moved
    )
    return (
        f'{{"same":{"true" if found.is_none else "false"},"old":{string(found.old)},"new":{string(found.new)}'
        f',"added":[{_entries(found.added)}],"removed":[{_entries(found.removed)}],"moved":[{moved}]'
        f',"changed":[{changed}],"selection":{selected}}}\n'
    ).encode()


def _compared(old: Folder, new: Folder) -> Difference:
    before, after = verify.manifest(old), verify.manifest(new)
    olds = {entry.id: entry for entry in before.documents}
    news = {entry.id: entry for entry in after.documents}
    added = [entry for entry in after.documents if entry.id not in olds]
    removed = [entry for entry in before.documents if entry.id not in news]
    moved = _moved(added, removed)
    came, went = {one.new for one in moved}, {one.old for one in moved}
    return Difference(
        before.cache_version,
        after.cache_version,
        [entry for entry in added if entry.id not in came],
        [entry for entry in removed if entry.id not in went],
        moved,
        [_changed(old, olds[entry.id], new, entry) for entry in _differing(after, olds)],
        None,
    )


def _differing(after: Manifest, olds: dict[str, Entry]) -> list[Entry]:
    return [entry for entry in after.documents if entry.id in olds and olds[entry.id].version != entry.version]


def _moved(added: list[Entry], removed: list[Entry]) -> list[Moved]:
    """Pair documents that came and went with the same content, each once, in the order of ids."""
    waiting: dict[str, list[Entry]] = {}
    for entry in reversed(removed):
        waiting.setdefault(entry.version, []).append(entry)
    return [
        Moved(waiting[entry.version].pop().id, entry.id, entry.version) for entry in added if waiting.get(entry.version)
    ]


def _changed(old: Folder, before: Entry, new: Folder, after: Entry) -> Changed:
    one, other = (_LINE.findall(verify.content(*at)[0]) for at in ((old, before), (new, after)))
    lines = _unified(one, other, after.id if after.id.isprintable() else string(after.id))
    plus = sum(line.startswith("+") for line in lines[2:])
    minus = sum(line.startswith("-") for line in lines[2:])
    return Changed(after.id, before.version, after.version, plus, minus, "".join(map(_ended, lines)))


def _unified(one: list[str], other: list[str], name: str) -> list[str]:
    if len(one) + len(other) > _MOST_LINES:
        head = [f"--- {name}\n", f"+++ {name}\n", f"@@ -1,{len(one)} +1,{len(other)} @@\n"]
        return [*head, *(f"-{line}" for line in one), *(f"+{line}" for line in other)]
    import difflib

    return list(difflib.unified_diff(one, other, name, name))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _selected(old: Path, new: Path, query: str, budget: int) -> Selected:
    before = [one.id for one in resolve.selection(old, query, budget).documents]
    after = [one.id for one in resolve.selection(new, query, budget).documents]
    stays = set(before) & set(after)
    return Selected(
        query,
        budget,
        [one for one in after if one not in stays],
        [one for one in before if one not in stays],
        len(stays),
    )


def _entries(entries: list[Entry]) -> str:
    return ",".join(f'{{"id":{string(entry.id)},"version":{string(entry.version)}}}' for entry in entries)


def _strings(texts: list[str]) -> str:
    return ",".join(map(string, texts))
