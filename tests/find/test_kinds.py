"""Whether a word such as "slides" asks for files of that kind, or is a word of a sentence."""

from __future__ import annotations

import pytest

from smart_context.find import kinds


def asks(text, word="slides", *, is_type=False):
    start = text.index(word)
    return kinds.asked(text, start, start + len(word), is_type=is_type)


@pytest.mark.parametrize(
    "text",
    [
        "slides", "budget slides", "one two three four slides", "show me the slides about the new budget of spring",
        "find slides on budgets of the spring plan", "the plan of the new budget slides", "notes on the new budget slides 2024", "notes on the new budget slides 2023-24",
        "which slides mention the budget of the spring", "what slides", "please find all slides, from the last spring meeting",
    ],
)  # fmt: skip
def test_it_asks_in_a_few_words_first_before_what_they_are_about_or_last(text):
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "one two slides three four five", "the child slides down the hill quickly", "alpha slides beta",
        "he took pictures and showed the slides", "show me the slides quickly before the budget",
    ],
)  # fmt: skip
def test_it_is_a_word_of_a_sentence_or_a_question_elsewhere(text):
    assert not asks(text)
    assert asks(text, is_type=True)


@pytest.mark.parametrize(
    "text",
    [
        "what are the many slides that he took", "which programs open slides", "can slides be compared", "what are slides", "does it support slides",
        "the slides are damaged", "slides versus pictures", "difference between slides and pictures", "slides aren't shown on the second screen",
    ],
)  # fmt: skip
def test_what_is_asked_or_said_about_is_a_word(text):
    assert not asks(text)
    assert not asks(text, is_type=True)


@pytest.mark.parametrize(
    "text",
    ["excel formula for a sum", "show me excel functions for dates", "Excel Formeln", "excel password forgotten"],
)
def test_what_belongs_to_a_kind_of_file_makes_it_a_word(text):
    word = "Excel" if "Excel" in text else "excel"
    assert asks(text, word) is kinds.Asked.NO
    assert asks(f"only {text}", word, is_type=True)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("slides about walruses", "YES"), ("show me all slides", "YES"), ("I need the slides of the walrus club", "YES"), ("where are the slides with the walrus", "YES"),
        ("walrus slides", "PERHAPS"), ("slides walrus", "PERHAPS"), ("notes on the budget of the spring slides", "PERHAPS"),
    ],
)  # fmt: skip
def test_a_bare_name_of_a_kind_beside_other_words_leaves_it_open(text, asked):
    assert asks(text) is kinds.Asked[asked]


@pytest.mark.parametrize(
    "text",
    [
        "how do slides work",
        "why do we make slides",
        "merge slides",
        "slides to pictures",
        "copy all slides",
        "slides download",
    ],
)
def test_what_something_is_done_with_is_not_asked_for(text):
    assert not asks(text)
    assert not asks(text, is_type=True)
    start = text.index("slides")
    assert kinds.asked(text, start, start + 6, is_type=True, is_written=True)


@pytest.mark.parametrize("words", [5, 6])
def test_six_words_are_a_sentence(words):
    text = " ".join(["slides", "beta", "gamma", "delta", "epsilon", "zeta"][:words])
    assert bool(asks(text)) is (words == 5)


@pytest.mark.parametrize(("gap", "is_asked"), [(190, True), (205, False)])
def test_two_hundred_characters_on_either_side_are_looked_at(gap, is_asked):
    far = "of " * (gap // 3)
    assert asks(f"alpha beta gamma delta epsilon slides {far}") is (kinds.Asked.PERHAPS if is_asked else kinds.Asked.NO)
    assert asks(f"find {far}slides about the budget of the spring") is (kinds.Asked.YES if is_asked else kinds.Asked.NO)
