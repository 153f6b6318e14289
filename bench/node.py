"""A search node beside a local index of the same files: `python -m bench node DATA ROOT --address postgresql://… [--questions N] [--out FILE]`.

DATA holds a local index of ROOT, and the database what `context index --to` made of it. Measured: CPU, time and memory until a new node has derived its ranking, in a process of its own; memory of a node
that has answered every question, and of a process that has answered them from the local index; CPU and latency of a search on both, asked in turns by one process, each question once as nobody has asked before
and then again, with every question that both do not answer alike and the first thing that differs; seconds until another machine's change is found. Raw numbers go to bench/runs/node.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench._server import at
from bench.shared import RUNS, server_cpu, settings
from smart_context.api import App
from smart_context.engine.model import NewFile
from smart_context.engine.postgres.database import Database
from smart_context.engine.postgres.writer import Writer
from smart_context.model import Segment

_CHANGES = 20

# A process that opens an index and asks questions; it prints what that took.
_ALONE = """
import json, resource, sys, time
from pathlib import Path
from bench.node import used
from bench.shared import settings
from smart_context import engine
from smart_context.api import App
root, data, address, questions = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
began, wall = time.process_time(), time.monotonic()
if address:
    engine.at(data, address).open().close()
ready = {"cpu": round(time.process_time() - began, 1), "seconds": round(time.monotonic() - wall, 1), **used()}
with App(settings(root, data, address)) as app:
    app.follows = bool(address)
    for question in questions:
        app.search_files(question)
    print(json.dumps({"ready": ready, "after_questions": used()}))
"""


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench node", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--address", required=True)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--out", type=Path, default=RUNS / "node.json")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="node-") as place:
        data = Path(place) / "node"
        with App(settings(args.root, args.data, "")) as local:
            questions = [probe.query for probe in local.probes((), args.questions)]
        segments = Database(args.address).rows("SELECT sum(segments)::bigint FROM smart_context.files")[0][0]
        server = server_cpu(args.address)
        results: dict[str, Any] = {"segments": segments, "load": round(os.getloadavg()[0], 1)}
        results["node"] = _alone(args.root, data, args.address, questions)
        results["node"]["server_cpu"] = round(server_cpu(args.address) - server, 1)
        results["local"] = _alone(args.root, args.data, "", questions)["after_questions"]
        with App(settings(args.root, args.data, "")) as one, App(settings(args.root, data, args.address)) as other:
            other.follows = True
            server = server_cpu(args.address)
            results["search"] = _compared(one, other, questions)
            spent = (server_cpu(args.address) - server) * 1000 / (2 * len(questions))
            results["search"]["cpu_ms_of_the_server"] = round(spent, 2)
            results["change"] = _seen(args.address, args.root, other)
    print(json.dumps(results, indent=1))
    args.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def used() -> dict[str, int]:
    """Memory of this process that is its own, and with the files that it has mapped, in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    fields = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if line.startswith("Rss")}
    anonymous = int(fields["RssAnon"])
    return {"own_mb": anonymous // 1024, "with_files_mb": (anonymous + int(fields["RssFile"])) // 1024}


def _alone(root: Path, data: Path, address: str, questions: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-c", _ALONE, str(root), str(data), address, json.dumps(questions)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _compared(one: App, other: App, questions: list[str]) -> dict[str, Any]:
    """Both engines in turns: milliseconds and CPU of each search, by whether the question was new."""
    apps = {"local": one, "node": other}
    for app in apps.values():
        app.search_files("warm")
    wall: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    different = []
    for turn in ("first", "again"):
        for question in questions:
            said = []
            for name, app in apps.items():
                began, spent = time.perf_counter(), time.process_time()
                said.append(app.search_files(question))
                wall.setdefault(f"{name}, {turn}", []).append((time.perf_counter() - began) * 1000)
                cpu.setdefault(f"{name}, {turn}", []).append((time.process_time() - spent) * 1000)
            if (first := differs(said[0], said[1])) is not None:
                different.append({"question": question, "turn": turn, **first})
                print(json.dumps(different[-1]), file=sys.stderr, flush=True)
    out: dict[str, Any] = {"questions": len(questions), "different": different}
    for name, times in wall.items():
        ms = sorted(times)
        out[name] = {"p50_ms": at(ms, 0.5), "p95_ms": at(ms, 0.95), "cpu_ms": round(median(cpu[name]), 2)}
    for turn in ("first", "again"):
        pair = [out[f"{name}, {turn}"] for name in ("node", "local")]
        out[f"ratio, {turn}"] = {
            what: round(pair[0][what] / pair[1][what], 2) for what in ("p50_ms", "p95_ms", "cpu_ms")
        }
    return out


def differs(one: Any, other: Any, where: str = "") -> dict[str, Any] | None:
    """The first thing that two answers differ in: where it stands, and what each has there; None where they are the same."""
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
        pairs = [(f"{where}.{key}".strip("."), one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(f"{where}[{number}]", a, b) for number, (a, b) in enumerate(zip(one, other, strict=True))]
    else:
        return None if json.dumps(one) == json.dumps(other) else {"where": where, "local": one, "node": other}
    return next((found for place, a, b in pairs if (found := differs(a, b, place)) is not None), None)


def _seen(address: str, root: Path, node: App) -> dict[str, Any]:
    """Seconds from the commit of another machine's change until a search on this node finds it."""
    waits = []
    writer = Writer(Database(address), "other")
    for number in range(_CHANGES):
        word, path = f"zwofresh{number}zwo", str(root / f"bench-{number}.txt")
        row = writer.file(path)
        if row:
            writer.remove([row.file_id])
        text = f"{word} words"
        writer.put(
            NewFile(path, str(root), "text", len(text), 1, "", "ok", judged="x"), [Segment(0, "", "", text)], (), "", ()
        )
        writer.commit()
        began = time.monotonic()
        while node.index.both()[1].having(word) == 0:  # as a search sees it, without being asked to look
            node.index._node.reload()  # type: ignore[attr-defined]
            time.sleep(0.005)
        waits.append(time.monotonic() - began)
    writer.remove([row.file_id for n in range(_CHANGES) if (row := writer.file(str(root / f"bench-{n}.txt")))])
    writer.commit()
    writer.close()
    return {"changes": len(waits), "median_s": round(median(waits), 3), "most_s": round(max(waits), 3)}
