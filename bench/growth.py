"""How cost and quality grow on real text: `python -m bench growth FOLDER --work DIR [--shares .01,.03,.1,.3,1] [--queries N] [--plots DIR]`.

FOLDER is any folder; `real_folder huge` makes one of a million segments. Its files are drawn by a hash of their paths below it, each share holding the one
before, and linked into DIR/files (copied where that cannot be). One index, DIR/data, grows with them: at each share `context index` reads what came in, so
that what an index of that size costs is the sum of the steps so far, then runs again with nothing changed, beside `find`. Then the same queries are asked
at every share: known items (see `_known`) of the first share's files, each asked once, through `App.find`, redaction included. Memory is that of all
processes together, at the worst moment of all steps so far. Every share is written to bench/runs/growth_real.json (--out) as soon as it is measured; with
the same DIR an interrupted run goes on after the last one. `--draw` only shows what is there, and draws it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import _known, _plot, _tree, real
from bench.indexing import RUNS, best, index_sizes

Row = dict[str, Any]


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench growth", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--work", type=Path, help="where the files are linked to and the index grows")
    parser.add_argument("--shares", default=".01,.03,.1,.3,1", help="of the files, rising, separated by commas")
    parser.add_argument("--queries", type=int, default=60, help="of each group")
    parser.add_argument("--again", type=int, default=3, help="how often to run unchanged; the quickest counts")
    parser.add_argument("--out", type=Path, default=RUNS / "growth_real.json")
    parser.add_argument("--plots", type=Path, help="draw growth-index.svg and growth-search.svg into this folder")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    args = parser.parse_args(argv)
    if not args.draw:
        if not (args.folder and args.work):
            parser.error("a folder and --work are needed, or --draw")
        shares = [float(share) for share in args.shares.split(",")]
        measure(args, shares)
    rows = json.loads(args.out.read_text(encoding="utf-8"))["rows"]
    show(rows)
    if args.plots:
        draw(rows, args.plots)


# Measuring


def measure(args: argparse.Namespace, shares: Sequence[float]) -> None:
    """Let an index grow from share to share; write each one down when it is done."""
    folder, work, out = args.folder.resolve(), args.work.resolve(), args.out
    going_on = (work / "data").exists() and out.exists()
    rows: list[Row] = json.loads(out.read_text(encoding="utf-8"))["rows"] if going_on else []
    if (work / "data").exists() and not going_on:
        sys.exit(f"{work} holds an index that {out} does not tell of")
    every = _known.shown_files(folder)
    items = _known.items(folder, args.queries, real.SEED, lambda path: place(path) < shares[0])
    for share in shares[len(rows) :]:
        for path in every:
            below = path.relative_to(folder)
            if place(below.as_posix()) < share:
                link(path, work / "files" / below)
        rows.append(one(work, share, items, rows, args.again))
        raw = {"python": platform.python_version(), "rows": rows}
        out.write_text(json.dumps(raw, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        show(rows)


def place(path: str) -> float:
    """Where a path stands between 0 and 1, by its bytes alone."""
    return int.from_bytes(hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest()[:8], "big") / 2**64


def link(source: Path, target: Path) -> None:
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def one(work: Path, share: float, items: Sequence[_known.Item], before: Sequence[Row], runs: int) -> Row:
    """Take in what came, run again unchanged, ask."""
    files, data = work / "files", work / "data"
    command: list[str | Path] = [sys.executable, "-m", "smart_context", "index", files, "--data-dir", data, "--json"]
    load = os.getloadavg()
    step, printed, held = _tree.watched(command, files)
    loads = {"before": load, "after": os.getloadavg()}
    [report] = json.loads(printed)
    del report["root"]
    again = best(runs, lambda: _tree.measured(command)[0])
    find = best(runs, lambda: _tree.measured(["find", files, "-printf", "%s %T@\n"])[0])
    sizes = index_sizes(data)
    loads["asking"] = os.getloadavg()
    asked = real.ask(files, data, items)
    steps = [row["step"] for row in before] + [asdict(step)]
    return {
        "share": share,
        "files": sum(row["report"]["indexed"] for row in before) + report["indexed"],
        "segments": sizes["segments"],
        "total": {
            "cpu": sum(each["cpu"] for each in steps),
            "wall": sum(each["wall"] for each in steps),
            "peak_mb": max(each["peak_mb"] for each in steps),
        },
        "step": asdict(step),
        "held": [asdict(each) | {"open_files": [_below(n, files) for n in each.open_files]} for each in held],
        "report": report,
        "unchanged": asdict(again),
        "find": asdict(find),
        "sizes": sizes,
        "loads": loads,
        "asked": [real.told(each) for each in asked],
    }


def _below(name: str, folder: Path) -> str:
    with contextlib.suppress(ValueError):
        return Path(name).relative_to(folder).as_posix()
    return name


# What came out


def show(rows: Sequence[Row]) -> None:
    print(
        f"\n{'segments':>10}{'files':>9}{'text MB':>9}{'CPU s':>8}{'ms each':>9}{'wall s':>8}{'MB':>7}{'index/text':>12}",
        end="",
    )
    print(
        f"{'unchanged s':>13}{'find s':>8}{'load':>6}{'asked':>7}{'first':>7}{'in five':>9}{'p50 ms':>8}{'p95 ms':>8}"
    )
    for row in rows:
        total, sizes = row["total"], row["sizes"]
        print(f"{row['segments']:>10,}{row['files']:>9,}{sizes['text'] / 1e6:>9,.0f}{total['cpu']:>8,.0f}", end="")
        print(f"{total['cpu'] / row['segments'] * 1000:>9.2f}{total['wall']:>8,.0f}{total['peak_mb']:>7,.0f}", end="")
        print(
            f"{sizes['index'] / sizes['text']:>12.2f}{row['unchanged']['cpu']:>13.2f}{row['find']['cpu']:>8.2f}", end=""
        )
        print(
            f"{row['loads']['after'][1]:>6.0f}{len(row['asked']):>7}{first(row['asked']):>7}{in_five(row['asked']):>9}",
            end="",
        )
        print(f"{p50(row['asked']):>8.1f}{p95(row['asked']):>8.1f}")
    for group in _known.GROUPS:
        print(f"\n{group + ': asked, first, in five, p50, p95':46}", end="")
        for row in rows:
            ours = [a for a in row["asked"] if a["group"] == group]
            if ours:
                print(f"{len(ours):>6}{first(ours):>4}{in_five(ours):>4}{p50(ours):>6.1f}{p95(ours):>6.1f}", end="")
    print()


def first(asked: Sequence[Row]) -> int:
    return sum(a["rank"] == 1 for a in asked)


def in_five(asked: Sequence[Row]) -> int:
    return sum(1 <= a["rank"] <= 5 for a in asked)


def p50(asked: Sequence[Row]) -> float:
    return float(statistics.median(a["ms"] for a in asked))


def p95(asked: Sequence[Row]) -> float:
    ms = sorted(a["ms"] for a in asked)
    return float(ms[min(len(ms) * 95 // 100, len(ms) - 1)])


def draw(rows: Sequence[Row], folder: Path) -> None:
    def line(name: str, value: Any) -> _plot.Line:
        return _plot.Line(name, [(row["segments"], value(row)) for row in rows])

    _plot.write_svg(
        folder / "growth-index.svg",
        "Indexing real text: cost by number of segments",
        [
            line("CPU seconds", lambda r: r["total"]["cpu"]),
            line("memory, MB", lambda r: r["total"]["peak_mb"]),
            line("text, MB", lambda r: r["sizes"]["text"] / 1e6),
            line("index, MB", lambda r: r["sizes"]["index"] / 1e6),
            line("again, unchanged, CPU seconds", lambda r: r["unchanged"]["cpu"]),
        ],
    )
    groups = {"sentences": "sentence", "names": "name", "identifiers": "identifier", "two or three words": "words"}
    _plot.write_svg(
        folder / "growth-search.svg",
        "Searching real text: CPU milliseconds by number of segments",
        [
            line("all, p95", lambda r: p95(r["asked"])),
            line("all, p50", lambda r: p50(r["asked"])),
            *(
                line(f"{name}, p50", lambda r, group=group: p50([a for a in r["asked"] if a["group"] == group]))
                for name, group in groups.items()
                if any(a["group"] == group for a in rows[0]["asked"])
            ),
        ],
    )
