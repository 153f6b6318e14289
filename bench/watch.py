"""How soon a watched change is searchable, and how many indexing runs it takes. Real files, real events, a writer in its own process.

    python -m bench watch [--files 1000] [--burst 10000] [--out FILE]

The time is from the last write to the first search that finds it. The last row is a change that no event tells of (it is written through
a second name outside of the root), so that only looking every `--poll` seconds finds it, as on a network share.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.load import _write
from smart_context.api import App
from smart_context.find.model import SearchRequest
from smart_context.index.watch import Pace, Watcher
from smart_context.settings import config

_WORD = "zephyrus"
_LOOK_EVERY = 0.02
_QUIET = 3.0  # seconds without a run: nothing more is coming
_GIVE_UP = 300.0


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench watch")
    parser.add_argument("--files", type=int, default=1000, help="in the folder before anything changes")
    parser.add_argument("--burst", type=int, default=10_000)
    parser.add_argument("--poll", type=float, default=2.0)
    parser.add_argument("--out", type=Path, help="write the result here, as JSON")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        root = home / "share"
        _write(root, args.files)
        flags = {"roots": (str(root),), "data_dir": str(home / "data")}
        with App(config.load(flags, {"HOME": str(home)})) as app:
            rows = list(_measure(app, root, home / "elsewhere", args.burst, args.poll))
    result = {
        "python": platform.python_version(),
        "load_average": os.getloadavg()[0],
        "files_before": args.files,
        "rows": rows,
    }
    print(f"{'change':<42} {'written in s':>12} {'searchable after s':>19} {'runs':>5}")
    for row in rows:
        print(f"{row['change']:<42} {row['written_in']:>12.1f} {row['searchable_after']:>19.1f} {row['runs']:>5}")
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


def _measure(app: App, root: Path, elsewhere: Path, burst: int, poll: float) -> Iterator[dict[str, Any]]:
    with _watched(app, Pace()) as runs:
        for count in (1, 100, burst):
            yield {
                "change": f"{count:,} new {'file' if count == 1 else 'files'}",
                **_timed(app, runs, _writing(root / f"new{count}", count)),
            }
    (root / "linked.md").write_text("It waits.")
    os.link(root / "linked.md", elsewhere)

    def write_elsewhere() -> Path:
        elsewhere.write_text(f"It says {_WORD}.")
        return root / "linked.md"

    with _watched(app, Pace(sweep=poll)) as runs:
        timed = _timed(app, runs, write_elsewhere, until_quiet=False)
        yield {"change": f"1 file, no event, looked at every {poll:g} s", **timed}


@contextmanager
def _watched(app: App, pace: Pace) -> Iterator[list[float]]:
    """Watch the roots as `context watch` does; gives when each run ended, from the end of the first on."""
    runs: list[float] = []

    def index(folder: str) -> None:
        app.jobs.submit(folder, priority="low", yields=True).wait()
        runs.append(time.monotonic())

    watcher = Watcher(app.roots.names, index, pace, print, skip=[str(app.data_dir)])
    watcher.start()
    try:
        _wait(lambda: bool(runs))
        yield runs
    finally:
        watcher.close()


def _timed(app: App, runs: list[float], write: Callable[[], Path], *, until_quiet: bool = True) -> dict[str, Any]:
    before = len(runs)
    began = time.monotonic()
    last = write()
    written = time.monotonic()
    _wait(lambda: str(last) in [item.path for item in app.find(SearchRequest(_WORD)).items])
    found = time.monotonic()
    _wait(lambda: len(runs) > before)
    if until_quiet:
        _wait(lambda: not app.jobs.states() and time.monotonic() - runs[-1] > _QUIET)
    return {
        "written_in": round(written - began, 2),
        "searchable_after": round(found - written, 2),
        "runs": len(runs) - before,
    }


def _writing(folder: Path, count: int) -> Callable[[], Path]:
    """Gives a function that writes so many files, a hundred a folder, and names the last, which alone has the word."""

    def write() -> Path:
        for number in range(count):
            place = folder / f"{number // 100:03}/{number:05}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"# Note {number}\nIt says {_WORD if number == count - 1 else 'little'}.\n")
        return place

    return write


def _wait(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + _GIVE_UP
    while not is_so():
        if time.monotonic() > until:
            raise SystemExit("given up waiting")
        time.sleep(_LOOK_EVERY)
