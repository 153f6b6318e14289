"""Headings as terms: what makes no difference, and which headings have none."""

from __future__ import annotations

import pytest

from smart_context.text import topics


@pytest.mark.parametrize(
    "heading",
    [
        "5.6.7. Renaming a Column",
        "renaming columns",
        "The column, renamed",
        "Chapter 12. Renaming the Column",
        "Appendix B. Renaming Columns",
        "B.2. Renaming Columns",
        "RENAMING COLUMNS",
    ],
)
def test_numbers_order_case_endings_and_stop_words_make_no_difference(heading):
    assert topics.of_heading(heading) == ("§column+renam",)


def test_accents_make_no_difference():
    assert topics.of_heading("Größe der Straße") == topics.of_heading("grosse strasse")


@pytest.mark.parametrize(
    "heading",
    ["", "Examples", "3.", "one two three four five six seven eight nine", "x y " * 40, "目次 索引"],
)
def test_a_word_alone_and_a_long_heading_have_no_term(heading):
    assert topics.of_heading(heading) == ()


def test_of_a_heading_that_is_all_stop_words_but_one_each_word_counts():
    assert topics.of_heading("The example") == ("§exampl+the",)
    assert topics.of_heading("What to look for") == ("§for+look+to+what",)


def test_a_title_counts_as_a_whole_and_in_its_parts():
    assert topics.of_title("csv — Reading CSV Files — Python Documentation") == (
        "§csv+document+file+python+read",
        "§csv+file+read",
        "§document+python",
    )


def test_any_one_word_of_what_is_typed_may_be_more_than_the_heading():
    assert topics.less_one("git submodule status") == ["§status+submodul", "§git+submodul", "§git+status"]
    assert topics.less_one("git status") == []
