"""Index a folder with many machines: one walks, workers read.

In: a folder, a queue.  Out: batches of new or changed files; and the index entries of a batch that a worker reads.
Always: a batch may be processed twice and changes nothing the second time; a file is read again only when it changed; a file that
crashes its worker costs only itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from smart_context.access.roots import Roots
from smart_context.data import replace
from smart_context.engine.model import Batch, NewFile
from smart_context.engine.port import Beside, Index, Queue
from smart_context.errors import ContextError
from smart_context.index import indexer
from smart_context.index.indexer import Options
from smart_context.index.model import IndexReport
from smart_context.model import changed_at
from smart_context.sources.walk import Found

if TYPE_CHECKING:
    from smart_context.sources.worker import Pool

FILES = 64  # of a batch
_TRIES = 3  # failures of a batch, or crashes of its worker, after which each file becomes a batch of its own


def enqueue(index: Index, queue: Queue, roots: Roots, folder: str, options: Options, *, full: bool = False) -> int:
    """Walk a folder, remove deleted files from the index, and queue new or changed ones; return how many batches these are.

    Raises: as `indexer.run`.
    """
    put = 0

    def elsewhere(changed: Iterable[Found]) -> None:
        nonlocal put
        put += queue.put(root, _batches(found.path for found in changed), full=full)

    root = roots.inside(folder).root
    indexer.run(index, roots, folder, options, full=full, elsewhere=elsewhere)
    return put


def take(
    index: Beside, queue: Queue, roots: Roots, batch: Batch, options: Options, readers: Pool | None = None
) -> IndexReport:
    """Read the files of a batch that the index does not have in their current state; `readers`: a pool that the caller keeps for further batches.

    Raises: Forbidden where its folder is not a root any more: its files look missing to us, but are not deleted.
    """
    roots.inside(batch.root)
    if batch.tries >= _TRIES and len(batch.paths) > 1:
        queue.put(batch.root, ([path] for path in batch.paths), full=batch.full)
        return IndexReport()
    if batch.tries >= _TRIES:
        return _given_up(index, roots, batch)
    there = {path: _looked_at(roots, path) for path in batch.paths}
    stamps = index.look_up({path: found.size if found else -1 for path, found in there.items()})
    due, gone = [], []
    for path, found in there.items():
        known = stamps.get(path)
        if found is None:
            gone += [known[1]] if known else []
        elif batch.full or known is None or known[2:] != (found.size, found.mtime_ns):
            due.append(found)
    report = (
        indexer.some(index, roots, batch.root, due, options, full=batch.full, readers=readers) if due else IndexReport()
    )
    if gone:
        index.remove(gone)
        index.commit()
    return replace(report, removed=report.removed + len(gone), skipped=len(batch.paths) - len(due) - len(gone))


def leave_scans(index: Beside, queue: Queue, batch: Batch) -> int:
    """Queue the files of a batch that need OCR, after everything else; return how many these are."""
    stamps = index.look_up(dict.fromkeys(batch.paths, -1))
    rows = index.record.files(stamp[1] for stamp in stamps.values())
    return queue.put_scans(batch.root, sorted(row.path for row in rows.values() if row.unread_pages))


def scan(index: Beside, queue: Queue, roots: Roots, batch: Batch, options: Options, seers: Pool) -> IndexReport:
    """Run OCR on a file for one turn, and requeue it if more waits; a file that crashed several workers waits for the next walk."""
    from smart_context.index import scans

    if batch.tries >= _TRIES:
        return IndexReport()
    [path] = batch.paths
    report = scans.turn(index, roots, path, options, seers)
    if report.unread_pages:
        queue.put_scans(batch.root, [path])
    return report


def _batches(paths: Iterable[str]) -> Iterator[Sequence[str]]:
    rest = iter(paths)
    while some := list(islice(rest, FILES)):
        yield some


def _looked_at(roots: Roots, path: str) -> Found | None:
    try:
        fd = roots.open_file(path)
    except ContextError:
        return None
    try:
        info = os.fstat(fd)
    finally:
        os.close(fd)
    return Found(path, info.st_size, changed_at(info))


def _given_up(index: Index, roots: Roots, batch: Batch) -> IndexReport:
    """Record that a file crashed every worker that read it, so that it is tried again when it changes."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    detail = "each worker that read it ended"
    there = [found for path in batch.paths if (found := _looked_at(roots, path))]
    for found in there:
        new = NewFile(found.path, batch.root, "", found.size, found.mtime_ns, "", "failed", "killed", detail)
        index.put(new, (), (), at)
    index.commit()
    return IndexReport(failed=len(there))
