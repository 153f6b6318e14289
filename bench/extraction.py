"""How much of real documents is found: `python -m bench extraction FOLDER [-v] [--kind KIND]…`.

FOLDER holds `real/` and `consensus.jsonl`, one line a file: `file`, `kind`, `tokens` (words that independent extractors agree
on), `units` (pages, slides or sheets they agree on, or null), `hard`. Each file is extracted in a process of its own under
the limits of `Limits`; CPU and memory include that process. Recall is the mean over files with five tokens or more of the share of tokens found.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import resource
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from smart_context.model import Extracted, Limits, Skipped
from smart_context.sources import extract

LIMITS = Limits()
WALL_SECONDS = 2 * LIMITS.cpu_seconds
COUNTED = frozenset({"page", "slide", "sheet"})
WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one file gave: `words` of its text, `units` that the consensus counts, or why there was nothing."""

    words: frozenset[str] = frozenset()
    chars: int = 0
    units: int = 0
    problem: str = ""
    failed: bool = False
    cpu: float = 0.0
    peak_mb: float = 0.0


@dataclass(slots=True)
class Row:
    """What the files of one kind gave together."""

    files: int = 0
    with_text: int = 0
    failures: int = 0
    cpu: float = 0.0
    peak_mb: float = 0.0
    recalls: list[tuple[float, str, str]] = field(default_factory=list)
    units: list[tuple[bool, str, str]] = field(default_factory=list)


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench extraction", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="also list the worst files")
    parser.add_argument("--kind", action="append", help="only files of this kind; repeatable")
    parser.add_argument("--easy", action="store_true", help="leave out files marked hard")
    options = parser.parse_args(argv)
    lines = [json.loads(line) for line in (options.folder / "consensus.jsonl").read_text("utf-8").splitlines()]
    chosen = [
        line
        for line in lines
        if (not options.kind or line["kind"] in options.kind) and not (options.easy and line.get("hard"))
    ]
    load_readers()
    rows = measure(options.folder / "real", chosen)
    show(rows)
    if options.verbose:
        show_worst(rows)


def load_readers() -> None:
    """Import every reader once, so that a file's time is its own."""
    for module in sorted(set(extract.READERS.values())):
        try:
            import_module(f"smart_context.sources.extract.{module}")
        except ModuleNotFoundError as missing:
            print(f"no reader: {missing.name}")
    for module in ("lxml.etree", "pypdfium2", "pypdfium2.raw", "python_calamine", "olefile", "selectolax.lexbor"):
        import_module(module)


def measure(root: Path, lines: Iterable[dict[str, object]]) -> dict[str, Row]:
    rows: dict[str, Row] = defaultdict(Row)
    for line in lines:
        name, tokens, units = str(line["file"]), line["tokens"], line["units"]
        assert isinstance(tokens, list)
        outcome = run(root / name)
        row = rows[str(line["kind"])]
        row.files += 1
        row.with_text += bool(outcome.words)
        row.failures += outcome.failed
        row.cpu += outcome.cpu
        row.peak_mb = max(row.peak_mb, outcome.peak_mb)
        note = outcome.problem or f"{outcome.cpu:.2f} s"
        if len(tokens) >= 5:
            row.recalls.append((len(outcome.words.intersection(tokens)) / len(tokens), name, note))
        if units is not None and line["kind"] in {"pdf", "pptx", "xlsx", "xls", "xlsb", "ods"}:
            row.units.append((outcome.units == units, name, f"{outcome.units} for {units}; {note}"))
        elif outcome.failed:
            row.units.append((True, name, note))
    return rows


def run(path: Path) -> Outcome:
    """Extract one file in a forked child under limits."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(path, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    _, status, usage = os.wait4(child, 0)
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    if not answer:
        return Outcome(problem=_death(status), failed=True, cpu=cpu, peak_mb=peak)
    found: Extracted | Skipped | str = pickle.loads(answer)
    if isinstance(found, str):
        return Outcome(problem=found, failed=True, cpu=cpu, peak_mb=peak)
    if isinstance(found, Skipped):
        return Outcome(problem=f"{found.kind}: {found.reason}: {found.detail}", cpu=cpu, peak_mb=peak)
    places = {unit.pointer[0] for unit in found.units if unit.pointer and unit.pointer[0].kind in COUNTED}
    text = "\n".join(_texts(found))
    return Outcome(
        frozenset(WORD.findall(text.lower())), len(text), len(places), "; ".join(found.notes), cpu=cpu, peak_mb=peak
    )


def _work(path: Path, writer: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMITS.memory_bytes, LIMITS.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMITS.cpu_seconds, LIMITS.cpu_seconds + 1))
    signal.alarm(WALL_SECONDS)
    found: Extracted | Skipped | str
    try:
        found = extract.extract(path.read_bytes(), path.name, LIMITS)
    except ModuleNotFoundError as missing:
        found = Skipped("none", "no reader", str(missing.name))
    except BaseException as error:  # noqa: BLE001 — the point is to count whatever escapes
        found = f"escaped {type(error).__name__}: {error}"
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(pickle.dumps(found))
    os._exit(0)


def _texts(found: Extracted) -> Iterator[str]:
    yield found.title
    for unit in found.units:
        yield unit.heading
        yield unit.text


def _death(status: int) -> str:
    return f"killed by {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else f"exit {status}"


def show(rows: dict[str, Row]) -> None:
    print(f"{'kind':8}{'files':>6}{'text':>6}{'recall':>9}{'units':>9}{'CPU s':>8}{'MB':>6}{'failures':>10}")
    for kind, row in sorted(rows.items(), key=lambda item: (-item[1].files, item[0])):
        recall = _mean([share for share, _, _ in row.recalls])
        units = _mean([right for right, _, _ in row.units])
        print(
            f"{kind:8}{row.files:6}{row.with_text:6}{recall:>9}{units:>9}{row.cpu:8.2f}{row.peak_mb:6.0f}{row.failures:10}"
        )
    print(
        f"{'all':8}{sum(row.files for row in rows.values()):6}{sum(row.with_text for row in rows.values()):6}{'':18}"
        f"{sum(row.cpu for row in rows.values()):8.2f}{max((r.peak_mb for r in rows.values()), default=0):6.0f}"
        f"{sum(row.failures for row in rows.values()):10}"
    )


def _mean(shares: Iterable[float]) -> str:
    values = list(shares)
    return f"{100 * sum(values) / len(values):.2f} %" if values else "-"


def show_worst(rows: dict[str, Row]) -> None:
    for kind, row in sorted(rows.items()):
        for share, name, note in sorted(row.recalls)[:15]:
            if share < 0.98:
                print(f"{kind:6}{100 * share:6.1f} %  {name}  {note}")
        for right, name, note in row.units:
            if not right:
                print(f"{kind:6}  units  {name}  {note}")
