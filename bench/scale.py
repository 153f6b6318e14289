"""What a team needs: `python -m bench scale [--files N] [--people N] [--changes N] [--costs FILE]`.

Takes the costs that `python -m bench shared` measured (bench/runs/shared.json) and prints machines, memory, disk and time for so many files, people and changed files a
day. It multiplies; it does not measure. What grows otherwise than in proportion is said beside the number, and `docs/concepts/scale.md` says what was measured and what was not.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNS = Path(__file__).parent / "runs"
_CORES = 8  # of a machine
_BUSY = 0.6  # of its processors that may be in use, so that others wait little
_SEARCHES = 60  # of a person in the busiest hour: an agent asks a few times for each thing it is asked
_GROWTH = 0.4  # more for a search, for each tenfold of segments
_FIRST = 24 * 3600.0  # seconds in which everything is to be read for the first time


@dataclass(frozen=True, slots=True)
class Costs:
    """What one of each costs, as measured: CPU seconds and bytes."""

    segments_a_file: float
    read_a_file: float
    write_a_file: float
    search: float
    search_segments: int
    derive_a_segment: float
    record_a_segment: float
    ranking_a_segment: float


@dataclass(frozen=True, slots=True)
class Need:
    """What so much of it needs."""

    segments: int
    workers: int
    first_run_hours: float
    day_cpu_hours: float
    nodes: int
    node_disk_gb: float
    node_ready_minutes: float
    record_gb: float
    search_ms: float


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench scale", description=__doc__)
    parser.add_argument("--files", type=int, action="append")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--changes", type=int, default=20_000, help="files changed a day")
    parser.add_argument("--costs", type=Path, default=RUNS / "shared.json")
    args = parser.parse_args(argv)
    costs = read(json.loads(args.costs.read_text(encoding="utf-8")))
    print(f"{args.people:,} people, {args.changes:,} changed files a day; machines of {_CORES} processors\n")
    for files in args.files or [10_000, 1_000_000, 10_000_000]:
        need = needed(costs, files, args.people, args.changes)
        print(f"{files:,} files, about {need.segments:,} segments")
        print(
            f"  to read all of it: {need.workers} workers, {need.first_run_hours:.1f} h; each day {need.day_cpu_hours:.1f} h of CPU"
        )
        print(
            f"  to answer: {need.nodes} search nodes, each {need.node_disk_gb:.1f} GB of ranking, ready in {need.node_ready_minutes:.0f} min of CPU"
        )
        print(
            f"  a search: about {need.search_ms:.0f} ms of CPU; the record: {need.record_gb:.1f} GB, and its replicas"
        )


def read(measured: dict[str, Any]) -> Costs:
    write, node = measured["write"], measured["node"]
    files, segments = write["files"], write["segments"]
    return Costs(
        segments / files,
        write["shared"]["cpu"] / files,
        write["shared"]["server_cpu"] / files,
        measured["answers"]["search_ms_cpu"]["shared"] / 1000,
        segments,
        node["cpu"] / node["segments"],
        node["record_bytes"] / node["segments"],
        node["ranking_bytes"] / node["segments"],
    )


def needed(costs: Costs, files: int, people: int, changes: int) -> Need:
    """What so many files, people and changes need."""
    segments = round(files * costs.segments_a_file)
    read_all = files * costs.read_a_file
    workers = max(1, math.ceil(read_all / (_FIRST * _CORES)))
    # `python -m bench growth` found 1.8 times as much CPU for a search in 1,142,053 segments of real text as in 10,266. Beyond that it is a guess.
    search = costs.search * (1 + _GROWTH * max(0.0, math.log10(segments / costs.search_segments)))
    a_second = people * _SEARCHES / 3600
    nodes = max(2, math.ceil(a_second * search / (_CORES * _BUSY)) + 1)  # one may be away
    return Need(
        segments=segments,
        workers=workers,
        first_run_hours=read_all / (workers * _CORES) / 3600,
        day_cpu_hours=changes * (costs.read_a_file + costs.write_a_file) / 3600,
        nodes=nodes,
        node_disk_gb=segments * costs.ranking_a_segment / 1e9,
        node_ready_minutes=segments * costs.derive_a_segment / 60,
        record_gb=segments * costs.record_a_segment / 1e9,
        search_ms=search * 1000,
    )
