"""How cost grows with the index: `python -m bench growth [--sizes 10000,100000] [--keep DIR] [--plots DIR]`.

Made-up text (fixed seed, that of `query_latency`) is indexed at each size in a process of its own: CPU time, the most memory, the size on the disk by
part, then the CPU time of queries of two words, three words and whole sentences. No file is read here: `indexing` measures that. Raw numbers go to
bench/runs/growth.json, one entry a size; a size that is not asked for keeps its old entry.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import _plot, query_latency
from bench.indexing import index_parts

RUN = Path(__file__).parent / "runs/growth.json"
KINDS = ("two words", "three words", "sentence")


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench growth", description=__doc__)
    parser.add_argument("--sizes", default="10000,30000,100000", help="numbers of segments, separated by commas")
    parser.add_argument("--keep", type=Path, help="keep the indexes here")
    parser.add_argument("--plots", type=Path, help="draw growth-index.svg and growth-search.svg into this folder")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    sizes = [int(size) for size in args.sizes.split(",")]
    if args.one:
        print(json.dumps(one(args.one, sizes[0])))
        return
    found = {r["segments"]: r for r in json.loads(RUN.read_text(encoding="utf-8"))} if RUN.exists() else {}
    with tempfile.TemporaryDirectory(prefix="growth-") as place:
        for size in sizes:
            command = [sys.executable, "-m", "bench", "growth", "--sizes", str(size), "--one"]
            done = subprocess.run(
                [*command, (args.keep or Path(place)) / str(size)], stdout=subprocess.PIPE, check=True
            )
            found[size] = json.loads(done.stdout.splitlines()[-1])
            RUN.write_text(json.dumps([found[s] for s in sorted(found)], indent=1) + "\n", encoding="utf-8")
    rows = [found[size] for size in sorted(found)]
    show(rows)
    if args.plots:
        draw(rows, args.plots)


def one(data: Path, size: int) -> dict[str, Any]:
    """Index made-up text of one size, then ask; in a process of its own, whose memory is the indexer's."""
    began, wall = time.process_time(), time.monotonic()
    query_latency.build(data, size)
    cpu, wall = time.process_time() - began, time.monotonic() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts = index_parts(data)
    return {
        "segments": size,
        "index_cpu_s": round(cpu, 1),
        "index_wall_s": round(wall, 1),
        "peak_mb": round(peak),
        "parts": parts,
        "ms": query_latency.measure(data, size)["ms"],
    }


def show(rows: list[dict[str, Any]]) -> None:
    print(f"{'segments':>10}{'CPU s':>8}{'per 1,000':>11}{'memory MB':>11}{'text MB':>9}{'index/text':>12}", end="")
    print("".join(f"{kind + ' p50':>17}{'p95':>7}" for kind in KINDS))
    for row in rows:
        parts = row["parts"]
        index = sum(size for name, size in parts.items() if name != "text")
        print(
            f"{row['segments']:>10,}{row['index_cpu_s']:>8.0f}{row['index_cpu_s'] / row['segments'] * 1000:>11.3f}",
            end="",
        )
        print(f"{row['peak_mb']:>11,}{parts['text'] / 1e6:>9,.0f}{index / parts['text']:>12.2f}", end="")
        print("".join(f"{p50:>17.2f}{p95:>7.2f}" for p50, p95 in (middle_and_tail(row, kind) for kind in KINDS)))
    names = sorted({name for row in rows for name in row["parts"]} - {"text"})
    print("\nbytes per byte of text, by part")
    print(f"{'segments':>10}" + "".join(f"{name:>20}" for name in names))
    for row in rows:
        shares = (row["parts"].get(name, 0) / row["parts"]["text"] for name in names)
        print(f"{row['segments']:>10,}" + "".join(f"{share:>20.3f}" for share in shares))


def middle_and_tail(row: dict[str, Any], kind: str) -> tuple[float, float]:
    times = row["ms"][kind]
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    def line(name: str, value: Any) -> _plot.Line:
        return _plot.Line(name, [(row["segments"], value(row)) for row in rows])

    _plot.write_svg(
        folder / "growth-index.svg",
        "Indexing: cost by number of segments",
        [
            line("CPU seconds", lambda r: r["index_cpu_s"]),
            line("memory, MB", lambda r: r["peak_mb"]),
            line("text, MB", lambda r: r["parts"]["text"] / 1e6),
            line("index, MB", lambda r: (sum(r["parts"].values()) - r["parts"]["text"]) / 1e6),
        ],
    )
    _plot.write_svg(
        folder / "growth-search.svg",
        "Searching: CPU milliseconds by number of segments",
        [
            line(f"{kind}, {name}", lambda r, kind=kind, at=at: middle_and_tail(r, kind)[at])
            for kind in KINDS
            for at, name in enumerate(("p50", "p95"))
        ],
    )
