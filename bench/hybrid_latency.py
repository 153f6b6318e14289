"""How long a search by words and meaning takes: CPU time of `find` on made-up text with made-up vectors, fixed seed.

    python -m bench hybrid_latency MODEL [--size 100000] [--keep FOLDER] [--out FILE]
    python -m bench hybrid_latency MODEL --index DATA [--real 5000] [--size 100000] [--sentences FOLDER] [--out FILE]

MODEL is the folder of an encoder, which encodes the queries. The vectors of made-up segments are random, because comparing them costs the same. `--index`
takes an index of real text that may be written beside, a copy: `--size` of its segments get vectors, `--real` of them their own, the rest mixtures of two of
these, each by another share. There, recall is measured: of the ten nearest by every vector, those that a search has among its nearest.

Queries are nine words in a row out of segments: of code, tables, lists and texts without spaces too, where nine words may be three hundred characters. `--sentences`
also asks whole sentences of the files of a folder that was indexed, as `bench real` does, which is nearer to what people ask.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench import _known, query_latency
from smart_context import engine
from smart_context.engine.local.index import Index
from smart_context.engine.local.record import Record
from smart_context.find import hybrid
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
    parser.add_argument("--index", type=Path, help="an index of real text, to be written beside")
    parser.add_argument("--real", type=int, default=5000, help="segments of it that are encoded")
    parser.add_argument(
        "--sentences", type=Path, help="the folder that was indexed: whole sentences of it are asked as well"
    )
    parser.add_argument("--out", type=Path, help="write the times here, as JSON")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        data = args.index or (args.keep or Path(folder)) / str(args.size)
        if not data.exists():
            query_latency.build(data, args.size)
        meaning = Meaning(args.model, engine.at(data))
        if not len(meaning.vectors):
            _encode(data, meaning, args.size, args.real) if args.index else _make_up(data, meaning)
        with Index.open(data) as index:
            queries = [query for query in _queries(index) if query]
            found: dict[str, Any] = {"segments": len(meaning.vectors), **_measure(index, meaning, queries)}
            if args.sentences:
                known = [item.query for item in _known.items(args.sentences, _QUERIES, 7) if item.group == "sentence"]
                found["sentences"] = _measure(index, meaning, known)
        found |= {"real": args.real, "recall_of_ten": _recall(queries, meaning)} if args.index else {}
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


def _encode(data: Path, meaning: Meaning, size: int, real: int) -> None:
    """Vectors of real segments, and mixtures of two of them for the others."""
    chance = np.random.default_rng(1)
    record = Record.open(data)
    ids = chance.permutation(record.living())[:size].tolist()
    texts = record.texts(ids[:real])
    own = np.stack([meaning.encoder.embed([texts[number]])[0] for number in ids[:real]])
    for start in range(0, len(ids), 5000):
        some = ids[start : start + 5000]
        rows = record.segments(some)
        share = chance.random((len(some), 1), np.float32)
        pairs = chance.integers(0, len(own), (2, len(some)))
        vectors = share * own[pairs[0]] + (1 - share) * own[pairs[1]]
        is_real = np.arange(start, start + len(some)) < real
        vectors[is_real] = own[start : start + len(some)][: is_real.sum()]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        meaning.vectors.append((i, rows[i].file_id, v) for i, v in zip(some, vectors, strict=True))
    record.close()


def _recall(queries: list[str], meaning: Meaning) -> float:
    """Of the ten nearest by every vector, those that are among the nearest that a search takes."""
    every = meaning.vectors.segments().tolist()
    found = total = 0
    for query in queries:
        likeness = meaning.vectors.compare(meaning.encoder.embed([query])[0])
        exact = {near.segment_id for near in likeness.nearest(10, every)}
        total += len(exact)
        found += len(exact & {near.segment_id for near in likeness.nearest(hybrid.DENSE)})
    return round(found / total, 4)


def _queries(index: Index) -> list[str]:
    """Nine words in a row out of each of some segments."""
    texts = index.record.texts(random.Random(7).sample(index.record.living(), _QUERIES))
    return [" ".join(text.split()[3:12]) for text in texts.values()]


def _measure(index: Index, meaning: Meaning, queries: list[str]) -> dict[str, float]:
    times: dict[str, list[float]] = {"lexical": [], "hybrid": []}
    for method, model in (("lexical", None), ("hybrid", meaning)):
        for query in [queries[0], *queries]:
            began = time.process_time()
            find(index, SearchRequest(query), redactor=_REDACTOR, stop=lambda: None, meaning=model)
            times[method].append((time.process_time() - began) * 1000)
    return {
        f"{method}_ms_{name}": round(value, 1)
        for method, taken in times.items()
        for name, value in (
            ("p50", statistics.median(taken[1:])),
            ("p95", sorted(taken[1:])[int(0.95 * len(taken[1:]))]),
        )
    }


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
