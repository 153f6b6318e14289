"""Workers beside one machine's engine: `python -m bench workers FOLDER… [--server postgresql://…] [--files N] [--total N] [--workers 1,2] [--slow S] [--out FILE]`.

Each FOLDER (files, or a test collection with `corpus.jsonl`) is indexed by `context index` into a local index, then by one worker and by two into databases
of their own, each worker with one process that reads. Measured: CPU of every process, with that of the database server beside it, and time. Ratios are
against the local index. `--files N` takes the first N files. `--total N --largest BYTES` lays the files of at most that size out over and over until there are N, each with a few bytes
of its own behind its content (blanks, or the comment of an archive), so that every one is read and none is known as a copy. `--slow S` lets each file take S seconds to open, as on a slow
share; `--no-local` leaves the local index out. `--one-each` gives the database and N workers N processors: one worker alone uses more than one, its own process, the one that reads and the database's. Without `--server` one is started for the time. Raw numbers go to bench/runs/workers.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import _postgres
from bench.same import databases, laid_out
from bench.shared import RUNS, server_cpu
from smart_context.engine.postgres.database import Database

# The program, but for files that take a while to be opened: nothing of it can be slow by itself.
_SLOWLY = """
import sys, time
from smart_context.access.roots import Roots
from smart_context.__main__ import main
opened = Roots.open_file
def open_file(self, path):
    time.sleep({seconds})
    return opened(self, path)
Roots.open_file = open_file
sys.argv[0] = "context"
sys.exit(main())
"""


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench workers", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--server")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--total", type=int, default=0)
    parser.add_argument("--largest", type=int, default=8192)
    parser.add_argument("--no-local", action="store_true")
    parser.add_argument("--one-each", action="store_true")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--out", type=Path, default=RUNS / "workers.json")
    args = parser.parse_args(argv)
    counts = [int(count) for count in args.workers.split(",")]
    results = {}
    with _postgres.at(args.server) as server:
        for folder in args.folders:
            with tempfile.TemporaryDirectory(prefix="workers-") as place:
                root, _ = laid_out(folder.resolve(), Path(place), 1)
                root = _some(root, Path(place) / "some", args.files) if args.files else root
                root = repeated(root, Path(place) / "all", args.total, args.largest) if args.total else root
                results[folder.name] = _measured(root, Path(place), server, counts, args.slow, args)
                print(folder.name, json.dumps(results[folder.name], indent=1), flush=True)
    args.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _some(folder: Path, target: Path, count: int) -> Path:
    """The first files of a folder, copied."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    for path in files[:count]:
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    return target


def repeated(folder: Path, target: Path, total: int, largest: int) -> Path:
    """The files of at most some size, over and over until there are so many, no two of them the same."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size <= largest)
    contents = [(path.relative_to(folder), path.read_bytes()) for path in files]
    for number in range(total):
        turn, which = divmod(number, len(contents))
        name, content = contents[which]
        copy = target / str(turn) / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(_varied(content, turn))
    return target


def _varied(content: bytes, number: int) -> bytes:
    """The same document with other bytes at its end: blanks that count, or the comment of an archive."""
    if content.startswith(b"PK") and content.endswith(b"\0\0"):
        return content[:-2] + struct.pack("<HI", 4, number)
    return content + b"\n" + f"{number:b}".encode().translate(bytes.maketrans(b"01", b" \t")) + b"\n"


def _measured(
    root: Path, place: Path, server: str, counts: Sequence[int], slow: float, how: argparse.Namespace
) -> dict[str, Any]:
    files = sum(path.is_file() for path in root.rglob("*"))
    out: dict[str, Any] = {"files": files, "seconds_to_open": slow, "load": round(os.getloadavg()[0], 1)}
    (place / "one").mkdir()
    (place / "one" / "a.txt").write_text("rent")
    _local(place / "one", place / "first", slow)  # so that every module is compiled
    beside = {} if how.no_local else _local(root, place / "local", slow)
    out |= {"local": beside} if beside else {}
    every = os.sched_getaffinity(0)
    with databases(server, len(counts)) as addresses:
        for count, address in zip(counts, addresses, strict=True):
            if how.one_each:
                _give(server, set(sorted(every)[:count]))
            one = out[f"{count} workers"] = _shared(root, place / f"shared-{count}", address, count, slow)
            if beside:
                one["ratio"] = round(one["cpu"] / beside["cpu"], 2)
                one["ratio_with_server"] = round((one["cpu"] + one["server_cpu"]) / beside["cpu"], 2)
            one["files_a_second"] = round(files / one["seconds"], 1)
            one["load"] = round(os.getloadavg()[0], 1)
            one["processors"] = len(os.sched_getaffinity(0))
            print(json.dumps(one), flush=True)
    os.sched_setaffinity(0, every)
    return out


def _give(server: str, processors: set[int]) -> None:
    """Let this process, what it starts, and the database's next connections use some processors."""
    backend = Database(server).rows("SELECT pg_backend_pid()")[0][0]
    above = int(Path(f"/proc/{backend}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
    for process in (0, above):
        os.sched_setaffinity(process, processors)


def _local(root: Path, data: Path, slow: float) -> dict[str, Any]:
    cpu, seconds = _cost([["index", "--no-embed", "--root", str(root), str(root)]], _env(data, ""), slow)
    return {"cpu": round(cpu, 2), "seconds": round(seconds, 1)}


def _shared(root: Path, data: Path, address: str, workers: int, slow: float) -> dict[str, Any]:
    """What a walk and some workers cost; to make the tables is not counted."""
    env = _env(data, address)
    _cost([["engine", "init"]], env)
    _cost([["worker", "--once", "--root", str(root)]], env)
    before = server_cpu(address)
    walk, _ = _cost([["index", "--enqueue", "--root", str(root), str(root)]], env)
    read, seconds = _cost([["worker", "--once", "--root", str(root)]] * workers, env, slow)
    return {
        "cpu": round(walk + read, 2),
        "server_cpu": round(server_cpu(address) - before, 2),
        "of_the_walk": round(walk, 2),
        "seconds": round(seconds, 1),
    }


def _env(data: Path, address: str) -> dict[str, str]:
    own = {"SMART_CONTEXT_DATA_DIR": str(data), "SMART_CONTEXT_ENGINE": address, "SMART_CONTEXT_INDEX_WORKERS": "1"}
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(data.parent / "compiled")}  # as installed
    return {**os.environ, **own, **compiled}


def _cost(commands: Sequence[Sequence[str]], env: dict[str, str], slow: float = 0.0) -> tuple[float, float]:
    """CPU and seconds of commands that run at once, each with a data folder of its own."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    running = []
    for number, words in enumerate(commands):
        place = f"{env['SMART_CONTEXT_DATA_DIR']}{f'-{number}' if number else ''}"
        own = {**env, "SMART_CONTEXT_DATA_DIR": place}
        program = ["-c", _SLOWLY.format(seconds=slow)] if slow else ["-m", "smart_context"]
        command = [sys.executable, *program, *words]
        running.append(subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    assert [each.wait() for each in running] == [0] * len(commands)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began
