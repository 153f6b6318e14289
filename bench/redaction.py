"""Redaction: `python -m bench redaction [FOLDER] [--show N]`.

Recall by context and by kind, over the tokens that the tests make. With a FOLDER of ordinary text (documentation, logs, source, office files): false
alarms by kind per 100,000 characters, CPU time per megabyte and its share of what indexing the same text takes, and what judging ten passages for every
search would take, which are looked up instead. Every span counts as a false alarm but a plain e-mail address, also a password that a
manual shows as an example: the numbers are upper bounds. `--show` prints spans of each kind to look at. Last, how CPU time grows on hostile text.
Raw numbers go to bench/runs/redaction.json.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from bench.indexing import RUNS
from smart_context import defaults, redact
from smart_context.engine import searchable
from smart_context.model import Extracted, Limits
from smart_context.redact import document
from smart_context.sources.extract import extract
from smart_context.text import segment

_Made = TypeVar("_Made")

_TESTS = Path(__file__).parent.parent / "tests" / "redact"
_ADDRESS = re.compile(r"[\w.+\-/=%']+@[\w\-]+(?:\.[\w\-]+)+")
_PIECE = 12
_EVERY = 5  # files, for the cost
_MAX_FILE = 5_000_000  # bytes
_HOSTILE = {
    "a…": "a", "@…": "@", "a@…": "a@", "1 1 …": "1 ", "+1 …": "+1 ", "password=…": "password=", 'password="…': 'password="', "://a:b@…": "://a:b@", "key=…": "key=",
    "BEGIN PRIVATE KEY…": "-----BEGIN PRIVATE KEY-----\n", "DE89 …": "DE89 ", "a column of 1": "1\n", "zero-width spaces": "a\u200b", "base64": "q7Rk2ZpX9vLm4TnB\n",
}  # fmt: skip


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench redaction", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--show", type=int, default=0, metavar="N")
    args = parser.parse_args(argv)
    redact.clean("+1 212 555 0187, password: x7Kq9z")  # patterns and numbering plans are loaded once, here
    result: dict[str, Any] = {"rules": redact.RULES_VERSION, "recall": recall()}
    if args.folder:
        result["ordinary"] = ordinary(args.folder, args.show)
        result["cost"] = cost(args.folder)
    result["hostile"] = hostile()
    (RUNS / "redaction.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def recall() -> dict[str, Any]:
    sys.path.insert(0, str(_TESTS))
    token_kinds = import_module("token_kinds")
    made, hidden = Counter[str](), Counter[str]()
    for case in token_kinds.cases():
        cleaned = redact.clean(case.text)
        end = case.secret.rstrip("/")[-_PIECE:]
        is_hidden = case.secret not in cleaned and end not in cleaned
        for group in ("all", f"context: {case.context}", f"kind: {case.kind.name}"):
            made[group] += 1
            hidden[group] += is_hidden
    shares = {group: round(hidden[group] / made[group], 4) for group in made}
    print(f"recall, {sum(group.startswith('kind') for group in made)} kinds of tokens, {made['all']:,} texts")
    for group, share in shares.items():
        if not group.startswith("kind: ") or share < 1:
            print(f"  {group:<40} {share:.1%}")
    return shares


def ordinary(folder: Path, show: int) -> dict[str, Any]:
    counts, samples, characters, cpu = Counter[str](), dict[str, list[str]](), 0, 0.0
    for text in texts(folder):
        before = time.process_time()
        spans = redact.spans(text)
        cpu += time.process_time() - before
        characters += len(text)
        for span in spans:
            kind = span.kind
            if kind == "email" and _ADDRESS.fullmatch(text[span.start : span.end]):
                kind = "plain e-mail addresses"
            counts[kind] += 1
            samples.setdefault(kind, []).append(text[max(0, span.start - 40) : span.end + 20].replace("\n", "⏎"))
    alarms = sum(count for kind, count in counts.items() if kind != "plain e-mail addresses")
    per = 100_000 / max(1, characters)
    print(f"\nordinary text: {characters:,} characters, {cpu / characters * 1e6:.3f} s CPU per million")
    for kind, count in counts.most_common():
        share = f"{count / alarms:.0%} of the false alarms" if kind != "plain e-mail addresses" else "no false alarms"
        print(f"  {kind:<24} {count:>7,}  {count * per:8.3f} per 100,000 characters, {share}")
        for sample in samples[kind][:: max(1, len(samples[kind]) // show)][:show] if show else ():
            print(f"      {sample}")
    print(f"  false alarms             {alarms:>7,}  {alarms * per:8.3f} per 100,000 characters")
    return {
        "characters": characters,
        "cpu_seconds_per_million_characters": round(cpu / max(1, characters) * 1e6, 4),
        "spans": dict(counts),
        "false_alarms_per_100000_characters": round(alarms * per, 4),
    }


def cost(folder: Path) -> dict[str, float]:
    """What each step of preparing a file takes, over every few files of a folder, and what a search would judge."""
    spent = dict.fromkeys(("reading", "cutting", "judging", "analysis"), 0.0)
    redactor, shown, characters = redact.Redactor(()), list[str](), 0

    def timed(step: str, work: Callable[[], _Made]) -> _Made:
        before = time.process_time()
        made = work()
        spent[step] += time.process_time() - before
        return made

    for path in sorted(folder.rglob("*"))[::_EVERY]:
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _MAX_FILE:
            continue
        found = timed("reading", lambda path=path: _extracted(path))  # type: ignore[misc]
        if not isinstance(found, Extracted):
            continue
        cut = timed("cutting", lambda found=found: list(segment.cut(found, defaults.SEGMENT_CHARS)))  # type: ignore[misc]
        judged = timed("judging", lambda cut=cut: tuple(document.judged(cut, redactor)))  # type: ignore[misc]
        timed("analysis", lambda path=path, judged=judged: searchable.every(str(path), "", judged))  # type: ignore[misc]
        characters += sum(len(one.text) for one in cut)
        shown += [one.text for one in cut[:1]]
    before = time.process_time()
    for text in shown:
        redact.spans(text)
    ten = (time.process_time() - before) / max(1, len(shown)) * 10_000
    share = spent["judging"] / sum(spent.values())
    print(f"\npreparing {characters:,} characters: " + ", ".join(f"{step} {cpu:.2f} s" for step, cpu in spent.items()))
    print(f"  judging is {share:.1%} of it, before anything is written")
    print(f"  judging ten passages for a search would take {ten:.1f} ms; they are looked up")
    return {
        **{step: round(cpu, 3) for step, cpu in spent.items()},
        "share": round(share, 4),
        "ten_passages_ms": round(ten, 2),
    }


def _extracted(path: Path) -> object:
    try:
        return extract(path.read_bytes(), path.name, Limits())
    except Exception:  # noqa: BLE001  a parser's failure is not what is measured here
        return None


def texts(folder: Path) -> Iterator[str]:
    """The text of every file below a folder, as the index would get it."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _MAX_FILE:
            continue
        try:
            found = extract(path.read_bytes(), path.name, Limits())
        except Exception as error:  # noqa: BLE001  a parser's failure is not what is measured here
            print(f"  {path.name}: {error!r}"[:100], file=sys.stderr)
            continue
        if isinstance(found, Extracted):
            yield "\n".join(unit.text for unit in found.units)


def hostile() -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    print("\nhostile text                 s CPU at 128 kB   at 1 MB   growth (8 = linear)")
    for name, unit in _HOSTILE.items():
        small, large = (_cpu((unit * (size // len(unit) + 1))[:size]) for size in (131_072, 1_048_576))
        print(f"  {name:<26} {small:>15.3f} {large:>9.2f}   {large / max(small, 0.001):.1f}")
        found[name] = [round(small, 4), round(large, 4)]
    return found


def _cpu(text: str) -> float:
    before = time.process_time()
    redact.spans(text)
    return time.process_time() - before
