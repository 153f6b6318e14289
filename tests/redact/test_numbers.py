"""What numbers look like: a quick look at a stretch of them finds what the patterns find in all of it."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from compiled import both
from smart_context.redact import codes, phones, runs, shape

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


LAYOUTS = re.compile(
    rb"0{14}|0000[\-\s]+0000[\-\s]+0000[\-\s]+0000|0000[\-\s]+000000[\-\s]+0000|0{6}[\-\s]+0{13}|0{8}[\-\s]+0{8}"
)


@given(TEXTS, st.data())
@example("4111-1111-1111-1111", None)
@example("3782 822463 10005", None)
@example("123456 1234567890123", None)
@example("12345678\n12345678", None)
@example("12345678901234", None)
@example("212.555.\n0123", None)
@example("212\n555 0123", None)
@example("212-\n555-0123", None)
@example("(030) 555-0123", None)
def test_groups_of_digits_are_seen_in_a_row_of_numbers(text, data):
    shaped = shape.of(text)
    first = data.draw(st.integers(0, len(text))) if data else 0
    last = data.draw(st.integers(first, len(text))) if data else len(text)
    assert codes._has_layout(shaped, first, last) == bool(LAYOUTS.search(shaped, first, last))
    assert phones._has_grouped(shaped, first, last) == bool(phones._GROUPED.search(shaped, first, last))
    assert any(part in shaped for part in phones._IN_GROUPED) or not phones._GROUPED.search(shaped)


NUMBERS = ["+49 30 1234567", "0049 30 1234567", "030 1234567", "(212) 555-0123", "212-555-0123", "1 212 555 0123", "0.123456789", "0 123 456 789", "2024-01-02", "20", "4111 1111 1111 1111", "4111111111111111", "3782 822463 10005", "41111111\n11111111", "123.456"]  # fmt: skip
BETWEEN = [" ", "\t", "\n", "\r\n", ")", "(", "-", ".", ",", "x", "tel ", "fax:", "call me at ", " phone", "(home)", "card ", "visa: ", " x ", "%"]  # fmt: skip
ROWS = st.lists(st.sampled_from([*NUMBERS, *BETWEEN]), max_size=16).map("".join)


@given(ROWS)
@example("1.5\t030 1234567\t0.123456789\n(212) 555-0123 phone")
@example("tel 1.5\t123456789\t7654321 fax")
def test_telephone_numbers_in_rows_are_those_that_a_look_at_each_run_of_digits_finds(text):
    low, shaped = text.lower(), shape.of(text)
    found = [
        span
        for run in runs.TELEPHONE.finditer(text)
        if run.end() - run.start() >= 6 and not phones._sticks(text[run.end() : run.end() + 1] or " ")
        for span in phones._in_run(text, low, *run.span())
    ]
    assert both(lambda: list(phones.find(text, low, shaped, list(shape.numbers(shaped, 6)))), runs) == (found, found)


@given(ROWS)
@example("visa: 1.5\t4111111111111111\n4111 1111\n1111 1111")
def test_cards_in_rows_are_those_that_a_look_at_each_run_of_digits_finds(text):
    low, shaped = text.lower(), shape.of(text)
    found = []
    before = 0
    for run in runs.CARD.finditer(text):
        since, before = max(before, run.start() - 60), run.end()
        named = codes._is_said(low, shaped, since, run.start())
        found += codes._cards_in(text, codes._groups(text, *run.span()), named=named)
    assert both(lambda: list(codes.cards(text, low, shaped, list(shape.numbers(shaped, 6)))), runs) == (found, found)


SIGNS = st.text(["\0", "0", "1", "4", "9", "٣", " ", " ", "-", "(", ")", ".", "/", "+", ",", "\t", "\n", "\r", "a", "_", "é", "卡"], max_size=60)  # fmt: skip


@given(SIGNS | ROWS, st.data())
@example("+ (49  )\t\r\n (-. 30", None)
@example("1234567890123456789012345678", None)
@example("41 11-11 - 11.1111\n1111", None)
@example("٣٣1234567", None)
@example("card 11 11.11 " + "1" * 20 + " 4111 1111 1111 1111", None)
@example("11 " + "٣" * 25 + "11", None)
def test_the_same_runs_of_digits_are_found_as_it_is_compiled_and_in_python(text, data):
    first = data.draw(st.integers(0, len(text))) if data else 0
    last = data.draw(st.integers(first, len(text))) if data else len(text)
    before = data.draw(st.integers(0, last)) if data else 0
    for every in (True, False):
        quickly, slowly = both(lambda every=every: runs.telephones(text, before, first, last, every=every), runs)
        assert quickly == slowly
    quickly, slowly = both(lambda: runs.cards(text, shape.of(text), before, first, last), runs)
    assert quickly == slowly


@given(st.lists(st.sampled_from([*NUMBERS, *BETWEEN, "call us on ", "ph. ", "Fax", "no", "the ", "row", "電話", "²"]), max_size=12).map("".join))  # fmt: skip
def test_no_stretch_is_left_out_in_which_a_number_may_be_announced(text):
    low, shaped = text.lower(), shape.of(text)
    numbers = list(shape.numbers(shaped, 6))
    kept = runs.worth(text, low, numbers, phones._BETWEEN, phones._TWO_LETTERS, phones._AFTER_LETTERS)
    for first, last in set(numbers) - set(kept):
        assert not phones._LEADS.search(text, max(0, first - 3), last)
        assert not phones._is_said(low, 0, first, shaped.rfind(b"0", first, last) + 1)


def test_the_letters_by_which_words_before_and_after_a_number_are_known_are_those_of_the_patterns():
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = {phones._TWO_LETTERS[at : at + 2] for at in range(0, len(phones._TWO_LETTERS), 2)}
    begun = {one + two + three for one in letters for two in letters for three in letters}
    assert {word[:2] for word in begun if phones._LAST_LETTERS.match(word)} == known
    assert {word for word in letters if phones._LAST_LETTERS.match(word)} <= {pair[0] for pair in known}
    after = phones._AFTER.pattern.rpartition("(?:tel|")[2].partition(")")[0].split("|")
    assert {"t", *(word[0] for word in after)} == set(phones._AFTER_LETTERS)
