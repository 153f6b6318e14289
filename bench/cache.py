"""What caches cost: `python -m bench cache [--folder DIR] [--sizes 1000,10000,100000] [--plots DIR] [--runs DIR]`.

Makes caches of documents of about 3 KB (words by Zipf's law, fixed seed) and measures CPU time, user and system together, in one
run, as ratios to what nobody can do without: hashing the same files (`sha256sum`), copying them and syncing each, one stat a
document, starting Python. Medians; the raw numbers go to `bench/runs/`, the growth to plots.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from bench._plot import Line, write_svg

SEED = 20260101
WORDS_A_DOCUMENT = 400
VOCABULARY = 20_000
MOST_COPIED = 5_000
CONTEXT = [sys.executable, "-c", "from smart_context.cli import main; main()"]  # as the installed script does
BUDGETS = (1_000, 4_000, 16_000, 64_000, 256_000)


@dataclass(frozen=True)
class Row:
    """One measurement: what, at how many documents, how much, and what it may be."""

    what: str
    documents: int
    value: float
    unit: str
    bound: float | None = None


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench cache", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where caches are made, and found again by a later run")
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--plots", type=Path, default=Path("docs/concepts"))
    parser.add_argument("--runs", type=Path, default=Path("bench/runs"))
    args = parser.parse_args(argv)
    sizes = [int(size) for size in args.sizes.split(",")]
    with _folder(args.folder) as folder:
        rows = [*_start_up(folder)]
        for size in sizes:
            rows += _size(folder, size)
    _print(rows)
    args.runs.mkdir(parents=True, exist_ok=True)
    record = {
        "seed": SEED,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}",
        "rows": [asdict(row) for row in rows],
    }
    (args.runs / f"cache-{max(sizes)}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if len(sizes) > 1:
        _plot(rows, args.plots)


def _start_up(folder: Path) -> Iterator[Row]:
    sources = folder / "three"
    sources.mkdir(exist_ok=True)
    for number in range(3):
        (sources / f"{number}.md").write_text(f"document {number}\n", encoding="utf-8")
    cache = folder / "three.cache"
    subprocess.run(
        [*CONTEXT, "build", "--force", "--sources", sources, "--cache", cache], check=True, capture_output=True
    )
    commands: dict[str, list[str]] = {
        "nothing": [sys.executable, "-c", "pass"],
        "help": [*CONTEXT, "--help"],
        "resolve": [*CONTEXT, "resolve", "--cache", str(cache), "--query", "document", "--budget", "100"],
    }
    # In turns, and the least of each: what else the machine does comes and goes, and start-up is short.
    spent = {name: min(times) for name, times in _in_turns(commands, 15).items()}
    yield Row("python -c pass", 0, spent["nothing"] * 1000, "ms")
    yield Row("context --help / python -c pass", 0, spent["help"] / spent["nothing"], "x", 6)
    yield Row("resolve, tiny cache / python -c pass", 3, spent["resolve"] / spent["nothing"], "x", 6)


def _in_turns(commands: dict[str, list[str]], rounds: int) -> dict[str, list[float]]:
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            spent[name].append(_cpu(command, times=1))
    return spent


def _size(folder: Path, size: int) -> Iterator[Row]:
    sources, cache = folder / f"sources-{size}", folder / f"cache-{size}"
    words = _vocabulary()
    if not sources.exists():
        _write_sources(sources, size, words)
    times = 1 if size > 10_000 else 3
    shutil.rmtree(cache, ignore_errors=True)
    build = _cpu([*CONTEXT, "build", "--sources", str(sources), "--cache", str(cache)], times=1)
    copy = _copy_cpu(sources, folder / "copy", size)
    yield Row("build / copying with fsync", size, build / copy, "x", 3)
    yield Row("build", size, build, "s")
    files = [str(path) for path in sorted((cache / "documents").iterdir())]
    hashing = _hash_cpu(files, times)
    yield Row("sha256sum", size, hashing, "s")
    floor = _cpu([sys.executable, "-c", _FLOOR, str(cache / "documents")], times=times)
    yield Row("floor: Python reads, parses and hashes / sha256sum", size, floor / hashing, "x")
    cold = [*CONTEXT, "resolve", "--cache", str(cache), "--budget", "4000", "--query", f"{words[40]} {words[900]}"]
    seconds = _cpu(cold, times=times)
    yield Row("cold resolve / sha256sum", size, seconds / hashing, "x", 5 if size == 10_000 else None)
    yield Row("cold resolve", size, seconds, "s")
    yield Row("verify", size, _cpu([*CONTEXT, "verify", "--cache", str(cache)], times=times), "s")
    yield Row("cold resolve, peak memory", size, _peak_megabytes(cold), "MB")
    first, held = map(float, subprocess.check_output([sys.executable, "-c", _FIRST, str(cache)]).split())
    yield Row("first call in a server", size, first, "s")
    yield Row("first call in a server / cold resolve", size, first / seconds, "x")
    yield Row("memory that a server holds, for a document", size, held / size, "kB")
    yield from _in_memory(cache, size, words)


def _in_memory(cache: Path, size: int, words: Sequence[str]) -> Iterator[Row]:
    from smart_context.cache import change
    from smart_context.cache.resident import Residents

    queries = {
        "2 rare words": f"{words[5000]} {words[9000]}",
        "2 common words": f"{words[0]} {words[3]}",
        "30 common words": " ".join(words[:30]),
    }
    bound = {10_000: 10.0, 100_000: 50.0}.get(size)
    residents = Residents(4 << 30)
    residents.resolve(cache, "", 0)
    for name, query in queries.items():
        call = _seconds(partial(residents.resolve, cache, query, 4000), times=9)
        yield Row(f"later call, {name}", size, call * 1000, "ms", bound)
    for budget in BUDGETS:
        call = _seconds(partial(residents.resolve, cache, queries["2 common words"], budget), times=5)
        yield Row(f"later call, budget {budget}", size, call * 1000, "ms")
    residents.close()
    documents = os.open(cache / "documents", os.O_RDONLY)
    names = os.listdir(documents)
    times = 3 if size > 10_000 else 15  # short, and other work on the machine comes and goes
    stats = _seconds(lambda: [os.stat(name, dir_fd=documents) for name in names], times)
    os.close(documents)
    watch = change.watch
    change.watch = lambda _opened: None  # type: ignore[assignment]  # as where the kernel reports no changes
    without_events = Residents(4 << 30)
    time.sleep(2.1)  # stamps are trusted from then on
    without_events.resolve(cache, "", 0)
    call = _seconds(lambda: without_events.resolve(cache, queries["2 rare words"], 4000), times)
    without_events.close()
    change.watch = watch
    yield Row("later call without events / one stat a document", size, call / stats, "x", 2)


def _vocabulary() -> list[str]:
    chosen = random.Random(SEED)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(chosen.choices("etaoinshrdlucmfwypvbgk", k=chosen.randint(2, 11)))] = None
    return list(found)


def _write_sources(root: Path, size: int, words: Sequence[str]) -> None:
    chosen = random.Random(SEED + size)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for number in range(size):
        folder = root / f"part-{number // 500:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        picked = chosen.choices(
            words, cum_weights=weights, k=chosen.randint(WORDS_A_DOCUMENT // 2, 2 * WORDS_A_DOCUMENT)
        )
        lines = [" ".join(picked[at : at + 12]).capitalize() + "." for at in range(0, len(picked), 12)]
        (folder / f"Document {number}.md").write_text(
            f"# Document {number}\n\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )


# The least that a verifying reader in Python does for each document.
_FLOOR = """
import hashlib, json, os, sys
for entry in os.scandir(sys.argv[1]):
    descriptor = os.open(entry.path, os.O_RDONLY)
    data = os.read(descriptor, 1 << 20)
    os.close(descriptor)
    hashlib.sha256(json.loads(data)["content"].encode()).hexdigest()
"""


# The first call of a server for a cache, numpy and all: seconds, and kilobytes that stay.
_FIRST = """
import sys, time
began = time.process_time()
from smart_context.cache.resident import Residents

def held():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

before = held()
residents = Residents(4 << 30)
residents.resolve(sys.argv[1], "", 0)
print(time.process_time() - began, held() - before)
residents.close()
"""


def _cpu(command: Sequence[str], times: int) -> float:
    spent = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def _hash_cpu(files: Sequence[str], times: int) -> float:
    # As few processes as a command line allows.
    return sum(_cpu(["sha256sum", *files[at : at + 5000]], times) for at in range(0, len(files), 5000))


def _copy_cpu(sources: Path, target: Path, size: int) -> float:
    """CPU time of copying the sources, each with an fsync; of the first few thousand where there are more, in proportion."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    script = (
        "import os, sys\n"
        "left = int(sys.argv[3])\n"
        "for folder, _, names in sorted(os.walk(sys.argv[1])):\n"
        "    to = os.path.join(sys.argv[2], os.path.relpath(folder, sys.argv[1])); os.makedirs(to, exist_ok=True)\n"
        "    for name in names[:left]:\n"
        "        left -= 1\n"
        "        with open(os.path.join(folder, name), 'rb') as file: data = file.read()\n"
        "        with open(os.path.join(to, name), 'wb') as file: file.write(data); file.flush(); os.fsync(file.fileno())\n"
    )
    copied = min(size, MOST_COPIED)
    spent = _cpu([sys.executable, "-c", script, str(sources), str(target), str(copied)], times=1)
    shutil.rmtree(target)
    return spent * size / copied


def _peak_megabytes(command: Sequence[str]) -> float:
    """The most memory that the command had, by a process of its own: a child's count begins with its parent's."""
    script = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, check=True)
    return int(done.stdout) / 1024


def _seconds(work: Callable[[], object], times: int = 1) -> float:
    spent = []
    for _ in range(times):
        before = time.process_time()
        work()
        spent.append(time.process_time() - before)
    return statistics.median(spent)


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="bench-cache.") as made:
        yield Path(made)


def _print(rows: Sequence[Row]) -> None:
    print(f"{'documents':>9}  {'what':52} {'measured':>12}   bound")
    for row in rows:
        verdict = "" if row.bound is None else f"  {row.bound:g} {'ok' if row.value <= row.bound else 'MISSED'}"
        print(f"{row.documents:>9,}  {row.what:52} {row.value:>9.2f} {row.unit:2}{verdict}")


def _plot(rows: Sequence[Row], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def line(what: str, scale: float = 1.0) -> Line:
        return Line(what, [(row.documents, row.value * scale) for row in rows if row.what == what])

    write_svg(
        folder / "growth-cache.svg",
        "CPU milliseconds by number of documents",
        [
            line("build", 1000),
            line("cold resolve", 1000),
            line("sha256sum", 1000),
            line("later call, 30 common words"),
            line("later call, 2 rare words"),
        ],
    )
    largest = max(row.documents for row in rows)
    by_budget = [
        (budget, row.value)
        for budget in BUDGETS
        for row in rows
        if row.what == f"later call, budget {budget}" and row.documents == largest
    ]
    write_svg(
        folder / "growth-cache-budget.svg",
        f"CPU milliseconds of a later call by budget in tokens, {largest:,} documents",
        [Line("later call, 2 common words", by_budget)],
    )
    write_svg(
        folder / "growth-cache-memory.svg",
        "Peak megabytes of a cold resolve by number of documents",
        [line("cold resolve, peak memory")],
    )
