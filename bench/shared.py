"""A shared record beside a local one: `python -m bench shared FOLDER --address postgresql://… [--segments N] [--out FILE]`.

FOLDER is indexed twice, by one machine's engine and into the database (which must be empty, on this machine, and this user's to change). Compared: CPU
of writing, that of the server included; the bytes of the answers to questions made of the files, and of previews; CPU of a search. Then the record is filled up
with copies to N segments, and a new node derives its ranking: CPU, time. Last, how long a change takes to be found on another node.
Raw numbers go to bench/runs/shared.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from smart_context import engine
from smart_context.api import App
from smart_context.engine.model import NewFile
from smart_context.engine.postgres import feed
from smart_context.engine.postgres.database import Database
from smart_context.engine.postgres.record import Record
from smart_context.engine.postgres.writer import Writer
from smart_context.model import Segment
from smart_context.settings import config

RUNS = Path(__file__).parent / "runs"
_QUESTIONS = 150
_CHANGES = 10


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench shared", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--address", required=True)
    parser.add_argument("--segments", type=int, default=200_000)
    parser.add_argument("--out", type=Path, default=RUNS / "shared.json")
    args = parser.parse_args(argv)
    root = args.folder.resolve()
    with tempfile.TemporaryDirectory(prefix="shared-") as place:
        results = {"write": written(root, Path(place), args.address)}
        local = settings(root, Path(place) / "local", "")
        shared = settings(root, Path(place) / "shared", args.address)
        engine.at(Path(place) / "shared", args.address).open().close()  # a node that follows answers while it takes in
        with App(local) as one, App(shared) as other:
            other.follows = True
            results["answers"] = compared(one, other)
        results["node"] = derived(args.address, Path(place) / "new", args.segments)
        results["change"] = seen(args.address, Path(place))
    print(json.dumps(results, indent=1))
    args.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def settings(root: Path, data: Path, address: str) -> config.Settings:
    flags = {"roots": [str(root)], "data_dir": str(data), "engine": address or None, "semantic.enabled": False}
    return config.load(flags, {"HOME": str(data.parent)})


def server_cpu(address: str) -> float:
    """CPU seconds of the database server: of the processes that live, and of those that have ended."""
    pid = Database(address).rows("SELECT pg_backend_pid()")[0][0]
    parent = int(_stat(pid)[1])
    ticks = sum(map(int, _stat(parent)[11:15]))
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = _stat(int(entry))
            except OSError:
                continue
            if int(fields[1]) == parent:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def written(root: Path, place: Path, address: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, where in (("local", ""), ("shared", address)):
        env = {**os.environ, "SMART_CONTEXT_DATA_DIR": str(place / name), "SMART_CONTEXT_ENGINE": where}
        before, server = resource.getrusage(resource.RUSAGE_CHILDREN), server_cpu(address)
        command = [sys.executable, "-m", "smart_context", "index", "--no-embed", "--root", str(root), str(root)]
        subprocess.run(command, env=env, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        out[name] = {"cpu": round(client, 2), "server_cpu": round(server_cpu(address) - server, 2) if where else 0.0}
    both = [sum(out[name].values()) for name in ("local", "shared")]
    files, segments = Database(address).rows("SELECT count(*), sum(segments)::bigint FROM smart_context.files")[0]
    return {**out, "files": files, "segments": segments, "ratio": round(both[1] / both[0], 3)}


def compared(one: App, other: App) -> dict[str, Any]:
    questions = [probe.query for probe in one.probes((), _QUESTIONS)]
    times: dict[str, list[float]] = {"local": [], "shared": []}
    different = []
    paths: set[str] = set()
    for question in questions:
        said = []
        for name, app in (("local", one), ("shared", other)):
            app.search_files(question)  # warm: what is remembered of words is the same for both
            began = time.process_time()
            said.append(app.search_files(question))
            times[name].append(time.process_time() - began)
        paths.update(item["path"] for item in said[0]["items"])
        if json.dumps(said[0]) != json.dumps(said[1]):
            different.append(question)
    opened = sorted(paths)[:200]
    unlike = [path for path in opened if json.dumps(one.open_file(path)) != json.dumps(other.open_file(path))]
    ms = {name: round(median(each) * 1000, 3) for name, each in times.items()}
    return {
        "questions": len(questions),
        "different": different,
        "opened": len(opened),
        "opened_different": unlike,
        "search_ms_cpu": ms,
        "ratio": round(ms["shared"] / ms["local"], 3),
    }


def derived(address: str, data: Path, wanted: int) -> dict[str, Any]:
    count = fill(address, wanted)
    server, began, wall = server_cpu(address), time.process_time(), time.monotonic()
    with engine.at(data, address).open() as node:
        segments = node.both()[1].segments
    ready = time.process_time() - began
    ranking = sum(path.stat().st_size for path in (data / "node" / "ranking").iterdir())
    tables = """SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'smart_context' AND c.relkind = 'r'"""
    return {
        "record_bytes": Database(address).rows(tables)[0][0],
        "ranking_bytes": ranking,
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "segments": segments,
        "filled_up_by": count,
        "cpu": round(ready, 1),
        "server_cpu": round(server_cpu(address) - server, 1),
        "seconds": round(time.monotonic() - wall, 1),
    }


def fill(address: str, wanted: int) -> int:
    """Copy files under other names until there are so many segments."""
    database = Database(address)
    record = Record(database, "bench")
    have = len(record.living())
    made = 0
    writer = Writer(database, "bench")
    copies = 0
    while have + made < wanted:
        copies += 1
        for file, segments, entries in _all(database, record):
            if have + made >= wanted:
                break
            row = record.file(file)
            assert row is not None
            new = NewFile(
                f"{file}.{copies}", row.root, row.kind, row.size, row.mtime_ns, "", row.state, judged=row.judged
            )
            writer.put(new, segments, row.years, row.indexed_at, entries)
            made += len(segments)
        writer.commit()
    writer.close()
    return made


def _all(database: Database, record: Record) -> Iterator[tuple[str, Sequence[Segment], list[Any]]]:
    with database.connection(seconds=None) as db:
        feed.begin(db)
        for one in feed.changed(db, 0, {}, database):
            if one.segments and not one.file.path.rpartition(".")[2].isdigit():
                rows = record.segments_of(one.file.file_id)
                known = record.passages(row.segment_id for row in rows)
                texts = [
                    Segment(r.seq, r.pointer, r.heading, known[r.segment_id].text, known[r.segment_id].hidden)
                    for r in rows
                ]
                yield one.file.path, texts, [entry for _, entry in one.segments]
        db.execute("COMMIT")


def seen(address: str, place: Path) -> dict[str, Any]:
    """Seconds from a commit until a node that nobody asks has taken it in."""
    waits = []
    with engine.at(place / "new", address).open(follow=True) as node:
        for number in range(_CHANGES):
            writer = Writer(Database(address), "other")
            text = f"fresh{number} words"
            new = NewFile(f"/bench/{number}.txt", "/bench", "text", 1, 1, "", "ok")
            writer.put(replace(new, judged="x"), [Segment(0, "", "", text)], (), "", ())
            made, began = writer.commit(), time.monotonic()
            while node.generation < made:
                threading.Event().wait(0.005)
            waits.append(time.monotonic() - began)
            writer.close()
    return {"changes": len(waits), "median_s": round(median(waits), 3), "most_s": round(max(waits), 3)}
