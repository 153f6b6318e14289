"""Queries: operators are read as operators, and nothing is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.find.query import And, Near, Not, Or, Phrase, Prefix, Some, Word, parse

a, b, c = Word("a"), Word("b"), Word("c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", a),
        ("a b", Some((a, b))),
        ("a a", Some((a, a))),  # a word said twice counts twice
        ('"a b"', Phrase("a b")),
        ("“a b” c", Some((Phrase("a b"), c))),
        ("a -b", Some((a, Not(b)))),
        ('-"a b"', Some((Not(Phrase("a b")),))),
        ("a NOT b", Some((a, Not(b)))),
        ("NOT b", Some((Not(b),))),
        ("a AND b", And((a, b))),
        ("a OR b", Or((a, b))),
        ("a OR b AND c", Or((a, And((b, c))))),
        ("(a OR b) AND c", And((Or((a, b)), c))),
        ("a b AND c", And((Some((a, b)), c))),
        ("a NEAR/5 b", Near(a, b, 5)),
        ("a NEAR b", Near(a, b, 10)),
        ("a NEAR/0 b", Near(a, b, 0)),
        ("a NEAR/5 b AND (c)", And((Near(a, b, 5), c))),
        ("a NEAR/2 b NEAR/3 c", Near(Near(a, b, 2), c, 3)),
        ("a -(b OR c)", Some((a, Not(Or((b, c)))))),
        ("co*", Prefix("co")),
        ("-co*", Some((Not(Prefix("co")),))),
        ("ISO-27001", Word("ISO-27001")),
        ("a and b or not c", Some((a, Word("and"), b, Word("or"), Word("not"), c))),
    ],
)
def test_operators_are_read(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        (" \n ", None),
        ('- * () "" \' !', None),
        ("AND", Word("AND")),
        ("a AND", Some((a, Word("AND")))),
        ("OR a", Some((Word("OR"), a))),
        ("a NEAR/5", Some((a, Word("NEAR/5")))),
        ("NOT", Word("NOT")),
        ("(a", a),
        ("a)", a),
        (")a(", a),
        ('"a b', Some((a, b))),
        ("a* b*c", Some((Prefix("a"), Word("b*c")))),
        ('"a b"-c', Some((Phrase("a b"), c))),  # as in German: "first in"-Liste
        ("»a«-(b)c", Some((Phrase("a"), b, c))),
        ("(a)-b (c)-", Some((a, b, c))),
        ("(-a) b", Some((Not(a), b))),
        ("a und -b", Some((a, Word("und"), b))),  # as in "Hausherren und -damen"
        ("a AND AND b", And((a, Some((Word("AND"), b))))),
    ],
)
def test_what_is_no_operator_is_words(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "is_prose"),
    [
        ("one two three four five six", True),
        ("one two three", False),
        ('File "/usr/lib/zq.py", line 653, in run', True),  # a word in quotation marks is one of the sentence
        ('ERROR: relation "foo" does not exist', True),
        ('one two three four five "six seven"', False),
        ('"年度报告" 预算', False),
        ('"以际会得此" 这句话是什么意思？', True),
    ],
)
def test_a_sentence_is_told_from_a_few_words_with_and_without_spaces(text, is_prose):
    assert parse(text).is_prose == is_prose


@given(st.text())
def test_no_text_is_an_error(text):
    parse(text)


@given(
    st.lists(st.sampled_from(["a", "(", ")", "AND", "OR", "NOT", "NEAR/3", '"', "-", "-b", "c*", "-("]), max_size=60)
)
def test_no_sequence_of_operators_is_an_error_and_no_word_is_lost(pieces):
    tree = parse(" ".join(pieces))
    if pieces.count("(") + pieces.count("-(") < 12 and pieces.count("NOT") < 12:
        assert str(tree).count("'a'") + str(tree).count("'a ") + str(tree).count(" a ") + str(tree).count(" a'") >= min(
            1, pieces.count("a")
        )


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "(" * 10_000 + "a" + ")" * 10_000,
        "NOT " * 10_000 + "a",
        "a " * 10_000,
        "a OR " * 10_000,
        '"' * 10_001,
        "-" * 10_000,
    ],
)
def test_hostile_queries_cost_little(text):
    assert len(str(parse(text))) < 50_000


def depth(tree):
    """How many operators stand in each other."""
    inner = [getattr(tree, name) for name in ("left", "right", "item") if hasattr(tree, name)]
    inner += list(getattr(tree, "items", ()))
    return 1 + max(map(depth, inner)) if inner else 0


@pytest.mark.parametrize(("links", "read"), [(1, 1), (12, 12), (13, 12)])
def test_twelve_things_are_near_each_other_in_a_chain_and_what_is_left_are_words(links, read):
    tree = parse(" NEAR/2 ".join(["a"] * (links + 1)))
    chain = tree.items[0] if links > read else tree
    assert depth(chain) == read
    assert (links == read) or tree.items[1:] == (Word("NEAR/2"), a)


@pytest.mark.parametrize(("brackets", "read"), [(12, Or((a, b))), (13, None)])
def test_twelve_brackets_stand_in_each_other_at_most(brackets, read):
    tree = parse("(" * brackets + "a OR b" + ")" * brackets)
    assert (tree == read) is (read is not None)
    assert str(tree).count("'a'") == str(tree).count("'b'") == 1


def test_twelve_exclusions_stand_in_each_other_and_more_are_left_out():
    assert depth(parse("NOT " * 12 + "a")) == 13
    assert parse("NOT " * 13 + "a") == a
    assert parse("NOT " * 14 + "a") == Some((Not(a),))


@pytest.mark.parametrize(("said", "words"), [(299, 299), (300, 300), (301, 300)])
def test_three_hundred_words_are_read(said, words):
    assert len(parse(" ".join(["a"] * said)).items) == words


@pytest.mark.parametrize(("typed", "between"), [("NEAR/99", 99), ("NEAR/100", 100), ("NEAR/101", 100), ("NEAR/999999", 100)])  # fmt: skip
def test_a_hundred_words_may_stand_between_at_most(typed, between):
    assert parse(f"a {typed} b") == Near(a, b, between)
    assert parse("a NEAR/1234567 b") == Some((a, Word("NEAR/1234567"), b))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a --force", Some((a, Word("--force")))),
        ("-march=native", Word("-march=native")),  # nobody excludes that
        ("a -std=c++20", Some((a, Word("-std=c++20")))),
        ("a -b=", Some((a, Not(Word("b="))))),
        ("ls -la", Some((Word("ls"), Word("-la")))),
        ("what does rm -r -f do", Some((Word("what"), Word("does"), Word("rm"), Word("-r"), Word("-f"), Word("do")))),
        ("git commit -m", Some((Word("git"), Word("commit"), Word("-m")))),
        ("find . -name a", Some((Word("find"), Word("-name"), a))),
        ("python -m a", Some((Word("python"), Word("-m"), a))),
        ("java -jar a", Some((Word("java"), Word("-jar"), a))),
        # Words that are no options, or stand too far from a program, or behind a phrase
        ("python -snake", Some((Word("python"), Not(Word("snake"))))),
        ("cat -dog", Some((Word("cat"), Not(Word("dog"))))),
        ("grep a b c -d", Some((Word("grep"), a, b, c, Not(Word("d"))))),
        ('ls "a" -b', Some((Word("ls"), Phrase("a"), Not(b)))),
        ('ls -"a"', Some((Word("ls"), Not(Phrase("a"))))),
        ("a ---b", Some((a, Not(b)))),
        ("a -- b", Some((a, b))),
        ("a -b*", Some((a, Not(Prefix("b"))))),
        ("a b**", Some((a, Word("b**")))),
        ("a *", a),
        ("-a und -b", Some((Not(a), Word("und"), b))),
        ("a oder -b -c", Some((a, Word("oder"), b, Not(c)))),
        ("und -b", Some((Word("und"), b))),
        ("a (b c)", Some((a, b, c))),
        ("a (b OR c) a", Some((a, Or((b, c)), a))),
        ("-(a)", Some((Not(a),))),
        ("-() a", a),
        ("a OR (b AND)", Or((a, Some((b, Word("AND")))))),
        ("a NEAR/2 (b)", Near(a, b, 2)),
        ("a NEAR/2 ()", a),
        ('"a b" NEAR/2 c', Near(Phrase("a b"), c, 2)),
        ('" a b "', Phrase("a b")),
        ("(a NOT) b", Some((a, Word("NOT"), b))),
        ("a AND -b", And((a, Some((Not(b),))))),
        ("a OR -b", Or((a, Some((Not(b),))))),
    ],
)
def test_odd_combinations_are_read_as_they_are_meant(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("built with -msse", "built with -msse"),
        ("built with -O2 -Wall", "built with -O2 -Wall"),
        ("the option -fno-rtti", "the option -fno-rtti"),
        ("it returns -1", "it returns -1"),
        ("-40 degrees", "-40 degrees"),
        ("Tue, 14:03:15 -0700", "Tue, 14:03:15 -0700"),
        ("lost -3.5 points", "lost -3.5 points"),
        ("0 on success, -1 on error", "0 on success, -1 on error"),
        ("result= -1", "result= -1"),
        ("fails as -EAGAIN, if full", "fails as -EAGAIN, if full"),
        ("patch -p1 -R file", "patch -p1 -R file"),
        ("its -rgba option", "its -rgba option"),
        ("clients MUST NOT retry", "clients MUST NOT retry"),
        ("WHERE x IS NOT NULL", "WHERE x IS NOT NULL"),
        ("x NOT IN y", "x NOT IN y"),
        (
            "EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES",
            "EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES",
        ),
    ],
)
def test_what_a_sentence_goes_on_with_is_no_exclusion(text, words):
    assert parse(text) == Some(tuple(map(Word, words.split())))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b with c -a", Some((b, Word("with"), c, Not(a)))),
        ("b -2019", Some((b, Not(Word("2019"))))),
        ("-2019 b", Some((Not(Word("2019")), b))),
        ("tax of -2019", Some((Word("tax"), Word("of"), Not(Word("2019"))))),
        ("b return -c", Some((b, Word("return"), Not(c)))),
        ("b -EBITDA", Some((b, Not(Word("EBITDA"))))),
        ("b -11", Some((b, Not(Word("11"))))),
        ("MUST b NOT c", Some((Word("MUST"), b, Not(c)))),
        ("NASA AND ESA NOT JAXA", And((Word("NASA"), Some((Word("ESA"), Not(Word("JAXA"))))))),
        ('the -"a b"', Some((Word("the"), Not(Phrase("a b"))))),
        ("the -(a b)", Some((Word("the"), Not(Some((a, b)))))),
    ],
)
def test_what_looks_like_the_text_of_a_sentence_may_be_an_exclusion(text, expected):
    assert parse(text) == expected


def test_of_a_text_no_word_is_an_operator():
    text = 'a -b (c) "b c" b* NOT c AND NEAR a'
    assert parse(text, is_text=True) == Some(tuple(map(Word, text.split())))


@given(st.text())
def test_no_text_without_operators_is_an_error(text):
    found = parse(text, is_text=True)
    assert found is None or isinstance(found, Word) or all(isinstance(item, Word) for item in found.items)
