"""How long a search takes, and how that grows: CPU time of `find` on made-up text, fixed seed.

    python -m bench query_latency [--sizes 10000,200000] [--keep FOLDER] [--out FILE]

Two words, three words and whole sentences, each taken from a segment of the index, so that every query has an answer. The time is all of
`find`: reading the query, candidates, exact ranking, snippets; redaction is left out (it has a benchmark of its own).
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import platform
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from smart_context.engine.local.index import Index
from smart_context.engine.model import NewFile
from smart_context.find.model import SearchRequest
from smart_context.find.search import find
from smart_context.model import Segment
from smart_context.redact import Redactor

_REDACTOR = Redactor()

_SEED = 20211
_A_FILE = 8
_WORDS = 220
_QUERIES = 200


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench query_latency")
    parser.add_argument("--sizes", default="10000,200000", help="numbers of segments, separated by commas")
    parser.add_argument("--keep", type=Path, help="keep the indexes here and use them again")
    parser.add_argument("--out", type=Path, help="write the raw times here, as JSON")
    args = parser.parse_args(argv)
    results = []
    for size in map(int, args.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            data = (args.keep or Path(folder)) / str(size)
            if not data.exists():
                build(data, size)
            results.append(measure(data, size))
    if args.out:
        args.out.write_text(json.dumps({"python": platform.python_version(), "results": results}, indent=1) + "\n")


def build(data: Path, size: int) -> None:
    began = time.process_time()
    texts = _texts(size)
    with Index.open(data, writable=True) as index:
        for number in range(0, size, _A_FILE):
            segments = [Segment(i, f"lines {i * 40 + 1}-{i * 40 + 40}", "", next(texts)) for i in range(_A_FILE)]
            path = f"/bench/{number // 4096:04}/{number:07}.txt"
            index.put(
                NewFile(path, "/bench", "text", 1, 1, "", "ok", judged=_REDACTOR.identity()),
                segments,
                (),
                "2021-01-01T00:00:00Z",
            )
            if number % 40_000 == 0:
                index.commit()
        index.commit()
    print(f"{size:,} segments indexed in {time.process_time() - began:.0f} s CPU, {on_disk(data):,} bytes on disk")


def _texts(size: int) -> Iterator[str]:
    rnd = random.Random(_SEED)
    vocabulary = _vocabulary(rnd)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(vocabulary))))
    for _ in range(size):
        words = rnd.choices(vocabulary, cum_weights=weights, k=rnd.randint(_WORDS // 2, _WORDS * 3 // 2))
        yield " ".join(words)


def _vocabulary(rnd: random.Random) -> list[str]:
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "or", "al")]
    words = dict.fromkeys("".join(rnd.choices(syllables, k=rnd.randint(2, 4))) for _ in range(120_000))
    common = ["the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on"]
    return common + list(words)


def _queries(texts: list[str]) -> dict[str, list[str]]:
    rnd = random.Random(_SEED + 1)
    out: dict[str, list[str]] = {"two words": [], "three words": [], "sentence": []}
    for text in texts:
        words = [word for word in text.split() if len(word) > 4]
        out["two words"].append(" ".join(rnd.sample(words, 2)))
        out["three words"].append(" ".join(rnd.sample(words, 3)))
        start = rnd.randrange(len(text.split()) - 14)
        out["sentence"].append(" ".join(text.split()[start : start + 14]))
    return out


def measure(data: Path, size: int) -> dict[str, object]:
    rnd = random.Random(_SEED + 2)
    with Index.open(data) as index:
        ids = sorted(rnd.sample(range(1, size + 1), _QUERIES))
        kinds = _queries(list(index.record.texts(ids).values()))
        times: dict[str, list[float]] = {}
        print(f"{size:,} segments")
        for kind, queries in kinds.items():
            _ask(index, queries[:20])
            gc.collect()
            times[kind] = [_timed(index, query) for query in queries[20:]]
            ranked = sorted(times[kind])
            p50, p95 = ranked[len(ranked) // 2], ranked[len(ranked) * 95 // 100]
            print(f"  {kind:12} p50 {p50:6.2f} ms   p95 {p95:6.2f} ms   max {ranked[-1]:6.2f} ms")
    return {
        "segments": size,
        "bytes": on_disk(data),
        "ms": {kind: [round(t, 3) for t in ts] for kind, ts in times.items()},
    }


def _timed(index: Index, query: str) -> float:
    began = time.process_time()
    _ask(index, [query])
    return (time.process_time() - began) * 1000


def _ask(index: Index, queries: list[str]) -> None:
    for query in queries:
        page = find(index, SearchRequest(query), redactor=_REDACTOR, stop=lambda: None)
        assert page.items


def on_disk(data: Path) -> int:
    return sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
