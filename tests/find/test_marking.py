"""Marking: sought words are found in a text as if each of its tokens were analysed by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both, in_python
from smart_context.find import marking
from smart_context.find.plan_model import Sought
from smart_context.text import analysis
from smart_context.text.words import WORD, has_no_spaces, normal, pairs, spaced

TEXTS = {
    "en": "The dying man ties his tie; he was tying it, lying. Skies over the sky: hoping, hopes, hoped-for users of getUserName() and get_user_name, naïve Café.",
    "de": "Die Häuser der Datenbankverwaltung, das Haus und die Datenbanken; größere Straßen, STRASSE.",
    "nl": "De maan en de manen boven het brood en de broden van schapen en een schaap.",
    "fr": "Les élèves étudient à l’école; une élève étudie, naturellement.",
    "ru": "Базы данных и база данных: пользователи пользуются пользователями.",
    "ar": "الكتاب وكتاب الكتب والكتابة",
    "he": "הספרים והספר בבית הספר",
    "hi": "किताबें और किताबों की किताब",
    "ta": "புத்தகம் புத்தகங்கள்",
    "tr": "kitaplar ve kitabın kitapları",
    "fi": "katto katot katolla talossa talot",
    "ja": "データベースはGitコマンドで毎晩バックアップされます。ﾃﾞｰﾀの復元。",
    "zh": "数据库每晚备份一次，数据的备份在NAS上。",
    "th": "ฐานข้อมูลสำรองทุกคืน",
}


def terms_of(token: str, language: str) -> set[str]:
    """What a token is found by, the slow way: by itself."""
    if has_no_spaces(token):
        return {normal(token)}
    found = analysis.terms(token, language)
    return {*found.line.split(), *found.also.split()}


def slow(text: str, words: marking.Words, language: str) -> set[tuple[int, int]]:
    out: set[tuple[int, int]] = set()
    for token in {*spaced(text), *(text[at : at + size] for at in range(len(text)) for size in (1, 2))}:
        wide = all(map(has_no_spaces, token))
        if not wide and token not in spaced(text):
            continue
        if not terms_of(token, language) & {*words.terms, *words.wide}:
            continue
        at = text.find(token)
        while at >= 0:
            end = at + len(token)
            sides = text[at - 1 : at] + text[end : end + 1]
            if wide or not any(side.isalnum() and not has_no_spaces(side) for side in sides):
                out.add((at, end))
            at = text.find(token, end)
    return out


def sought(language: str, *texts: str) -> marking.Words:
    return marking.words(
        [
            Sought(text, frozenset(analysis.terms(text, language).line.split()))
            for text in texts
            if analysis.terms(text, language).line
        ]
    )


@pytest.mark.parametrize("language", [name for name in TEXTS if name != "th"])
def test_every_word_of_a_text_marks_what_the_slow_way_marks(language):
    text = TEXTS[language]
    asked = {*spaced(text), *(pair for word in spaced(text) for pair in pairs(word))} | {
        text[at : at + 2] for at in range(len(text)) if has_no_spaces(text[at : at + 2]) and text[at : at + 2].isalpha()
    }
    for word in sorted(asked):
        words = sought(language, normal(word))
        found = {(hit.start, hit.end) for hit in marking.hits(text, words, language)}
        assert found == slow(text, words, language), word


@given(st.lists(st.sampled_from(" ".join(TEXTS.values()).split()), max_size=30), st.data())
def test_any_text_is_marked_as_the_slow_way_marks_it(tokens, data):
    text = " ".join(tokens)
    language = data.draw(st.sampled_from(["en", "de", "fr", "nl", "ru"]))
    words = sought(language, *data.draw(st.lists(st.sampled_from([*spaced(text), "users", "数据"]), max_size=4)))
    assert {(hit.start, hit.end) for hit in marking.hits(text, words, language)} == slow(text, words, language)


def test_a_beginning_marks_every_word_that_begins_so():
    words = marking.words([Sought("conf*", frozenset({"configur"}), prefix="conf")])
    text = "Configure the confs of unconfirmed config_files; conférence"
    marked = [text[hit.start : hit.end] for hit in marking.hits(text, words, "en")]
    assert marked == ["Configure", "confs", "config", "conférence"]


def test_a_beginning_of_two_digits_marks_every_number_that_begins_so():
    words = marking.words([Sought("12*", frozenset({"12345"}), prefix="12")])
    assert [hit[:2] for hit in marking.hits("12345 and 1299, not 31299 or 13", words, "en")] == [(0, 5), (10, 14)]


@given(st.text(st.sampled_from("ab Z9_-.é’漢字かﾃ가ก\u0301\u3099\u200d\u3000\x1f")))
def test_the_tokens_of_a_text_are_its_words_but_for_scripts_without_spaces(text):
    words = "".join(char if char == "_" or not has_no_spaces(char) else " " for char in text).replace("_", " ")
    with in_python(marking):
        assert marking._tokens(text, marking.words([])) == set(WORD.findall(words))
    assert spaced(text) == WORD.findall(words)


PIECES = [
    *" ".join(TEXTS.values()).split(),
    *("12", "345", "12345", "a", "A", "B2b", "x86_64", "use", "USED", "Using", "UseR", "iPv6", "é", "u\u0301se", "use\u0301", "\u3000", "\xa0"),
    *("_", "-", ".", "’", "\x00", "\x1f", "\ud800", "𝒰se", "ß", "ｕｓｅ", "漢", "かuse漢", "가use", "us" * 40, "9" * 70),
]  # fmt: skip
texts = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", " ", "", "\n"]))).map(
    lambda parts: "".join(piece + between for piece, between in parts)
)


@given(texts, st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from(["", "us", "12", "漢", "é"]), st.data())
def test_what_is_compiled_marks_the_same(text, asked, beginning, data):
    language = data.draw(st.sampled_from(["en", "de", "fr", "ru", "ja", ""]))
    terms = [frozenset(analysis.terms(word, language).line.split()) for word in asked]
    also = [frozenset(analysis.terms(word, language).also.split()) for word in asked]
    words = [Sought(word, own, parts) for word, own, parts in zip(asked, terms, also, strict=True)]
    words += [Sought(beginning, frozenset(), prefix=beginning)] if beginning else []
    quickly, in_python = both(lambda: marking.hits(text, marking.words(words), language), marking)
    assert quickly == in_python


MARKED = ["use", "UseR", "x86_64", "_", "us", "é", "12", *marking._BETWEEN, " ", " ", "-", "\n"]


@given(st.lists(st.sampled_from(MARKED), max_size=30).map("".join), st.sampled_from(["use", "us", "12", "user"]))
def test_a_text_with_marks_between_its_words_is_read_as_without(text, asked):
    words = [Sought(asked, frozenset(analysis.terms(asked, "en").line.split()))]
    quickly = both(lambda: marking.hits(text, marking.words(words), "en"), marking)
    kept, marking._BETWEEN = marking._BETWEEN, ""
    try:
        assert both(lambda: marking.hits(text, marking.words(words), "en"), marking) == quickly
    finally:
        marking._BETWEEN = kept


def test_no_word_has_the_marks_between_words():
    for mark in marking._BETWEEN:
        assert WORD.findall(f"a{mark}b") == spaced(f"a{mark}b") == ["a", "b"]
        assert not mark.isalnum()
        assert not has_no_spaces(mark)


@given(
    st.lists(st.tuples(texts, st.sampled_from(["en", "de", "ja"])), max_size=4),
    st.lists(st.sampled_from(PIECES), max_size=6),
)
def test_texts_that_are_marked_together_are_marked_as_each_by_itself(several, asked):
    words = [Sought(word, frozenset(analysis.terms(word, "en").line.split())) for word in asked]
    alone = [marking.hits(text, marking.words(words), language) for text, language in several]
    assert marking.every(several, marking.words(words)) == alone


@given(texts, st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_plain_words_are_looked_up_together_as_each_is_analysed(text, asked):
    terms = {term: (number,) for number, word in enumerate(asked) for term in analysis.terms(word, "en").line.split()}
    plain = {token: token.lower() for token in spaced(text) if token.isascii() and marking._is_plain(token)}
    slowly = {
        token: (hit.places[0][1], False) if hit.places else (min(hit.also), True)
        for token, hit in analysis.hits(plain.keys(), "en", terms).items()
    }
    words = marking.Words(terms, {}, {}, (), ())
    assert dict(marking._words_met(plain, words, "en")) == slowly


@pytest.mark.skipif(marking.compiled is None, reason="not compiled here")
def test_only_texts_and_letters_are_taken():
    for text, fronts in ((b"use", ("u",)), ("use", ["u"]), ("use", (b"u",)), ("use", (None,))):
        with pytest.raises(TypeError):
            marking.compiled.tokens(text, fronts)
    assert marking.compiled.tokens("use it éa", ("us", "é", "")) == ([(0, "use")], ["éa"])
    assert marking.compiled.tokens("use it éa", ()) == ([], [])


@pytest.mark.skipif(marking.compiled is None, reason="not compiled here")
def test_only_tokens_that_were_looked_at_become_hits():
    met = {"use": (2, True), "it": None}
    found = marking.compiled.marked([(0, "use"), (4, "it"), (9, "use")], met, marking.Hit)
    assert found == [marking.Hit(0, 3, 2, True), marking.Hit(9, 12, 2, True)]
    assert [type(hit) for hit in found] == [marking.Hit, marking.Hit]
    assert marking.compiled.marked([], {}, marking.Hit) == []
    for some, known in (
        ([(0, "us")], met),
        ([(0, b"use")], met),
        ([("0", "use")], met),
        ([(0,)], met),
        ([None], met),
        ([(0, "use")], {"use": (1,)}),
    ):
        with pytest.raises(TypeError):
            marking.compiled.marked(some, known, marking.Hit)
    for arguments in (((), met, marking.Hit), ([(0, "use")], None, marking.Hit), ([(0, "use")], met, dict)):
        with pytest.raises(TypeError):
            marking.compiled.marked(*arguments)


def test_a_single_character_of_a_script_without_spaces_is_marked_wherever_it_stands():
    words = marking.words([Sought("数", frozenset({"数据", "数学", "数"}), prefix="数")])
    assert [(hit.start, hit.end) for hit in marking.hits("算数与数据", words, "en")] == [(1, 2), (3, 4)]


def test_a_word_inside_an_identifier_is_a_part():
    words = sought("en", "user")
    found = marking.hits("The user calls getUserName.", words, "en")
    assert found == [marking.Hit(4, 8, 0), marking.Hit(15, 26, 0, True)]


NAMED = "getUserName set_user_name USERNAME userName2 user-name Users' username,the file2user; profile Profiles iPv6 IPV6Address 2021-05 x86_64 user’s naïveUser Ünsere User."


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "asked",
    ["user", "name", "users name", "file", "profile", "ipv6", "address", "2021", "x86", "getUserName", "set --user"],
)
def test_tokens_with_parts_are_marked_in_c_as_in_python(language, asked):
    found = analysis.terms(asked, language)
    words = marking.words([Sought(asked, frozenset(f"{found.line} {found.also}".split()))])
    for text in (NAMED, NAMED.encode("ascii", "ignore").decode(), *TEXTS.values()):
        quickly, slowly = both(lambda text=text: marking.hits(text, replace(words, met={}), language), marking)
        assert quickly == slowly
