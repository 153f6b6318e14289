"""How fast a folder is indexed: `python -m bench indexing FOLDER [--files N] [--keep DIR] [--kills N]`.

FOLDER's documents are copied, each copy made different, until there are N of them. Then, one after the other: index them; index them again,
unchanged, beside `find -printf '%s %T@'`; the size of the index beside its text; `recollindex` and `ripgrep` on the same folder where they are
installed. `--kills N` kills the indexer or its readers N times at random moments and checks that the index comes out as that of an undisturbed run.
Times are CPU seconds of all processes, with wall time beside. Raw numbers go to bench/runs/indexing.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from smart_context.access.roots import Roots
from smart_context.engine.local.index import Index
from smart_context.engine.local.record import Record
from smart_context.index import indexer

RUNS = Path(__file__).parent / "runs"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took; `peak_mb` is the resident memory of all its processes together, sampled."""

    cpu: float
    wall: float
    peak_mb: float = 0.0


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench indexing", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--keep", type=Path, help="make the copies here and keep them")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--without-others", action="store_true", help="measure nothing but this program")
    args = parser.parse_args(argv)
    with contextlib.ExitStack() as stack:
        place = args.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="indexing-")))
        documents = place / "documents"
        made = make_documents(args.folder, documents, args.files)
        print(f"{made:,} files, {tree_size(documents) / 1e6:,.0f} MB, {os.cpu_count()} processors\n")
        if args.kills:
            results: dict[str, object] = {"kills": survive(documents, place, args.kills)}
        else:
            results = {"files": made, **measure_ours(documents, place)}
            if not args.without_others:
                results |= measure_others(documents, place)
    RUNS.mkdir(exist_ok=True)
    name = "indexing_kills.json" if args.kills else f"indexing_{made}.json"
    (RUNS / name).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


# The documents


def make_documents(source: Path, target: Path, wanted: int) -> int:
    originals = sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    for number in range(wanted):
        original = originals[number % len(originals)]
        copy = target / f"{number // len(originals):03}" / original.relative_to(source)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, copy)
            vary(copy, f"copy {number:07}")
    return wanted


def vary(path: Path, mark: str) -> None:
    """Make a copy's bytes differ, where readers do not look or do not mind."""
    if zipfile.is_zipfile(path):
        with contextlib.suppress(Exception), zipfile.ZipFile(path, "a") as archive:
            archive.comment = mark.encode()
            return
    with path.open("ab") as file:
        file.write(f"\n%{mark}\n".encode() if path.suffix in {".pdf", ".rtf"} else f"\n{mark}\n".encode())


def tree_size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


# Measuring


def measured(command: Sequence[str | Path], env: dict[str, str] | None = None) -> tuple[Cost, str]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryFile("w+") as talk:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=talk, text=True, env=env)
        peak, over = [0], threading.Event()
        sampler = threading.Thread(target=sample, args=(process.pid, peak, over))
        sampler.start()
        out, _ = process.communicate()
        over.set()
        sampler.join()
        talk.seek(0)
        if process.returncode not in {0, 1}:  # 1: ripgrep found nothing
            sys.exit(f"{command[0]} ended with {process.returncode}: {talk.read()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.monotonic() - began, peak[0] / 1e6), out


def sample(pid: int, peak: list[int], over: threading.Event) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    while not over.wait(0.1):
        total = 0
        for each in (pid, *children(pid)):
            with contextlib.suppress(OSError, IndexError):
                total += int(Path(f"/proc/{each}/statm").read_text(encoding="ascii").split()[1]) * page
        peak[0] = max(peak[0], total)


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [
            int(c) for t in Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text("ascii").split()
        ]
    return []


def best(runs: int, work: Callable[[], Cost]) -> Cost:
    return min((work() for _ in range(runs)), key=lambda cost: cost.cpu)


def row(name: str, cost: Cost, note: str = "") -> None:
    memory = f"{cost.peak_mb:9,.0f}" if cost.peak_mb else " " * 9
    print(f"{name:44}{cost.cpu:10.2f}{cost.wall:10.2f}{memory}   {note}")


def ours(documents: Path, data: Path) -> list[str | Path]:
    return [sys.executable, "-m", "smart_context", "index", documents, "--data-dir", data, "--json"]


def measure_ours(documents: Path, place: Path) -> dict[str, object]:
    data = place / "data"
    shutil.rmtree(data, ignore_errors=True)
    print(f"{'':44}{'CPU s':>10}{'wall s':>10}{'MB':>9}")
    first, out = measured(ours(documents, data))
    [report] = json.loads(out)
    del report["root"]
    texts = report["indexed"] - report["no_text"]
    row("context index", first, f"text from {texts:,} files, {report['failed']} failed")
    again = best(3, lambda: measured(ours(documents, data))[0])
    row("context index, unchanged", again)
    inside = best(5, lambda: run_inside(documents, data))
    row("  the run itself, as in a server", inside)
    find = best(5, lambda: measured(["find", documents, "-printf", "%s %T@\n"])[0])
    row("find -printf '%s %T@'", find, f"the run takes {inside.cpu / find.cpu:.1f} times as much")
    sizes = index_sizes(data)
    print(
        f"\nindex {sizes['index'] / 1e6:,.1f} MB (record {sizes['record'] / 1e6:,.1f}, ranking {sizes['ranking'] / 1e6:,.1f}) for"
        f" {sizes['text'] / 1e6:,.1f} MB of text: {sizes['index'] / sizes['text']:.2f}, {sizes['segments']:,} segments\n"
    )
    costs = {"first": first, "unchanged": again, "unchanged_inside": inside, "find": find}
    return {"report": report, "sizes": sizes, **{name: asdict(cost) for name, cost in costs.items()}}


def run_inside(documents: Path, data: Path) -> Cost:
    began, cpu = time.monotonic(), time.process_time()
    with Index.open(data, writable=True) as index:
        indexer.run(index, Roots([documents]), str(documents), indexer.Options())
    return Cost(time.process_time() - cpu, time.monotonic() - began)


def index_sizes(data: Path) -> dict[str, int]:
    parts = index_parts(data)
    record = Record.open(data)
    try:
        segments = sum(t.segments for t in record.tallies("/"))
    finally:
        record.close()
    ranking = sum(size for name, size in parts.items() if name.startswith("ranking"))
    whole = {"record": parts["record"], "ranking": ranking, "index": parts["record"] + ranking}
    return {**whole, "text": parts["text"], "segments": segments, **parts}


def index_parts(data: Path) -> dict[str, int]:
    """Bytes of text in an index, and bytes on the disk by part: the record, and each kind of file of the ranking."""
    parts = {"text": 0, "record": sum(p.stat().st_size for p in data.glob("record*"))}
    record = Record.open(data)
    try:
        for file_id in sorted(record.file_ids()):
            texts = record.texts(s.segment_id for s in record.segments_of(file_id))
            parts["text"] += sum(len(t.encode()) for t in texts.values())
    finally:
        record.close()
    for path in sorted((data / "ranking").iterdir()):
        kind = path.suffix if path.suffix in {".term", ".pos", ".idx", ".store", ".fast", ".fieldnorm"} else " rest"
        parts[f"ranking{kind}"] = parts.get(f"ranking{kind}", 0) + path.stat().st_size
    return parts


def measure_others(documents: Path, place: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    if shutil.which("recollindex"):
        home = place / "recoll"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        (home / "recoll.conf").write_text(f"topdirs = {documents}\n", encoding="utf-8")
        # Its filters are scripts for the system's own Python, where the packages they need are.
        env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
        command = ["recollindex", "-c", str(home)]
        first, _ = measured(command, env)
        seen, with_text = recoll_files(home)
        note = f"text from {with_text:,} of {seen:,} files that it has come to" if seen else "nobody to count its files"
        row("recollindex", first, f"{note}, index {tree_size(home) / 1e6:,.0f} MB, with the helpers installed here")
        again = best(3, lambda: measured(command, env)[0])
        row("recollindex, unchanged", again)
        found |= {
            "recoll_first": asdict(first),
            "recoll_unchanged": asdict(again),
            "recoll_files": seen,
            "recoll_texts": with_text,
        }
    else:
        print("recollindex is not installed")
    if shutil.which("rg"):
        scan = best(3, lambda: measured(["rg", "--no-ignore", "--text", "-c", "committee", documents])[0])
        row("rg, one word, no index", scan, "sees no text inside PDF and Office files")
        found["ripgrep_scan"] = asdict(scan)
    else:
        print("ripgrep is not installed")
    return found


def recoll_files(home: Path) -> tuple[int, int]:
    """How many files recoll knows (fewer than there are where a file ended it), and how many gave it text (`dbytes`)."""
    if not shutil.which("xapian-delve"):
        return 0, 0
    known = subprocess.run(["xapian-delve", home / "xapiandb"], capture_output=True, text=True, check=True).stdout
    last = int(known.partition("highest document id ever used = ")[2].split()[0])
    text_of: dict[bytes, int] = {}
    for first in range(1, last + 1, 500):
        records = [word for number in range(first, min(first + 500, last + 1)) for word in ("-r", str(number))]
        dump = subprocess.run(["xapian-delve", "-d", *records, home / "xapiandb"], capture_output=True, check=False)
        url = b""
        for line in dump.stdout.splitlines():
            name, _, value = line.partition(b"=")
            url = value if name == b"url" else url
            if name == b"dbytes":
                text_of[url] = max(text_of.get(url, 0), int(value or 0))
    sizes = [size for url, size in text_of.items() if os.path.isfile(url.removeprefix(b"file://"))]
    return len(sizes), sum(size > 0 for size in sizes)


# Kills


def survive(documents: Path, place: Path, rounds: int) -> dict[str, object]:
    """Kill the indexer, or one of its readers, at random moments; then the index must be that of an undisturbed run."""
    undisturbed = place / "undisturbed"
    shutil.rmtree(undisturbed, ignore_errors=True)
    cost, _ = measured(ours(documents, undisturbed))
    wanted = rows(undisturbed)
    dice = random.Random(1)
    data = place / "killed"
    shutil.rmtree(data, ignore_errors=True)
    held, killed, completed = 0, 0, 0
    while killed < rounds:
        process = subprocess.Popen(ours(documents, data), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.05, max(cost.wall / 3, 1.0)))
        victims = [process.pid] if dice.random() < 0.6 else children(process.pid)[-1:] or [process.pid]
        with contextlib.suppress(ProcessLookupError):
            os.kill(victims[0], signal.SIGKILL)
            killed += 1
        process.wait()
        if (data / "record.sqlite").exists():
            now = rows(data)
            assert all(now[path] == wanted[path] or now[path][0] == "failed" for path in now), "a wrong row"
            assert len(now) >= held, "committed rows were lost"
            held = len(now)
        if held == len(wanted):
            shutil.rmtree(data)
            held, completed = 0, completed + 1
    subprocess.run(ours(documents, data), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    same = rows(data) == wanted
    with Index.open(data) as index:
        ranked = index.ranking.view().file_ids() == {i for i in index.record.file_ids() if index.record.segments_of(i)}
    print(f"{killed} kills; the index {'is' if same and ranked else 'IS NOT'} that of an undisturbed run")
    return {"kills": killed, "same_record": same, "same_ranking": ranked, "completed_meanwhile": completed}


def rows(data: Path) -> dict[str, tuple[str, str, str]]:
    record = Record.open(data)
    try:
        return {r.path: (r.state, r.sha256, r.reason) for r in record.files(record.file_ids()).values()}
    finally:
        record.close()
