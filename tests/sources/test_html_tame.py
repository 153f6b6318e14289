"""Markup that a parser would need quadratic time for is found in one pass, in C and in Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both
from smart_context.sources.extract import tame

PIECES = (
    "<p>", "</p>", "<b>", "</b>", "<br>", "<DIV>", "</div>", "<FONT size=1>", "<a", "<a ", "<p x", "</", "<", ">", "/", " ", "\n", "=", '"', "'", "x", "y=", "z=1",
    'w="<b "', "v='<i'", "\u2003", "\xa0", "\x85", "\x1c", "é", "中", "😀", "<a:b1", "<strike", "<stroke>", "<!--", "\udc80",
)  # fmt: skip
REPEATED = st.tuples(
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.sampled_from([1, 1, 2, 17, 130, 257, 401])
)
MANY = " ".join(f"a{number}" for number in range(400))
KEPT = " ".join(f"a{number}" for number in range(256))


@given(st.lists(REPEATED, max_size=4))
def test_a_page_is_tamed_the_same_in_c_and_in_python(parts):
    markup = "".join(piece * times for piece, times in parts)
    quick, slow = both(lambda: tame.tamed(markup), tame)
    assert quick == slow


@pytest.mark.parametrize("name", ["<p ", "<p<p ", "</p><x:y ", "<!-- <a ", "<p title='<p '></p><i ", "<é<b\u2003"])
def test_a_tag_keeps_as_many_attributes_as_a_page_ever_needs(name):
    assert both(lambda: tame.tamed(f"{name}{MANY}>"), tame) == (f"{name}{KEPT}>",) * 2


@pytest.mark.parametrize("piece", ["<a", "<a<", "<a x='<a y=\"", "<p ", "<a/", "< ", "<a ="])
def test_tags_within_tags_take_no_longer_than_others(piece):
    """Where each were gone over to its end, these would take minutes."""
    markup = piece * 200_000
    quick, slow = both(lambda: tame.tamed(markup), tame)
    assert quick == slow


@pytest.mark.parametrize(
    "markup", ["<p>" * 400, "<p>x</p>" * 300, "<b><i>x</i></b>" * 300, "<br>" * 900, f"<p {KEPT}>"]
)
def test_ordinary_markup_stays_as_it_is(markup):
    assert both(lambda: tame.tamed(markup), tame) == (markup, markup)


@given(
    st.lists(st.sampled_from(["<p>", "</p>", "<b>", "</b>", "<br>", "<DIV>", "</div>", "x"]), max_size=80).map("".join)
)
def test_depth_counted_at_once_is_depth_counted_tag_by_tag(markup):
    many = markup * 12
    assert tame._is_deep(many) == tame._is_deep_by_tags(tame._NAMES.findall(many))
