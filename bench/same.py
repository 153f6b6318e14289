"""The same bytes on both engines: `python -m bench same FOLDER… --server postgresql://… [--workers 1,2] [--copies N] [--out FILE]`.

Each FOLDER (files, or a test collection with `corpus.jsonl`) is indexed by one machine's engine, and by so many workers into a database of its own, each time; the server's user may make databases, and they are dropped at the end. Compared with the first: the bytes of the answers to questions made of the files
(and to the collection's own), of previews, and of every file of frozen caches. Beside it stand CPU and time of each way of indexing, the database's CPU included.
`--copies N` lays FOLDER out N times; `--no-answers` compares nothing. Raw numbers go to bench/runs/same.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.shared import RUNS, server_cpu, settings
from smart_context import engine
from smart_context.api import App
from smart_context.engine.postgres.database import Database
from smart_context.errors import InvalidQuery
from smart_context.find import evaluate
from smart_context.frozen import verbs
from smart_context.frozen.provenance import Question
from smart_context.model import OWNER

_QUESTIONS = 150  # files that questions are made of
_OWN = 200  # questions of a collection
_OPENED = 200
_FROZEN = 40
_DAY = "2026-01-01T00:00:00Z"


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench same", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--server", required=True)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--no-answers", action="store_true")
    parser.add_argument("--out", type=Path, default=RUNS / "same.json")
    args = parser.parse_args(argv)
    counts = [int(count) for count in args.workers.split(",")]
    results = {}
    for folder in args.folders:
        with tempfile.TemporaryDirectory(prefix="same-") as place:
            root, own = laid_out(folder.resolve(), Path(place), args.copies)
            results[folder.name] = measured(root, own, Path(place), args.server, counts, answers=not args.no_answers)
            print(folder.name, json.dumps(results[folder.name], indent=1), flush=True)
    args.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def laid_out(folder: Path, place: Path, copies: int) -> tuple[Path, list[str]]:
    """The folder to index, and questions that came with it."""
    target = place / "files"
    if (folder / "corpus.jsonl").exists() and (folder / "queries.jsonl").exists():
        target.mkdir()
        evaluate.lay_out(folder, target)
        lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        return target, [json.loads(line)["text"] for line in lines][:_OWN]
    if copies > 1:
        for number in range(copies):
            shutil.copytree(folder, target / str(number))
        return target, []
    return folder, []


def measured(
    root: Path, own: list[str], place: Path, server: str, counts: list[int], *, answers: bool
) -> dict[str, Any]:
    out: dict[str, Any] = {"load": os.getloadavg()[0]}
    with databases(server, len(counts)) as addresses:
        ways: dict[str, tuple[str, int]] = {"local": ("", 1)}
        ways |= {f"{n} worker{'s' * (n > 1)}": (address, n) for n, address in zip(counts, addresses, strict=True)}
        for name, (address, workers) in ways.items():
            out[name] = indexed(root, place / name, address, workers)
        if not answers:
            return out
        local = settings(root, place / "local", "")
        for name, (address, _) in list(ways.items())[1:]:
            engine.at(place / name, address).open().close()  # a node that follows answers while it takes in
            with App(local) as first, App(settings(root, place / name, address)) as other:
                other.follows = True
                out[f"answers of {name}"] = compared(first, other, own, place)
    return out


@contextmanager
def databases(server: str, count: int) -> Iterator[list[str]]:
    """So many new databases on a server."""
    names = [f"bench_same_{os.getpid()}_{number}" for number in range(count)]
    before, _, options = server.partition("?")
    try:
        with Database(server).connection(seconds=None) as db:
            for name in names:
                db.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
        yield [f"{before.rpartition('/')[0]}/{name}?{options}" for name in names]
    finally:
        with Database(server).connection(seconds=None) as db:
            for name in names:
                db.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def indexed(root: Path, data: Path, address: str, workers: int) -> dict[str, Any]:
    """CPU and seconds of a whole run, each worker with one process that reads."""
    env = {**os.environ, "SMART_CONTEXT_DATA_DIR": str(data), "SMART_CONTEXT_ENGINE": address}
    env["SMART_CONTEXT_INDEX_WORKERS"] = "1"
    command = [sys.executable, "-m", "smart_context"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    server = server_cpu(address) if address else 0.0
    if address:
        subprocess.run([*command, "engine", "init"], env=env, check=True, capture_output=True)
    steps = ["--enqueue"] if address else ["--no-embed"]
    subprocess.run([*command, "index", *steps, "--root", root, root], env=env, check=True, capture_output=True)
    if address:
        read = [*command, "worker", "--once", "--root", str(root)]
        places = [{**env, "SMART_CONTEXT_DATA_DIR": f"{data}-{number}"} for number in range(workers)]
        running = [subprocess.Popen(read, env=place, stderr=subprocess.DEVNULL) for place in places]
        assert [each.wait() for each in running] == [0] * workers
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds = time.monotonic() - began
    of_server = server_cpu(address) - server if address else 0.0
    return {"seconds": round(seconds, 1), "cpu": round(client, 1), "server_cpu": round(of_server, 1)}


def compared(one: App, other: App, own: list[str], place: Path) -> dict[str, Any]:
    questions = list(dict.fromkeys([*(probe.query for probe in one.probes((), _QUESTIONS)), *own]))
    paths: set[str] = set()

    def searched(app: App, question: str) -> str:
        found = app.search_files(question)
        paths.update(item["path"] for item in found["items"])
        return json.dumps([found, app.search_files(question, 50)])

    different = [question for question in questions if searched(one, question) != searched(other, question)]
    opened = sorted(paths)[:_OPENED]
    unlike = [path for path in opened if json.dumps(one.open_file(path)) != json.dumps(other.open_file(path))]
    asked = questions[:: max(1, len(questions) // _FROZEN)][:_FROZEN]
    caches = [frozen(app, asked, place / name) for app, name in ((one, "caches"), (other, "others"))]
    apart = sorted(name for name in caches[0].keys() | caches[1].keys() if caches[0].get(name) != caches[1].get(name))
    return {
        "questions": len(questions),
        "different": different,
        "opened": len(opened),
        "opened_different": unlike,
        "frozen": len({name.partition("/")[0] for name in caches[0]}),
        "files_of_caches": len(caches[0]),
        "frozen_different": apart,
    }


def frozen(app: App, questions: list[str], folder: Path) -> dict[str, bytes]:
    """Every file of the caches that questions become."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    never: Callable[..., None] = lambda *_: None  # noqa: E731
    for number, question in enumerate(questions):
        allowed = app._allowed(never, OWNER)
        target = str(folder / str(number))
        with suppress(InvalidQuery):  # it finds nothing
            verbs.freeze(
                allowed, Question(question, 20), target, verbs.FreezeOptions(), created_at=_DAY, on_progress=never
            )
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
