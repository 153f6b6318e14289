"""How long a search by words and meaning takes: CPU time of `find` on made-up text with made-up vectors, fixed seed.

    python -m bench hybrid_latency MODEL [--size 100000] [--keep FOLDER] [--out FILE]

MODEL is the folder of an encoder, which encodes the queries; the vectors of segments are random, because comparing them costs the same.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from bench import query_latency
from smart_context import engine
from smart_context.engine.local.index import Index
from smart_context.engine.local.record import Record
from smart_context.find.model import SearchRequest
from smart_context.find.search import find
from smart_context.meaning.meaning import Meaning
from smart_context.redact import Redactor

_REDACTOR = Redactor()

_QUERIES = 40


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench hybrid_latency")
    parser.add_argument("model", type=Path)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="keep the index here and use it again")
    parser.add_argument("--out", type=Path, help="write the times here, as JSON")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        data = (args.keep or Path(folder)) / str(args.size)
        if not data.exists():
            query_latency.build(data, args.size)
        meaning = Meaning(args.model, engine.at(data))
        if not len(meaning.vectors):
            _make_up(data, meaning)
        found = {"segments": len(meaning.vectors), **_measure(data, meaning)}
    print(json.dumps(found))
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _make_up(data: Path, meaning: Meaning) -> None:
    random_numbers = np.random.default_rng(1)
    record = Record.open(data)
    ids = record.living()
    for start in range(0, len(ids), 5000):
        rows = record.segments(ids[start : start + 5000])
        vectors = random_numbers.normal(size=(len(rows), meaning.encoder.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        meaning.vectors.append((i, row.file_id, v) for (i, row), v in zip(rows.items(), vectors, strict=True))
    record.close()


def _measure(data: Path, meaning: Meaning) -> dict[str, float]:
    chance = random.Random(7)
    with Index.open(data) as index:
        ids = index.record.living()
        texts = index.record.texts(chance.sample(ids, _QUERIES))
        queries = [" ".join(text.split()[3:12]) for text in texts.values()]
        times: dict[str, list[float]] = {"lexical": [], "hybrid": []}
        for method, model in (("lexical", None), ("hybrid", meaning)):
            for query in [queries[0], *queries]:
                began = time.process_time()
                find(index, SearchRequest(query), redactor=_REDACTOR, stop=lambda: None, meaning=model)
                times[method].append((time.process_time() - began) * 1000)
    return {
        f"{method}_ms_{name}": round(value, 1)
        for method, taken in times.items()
        for name, value in (("p50", statistics.median(taken[1:])), ("p95", sorted(taken[1:])[int(0.95 * _QUERIES)]))
    }


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
