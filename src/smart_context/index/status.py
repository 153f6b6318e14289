"""Report how stale the index is.

In: the data directory and the roots.  Out: a `Status`.
Always: it changes nothing. It needs no ranking, waits for no writer, and reports a missing root from the record.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from smart_context.access.roots import Roots, is_within, shown
from smart_context.data import replace
from smart_context.engine.model import FileRow
from smart_context.engine.port import Engine, Record
from smart_context.errors import NotFound
from smart_context.index import mounts
from smart_context.index.model import Changes, Elsewhere, RootStatus, Status, Trouble
from smart_context.sources import known, walk
from smart_context.sources.walk import WalkOptions

MAX_LISTED = 1000


def of_index(engine: Engine, roots: Roots, options: WalkOptions, *, compare: bool = True) -> Status:
    """Look at every root; `compare` walks them to tell what has changed since the last run."""
    try:
        record: Record | None = engine.record()
    except NotFound:
        record = None
    try:
        options = replace(options, never_enter=options.never_enter | {os.path.realpath(engine.folder)})
        found = tuple(_of_root(record, roots, root, options, compare=compare) for root in roots.names)
        generation = record.generation if record else 0
    finally:
        if record:
            record.close()
    return Status(engine.address, engine.size(), engine.writer(), generation, found)


def elsewhere(engine: Engine, roots: Sequence[str]) -> Elsewhere | None:
    """Find what is indexed of folders in none of the roots, once named by `--root` or to `context index`; None where nothing is."""
    try:
        record = engine.record()
    except NotFound:
        return None
    try:
        outermost = [root for root in roots if not any(root != other and is_within(root, other) for other in roots)]
        inside = sum(tally.files for root in outermost for tally in record.tallies(root))
        if len(record.file_ids()) == inside:
            return None
        ours = tuple(os.fsencode(root.rstrip(os.sep) + os.sep) for root in outermost)
        paths = [os.fsdecode(stamp[0]) for stamp in record.stamped(os.sep) if not stamp[0].startswith(ours)]
    finally:
        record.close()
    return Elsewhere(len(paths), _folders(paths)) if paths else None


def _folders(paths: Sequence[str]) -> tuple[str, ...]:
    """The innermost folder around all of the files, or the folders in it if it holds none of the files itself."""
    around = os.path.commonpath([os.path.dirname(path) for path in paths])
    start = around.rstrip(os.sep) + os.sep
    if any(os.sep not in path[len(start) :] for path in paths):
        return (around,)
    return tuple(sorted({start + path[len(start) :].partition(os.sep)[0] for path in paths}))[:MAX_LISTED]


def _of_root(record: Record | None, roots: Roots, root: str, options: WalkOptions, *, compare: bool) -> RootStatus:
    is_there = roots.state(root) == "available"
    tallies = record.tallies(root) if record else []
    last = record.last_run(root) if record else None
    changes = None
    if compare and is_there:
        away = mounts.away(record, root) if record else {}
        changes = _changes(known.of(record.stamped(root) if record else (), walk.TELLING), root, options, away)
    return RootStatus(
        root=root,
        is_available=is_there,
        files=sum(t.files for t in tallies),
        segments=sum(t.segments for t in tallies),
        chars=sum(t.chars for t in tallies),
        failed=sum(t.files for t in tallies if t.state == "failed"),
        no_text=sum(t.files for t in tallies if t.state == "no_text"),
        last_run=last.finished_at if last else "",
        changes=changes,
        kinds=tuple(tallies),
        troubles=_troubles(record.without_text(root, MAX_LISTED)) if record else (),
        read_pages=record.read_pages(root) if record else 0,
        unread_pages=sum(row.unread_pages for row in record.unread(root)) if record else 0,
    )


def _changes(recorded: known.Known, root: str, options: WalkOptions, away: Iterable[str]) -> Changes:
    """What an indexing run would find new, changed or gone."""
    new = changed = 0
    problems: dict[str, str] = dict.fromkeys(away, mounts.AWAY)
    for found in walk.files(root, options, problems.__setitem__, recorded=recorded):
        was = recorded.take(found.path)
        if was is None:
            new += 1
        elif was[2]:  # 0: it failed for a temporary reason
            changed += 1
    return Changes(new, changed, 0 if problems else len(recorded), tuple(sorted(problems)))


def _troubles(rows: Sequence[FileRow]) -> tuple[Trouble, ...]:
    return tuple(
        Trouble(shown(r.path), r.state, r.kind, r.reason, "; ".join(filter(None, (r.detail, *r.notes)))) for r in rows
    )
