"""What is looked at quickly is found as the patterns find it that would look everywhere."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smart_context import pointer as grammar
from smart_context.model import Segment
from smart_context.redact import (
    Span,
    assigned,
    document,
    glance,
    issuers,
    mail,
    names,
    phones,
    repeats,
    runs,
    shape,
    tokens,
    values,
    wrap,
)  # fmt: skip

FRAMES = ["", "page 3", "page 4", "section 'A'", "section 'it''s lines 1-2'", "section 'B' (2)", "entry 'x y' sheet 'Q' (2)", "message"]  # fmt: skip
RANGES = ["", "lines 1-2", "lines 2-2", "rows 2-7", "paragraphs 7-12"]
POINTERS = [f"{frame} {lines}".strip() for frame in FRAMES for lines in RANGES]


@pytest.mark.parametrize("last", POINTERS)
def test_a_segment_goes_on_where_its_parsed_pointer_says_so(last):
    for pointer in POINTERS:
        (frame, lines), (before, ended) = (document.split(grammar.parse(one)) for one in (pointer, last))
        is_same_line = ended is None if lines is None else ended is not None and lines.first == ended.last
        one, other = Segment(0, last, "", "a"), Segment(1, pointer, "", "b")
        assert document._goes_on(one, other) == (frame == before and is_same_line)


@given(st.text("ab ", max_size=30), st.text("ab", min_size=1, max_size=3), st.lists(st.integers(0, 30), max_size=8))
def test_a_secret_that_stands_nowhere_else_is_not_looked_for_any_more(text, value, borders):
    ends = sorted({border for border in borders if border <= len(text)})
    spans = [Span(start, end, "secret") for start, end in zip(ends[::2], ends[1::2], strict=False)]
    left = list(text)
    for span in spans:
        left[span.start : span.end] = "\1" * (span.end - span.start)
    if value in "".join(left):
        assert repeats._stands_elsewhere(value, text, spans)


def test_a_secret_with_a_space_is_looked_for_where_a_null_stands_for_it():
    text = 'password: "q7Rk 2ZpX9vLm"\nand q7Rk\0002ZpX9vLm\n'
    [part] = document.judged([Segment(0, "page 1", "", text)], document.Redactor())
    assert [text[start:end] for start, end, _ in part.hidden] == ["q7Rk 2ZpX9vLm", "q7Rk\0002ZpX9vLm"]


@given(st.lists(st.sampled_from([*names._ENDS_KIND, *" _.-\nx", "pub", "1"]), max_size=6).map("".join))
@example("api\n")
@example("api_\n")
@example("secretaccess ")
def test_the_kind_of_a_key_is_found_before_it(before):
    start = len(before)
    slow = names._BEFORE_KEY.search(before, max(0, start - 16), start)
    quick = names._kind_before(before + "key", start)
    assert (quick and quick.span()) == (slow and slow.span())


@pytest.mark.parametrize("sign", sorted(names._NO_SUFFIX))
def test_a_sign_that_ends_a_name_is_no_suffix_of_it(sign):
    for after in ("", "s", "2", "_test", "é"):
        found = names._SUFFIX.match(sign + after)
        assert found is not None
        assert (found.end(), found["many"]) == (0, None)


WORDS = ["tel", "telephone", "phone", "ph", "fax", "whats", "app", "call", "me", "at", "number", "no", "home", "work", "x", "t", "1", "é", "тел", "电话", "mobile", "nr", "hotline", "puhelin", "handy", "rufnummer", "contact", "kontakt", "appel", "direct", "office", "privat", "us", "him", "the", "them", "is", "on", "num", "or", "name"]  # fmt: skip


@given(st.lists(st.sampled_from([*WORDS, *" .:-+(\n_"]), max_size=16).map("".join))
@example("tel number me at ")
@example("whats app no: me at +")
@example("1tel: ")
def test_a_word_that_announces_a_number_is_found_before_it(window):
    last = window.rstrip(phones._BETWEEN)[-1:]
    for pattern in (phones._STRONG, phones._SOFT):
        found = bool(last) and not last.isdigit() and pattern.search(window) is not None
        assert phones._says(window, pattern) == found


PIECES = ["jane", "look", "x.y-z", "host.org", " at ", " at ", " dot ", "org", " ", ".", "\n", "-", "a" * 70, "b" * 150]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
@example("look at example.com " + "x " * 200 + "jane at host dot org")
@example(f"a at {'.'.join(['b' * 60] * 6)} at host dot org")
def test_an_address_in_plain_words_is_found_as_where_brackets_make_every_at_be_tried(text):
    tried = f"{text}\n{'.' * 1200}\n<a>"
    assert mail._BRACKETED.search(tried)
    assert list(mail._written(text, " at ", None)) == list(mail._written(tried, " at ", None))


SIGNS = [*"\"'`])}*\\_ \t|:(<>.", "&quot;", "&#34;", "%22", "password", "x" * 16, "a"]


@given(st.lists(st.sampled_from(SIGNS), max_size=14).map("".join))
def test_a_sign_is_near_where_a_value_may_begin_after_it(after):
    near = after[: assigned._REACH]
    if assigned._CELL.match(after):
        assert "|" in near or "\t" in near
    if assigned._BRACKET.match(after):
        assert "(" in near
    if assigned._CALL.match(after):
        assert after[0] == "("
    if assigned._PAIR.match(after):
        assert after[0] in "\"'"
    if assigned._IN_TAG.search(after):
        assert "<" in after


def test_every_row_of_tokens_is_found_by_its_prefix():
    rows = [row for found in issuers.BY_PREFIX.values() for row in found]
    assert sorted(map(repr, rows)) == sorted(map(repr, issuers.MARKED))


@given(st.lists(st.sampled_from([*"0159.,-+()/ \t\n", "05", "1.05", "x"]), max_size=16).map("".join))
@example("1.05\n05 12")
@example("1.(05 1234")
@example("12, 05 1234")
def test_where_nothing_leads_a_number_no_digits_begin_as_one(text):
    begin = [run for run in runs.TELEPHONE.finditer(text) if phones._begins_as_one(text, shape.of(text), *run.span())]
    assert phones._LEADS.search(text) or not begin


PIECES = ["AC" + "0123456789abcdef" * 2, "?sig=" + "aZ3%2Bq9" * 4, "MIIEpAIBAAKCAQEA7bq1", "amzn.mws.4ea38b7b-f563-7709-4bae-87aeaEXAMPLE", "x", "sig=", "-us12"]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join), st.lists(st.integers(0, 120), max_size=3)
)
def test_a_token_over_a_line_break_is_found_where_the_joined_lines_hold_a_long_word(text, cuts):
    for at in sorted(cuts, reverse=True):
        text = text[:at] + "\n" + text[at:]
    joined = wrap.joined(text)
    marks = glance.marks_in(joined.text)
    slow = [
        (a[0], a[1])
        for start, end, shape in tokens._shaped(joined.text, marks, joined.text)
        if (a := joined.over_break(start, end)) and shape.sign != issuers.RSA
        if shape.fixed or values.is_random(text[a[0] : a[1]].rsplit(None, 1)[-1])
    ]
    assert list(tokens._shaped_over_lines(text, 0, len(text))) == slow
