"""`context eval`: the figures of a small collection, the worst queries, one's own folder with questions and without."""

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


def test_questions_need_a_folder_and_a_folder_without_files_gives_nothing_to_ask_for(run, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "questions").write_text("q\tlease.txt", encoding="utf-8")
    assert run("eval", "--questions", tmp_path / "questions").returncode == 1
    done = run("eval", tmp_path / "empty")
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"there is no indexed file to ask for" in done.stderr


FILES = {
    "bees/feeding.txt": "Bees are fed with sugar in autumn so that the colony survives the winter.\n",
    "bees/wasps.md": "# Wasps\n\nWasps build their nests of chewed paper under the roofs of old barns.\n",
    "lease.txt": "The tenant pays a deposit of three months before moving into the apartment.\n",
    "copies/a_first.txt": "The quick harbour master inspects every vessel that arrives from the north.\n",
    "copies/b_second.txt": "The quick harbour master inspects every vessel that arrives from the north.\n",
    "kana.txt": "養蜂家は秋に砂糖水を与えて群れが冬を越せるようにする。\n",
}


def test_ones_own_files_are_asked_for_without_any_questions(run, tree):
    folder = tree(FILES)
    done = run("eval", folder, "--json", "--worst", "50")
    assert done.stderr == b""
    answer = json.loads(done.stdout)
    ways = {way["way"]: way for way in answer["ways"]}
    assert answer["files"] == 6
    assert list(ways) == ["sentence", "rare words", "phrase", "name", "name, no ending"]
    assert (ways["name"]["asked"], ways["name"]["first"]) == (6, 6)
    assert (ways["sentence"]["asked"], ways["sentence"]["first"], ways["sentence"]["first_five"]) == (6, 5, 6)
    # Of two files with the same text one cannot come first, and it is said that another is as good.
    copies = [miss for miss in answer["missed"] if "/copies/" in miss["file"]]
    assert {(miss["way"], miss["rank"], miss["same_elsewhere"]) for miss in copies} == {
        ("sentence", 2, True),
        ("rare words", 2, True),
        ("phrase", 2, True),
    }
    assert len({miss["file"] for miss in copies}) == 1
    assert all("/copies/" in miss["shown_first"] != miss["file"] for miss in copies)


def test_the_same_index_is_asked_the_same_each_time_and_nothing_of_it_changes(run, tree, tmp_path):
    folder = tree(FILES)
    assert run("index", folder).returncode == 0
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "data").rglob("*") if path.is_file()}
    once, again = (run("eval", "--root", folder, "--sample", "3") for _ in range(2))
    assert once.returncode == 0
    assert once.stdout == again.stdout
    assert once.stdout.decode().splitlines()[0].split() == [
        "asked",
        "by",
        "times",
        "found",
        "first",
        "in",
        "first",
        "five",
        "another",
        "as",
        "good",
    ]
    assert set((tmp_path / "data").rglob("*.sqlite")) <= set(before)
    below = json.loads(run("eval", folder / "bees", "--root", folder, "--json").stdout)
    assert below["files"] == 2


def test_nothing_hidden_is_asked_for_or_shown(run, tree):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    folder = tree(
        {
            "keys.txt": f"Please use the token {secret} for all of the builds here today.\n"
            "The builds run every night on the large machine in the cellar.\n",
            "mail.txt": "Write to anna.schmidt@example.org about the broken lamp in the hall today.\n",
        }
    )
    done = run("eval", folder, "--json", "--worst", "50")
    answer = json.loads(done.stdout)
    assert [way["asked"] for way in answer["ways"] if way["way"] == "sentence"] == [1]
    shown = run("eval", folder, "--worst", "50").stdout + done.stdout + done.stderr
    assert secret.encode() not in shown
    assert b"anna.schmidt" not in shown


def test_a_name_that_would_steer_the_terminal_is_shown_harmless(run, tree):
    folder = tree(
        {
            "a\x1b[31m.txt": "The same line of text stands here in both of these files.\n" * 2,
            "b\x1b[31m.txt": "The same line of text stands here in both of these files.\n" * 2,
        }
    )
    done = run("eval", folder)
    assert done.returncode == 0
    assert b"shown first" in done.stdout
    assert b"\x1b" not in done.stdout


def test_figures_are_those_of_the_definitions():
    found = {"a": ["x", "d1", "y"], "b": ["d2"], "c": ["x"]}
    queries = [Query("1", "a", {"d1": 1}), Query("2", "b", {"d2": 3, "d3": 1}), Query("3", "c", {"d4": 1})]
    figures = evaluate.run(queries, lambda text, _count: found[text], "m", lambda _step: None).figures()
    ideal = 3 + 1 / 1.5849625
    assert figures["ndcg@10"] == round((0.6309298 + 3 / ideal + 0) / 3, 4)
    assert figures["mrr@10"] == round((0.5 + 1 + 0) / 3, 4)
    assert figures["recall@100"] == round((1 + 0.5 + 0) / 3, 4)


def test_more_misses_than_are_shown_come_with_the_option_that_shows_them(run, tree):
    folder = tree(FILES)
    said = run("eval", folder, "--worst", "1").stderr.decode()
    assert said == "2 more were not found first; see them with --worst 3\n"
    assert run("eval", folder, "--worst", "3").stderr == b""
