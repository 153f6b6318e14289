"""What of a question only asks is not looked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searching import indexed
from smart_context.find import questions
from smart_context.text import analysis, languages


@pytest.mark.parametrize(
    ("question", "left", "asks"),
    [
        ("梁诚的原名是什么?", "梁诚的原名 ?", ["是什么"]),
        ("固始站位于哪里？", "固始站位于 ？", ["哪里"]),
        ("他为何去了吗", "他 去了 ", ["为何", "吗"]),
        ("哪吒的几何是多少", "哪吒的几何 ", ["是多少"]),  # a name, and geometry
        ("スターリン批判は何年に起きた？", "スターリン批判は 年に起きた？", ["何"]),
        ("梅雨の期間はどれくらいですか", "梅雨の期間は ", ["どれくらいですか"]),
        ("ぶどうなどの果物", "ぶどうなどの果物", []),  # どう and どの inside of other words
        ("どこで", " で", ["どこ"]),
        ("何ですか", "何ですか", []),  # nothing would be left
        ("什么", "什么", []),
        ("what is it", "what is it", []),
        ("Было ли", "Было ли", []),
    ],
)
def test_question_words_are_left_out_where_something_else_is_asked_about(question, left, asks):
    assert questions.rest(question) == left
    assert questions.words(question) == asks


def test_a_text_that_asks_does_not_outrank_one_that_answers(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "answer.txt").write_text("梁诚，广东番禺人，中国清末外交官。他的原名丕旭，字震东，早年留学美国。", encoding="utf-8")  # fmt: skip
    (root / "question.txt").write_text("梁诚是什么人？那是什么？他的名字是什么？", encoding="utf-8")
    for number in range(8):
        (root / f"{number}.txt").write_text(f"{number} 其他的事情很多。", encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        assert searched.names("梁诚的原名是什么")[:2] == ["answer.txt", "question.txt"]
        assert "left out: 是什么" in searched.page("梁诚的原名是什么").interpretation


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Find all documents about heat transfer", "find all documents about"),
        ("can you please show me the files that deal with rent", "can you please show me the files that deal with"),
        ("Articles on robotics. We are not interested in arms", "articles on we are not interested in"),
        ("what papers are there dealing with buckling", "what papers are there dealing with"),
        ("I'd like to know how it works", "i d like to know"),
        ("Wie lautet der Name", "wie lautet"),
        ("Zeige mir alle Dokumente über Miete", "zeige mir alle dokumente über"),
        ("has anyone experimentally investigated heat transfer", "has anyone experimentally investigated"),
        ("what work has been done on rent control", "what work has been done on"),
        ("How much is known about sparrows?", "how much is known about"),
        ("what information is available for gusts", "what information is available for"),
        ("is there any literature on gusts", "is there any literature on"),
        ("is it possible to rename a file", "is it possible to"),
        ("Ist es möglich, die Miete zu senken?", "ist es möglich"),
        ("Gibt es Untersuchungen über Spatzen", "gibt es untersuchungen über"),
        ("what data in the header is checked", ""),  # a question about data
        ("what is written on the stack", ""),
        ("references to a deleted object", ""),
        ("anyone investigated in the case", ""),
        ("find files on a disk", ""),  # that is what the program `find` does
        ("the papers on the desk", ""),  # not at the beginning
        ("documents for a visa", ""),
        ("list of articles", ""),
    ],
)
def test_the_words_of_a_request_are_told_from_what_it_is_about(text, words):
    assert questions.request(text) == frozenset(words.split())


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("How do I rename a branch", True),
        ("vacuum: what for?", True),
        ("Wann erreichte die Pest England", True),
        ("Is it safe", True),
        ("rename a branch", False),
        ("how", False),  # one word is looked for as it is
        ("can bus", False),  # and so are two
        ("can bus?", True),
        ("can bus stop", True),
        ("howto rename", False),
        ("梁诚的原名是什么?", False),  # no stop words tell sentences there
    ],
)
def test_a_question_begins_with_a_word_that_asks_or_ends_in_a_mark(text, is_question):
    assert questions.is_question(text) is is_question


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("how do i get rid of somebody else s files", "get rid somebody else"),
        ("what does make do", ""),  # nothing else would be left
        ("how is a branch renamed", ""),
    ],
)
def test_words_that_hardly_say_what_a_question_is_about_are_told_from_the_others(text, words):
    units = text.split()
    assert questions.light(units, languages.STOP_WORDS["en"]) == dict.fromkeys(words.split(), 0.2)


def test_what_a_question_is_about_outweighs_rarer_words_that_only_ask(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "answer.txt").write_text("A file that is not under version control can be removed with the broom command.")
    (root / "other.txt").write_text("We got somebody else to do it, and that got somebody else a prize for it.")
    for number in range(8):
        (root / f"{number}.txt").write_text(f"Number {number}: this file is about control, and a file of nothing else.")
    with indexed(root, tmp_path / "data") as searched:
        assert searched.names("How do I get a removed file that I got from somebody else?")[0] == "answer.txt"
        assert searched.names("got somebody else")[0] == "other.txt"  # no question


def test_a_question_is_answered_by_sentences_before_a_list(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "changes.txt").write_text(
        "pull fetch: speed\npull: fetch tags\nbranch: new tests, options, colours, names\n"
    )
    (root / "manual.txt").write_text("A pull is a fetch and then a merge of it: when you pull, you fetch.")
    with indexed(root, tmp_path / "data") as searched:
        assert searched.names("What does pull do that fetch does not?")[0] == "manual.txt"
        assert searched.names("pull fetch")[0] == "changes.txt"


def test_a_request_is_not_looked_for_and_a_text_of_these_words_alone_is(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "rent.txt").write_text("Rent is due on the first day of every month. The landlord sends a bill.")
    (root / "archive.txt").write_text(
        "Find all documents about the archive: documents, more documents and the rent of documents."
    )
    for number in range(8):
        (root / f"{number}.txt").write_text(f"Number {number}: a month of bills, and of nothing else.")
    with indexed(root, tmp_path / "data") as searched:
        assert searched.names("Find all documents about rent of a landlord")[0] == "rent.txt"
        assert (
            "left out: find, all, documents, about, of, a"
            in searched.page("Find all documents about rent of a landlord").interpretation
        )
        assert searched.names("find all documents about")[0] == "archive.txt"
        assert searched.names('"find all documents about"') == ["archive.txt"]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("I'd like to find articles describing heat transfer.", "heat transfer."),
        ("Zeige mir alle Dokumente über die Miete", "die Miete"),
        ("Articles on robots. I am not interested in arms", "robots. arms"),
        (
            "I am interested in articles written by Prieve",
            "articles written by Prieve",
        ),  # what follows tells who wrote them
        ("Wie lautet der Name?", "Wie lautet der Name?"),  # a question, not a request
        ("what is heat", "what is heat"),
        ("has anyone studied heat", "has anyone studied heat"),
        ("find all documents about", "find all documents about"),
    ],
)
def test_a_model_reads_what_a_request_is_about(text, about):
    assert questions.about(text) == about


WORDS = [
    "find",
    "show",
    "can",
    "could",
    "you",
    "please",
    "me",
    "all",
    "the",
    "any",
    "i",
    "i'm",
    "am",
    "want",
    "would",
    "like",
    "to",
    "see",
    "know",
    "looking",
    "for",
    "are",
    "there",
    "what",
    "tell",
    "about",
    "interested",
    "especially",
    "in",
    "not",
    "articles",
    "paper",
    "documents",
    "information",
    "descriptions",
    "of",
    "on",
    "regarding",
    "dealing",
    "with",
    "that",
    "describe",
    "travel",
    "ich",
    "suche",
    "möchte",
    "wissen",
    "zeige",
    "mir",
    "dateien",
    "über",
    "zu",
    "artikel",
    "wie",
    "lautet",
    "heißt",
    "nennt",
    "man",
    "has",
    "anyone",
    "studied",
    "what",
    "work",
    "been",
    "done",
    "is",
    "known",
    "it",
    "possible",
    "to",
    "there",
    "data",
    "exists",
    "ist",
    "es",
    "möglich",
    "gibt",
    "studien",
    ".",
    ";",
    "(",
]


@given(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
def test_patterns_that_are_not_looked_at_would_not_have_matched(text):
    every = [one for _, asks in questions._QUESTIONS for one in asks.finditer(text)]
    assert questions.request(text) == {unit for one in every for unit in analysis.units(one[0])}
