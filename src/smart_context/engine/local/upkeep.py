"""Maintain an index: repair a damaged one, compact a healthy one.

In: the data directory.  Out: an index that is whole, or compact again.
Always: nothing that cannot be made again is deleted; a damaged record is moved aside, whole, for inspection.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from smart_context.engine import refusals
from smart_context.engine.local.engine import RANKING, RECORD, UNFINISHED, vector_files
from smart_context.engine.local.index import Index, forget_vectors, make_private
from smart_context.engine.local.lock import WriteLock
from smart_context.engine.local.record import NewerRecord, Record
from smart_context.errors import Conflict, NotFound, SearchFailed, StorageFailed
from smart_context.model import OnProgress, silent


def repair(data_dir: Path, on_progress: OnProgress = silent) -> Path | None:
    """Rebuild the ranking from the record; move a damaged record aside first, and return its new path.

    Raises: Conflict when another process writes; SearchFailed for a record of a newer version of this program.
    """
    make_private(data_dir)
    held = WriteLock.take(data_dir)
    try:
        aside = None if _is_sound(data_dir) else _set_aside(data_dir)
        if aside:  # its numbers mean other segments from now on
            shutil.rmtree(data_dir / RANKING, ignore_errors=True)
    finally:
        held.close()
    with Index.open(data_dir, writable=True, on_progress=on_progress) as index:
        if not aside and not index.renewed:
            index.renew(on_progress)
    return aside


def maintain(data_dir: Path, on_progress: OnProgress = silent) -> str:
    """Free unused pages, checkpoint the WAL, finish merges, and look for damage; why the ranking was rebuilt, or "".

    It is rebuilt if it is damaged, differs from the record, or has mostly removed segments.

    Raises: NotFound where there is no index; Conflict when another process writes; SearchFailed when it is damaged.
    """
    Record.open(data_dir).close()
    with Index.open(data_dir, writable=True, on_progress=on_progress) as index:
        flaw = index.record.flaw()
        if flaw:
            raise SearchFailed(
                f"the index in {data_dir} is damaged", reason=flaw, hint="mend it with: context index --rebuild"
            )
        if (data_dir / UNFINISHED).exists():
            _leave_no_trace(index, on_progress)
            return "text that was to be forgotten was still there: record and ranking were written anew without it"
        damage = index.ranking.flaw()
        renewed = index.renewed  # by opening it, where that met damage already
        if damage:
            renewed = f"the ranking was damaged ({damage}): built anew from the record, reading no file again"
            index.renew(on_progress)
        elif misfit := _misfit(index):
            renewed = f"{misfit}: built anew from the record"
            index.renew(on_progress)
        else:
            index.gather(is_upkeep=True)
            index.ranking.merge()
        index.record.tidy()
        return renewed


def forget(data_dir: Path, folder: str, keep: Sequence[str], on_progress: OnProgress = silent) -> int:
    """Remove the files at or below a folder, except at or below those in `keep`; how many.

    Their runs are forgotten, too: a folder that becomes a root again is one that was never indexed. The record is rewritten without them, and
    the ranking and vectors are rebuilt from the rest: nothing of the text remains in free pages or parts. If that is interrupted, the next
    call does it, or `maintain`.

    Raises: Conflict when another process writes; SearchFailed when the index cannot be used.
    """
    with Index.open(data_dir, writable=True, on_progress=on_progress) as index:
        kept = {path for other in keep for path in index.record.stamps(other)}
        gone = [stamp[1] for path, stamp in index.record.stamps(folder).items() if path not in kept]
        if gone:
            _note(data_dir / UNFINISHED)
            index.record.remove(gone)
            index.record.commit()
        index.record.forget_runs(folder, keep)
        if (data_dir / UNFINISHED).exists():
            _leave_no_trace(index, on_progress)
        return len(gone)


def _note(file: Path) -> None:
    """Note it on the disk before the first commit: after a power cut nothing else says that the text may still be there."""
    try:
        file.touch(mode=0o600)
        _sync(file.parent)
    except OSError as error:
        raise refusals.refused(f"cannot write in {file.parent}", file.parent, error) from error


def _sync(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _leave_no_trace(index: Index, on_progress: OnProgress) -> None:
    """Rewrite everything without removed text; the record last, because its readers can delay that."""
    index.renew(on_progress)
    _forget_their_vectors(index.folder, index.record)
    index.record.rewrite()
    _sync(index.folder)  # the ranking's new name before the note goes
    (index.folder / UNFINISHED).unlink()


def _forget_their_vectors(data_dir: Path, record: Record) -> None:
    files = list(vector_files(data_dir))
    if files:
        from smart_context.engine.vectors import Vectors

        living = record.living()
        for file in files:
            Vectors(file).compact(living)


def _misfit(index: Index) -> str:
    """Why the ranking should be rebuilt: most of it was removed, or its files are not those with text in the record; or ""."""
    index.ranking.reload()
    view = index.ranking.view()
    # The engine drops deleted segments when it merges parts, and a large part may never be merged.
    if view.dead > view.segments or index.ranking.is_wasteful():
        return "most of the ranking belonged to deleted files"
    ranked = index.ranking.file_ids()
    recorded = index.record.file_ids()
    if ranked <= recorded and not any(index.record.segments_of(file_id) for file_id in sorted(recorded - ranked)):
        return ""
    return "the ranking did not hold the files that the record holds"


def _is_sound(data_dir: Path) -> bool:
    try:
        record = Record.open(data_dir, writable=True)
    except (NewerRecord, StorageFailed, Conflict):
        raise
    except (SearchFailed, NotFound):
        return False
    try:
        return not record.flaw()
    finally:
        record.close()


def _set_aside(data_dir: Path) -> Path:
    number = 1
    while (aside := data_dir / f"set-aside-{number}").exists():
        number += 1
    try:
        aside.mkdir(mode=0o700)
        for name in (RECORD, f"{RECORD}-wal", f"{RECORD}-shm"):
            if (data_dir / name).exists():
                (data_dir / name).rename(aside / name)
        forget_vectors(data_dir)  # the next record counts segments from one again
    except OSError as error:
        raise refusals.refused(f"cannot move the damaged index to {aside}", data_dir, error) from error
    return aside
