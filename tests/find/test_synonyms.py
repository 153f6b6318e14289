"""A question may be answered in other words: which these are, and that they count."""

from __future__ import annotations

from searching import indexed
from smart_context.find import synonyms
from smart_context.text import analysis, languages


def test_the_words_of_answers_are_words_that_can_be_looked_for_and_not_those_of_the_question():
    for word, others in synonyms._OTHERS.items():
        assert word not in others
        assert others
        assert word not in languages.STOP_WORDS["en"]
        assert [analysis.units(other) for other in others] == [[other] for other in others]


def test_an_answer_in_other_words_comes_before_what_only_names_the_thing(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "answer.txt").write_text(
        "To discard the lantern of the boat, open the cover and turn the screw that is below it."
    )
    (root / "delete.txt").write_text("What is deleted is gone, and nobody will find it again in any of the books.")
    for number in range(4):
        (root / f"{number}.txt").write_text(
            f"Number {number}: the lantern of the boat is where it was, and it is green."
        )
    question = "How do I delete the lantern of the boat?"
    with indexed(root, tmp_path / "data") as searched:
        found = searched.names(question)
        assert found.index("answer.txt") < min(found.index(f"{number}.txt") for number in range(4))
        assert "in other words: remove, drop, discard, erase" in searched.page(question).interpretation
        others = searched.names("delete lantern boat")  # no question
        assert others.index("answer.txt") > others.index("0.txt")
