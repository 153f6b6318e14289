"""How often a budget holds a document that answers: `python -m bench pack FOLDER… [--budgets 1000,4000] [--out FILE]`.

With `--latency CACHE` instead: CPU time of questions that were not asked before, as a server answers them, by their length. Their words are drawn
from the cache's documents with a fixed seed.

Each FOLDER holds `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`. Its documents become a cache, one Markdown file each; every question is packed and
resolved within each budget. Printed is the share of questions with a relevant document in the answer, and CPU time for a question from memory.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import smart_context

_QUESTIONS = 60  # of each length


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench pack")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--latency", type=Path, metavar="CACHE", help="time different questions to this cache")
    parser.add_argument("--budgets", default="1000,4000")
    parser.add_argument("--out", type=Path, help="write the figures into this file, as JSON")
    args = parser.parse_args(argv)
    budgets = [int(budget) for budget in args.budgets.split(",")]
    rows = [*_latency(args.latency, max(budgets))] if args.latency else _shares(args.folders, budgets)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _latency(cache: Path, budget: int) -> Iterator[dict[str, float | str]]:
    """Time different questions of several lengths."""
    draw = random.Random(3)
    with smart_context.open_cache(cache) as opened:
        files = sorted((cache / "documents").iterdir())
        texts = [json.loads(file.read_bytes())["content"] for file in draw.sample(files, min(300, len(files)))]
        words = [word for text in texts for word in text.split()]
        began = time.process_time()
        opened.pack("", budget)
        yield {"what": "the first call, which reads the cache", "ms": 1000 * (time.process_time() - began)}
        for length in (2, 3, 5, 8, 12, 20):
            spent = []
            for _ in range(_QUESTIONS):
                question = " ".join(draw.sample(words, length))
                began = time.process_time()
                opened.pack(question, budget)
                spent.append(1000 * (time.process_time() - began))
            p50, p95 = statistics.median(spent), sorted(spent)[_QUESTIONS * 95 // 100]
            print(f"{length:>2} words: p50 {p50:5.1f} ms, p95 {p95:5.1f} ms", flush=True)
            yield {"what": f"{length} words", "questions": _QUESTIONS, "budget": budget, "p50": p50, "p95": p95}


def _shares(folders: list[Path], budgets: list[int]) -> list[dict[str, float | str]]:
    print(f"{'collection':12} {'budget':>7} {'questions':>9} {'pack':>6} {'resolve':>8} {'documents':>9} {'ms':>6}")
    rows = []
    for folder in folders:
        for row in _measured(folder, budgets):
            rows.append(row)
            print(
                f"{row['collection']:12} {row['budget']:>7} {row['questions']:>9} {row['pack']:>6.3f} {row['resolve']:>8.3f}"
                f" {row['documents']:>9.1f} {row['ms']:>6.1f}",
                flush=True,
            )
    return rows


def _measured(folder: Path, budgets: list[int]) -> Iterator[dict[str, float | str]]:
    relevant = _relevant(folder)
    questions = [(row["_id"], row["text"]) for row in _rows(folder / "queries.jsonl") if row["_id"] in relevant]
    with tempfile.TemporaryDirectory() as scratch:
        sources, cache = Path(scratch) / "sources", Path(scratch) / "cache"
        sources.mkdir()
        for row in _rows(folder / "corpus.jsonl"):
            title = f"# {row['title']}\n\n" if row.get("title") else ""
            (sources / f"{row['_id']}.md").write_text(f"{title}{row['text']}\n", encoding="utf-8")
        smart_context.build_cache(sources, cache)
        with smart_context.open_cache(cache) as opened:
            opened.pack("", 0)
            for budget in budgets:
                yield {"collection": folder.name, "budget": budget, **_share(opened, questions, relevant, budget)}


def _share(
    opened: smart_context.Cache, questions: list[tuple[str, str]], relevant: dict[str, set[str]], budget: int
) -> dict[str, float]:
    packed = resolved = documents = 0
    spent = 0.0
    for question, text in questions:
        began = time.process_time()
        excerpts = opened.pack(text, budget).excerpts
        spent += time.process_time() - began
        ids = {one.id for one in excerpts}
        documents += len(ids)
        packed += bool(ids & relevant[question])
        resolved += any(one.id in relevant[question] for one in opened.resolve(text, budget).documents)
    count = len(questions)
    return {
        "questions": count,
        "pack": round(packed / count, 4),
        "resolve": round(resolved / count, 4),
        "documents": round(documents / count, 2),
        "ms": round(1000 * spent / count, 2),
    }


def _relevant(folder: Path) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, gain = line.split("\t")
        if gain.isdigit() and int(gain) > 0:
            out.setdefault(question, set()).add(f"{document}.md".lower())
    return out


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield {**row, "_id": str(row.get("_id", row.get("id")))}
