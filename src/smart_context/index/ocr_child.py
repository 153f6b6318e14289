"""The OCR process: read a file with OCR, and prepare it for the index.

In: a `Preparing` and where the data of OCR is, then the arguments of `worker_child`; with each file an `ocr_text.OcrRequest`.
Out: a `Prepared` for each file, with all of its text: its own, what OCR read before, and what it read now.
Always: everything is loaded before the first file is read; it runs at low priority; a file is read for a bounded time, and
its remaining pages wait.
"""

from __future__ import annotations

import json
import mmap
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from smart_context.index import ocr_text, prepare, reading_child
from smart_context.index.reading import Preparing
from smart_context.model import Extracted, Limits, Prepared, Skipped
from smart_context.sources import worker_child
from smart_context.sources.child import command
from smart_context.sources.extract.sight import Sight

_NICE = 10
_PICTURE_SECONDS = 60  # of CPU time that one picture may take beyond the turn, until the process is ended


def started_with(how: Preparing, files: Mapping[str, str]) -> list[str]:
    """The command line of such a process; `files`: the data of OCR (`engines.data`)."""
    return [*command("smart_context.index.ocr_child"), json.dumps(asdict(how)), json.dumps(files)]


def main(args: Sequence[str]) -> None:
    """Read and prepare files until the parent closes the socket."""
    os.nice(_NICE)
    how, redactor = reading_child.loaded(args[0])
    from smart_context.sources import engines, extract
    from smart_context.sources.extract import pictures

    pictures.load()
    files = json.loads(args[1])
    engine, memory = engines.load(files), engines.memory(files)

    def read(data: bytes | mmap.mmap, name: str, limits: Limits, more: bytes) -> Prepared | Skipped:
        asked = ocr_text.from_json(more)
        short = os.path.basename(name)
        counted = Sight()
        extract.extract(data, short, limits, counted)
        worker_child.grant_cpu(replace(limits, cpu_seconds=limits.cpu_seconds + int(asked.seconds) + _PICTURE_SECONDS))
        sight = Sight(
            engine,
            known=asked.recognized(),
            done=max(0, counted.met - asked.waiting),
            until=time.process_time() + asked.seconds,
            lost=asked.lost,
            notes=list(asked.notes),
        )
        found = worker_child.within_limits(extract.extract(data, short, limits, sight), limits)
        if not isinstance(found, Extracted):
            return found
        worker_child.grant_cpu(limits)
        return prepare.file(found, name, how, redactor)

    worker_child.serve(args[2:], read, memory=memory.extra, replace_above=memory.replace_above)
