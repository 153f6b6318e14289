"""Whether hostile files are survived: `python -m bench hazards FOLDER [--keep DIR]`.

FOLDER's files and a tree of traps (FIFO, socket, loops, links out, a path of 5,000 bytes, names that are not UTF-8, small bombs, a file that grows while it
is read) are indexed by the command, as a user would. Printed: what became of each file, the time, and the most memory that all its processes held at
once. Raw numbers go to bench/runs/hazards.json. The run fails if the command does, or if a file is missing from the record.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import cast

from bench.indexing import RUNS, measured, ours
from smart_context.access.roots import shown
from smart_context.engine.local.record import Record
from smart_context.engine.model import FileRow

_MOST = 3000  # MB


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench hazards", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", type=Path, help="work here and keep everything")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="hazards-") as name:
        place = args.keep or Path(name)
        shutil.rmtree(place / "tree", ignore_errors=True)
        shutil.rmtree(place / "data", ignore_errors=True)
        tree = place / "tree"
        tree.mkdir(parents=True)
        lay_traps()(tree / "traps", place / "outside" / str(os.getpid()))
        shutil.copytree(args.folder, tree / "hazards", symlinks=True)
        stop = threading.Event()
        writer = threading.Thread(target=grow, args=(tree / "growing.log", stop))
        writer.start()
        try:
            cost, out = measured(ours(tree, place / "data"))
        finally:
            stop.set()
            writer.join()
        if not out:
            sys.exit("the command failed")
        rows = recorded(place / "data")
        missing = [path for path in regular_files(tree) if path not in rows]
    show(rows, tree)
    [report] = json.loads(out)
    print(f"\n{len(rows)} files, {report['failed']} failed, {report['no_text']} without text, {len(missing)} missing")
    print(f"{cost.cpu:.0f} s CPU, {cost.wall:.0f} s wall, {cost.peak_mb:,.0f} MB at most ({os.cpu_count()} processors)")
    result = {"files": len(rows), "failed": report["failed"], "no_text": report["no_text"], **asdict(cost)}
    (RUNS / "hazards.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if missing or cost.peak_mb > _MOST:
        sys.exit(f"missing: {missing[:5]}" if missing else "too much memory")


def lay_traps() -> Callable[[Path, Path], set[str]]:
    """What the tests lay their traps with."""
    spec = importlib.util.spec_from_file_location("traps", Path(__file__).parents[1] / "tests/traps.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Callable[[Path, Path], set[str]]", module.lay)


def grow(path: Path, stop: threading.Event) -> None:
    with path.open("w", encoding="utf-8") as file:
        while not stop.wait(0.01):
            file.write("one more line\n")
            file.flush()


def recorded(data: Path) -> dict[str, FileRow]:
    record = Record.open(data)
    try:
        return {row.path: row for row in record.files(record.file_ids()).values()}
    finally:
        record.close()


def regular_files(tree: Path) -> list[str]:
    """Every regular file, without following a link; nothing is said of what `os.walk` cannot reach (a path too long)."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(tree) for name in names]
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]


def show(rows: dict[str, FileRow], tree: Path) -> None:
    for path, row in sorted(rows.items()):
        why = row.reason or f"{row.chars:,} characters"
        more = "; ".join(filter(None, (row.detail, *row.notes)))[:100]
        print(f"{shown(os.path.relpath(path, tree))[-40:]:42}{row.kind:12}{row.state:10}{why:30}{more}")
