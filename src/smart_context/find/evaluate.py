"""Measure how well search answers: questions with known answers, asked through the real path.

In: a collection (documents, queries, judgements) or a folder with a file of questions.  Out: an `Evaluation` a method: nDCG@10, MRR@10,
recall@100, time, and each query with what it found.
Always: the figures depend on what was found and judged alone; nothing of a collection is kept.

A collection is `corpus.jsonl` (`_id` or `id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and `qrels.tsv` (query, document, gain). Questions are
lines `{"question": …, "expected": [paths]}` of JSON, or `question<TAB>path[<TAB>path…]`, paths relative to the folder.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from smart_context.errors import BadRequest, IoError
from smart_context.model import OnProgress, Progress

_BEST, _DEEP = 10, 100
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,120}")

Ask = Callable[[str, int], Sequence[str]]
"""Asks a query for so many documents; those found, best first, none twice."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query, and the documents that answer it with how well (1 or more)."""

    query_id: str
    text: str
    gains: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Asked:
    """How one query went; `missed` are documents that answer it and were not among the first ten."""

    query: Query
    ndcg: float
    mrr: float
    recall: float
    ms: float
    found: tuple[str, ...]

    @property
    def missed(self) -> tuple[str, ...]:
        """The documents that answer and are not among the first ten."""
        return tuple(doc for doc in sorted(self.query.gains) if doc not in self.found[:_BEST])

    def why(self) -> str:
        """In words, what went wrong."""
        places = {doc: place for place, doc in enumerate(self.found, 1)}
        below = [f"{doc} is {places[doc]}th" for doc in self.missed if doc in places]
        absent = [doc for doc in self.missed if doc not in places]
        parts = below[:3] + ([f"not among the first {_DEEP}: {', '.join(absent[:3])}"] if absent else [])
        instead = [doc for doc in self.found if doc not in self.query.gains][:1]
        return "; ".join(parts + [f"first wrong one: {doc}" for doc in instead])


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How all queries went, by one method."""

    method: str
    asked: tuple[Asked, ...]

    def figures(self) -> dict[str, float | int]:
        """The means, and the latency of a query in milliseconds of CPU time."""
        times = sorted(one.ms for one in self.asked)
        return {
            "queries": len(self.asked),
            "ndcg@10": _mean([one.ndcg for one in self.asked]),
            "mrr@10": _mean([one.mrr for one in self.asked]),
            "recall@100": _mean([one.recall for one in self.asked]),
            "ms_p50": round(times[len(times) // 2], 2),
            "ms_p95": round(times[len(times) * 95 // 100], 2),
        }

    def worst(self, count: int) -> list[Asked]:
        """The queries that went worst, and did not go well."""
        ranked = sorted(self.asked, key=lambda one: (one.ndcg, one.recall, one.query.query_id))
        return [one for one in ranked if one.ndcg < 1.0][:count]


def run(queries: Sequence[Query], ask: Ask, method: str, on_progress: OnProgress) -> Evaluation:
    """Ask every query that has an answer."""
    asked: list[Asked] = []
    for number, query in enumerate(queries):
        on_progress(Progress(number, len(queries), query.text[:60]))
        began = time.process_time()
        first = tuple(ask(query.text, _BEST))
        ms = (time.process_time() - began) * 1000
        found = first + tuple(doc for doc in ask(query.text, _DEEP) if doc not in first)[: _DEEP - len(first)]
        asked.append(
            Asked(query, _ndcg(found, query.gains), _mrr(found, query.gains), _recall(found, query.gains), ms, found)
        )
    return Evaluation(method, tuple(asked))


def is_collection(folder: Path) -> bool:
    """Whether a folder holds a collection rather than documents."""
    return (folder / "corpus.jsonl").is_file() and (folder / "queries.jsonl").is_file()


def lay_out(collection: Path, folder: Path) -> dict[str, str]:
    """Write a collection's documents, one file each, and say which file is which document."""
    names: dict[str, str] = {}
    for number, document in enumerate(_lines(collection / "corpus.jsonl")):
        doc_id = str(document.get("_id", document.get("id", "")))
        # Ids may be anything; the name must be safe, and must not answer for the document more than its id would.
        name = doc_id if _NAME.fullmatch(doc_id) else f"document-{number}"
        title, text = str(document.get("title") or "").strip(), str(document.get("text") or "")
        (folder / f"{name}.md").write_text(f"# {title}\n\n{text}\n" if title else f"{text}\n", encoding="utf-8")
        names[f"{name}.md"] = doc_id
    return names


def judged(collection: Path) -> list[Query]:
    """A collection's queries that have an answer."""
    gains: dict[str, dict[str, int]] = {}
    for line in _text(collection / "qrels.tsv").splitlines():
        fields = line.split("\t")
        if len(fields) >= 3 and fields[-1].strip().lstrip("-").isdigit() and int(fields[-1]) > 0:
            gains.setdefault(fields[0], {})[fields[-2]] = int(fields[-1])
    texts = ((str(q.get("_id", q.get("id", ""))), str(q.get("text", ""))) for q in _lines(collection / "queries.jsonl"))
    return [Query(query_id, text, gains[query_id]) for query_id, text in texts if query_id in gains]


def questions(file: Path, folder: Path) -> list[Query]:
    """Questions about the files of a folder.

    Raises: BadRequest naming the line, for one that cannot be read or names a file that is not there.
    """
    out: list[Query] = []
    for number, line in enumerate(_text(file).splitlines(), 1):
        if not line.strip():
            continue
        text, expected = _question(line, file, number)
        for path in expected:
            if not (folder / path).is_file():
                raise BadRequest(
                    f"{file}, line {number}: {path} is not in {folder}", hint="paths are relative to the folder"
                )
        out.append(Query(str(number), text, dict.fromkeys(expected, 1)))
    return out


def _question(line: str, file: Path, number: int) -> tuple[str, list[str]]:
    if line.lstrip().startswith("{"):
        try:
            entry = json.loads(line)
            expected = entry["expected"]
            return str(entry["question"]), [expected] if isinstance(expected, str) else [str(path) for path in expected]
        except (ValueError, KeyError, TypeError) as error:
            raise BadRequest(f"{file}, line {number}: no question with its expected files", hint=_FORMAT) from error
    text, *expected = [field.strip() for field in line.split("\t")]
    if not text or not expected or not all(expected):
        raise BadRequest(f"{file}, line {number}: no question with its expected files", hint=_FORMAT)
    return text, expected


_FORMAT = 'write {"question": "…", "expected": ["path"]}, or the question, a tab, and the path'


def _ndcg(found: Sequence[str], gains: Mapping[str, int]) -> float:
    got = sum(gains.get(doc, 0) / math.log2(place + 2) for place, doc in enumerate(found[:_BEST]))
    best = sorted(gains.values(), reverse=True)[:_BEST]
    return got / sum(gain / math.log2(place + 2) for place, gain in enumerate(best))


def _mrr(found: Sequence[str], gains: Mapping[str, int]) -> float:
    return next((1 / place for place, doc in enumerate(found[:_BEST], 1) if doc in gains), 0.0)


def _recall(found: Sequence[str], gains: Mapping[str, int]) -> float:
    return len(set(found[:_DEEP]).intersection(gains)) / len(gains)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def _lines(file: Path) -> Iterator[dict[str, object]]:
    for number, line in enumerate(_text(file).split("\n"), 1):
        if line.strip():
            try:
                entry = json.loads(line)
            except ValueError as error:
                raise BadRequest(f"{file}, line {number} is not JSON") from error
            if not isinstance(entry, dict):
                raise BadRequest(f"{file}, line {number} is not a JSON object")
            yield entry


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise IoError(f"cannot read {file}", reason=error.strerror) from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"{file} is not UTF-8 text") from error
