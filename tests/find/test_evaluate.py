"""Figures of a search: those of the definitions, to the last place that counts; and what is read of a collection."""

from __future__ import annotations

import json
from math import log2

import pytest

from smart_context.errors import BadRequest, IoError
from smart_context.find import evaluate
from smart_context.find.evaluate import Asked, Evaluation, Query


def ran(found, gains, text="words"):
    """One query whose search gives these documents."""
    told = []
    done = evaluate.run([Query("q", text, gains)], lambda _text, count: found[:count], "m", told.append)
    assert [(step.done, step.total) for step in told] == [(0, 1)]
    return done.asked[0], told[0]


def numbered(count, **places):
    """Documents by number, with some in their places, counted from 1."""
    found = [f"other{number}" for number in range(1, count + 1)]
    for name, place in places.items():
        found[place - 1] = name
    return found


def test_places_count_by_the_logarithm_and_gains_by_their_worth():
    asked, _ = ran(["b", "x", "a"], {"a": 3, "b": 1})
    assert asked.ndcg == pytest.approx((1 / log2(2) + 3 / log2(4)) / (3 / log2(2) + 1 / log2(3)))
    assert (asked.mrr, asked.recall) == (1.0, 1.0)
    assert ran(["x", "y", "a"], {"a": 1})[0].mrr == pytest.approx(1 / 3)


@pytest.mark.parametrize(("place", "ndcg", "mrr", "recall"), [
    (1, 1.0, 1.0, 1.0), (10, 1 / log2(11), 0.1, 1.0), (11, 0.0, 0.0, 1.0), (100, 0.0, 0.0, 1.0), (101, 0.0, 0.0, 0.0),
])  # fmt: skip
def test_ten_places_count_for_the_order_and_a_hundred_for_what_is_found(place, ndcg, mrr, recall):
    asked, _ = ran(numbered(120, a=place), {"a": 1})
    assert (asked.ndcg, asked.mrr, asked.recall) == (pytest.approx(ndcg), pytest.approx(mrr), recall)
    assert len(asked.found) == 100


def test_more_answers_than_ten_places_can_hold_are_measured_against_ten():
    gains = {f"d{number:02}": 1 for number in range(12)}
    asked, _ = ran(sorted(gains), gains)
    assert (asked.ndcg, asked.recall) == (pytest.approx(1.0), 1.0)
    assert asked.missed == ("d10", "d11")


def test_what_went_wrong_is_said_in_words():
    gains = dict.fromkeys(("a", "b", "c", "d", "e", "f", "g", "h"), 1)
    asked, _ = ran(numbered(60, a=1, b=11, c=12, d=13, e=14), gains)
    assert asked.why() == ("b is 11th; c is 12th; d is 13th; not among the first 100: f, g, h; first wrong one: other2")
    assert ran(["a"], {"a": 1})[0].why() == ""


def test_what_is_asked_is_told_by_its_first_sixty_characters():
    assert ran(["a"], {"a": 1}, "x" * 61)[1].what == "x" * 60


def test_means_and_times_of_many_queries():
    asked = tuple(
        Asked(Query(str(number), "", {"a": 1}), number / 200, number / 400, number / 800, float(number), ())
        for number in reversed(range(200))
    )
    assert Evaluation("m", asked).figures() == {
        "queries": 200, "ndcg@10": 0.4975, "mrr@10": 0.2487, "recall@100": 0.1244, "ms_p50": 100.0, "ms_p95": 190.0,
    }  # fmt: skip


def test_the_worst_come_first_and_what_went_well_is_not_among_them():
    made = [("1", 1.0, 1.0), ("2", 0.5, 1.0), ("3", 0.5, 0.5), ("5", 0.0, 0.0), ("4", 0.0, 0.0)]
    all_of_them = Evaluation(
        "m", tuple(Asked(Query(name, "", {}), ndcg, 0, recall, 0, ()) for name, ndcg, recall in made)
    )
    assert [one.query.query_id for one in all_of_them.worst(9)] == ["4", "5", "3", "2"]
    assert [one.query.query_id for one in all_of_them.worst(2)] == ["4", "5"]


def test_a_collection_is_written_one_file_a_document(tmp_path):
    assert not evaluate.is_collection(tmp_path)
    rows = [
        {"_id": "a.b-c", "title": " T ", "text": "one"}, {"id": "x" * 121, "text": "two"}, {"_id": "y" * 122, "text": None},
        {"_id": "../up", "title": None, "text": "four"}, {"_id": "-dash", "text": "five"},
    ]  # fmt: skip
    (tmp_path / "corpus.jsonl").write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("", encoding="utf-8")
    assert evaluate.is_collection(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    names = evaluate.lay_out(tmp_path, out)
    assert names == {
        "a.b-c.md": "a.b-c", f"{'x' * 121}.md": "x" * 121, "document-2.md": "y" * 122, "document-3.md": "../up", "document-4.md": "-dash",
    }  # fmt: skip
    assert {name: (out / name).read_text(encoding="utf-8") for name in names} == {
        "a.b-c.md": "# T\n\none\n", f"{'x' * 121}.md": "two\n", "document-2.md": "\n", "document-3.md": "four\n", "document-4.md": "five\n",
    }  # fmt: skip


def test_judgements_of_nothing_and_queries_without_any_are_left_out(tmp_path):
    (tmp_path / "qrels.tsv").write_text(
        "query\tdoc\tscore\n1\t0\td1\t2\n1\td2\t0\n1\td3\t-1\n2\td4\t1\nshort\t1\n", encoding="utf-8"
    )
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "1", "text": "a"}\n{"id": "2", "text": "b"}\n{"_id": "3", "text": "c"}\n', encoding="utf-8"
    )
    assert evaluate.judged(tmp_path) == [Query("1", "a", {"d1": 2}), Query("2", "b", {"d4": 1})]


def test_questions_are_read_in_both_forms(tmp_path):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("", encoding="utf-8")
    file = tmp_path / "questions"
    file.write_text(
        'what?\ta.md\tb.md\n\n{"question": "who?", "expected": "a.md"}\n {"question": "why?", "expected": ["b.md"]}\n',
        encoding="utf-8",
    )
    assert evaluate.questions(file, tmp_path) == [
        Query("1", "what?", {"a.md": 1, "b.md": 1}), Query("3", "who?", {"a.md": 1}), Query("4", "why?", {"b.md": 1}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "what?",
        "\ta.md",
        "what?\t",
        "what?\ta.md\t",
        '{"question": "x"}',
        "{",
        '{"question": "x", "expected": 1}',
        "what?\tno.md",
    ],
)
def test_a_line_that_is_no_question_is_named_by_its_number(tmp_path, line):
    (tmp_path / "a.md").write_text("", encoding="utf-8")
    (tmp_path / "questions").write_text(f"what?\ta.md\n{line}\n", encoding="utf-8")
    with pytest.raises(BadRequest, match="line 2"):
        evaluate.questions(tmp_path / "questions", tmp_path)


def test_a_collection_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(IoError):
        evaluate.judged(tmp_path)
    corpus = tmp_path / "corpus.jsonl"
    for data, line in (
        (b"{}\nno json", "line 2 is not JSON"),
        (b"[]", "line 1 is not a JSON object"),
        (b"\xff", "not UTF-8"),
    ):
        corpus.write_bytes(data)
        with pytest.raises(BadRequest, match=line):
            evaluate.lay_out(tmp_path, tmp_path)
