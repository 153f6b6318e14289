"""Embed the segments that have no vector yet.

In: the record and a model.  Out: its vectors, appended beside the index, a few at a time.
Always: one process embeds an index at a time, and does not need the writer's lock; appended vectors stay, so that the next run
goes on where one was stopped or killed; only living segments are embedded, in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from smart_context.engine.port import Engine, Record
from smart_context.engine.vectors import Vectors
from smart_context.errors import Conflict
from smart_context.index.model import Coverage
from smart_context.meaning import place
from smart_context.meaning.encoder import Encoder
from smart_context.model import OnProgress, Progress, Stop
from smart_context.text import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 8  # segments between two writes: about half a second's work


@dataclass(frozen=True, slots=True)
class _Text:
    """A segment as the model will read it."""

    segment_id: int
    file_id: int
    path: str
    text: str


def run(engine: Engine, encoder: Encoder, *, workers: int = 1, on_progress: OnProgress, stop: Stop) -> int:
    """Embed every living segment that has no vector yet; return their number.

    Raises: NotFound where there is no index; Conflict when another process embeds; what `stop` raises, between two batches.
    """
    with closing(engine.record()) as record, engine.embedding():
        vectors = engine.vectors(encoder.fingerprint, encoder.dimension)
        with ThreadPoolExecutor(max(1, workers)) as pool:
            done = 0
            while (missing := _missing(record, vectors)).size:
                fresh = _embed(record, vectors, encoder, missing, pool, done, on_progress, stop)
                done += fresh
                if not fresh:
                    break
            return done


def tidy(engine: Engine, used: str) -> None:
    """Drop the vectors of removed segments, and of every model except `used` (its fingerprint)."""
    # If another process embeds now, a later call does it.
    with suppress(Conflict), engine.embedding(), closing(engine.record()) as record:
        engine.keep_vectors(used)
        engine.vectors(used).compact(record.living())


def coverage(engine: Engine, model: Path) -> Coverage:
    """Count the living segments, and those that have a vector of the model in a folder.

    Raises: NotFound where there is no index; SearchFailed when the vectors are damaged; OSError when the model cannot be read.
    """
    with closing(engine.record()) as record:
        living = np.fromiter(record.living(), np.int64)
    known = engine.vectors(place.fingerprint(model)).segments()
    return Coverage(model.name, int(np.isin(living, known).sum()), len(living))


def _missing(record: Record, vectors: Vectors) -> NDArray[np.int64]:
    vectors.reload()
    return np.setdiff1d(np.fromiter(record.living(), np.int64), vectors.segments())


def _embed(
    record: Record,
    vectors: Vectors,
    encoder: Encoder,
    missing: NDArray[np.int64],
    pool: ThreadPoolExecutor,
    before: int,
    on_progress: OnProgress,
    stop: Stop,
) -> int:
    done = 0
    for start in range(0, len(missing), _BATCH):
        stop()
        texts = list(_texts(record, missing[start : start + _BATCH].tolist()))
        rows = pool.map(lambda one: encoder.embed([one.text])[0], texts)
        vectors.append((one.segment_id, one.file_id, row) for one, row in zip(texts, rows, strict=True))
        done += len(texts)
        at = texts[-1].path if texts else ""
        on_progress(Progress(before + done, before + len(missing), at))
    return done


def _texts(record: Record, segment_ids: Sequence[int]) -> Iterator[_Text]:
    """The segments that are still there, each below its file's title and its heading, unless it begins with them."""
    rows, texts = record.segments(segment_ids), record.passages(segment_ids)
    files = record.files({row.file_id for row in rows.values()})
    for segment_id, row in rows.items():
        file, passage = files.get(row.file_id), texts.get(segment_id)
        if file is None or passage is None:
            continue
        text = whole.left(passage.text, passage.hidden)
        yield _Text(segment_id, row.file_id, file.path, as_read(text, file.title, row.heading))


def as_read(text: str, *heads: str) -> str:
    """The text that the model reads of a segment."""
    text = text.strip()
    above = [head for head in dict.fromkeys(heads) if head and head not in text[: len(head) + 200]]
    return "\n".join((*above, text))
