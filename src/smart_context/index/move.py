"""Copy an index from one engine to another.

In: two engines.  Out: the second has the files of the first, and answers the same.
Always: no file is read; the first is not changed; files that the second already has are skipped, so that an interrupted copy can be resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields

from smart_context.engine.model import FileRow, NewFile
from smart_context.engine.port import Engine, Index, Record
from smart_context.model import OnProgress, Progress, Segment, Stop

_BATCH_FILES = 2000  # between two commits
_BATCH_CHARS = 16_000_000
_AT_ONCE = 500


def copy(source: Engine, target: Engine, roots: Sequence[str], on_progress: OnProgress, stop: Stop) -> int:
    """Copy every file, and when each root was last walked; return how many files were new.

    Raises: as `Engine.open`; what `stop` raises, after a commit.
    """
    with closing(source.record()) as record, target.open(writable=True) as index:
        done = _files(record, index, on_progress, stop)
        for root in roots:
            run = record.last_run(root)
            if run is not None:
                index.record.finish_run(root, run, record.mounts(root))
        index.tidy()
        return done


def _files(record: Record, index: Index, on_progress: OnProgress, stop: Stop) -> int:
    ids = sorted(record.file_ids())
    done = files = chars = 0
    for first in range(0, len(ids), _AT_ONCE):
        for number, row in enumerate(record.files(ids[first : first + _AT_ONCE]).values(), start=first):
            on_progress(Progress(number, len(ids), row.path))
            if not _is_there(index.record, row):
                _put(record, index, row)
                done, files, chars = done + 1, files + 1, chars + row.chars
            if files >= _BATCH_FILES or chars >= _BATCH_CHARS:
                index.commit()
                files = chars = 0
            try:
                stop()
            except BaseException:
                index.commit()
                raise
    index.commit()
    return done


def _is_there(record: Record, row: FileRow) -> bool:
    known = record.file(row.path)
    return known is not None and (_new_file(known), known.chars) == (_new_file(row), row.chars)


def _new_file(row: FileRow) -> NewFile:
    """The file as a run would record it."""
    return NewFile(**{field.name: getattr(row, field.name) for field in fields(NewFile)})


def _put(record: Record, index: Index, row: FileRow) -> None:
    rows = record.segments_of(row.file_id)
    known = record.passages(s.segment_id for s in rows)
    segments = [
        Segment(s.seq, s.pointer, s.heading, passage.text, passage.hidden, s.certainty)
        for s in rows
        for passage in (known[s.segment_id],)
    ]
    index.put(_new_file(row), segments, row.years, row.indexed_at)
