"""Summaries without a model: they answer, do not repeat themselves, name their sources, and keep to their size."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import summary_questions
from smart_context.defaults import STYLES
from smart_context.llm import compose, extractive, sentences
from smart_context.llm.model import Snippet


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Solheim met J. Smith, e.g. on 3.5 acres. They left.", ["Dr. Solheim met J. Smith, e.g. on 3.5 acres.", "They left."]),
        ("Am 3. März kam er. Er blieb z.B. nicht.", ["Am 3. März kam er.", "Er blieb z.B. nicht."]),
        ("本は十冊まで。月曜日は休館日である。", ["本は十冊まで。", "月曜日は休館日である。"]),
        ("هل وصل؟ نعم.", ["هل وصل؟", "نعم."]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("Heading\n\nA line\nthat goes on.\n- first\n- second", ["Heading", "A line that goes on.", "- first", "- second"]),
        ("Version 2.1.3 is out. See p. 12.", ["Version 2.1.3 is out.", "See p. 12."]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_end_where_people_end_them(text, expected):
    assert sentences.split(text) == expected


@given(st.text())
def test_sentences_lose_only_white_space(text):
    assert "".join("".join(sentences.split(text)).split()) == "".join(text.split())


def test_the_answering_sentence_is_in_the_summary_for_nine_of_ten_questions():
    questions = summary_questions.load()
    assert len(questions) >= 40
    found = 0
    for question in questions:
        assert any(question.answer in snippet.text for snippet in question.snippets)
        picked = extractive.pick(question.text, question.snippets)
        found += question.answer in compose.extract(picked, question.snippets, "bullets", 150)
    assert found >= 0.9 * len(questions)


def test_the_same_input_gives_the_same_bytes():
    question = summary_questions.load()[3]
    one, two = (
        compose.extract(extractive.pick(question.text, question.snippets), question.snippets, "bullets", 300)
        for _ in range(2)
    )
    assert one == two


def test_a_sentence_is_said_once():
    text = "The agreement starts on 1 July 2023."
    snippets = [
        Snippet("/a", text),
        Snippet("/b", f"{text} It ends in 2031."),
        Snippet("/c", "The agreement starts on 1 July, 2023!"),
    ]
    picked = extractive.pick("when does the agreement start", snippets)
    assert [one.text for one in picked].count(text) == 1
    assert sum("starts" in one.text for one in picked) == 1


def test_sentences_come_in_the_order_of_relevance_with_their_sources():
    snippets = [
        Snippet("/r/log.txt", "The weather was fine.", "lines 1-2"),
        Snippet("/r/pay.docx", "Invoices are due within thirty days. The office has a garden.", "page 2"),
    ]
    told = compose.extract(extractive.pick("when are invoices due", snippets), snippets, "bullets", 200)
    assert told.splitlines()[0] == "- Invoices are due within thirty days. [1]"
    assert told.splitlines()[-1] == "[1] /r/pay.docx, page 2"


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("bullets", "- A|b is due. [1]\n\nSources:\n[1] /r/x.txt, page 1"),
        ("paragraph", "A|b is due. [1]\n\nSources:\n[1] /r/x.txt, page 1"),
        ("table", "| Finding | Source |\n|---|---|\n| A\\|b is due. | /r/x.txt, page 1 |"),
    ],
)
def test_each_style_has_its_form(style, expected):
    snippets = [Snippet("/r/x.txt", "A|b is due.", "page 1")]
    assert compose.extract(extractive.pick("due", snippets), snippets, style, 200) == expected


def test_a_name_with_a_line_break_stays_on_its_line():
    snippets = [Snippet("/r/x\n[2] /etc/passwd", "It is due.", "")]
    assert len(compose.extract(extractive.pick("due", snippets), snippets, "bullets", 200).splitlines()) == 4


HANDBOOK = [
    Snippet("/r/handbook.md", "## Desk Lock the screen when you leave the desk.", "lines 6-7"),
    Snippet("/r/handbook.md", "## Visitors Visitors sign in at the desk. They wear a badge.", "lines 9-10"),
]


@pytest.mark.parametrize("query", ["parental leave", "maternity leave", "who pays for parental leave", "zzz"])
def test_where_nothing_answers_nothing_is_picked(query):
    assert extractive.pick(query, HANDBOOK) == []


def test_the_words_that_nothing_mentions_are_named():
    assert extractive.absent("how much parental leave do visitors get", HANDBOOK) == ["parental"]
    assert (
        compose.no_answer(["parental"], 50)
        == "The passages found do not answer this; none of them mentions “parental”."
    )


def test_a_question_over_documents_that_do_not_answer_it_is_not_answered():
    answered = 0
    for question in summary_questions.load():
        (own,) = {snippet.path for snippet in question.snippets if question.answer in snippet.text}
        answered += bool(extractive.pick(question.text, [one for one in question.snippets if one.path != own]))
    assert answered <= 3


@pytest.mark.parametrize("query", ["pptx from 2021", "summarize the files", "give an overview"])
def test_a_question_of_filters_alone_is_answered_by_the_first_snippets(query):
    assert extractive.pick(query, HANDBOOK)[0].text == "Lock the screen when you leave the desk."


@pytest.mark.parametrize(
    ("snippet", "sentence"),
    [
        (
            Snippet("/r/a.html", "Parental leave Parents get 16 weeks.", "section 'Parental leave'"),
            "Parents get 16 weeks.",
        ),
        (Snippet("/r/a.md", "## Parental leave Parents get 16 weeks.", "lines 1-2"), "Parents get 16 weeks."),
        (Snippet("/r/a.md", "# Parental leave\nParents get 16 weeks.", "lines 1-2"), "Parents get 16 weeks."),
        (
            Snippet("/r/a.txt", "Parental leave\nParents get\n16 weeks of leave.", "lines 1-3"),
            "Parents get 16 weeks of leave.",
        ),
    ],
)
def test_a_heading_is_not_glued_to_the_sentence_below_it_and_tells_what_it_is_about(snippet, sentence):
    assert [one.text for one in extractive.pick("parental leave", [snippet])] == [sentence]


def test_of_a_table_only_what_was_asked_for_is_shown():
    rows = [
        f"{name},{team},{days}"
        for name, team, days in zip("abcdefghij" * 4, ["Ops", "Dev"] * 20, range(40), strict=True)
    ]
    snippets = [
        Snippet("/r/people.csv", "name,team,days " + " ".join(rows) + " zoe,Legal,31 " + " ".join(rows), "lines 1-80"),
        Snippet("/r/text.md", "The team Legal has many days.", "lines 1-1"),
    ]
    said = [one.text for one in extractive.pick("how many days has team Legal", snippets)]
    assert said[0] == "The team Legal has many days."
    assert all(len(one.split()) <= 18 for one in said)


def test_rows_of_a_table_with_line_breaks_are_chosen_one_by_one():
    text = "Team\tDays\tFloor\nOps\t25\tfirst\nLegal\t31\tsecond\nSales\t22\tthird"
    said = [one.text for one in extractive.pick("Legal days", [Snippet("/r/days.xlsx", text, "sheet 'Days'")])]
    assert "Legal 31 second" in said
    assert len(said) <= 2


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=200), min_size=1, max_size=5),
    st.text(min_size=1, max_size=40),
    st.integers(1, 120),
    st.sampled_from(STYLES),
)
def test_a_summary_never_takes_more_tokens_than_it_may(texts, query, most, style):
    snippets = [Snippet(f"/r/{i}.txt", text) for i, text in enumerate(texts)]
    told = compose.extract(extractive.pick(query, snippets), snippets, style, most)
    assert compose.tokens(told) <= most


def test_a_models_summary_gets_the_sources_it_names_or_all():
    snippets = [Snippet("/a", ""), Snippet("/b", ""), Snippet("/c", "")]
    assert compose.with_sources("So it is [2], not [9].", snippets) == "So it is [2], not [9].\n\nSources:\n[2] /b"
    assert compose.with_sources("So it is.", snippets).endswith("Sources:\n[1] /a\n[2] /b\n[3] /c")
