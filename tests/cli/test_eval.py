"""`context eval`: the figures of a small collection, the worst queries, one's own folder."""

from __future__ import annotations

import json

import pytest

from smart_context.find import evaluate
from smart_context.find.evaluate import Query

DOCUMENTS = {
    "bees": ("Keeping bees", "Bees are fed with sugar in autumn so that the colony survives the winter."),
    "wasps": ("Wasps", "Wasps build nests of paper under roofs. Colonies die in winter."),
    "honey": ("Honey", "Honey crystallises in the jar; warmed gently it becomes liquid again."),
    "wax": ("Wax", "Wax is melted and poured into moulds for candles."),
    "rent": ("Lease", "The tenant pays a deposit of three months' rent."),
    "a/b c": ("", "A document whose id is no file name speaks of zeppelins."),
}
QUERIES = {
    "1": ("how are bees fed in autumn", {"bees": 2, "honey": 1}),
    "2": ("nests of paper", {"wasps": 1}),
    "3": ("deposits", {"rent": 1}),
    "4": ("zeppelins", {"a/b c": 1}),
    "5": ("candle making", {"wax": 1}),
    "6": ("apartments to let", {"rent": 1}),
    "7": ("nobody judged this", {}),
}


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "collection"
    folder.mkdir()
    corpus = [{"_id": name, "title": title, "text": text} for name, (title, text) in DOCUMENTS.items()]
    queries = [{"_id": name, "text": text} for name, (text, _) in QUERIES.items()]
    judged = [f"{name}\t{doc}\t{gain}" for name, (_, gains) in QUERIES.items() for doc, gain in gains.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(judged) + "\n", encoding="utf-8")
    return folder


def test_a_collection_is_measured_through_the_whole_path(run, collection):
    done = run("eval", collection, "--json")
    assert done.stderr == b""
    answer = json.loads(done.stdout)
    method = answer["methods"][0]
    assert {name: method[name] for name in ("method", "queries", "ndcg@10", "mrr@10", "recall@100")} == {
        "method": "lexical",
        "queries": 6,
        "ndcg@10": 0.7934,
        "mrr@10": 0.8333,
        "recall@100": 0.75,
    }
    assert [bad["query"] for bad in method["worst"]] == ["apartments to let", "how are bees fed in autumn"]
    assert method["worst"][0]["why"].startswith("not among the first 100: rent")


def test_ones_own_folder_is_measured_with_questions(run, tmp_path):
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "docs" / "lease.txt").write_text("The tenant pays rent.", encoding="utf-8")
    (tmp_path / "docs" / "sub" / "bees.txt").write_text("Bees make honey.", encoding="utf-8")
    asked = tmp_path / "questions.tsv"
    asked.write_text(
        'who pays the rent\tlease.txt\n\n{"question": "honey", "expected": "sub/bees.txt"}\n', encoding="utf-8"
    )
    done = run("eval", tmp_path / "docs", "--questions", asked)
    assert done.returncode == 0
    assert done.stdout.decode().startswith("method lexical  queries 2  ndcg@10 1.0  mrr@10 1.0  recall@100 1.0")


@pytest.mark.parametrize(
    "line", ["no tab", "question\tmissing.txt", '{"question": 1}', "{", "\tlease.txt", "q\t../lease.txt"]
)
def test_a_question_that_cannot_be_read_is_refused_by_its_line(run, tmp_path, line):
    (tmp_path / "docs").mkdir()
    (tmp_path / "questions").write_text(line, encoding="utf-8")
    done = run("eval", tmp_path / "docs", "--questions", tmp_path / "questions")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"line 1" in done.stderr


def test_a_folder_that_is_no_collection_needs_questions(run, tmp_path):
    assert run("eval", tmp_path).returncode == 1


def test_figures_are_those_of_the_definitions():
    found = {"a": ["x", "d1", "y"], "b": ["d2"], "c": ["x"]}
    queries = [Query("1", "a", {"d1": 1}), Query("2", "b", {"d2": 3, "d3": 1}), Query("3", "c", {"d4": 1})]
    figures = evaluate.run(queries, lambda text, _count: found[text], "m", lambda _step: None).figures()
    ideal = 3 + 1 / 1.5849625
    assert figures["ndcg@10"] == round((0.6309298 + 3 / ideal + 0) / 3, 4)
    assert figures["mrr@10"] == round((0.5 + 1 + 0) / 3, 4)
    assert figures["recall@100"] == round((1 + 0.5 + 0) / 3, 4)
