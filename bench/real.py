"""Real text, quality beside latency: `python -m bench real FOLDER [--data DIR] [--queries N] [--seed N] [--skip-index] [--misses N]`.

FOLDER is any folder; `real_folder` makes two from Debian's documentation. First `context index` builds an index of it: CPU time and memory of all its
processes, the clock, the index beside its text; then again, unchanged, beside `find`. Then searches through `App.find`, redaction included, each query
asked once: sentences and names and identifiers taken from the files (by a seed, see `_known`), so that the right answer is known. A text that stands in
several files is found when any of them is shown. `--skip-index` asks an index that `--data` holds already. Raw numbers: bench/runs/real_FILES.json.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench import _known, _tree
from bench.indexing import RUNS, Cost, best, index_sizes, row
from smart_context.api import App
from smart_context.find.model import SearchRequest
from smart_context.settings import config

SEED = 20231
_WARM = 15


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that was asked. `rank`: place of the first file that answers it, from 1; 0 where none of the first ten does."""

    item: _known.Item
    rank: int
    ms: float


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench real", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="keep the index here")
    parser.add_argument("--queries", type=int, default=60, help="of each group")
    parser.add_argument("--seed", type=int, default=SEED, help="another one draws other queries")
    parser.add_argument("--skip-index", action="store_true", help="ask the index that --data holds already")
    parser.add_argument("--misses", type=int, default=0, help="show as many queries of each group that went wrong")
    parser.add_argument("--out", type=Path, help="write the raw results here")
    args = parser.parse_args(argv)
    folder = args.folder.resolve()
    with contextlib.ExitStack() as stack:
        data = args.data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="real-"))) / "data"
        built = {} if args.skip_index else build(folder, data)
        sizes = index_sizes(data)
        show_sizes(sizes)
        asked = ask(folder, data, _known.items(folder, args.queries, args.seed))
    show(asked, args.misses)
    files = built["report"]["indexed"] if built else sum(1 for path in folder.rglob("*") if path.is_file())
    raw = {
        "python": platform.python_version(),
        "files": files,
        **built,
        "sizes": sizes,
        "asked": [told(a) for a in asked],
    }
    out = args.out or RUNS / f"real_{files}.json"
    out.write_text(json.dumps(raw, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# The index


def build(folder: Path, data: Path) -> dict[str, Any]:
    """Index the folder, then again unchanged, beside `find`.

    Raises: SystemExit where there is an index already.
    """
    if data.exists() and any(data.iterdir()):
        sys.exit(f"{data} is not empty; --skip-index asks what it holds")
    command: list[str | Path] = [sys.executable, "-m", "smart_context", "index", folder, "--data-dir", data, "--json"]
    print(f"{'':44}{'CPU s':>10}{'wall s':>10}{'MB':>9}")
    first, out = _tree.measured(command)
    [report] = json.loads(out)
    del report["root"]
    row(
        "context index",
        first,
        f"{report['indexed']:,} files, {report['failed']} failed, {report['no_text']} without text",
    )
    again = best(3, lambda: _tree.measured(command)[0])
    find = best(3, lambda: _tree.measured(["find", folder, "-printf", "%s %T@\n"])[0])
    row("context index, unchanged", again, f"{again.cpu / find.cpu:.1f} times find")
    row("find -printf '%s %T@'", Cost(find.cpu, find.wall))
    costs = {"first": first, "unchanged": again, "find": find}
    return {"report": report, **{name: asdict(cost) for name, cost in costs.items()}}


def show_sizes(sizes: dict[str, int]) -> None:
    print(
        f"\n{sizes['segments']:,} segments; index {sizes['index'] / 1e6:,.1f} MB (record {sizes['record'] / 1e6:,.1f}, ranking"
        f" {sizes['ranking'] / 1e6:,.1f}) for {sizes['text'] / 1e6:,.1f} MB of text: {sizes['index'] / sizes['text']:.2f}\n"
    )


# The searches


def ask(folder: Path, data: Path, items: Sequence[_known.Item]) -> list[Asked]:
    """Ask every query once, group by group."""
    plain = config.load({}, {"HOME": str(data.parent)})
    off = replace(plain.semantic, enabled=False)
    asked = []
    with App(replace(plain, roots=(str(folder),), data_dir=str(data), semantic=off)) as app:
        for warm in range(_WARM):
            app.find(SearchRequest(f"warming {'up' * warm} the program and files"))
        for group in _known.GROUPS:
            gc.collect()
            timed = [(item, *_timed(app, item.query)) for item in items if item.group == group]
            asked += [Asked(item, _rank(folder, item, paths), ms) for item, ms, paths in timed]
    return asked


def _timed(app: App, query: str) -> tuple[float, list[list[str]]]:
    """CPU milliseconds of all threads, and the files shown, those with the same text together."""
    began = time.process_time()
    page = app.find(SearchRequest(query))
    took = (time.process_time() - began) * 1000
    shown: dict[str, list[str]] = {}
    for item in page.items:
        also = item.answer().get("also", [])
        shown.setdefault(item.path, [item.path, *(each if isinstance(each, str) else each["path"] for each in also)])
    return took, list(shown.values())


def _rank(folder: Path, item: _known.Item, shown: list[list[str]]) -> int:
    for rank, paths in enumerate(shown, 1):
        if any(Path(path) == folder / item.path or item.answers(Path(path)) for path in paths):
            return rank
    return 0


# What came out


def show(asked: Sequence[Asked], misses: int) -> None:
    print(f"{'':16}{'queries':>8}{'first':>7}{'in five':>9}{'p50 ms':>9}{'p95 ms':>8}{'max ms':>8}")
    for group in _known.GROUPS:
        ours = [a for a in asked if a.item.group == group]
        if not ours:
            continue
        _line(group, ours)
        shapes = list(dict.fromkeys(a.item.shape for a in ours))
        for shape in shapes if len(shapes) > 1 else ():
            _line(f"  {shape}", [a for a in ours if a.item.shape == shape])
        wrong = [a for a in ours if a.rank != 1]
        for a in sorted(wrong, key=lambda a: a.rank or 11, reverse=True)[:misses]:
            print(f"      {f'{a.rank}.' if a.rank else 'not in ten':10} {a.item.query!r} of {a.item.path}")


def _line(name: str, asked: Sequence[Asked]) -> None:
    ms = sorted(a.ms for a in asked)
    first, five = sum(a.rank == 1 for a in asked), sum(1 <= a.rank <= 5 for a in asked)
    tail = ms[min(len(ms) * 95 // 100, len(ms) - 1)]
    print(f"{name:16}{len(ms):>8}{first:>7}{five:>9}{statistics.median(ms):>9.1f}{tail:>8.1f}{ms[-1]:>8.1f}")


def told(asked: Asked) -> dict[str, Any]:
    item = asked.item
    return {"group": item.group, "shape": item.shape, "query": item.query, "path": item.path} | {
        "rank": asked.rank,
        "ms": round(asked.ms, 2),
    }
