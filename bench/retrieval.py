"""How well search finds, on test collections: `python -m bench retrieval FOLDER… [--out FOLDER] [--only-fts5] [--among FOLDER DIR]`.

Each FOLDER holds `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`. Documents are indexed one file each, queries go through the real
`searchFiles`. Beside it stands what SQLite's FTS5 finds in the same documents (`fts5`: stems of English, titles twice, any word of the query; pairs of
characters where a script has no spaces), so that it shows where we find less. Figures are printed for all queries and for those that no parameter was chosen on (`docs/concepts/ranking.md`); raw results
are written beside when asked for. With `--among`, the documents are read into a copy of the index of another folder, such as `real FOLDER --data DIR` keeps; what is
found of that is wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from smart_context.api import App
from smart_context.cli import eval as command
from smart_context.find import evaluate
from smart_context.find.evaluate import Evaluation, Query
from smart_context.settings import config

_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u9fff]")


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench retrieval")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="write raw results into this folder, as JSON")
    parser.add_argument("--only-fts5", action="store_true", help="ask FTS5 alone")
    parser.add_argument(
        "--among",
        nargs=2,
        type=Path,
        metavar=("FOLDER", "DIR"),
        help="another folder and its index, to find documents among",
    )
    args = parser.parse_args(argv)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    print(
        f"{'collection':12} {'method':8} {'queries':>7} {'nDCG@10':>8} {'held out':>8} {'MRR@10':>7} {'R@100':>7} {'p50 ms':>7} {'p95 ms':>7}"
    )
    for folder in args.folders:
        results = [] if args.among else [fts5(folder)]
        with tempfile.TemporaryDirectory() as scratch:
            if args.only_fts5:
                _show(folder.name, results[0])
                continue
            documents = Path(scratch) / "documents"
            documents.mkdir()
            names = evaluate.lay_out(folder, documents)
            if args.among:
                others, kept = args.among
                data = Path(shutil.copytree(kept, Path(scratch) / "data"))
                results.append(among(documents, others.resolve(), data, evaluate.judged(folder), names))
            else:
                results += command.measure(
                    documents, Path(scratch) / "data", evaluate.judged(folder), names.__getitem__
                )
        for one in results:
            _show(folder.name, one)
            if args.out:
                _write(args.out / f"retrieval-{folder.name}-{one.method}.json", folder.name, one)


def among(documents: Path, others: Path, data: Path, asked: Sequence[Query], names: dict[str, str]) -> Evaluation:
    """Read documents into an index that has other files, and ask it, by words."""
    root = str(documents.resolve())
    bare = config.load({}, {"HOME": str(data.parent)})
    off = replace(bare.semantic, enabled=False)
    with App(replace(bare, roots=(str(others), root), data_dir=str(data), engine="", semantic=off)) as app:
        app.index_folder(root, on_progress=lambda _: None)
        print(f"among {app.index.both()[1].segments:,} segments")

        def ask(query: str, count: int) -> list[str]:
            found = command.first_files(app, query, (), count)
            others_named = f"{others}/"
            return [
                names.get(Path(path).name, path) if path.startswith(root) else path.removeprefix(others_named)
                for path in found
            ]

        return evaluate.run(asked, ask, "among", lambda _step: None)


def fts5(folder: Path) -> Evaluation:
    """Ask SQLite's own search the same."""
    with sqlite3.connect(":memory:") as db:
        db.execute(
            "CREATE VIRTUAL TABLE documents USING fts5(name UNINDEXED, title, body, tokenize = 'porter unicode61')"
        )
        with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                texts = [_apart(str(document.get(part) or "")) for part in ("title", "text")]
                name = str(document.get("_id", document.get("id", "")))
                db.execute("INSERT INTO documents VALUES (?, ?, ?)", (name, *texts))

        def ask(query: str, count: int) -> list[str]:
            wanted = " OR ".join(dict.fromkeys(_terms(query)))
            rows = db.execute(
                "SELECT name FROM documents WHERE documents MATCH ? ORDER BY bm25(documents, 0, 2, 1), name LIMIT ?",
                (wanted or '""', count),
            )
            return [row[0] for row in rows]

        return evaluate.run(evaluate.judged(folder), ask, "fts5", lambda _step: None)


def _apart(text: str) -> str:
    return _UNSPACED.sub(r" \g<0> ", text)


def _terms(query: str) -> Iterator[str]:
    """The words of a query, quoted; where a script has no spaces, each pair of characters as a phrase."""
    for run in re.findall(r"\w+", query):
        characters = _UNSPACED.findall(run)
        yield from (f'"{a} {b}"' for a, b in pairwise(characters))
        yield from (f'"{word}"' for word in re.findall(r"\w+", _UNSPACED.sub(" ", run)))


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
