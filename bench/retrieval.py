"""How well search finds, on test collections: `python -m bench retrieval FOLDER… [--out FOLDER]`.

Each FOLDER holds `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`. Documents are indexed one file each, queries go through the real
`searchFiles`. Figures are printed for all queries and for those that no parameter was chosen on (`docs/concepts/ranking.md`); raw results
are written beside when asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from pathlib import Path

from smart_context.cli import eval as command
from smart_context.find import evaluate
from smart_context.find.evaluate import Evaluation


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench retrieval")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="write raw results into this folder, as JSON")
    args = parser.parse_args(argv)
    print(
        f"{'collection':12} {'method':8} {'queries':>7} {'nDCG@10':>8} {'held out':>8} {'MRR@10':>7} {'R@100':>7} {'p50 ms':>7} {'p95 ms':>7}"
    )
    for folder in args.folders:
        with tempfile.TemporaryDirectory() as scratch:
            documents = Path(scratch) / "documents"
            documents.mkdir()
            names = evaluate.lay_out(folder, documents)
            results = command.measure(documents, Path(scratch) / "data", evaluate.judged(folder), names.__getitem__)
        for one in results:
            _show(folder.name, one)
            if args.out:
                _write(args.out / f"retrieval-{folder.name}-{one.method}.json", folder.name, one)


def is_held_out(query_id: str) -> bool:
    """Whether a query was kept away from the choice of parameters: half of them, by a hash of the id."""
    return hashlib.sha256(query_id.encode()).digest()[0] % 2 == 1


def _show(name: str, one: Evaluation) -> None:
    all_of = one.figures()
    held = Evaluation(one.method, tuple(asked for asked in one.asked if is_held_out(asked.query.query_id))).figures()
    print(
        f"{name:12} {one.method:8} {all_of['queries']:>7} {all_of['ndcg@10']:>8.4f} {held['ndcg@10']:>8.4f} {all_of['mrr@10']:>7.4f}"
        f" {all_of['recall@100']:>7.4f} {all_of['ms_p50']:>7.2f} {all_of['ms_p95']:>7.2f}",
        flush=True,
    )


def _write(file: Path, name: str, one: Evaluation) -> None:
    raw = {
        "collection": name,
        "method": one.method,
        **one.figures(),
        "queries_asked": {
            asked.query.query_id: {
                "ndcg@10": round(asked.ndcg, 4),
                "held_out": is_held_out(asked.query.query_id),
                "first": list(asked.found[:10]),
            }
            for asked in one.asked
        },
    }
    file.write_text(json.dumps(raw, indent=None, ensure_ascii=False) + "\n", encoding="utf-8")
