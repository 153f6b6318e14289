"""Where the CPU time of indexing goes: `python -m bench stages FOLDER [--every K] [--passes N] [--out FILE]`.

Each stage that a file passes through is run by itself, in this process, over every Kth file of a folder, N times; a file counts with its quickest
pass, so that what else the machine does counts little, and tables of words are warm. Prints seconds per million characters of text, and what a
reading process costs before its first file, alone and together with others. The stages of the parent (record, ranking) are run once, with their threads.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from smart_context import defaults
from smart_context.engine import searchable
from smart_context.engine.local.index import Index
from smart_context.engine.model import NewFile
from smart_context.index import prepare, reading
from smart_context.index.reading import Preparing
from smart_context.model import Extracted, Limits, Prepared
from smart_context.redact import Redactor, document
from smart_context.sources import extract, wire
from smart_context.sources.worker import Pool, Task
from smart_context.text import segment, valid

T = TypeVar("T")


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench stages", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=40, metavar="K")
    parser.add_argument("--passes", type=int, default=6, metavar="N")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    files = sorted(path for path in args.folder.rglob("*") if path.is_file())[:: args.every]
    stages = _Stages(args.passes)
    with tempfile.TemporaryDirectory() as data, Index.open(Path(data), writable=True) as index:
        for path in files:
            stages.file(path, index)
        stages.parent("commit", index.commit)
    result: dict[str, Any] = {
        "files": stages.files,
        "characters": stages.chars,
        "seconds per million characters": {
            name: round(spent / stages.chars * 1e6, 4) for name, spent in stages.spent.items()
        },
        "start of a reading process, seconds": round(min(_start() for _ in range(args.passes)), 3),
        "start of 2 and 4 together": [round(min(_together(n) for _ in range(args.passes)), 3) for n in (2, 4)],
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(result, indent=2))
    if args.out:
        args.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


class _Stages:
    def __init__(self, passes: int) -> None:
        self._passes = passes
        self._redactor = Redactor()
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.files = self.chars = 0

    def file(self, path: Path, index: Index) -> None:
        data, limits = path.read_bytes(), Limits()
        try:
            doc = self._best("extract", lambda: extract.extract(data, path.name, limits))
        except Exception:  # noqa: BLE001  a reading process would answer for it
            return
        if not isinstance(doc, Extracted):
            return
        cut = self._best("cut", lambda: list(segment.cut(doc, defaults.SEGMENT_CHARS)))
        whole = [replace(s, heading=valid.utf8(s.heading), text=valid.utf8(s.text)) for s in cut]
        judged = tuple(self._best("judge", lambda: document.judged(whole, self._redactor)))
        shown = searchable.texts(judged)
        packed = tuple(self._best("analyse", lambda: searchable.carried(str(path), doc.title, judged, shown)))
        years = self._best("years", lambda: prepare.named_years(str(path), judged))
        answer = wire.Answer(Prepared(replace(doc, units=()), judged, years, packed), "0" * 64)
        _, head, body = self._best("encode", lambda: wire.encode(answer))
        self._best("decode", lambda: wire.decode(head, body))
        made = self._best("unpack", lambda: list(map(searchable.unpacked, packed)))
        new = NewFile(
            path=str(path), root="/", kind=doc.kind, size=len(data), mtime_ns=1, sha256="0" * 64,
            state="ok" if judged else "no_text", reason="", title=doc.title, notes=(), judged=self._redactor.identity(),
        )  # fmt: skip
        self.parent("record and ranking", lambda: index.put(new, judged, years, "2026-01-01T00:00:00Z", made))
        self.files += 1
        self.chars += sum(len(s.text) for s in judged)

    def parent(self, name: str, work: Callable[[], object]) -> None:
        began = time.process_time()
        work()
        self.spent[name] += time.process_time() - began

    def _best(self, name: str, work: Callable[[], T]) -> T:
        best = float("inf")
        for _ in range(self._passes):
            began = time.process_time()
            found = work()
            best = min(best, time.process_time() - began)
        self.spent[name] += best
        return found


def _start() -> float:
    """CPU seconds of a reading process that loads everything and is given no file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ours, theirs = socket.socketpair()
    ours.shutdown(socket.SHUT_WR)
    lifeline, kept = os.pipe()
    fds = [str(theirs.fileno()), str(lifeline)]
    start = [
        *reading.started_with(Preparing(defaults.SEGMENT_CHARS)),
        *fds,
        json.dumps(asdict(Limits())),
        defaults.JAIL,
    ]
    subprocess.run(start, check=True, pass_fds=(theirs.fileno(), lifeline))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    for fd in (lifeline, kept):
        os.close(fd)
    ours.close()
    theirs.close()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _together(count: int) -> float:
    """CPU seconds of so many reading processes that start together, and are given a file of a few bytes each."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start_with = reading.started_with(Preparing(defaults.SEGMENT_CHARS))
    with tempfile.NamedTemporaryFile(suffix=".txt") as file, Pool(Limits(), count, start_with=start_with) as pool:
        file.write(b"a few words")
        file.flush()
        pool.begin()
        list(pool.run(Task(number, file.name, lambda: os.open(file.name, os.O_RDONLY)) for number in range(count)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
