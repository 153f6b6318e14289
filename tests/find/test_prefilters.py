"""Filters that spare a query the slow patterns: what they leave out could not have matched."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.find import filters, when

TIMES = {"field": when._FIELD, "since": when._SINCE, "until": when._UNTIL, "in": when._IN}


def compiled(pattern: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(pattern.pattern, pattern.flags)


def texts(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    """What a pattern matches, with something around it, and in capitals that only some would call such."""
    odd = str.maketrans({"s": "\u017f", "k": "\u212a", "i": "\u0130", "I": "\u0131"})
    case = st.sampled_from([str, str.upper, str.title, lambda text: text.translate(odd)])
    return st.builds(lambda text, change: change(text), st.from_regex(compiled(pattern)), case)


@pytest.mark.parametrize("name", TIMES)
@given(data=st.data())
def test_a_pattern_of_times_is_tried_on_whatever_it_matches(name: str, data: st.DataObject) -> None:
    text = data.draw(texts(TIMES[name]))
    if TIMES[name].search(text):
        assert TIMES[name] in when.to_try(text)


@given(texts(filters._TYPE_LIST))
def test_types_are_looked_for_in_whatever_names_one(text: str) -> None:
    if filters._TYPE_LIST.search(text):
        assert filters.may_name_types(text)


@pytest.mark.parametrize(
    "query",
    ["budget plan", "how do I freeze what a search finds", "contracts with vendor X from 2021", "this is an old stage"],
)
def test_a_query_without_times_is_held_against_no_pattern_of_them(query: str) -> None:
    assert when.to_try(query) == []


def test_a_query_without_times_compiles_none_of_their_patterns() -> None:
    script = (
        "from smart_context.find import filters, when\n"
        "filters.read('budget plan of the western hemisphere', today='2024-03-31')\n"
        "named = (when._PERIOD, when._FIELD, when._SINCE, when._UNTIL, when._IN, filters._TYPE_LIST, filters._RANGE)\n"
        "print([one._compiled for one in named])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{[None] * 7}\n"
