"""What numbers look like: a quick look at a stretch of them finds what the patterns find in all of it."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from smart_context.redact import codes, phones, shape

PIECES = ["0", "4", "12", "123", "4111", "55555", "1234567", " ", "-", "(", ")", ".", "\t", "\n", "\r\n", "card", "cc", "pan", "visa", "卡", "カード", "x", "é", "٣", ":", ","]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(TEXTS, st.data())
@example("card\n4111111111111111", None)
@example("card\n\n4111111111111111", None)
@example("cc 1 4111111111111111", None)
def test_a_word_for_a_card_is_seen_before_a_number(text, data):
    shaped = shape.of(text)
    start = data.draw(st.integers(0, len(text))) if data else text.index("4111")
    since = data.draw(st.integers(0, start)) if data else 0
    assert codes._is_said(text, shaped, since, start) == bool(codes._SAID.search(text, since, start))


@given(TEXTS, st.data())
@example("4111-1111-1111-1111", None)
@example("(030) 555-0123", None)
def test_groups_of_digits_are_seen_in_a_row_of_numbers(text, data):
    shaped = shape.of(text)
    first = data.draw(st.integers(0, len(text))) if data else 0
    last = data.draw(st.integers(first, len(text))) if data else len(text)
    assert codes._has_layout(shaped, first, last) == bool(codes._SHAPES.search(shaped, first, last))
    assert phones._has_grouped(shaped, first, last) == bool(phones._GROUPED.search(shaped, first, last))
