"""Passages: a text that is indexed is read as `analysis` reads it, by what is compiled and by the Python beside it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compiled import both, characters, in_python
from smart_context.engine import searchable
from smart_context.engine.model import RankedSegment
from smart_context.model import Segment
from smart_context.text import codes, languages, passage, words

NASTY = "abcXYZ019 _-./:'’@,+&\n\t\0é ßÄİıſ ŉ жД λΣς אבָ عرِ हिन्दी 数据データﾃﾞ데이 ไทยเก็บ ກາ မြန်မာ ខ្មែរ ﬁ①²½ \u0301\u0345\u200d\u3099 𝔘𠀀😀\U00010600\ud800\udfff“”–—…\xa0•｡"
CODES = st.sampled_from([code for code in languages.CODES if code])
TEXTS = st.text(alphabet=NASTY, max_size=80)
TOKENS = st.text(alphabet="abXY019_-.,':/@", max_size=90)


def read(text: str, language: str) -> tuple[object, ...]:
    found = passage.of(text)
    said = (found.language(), found.language(2.0), found.language(0.2), passage.language(text))
    return said, found.terms(language), found.surfaces(3), found.head(language)


@given(TEXTS, CODES)
@example("the " * 70_000 + "end", "en")
@example("x" * 300_000 + " Y" * 9 + "数" * 70_000, "de")
@example("", "en")
def test_a_text_is_read_the_same_in_python(text, language):
    quickly, slowly = both(lambda: read(text, language), passage)
    assert quickly == slowly
    passage.forget()
    assert read(text, language) == slowly, "by an empty table"


@given(st.lists(TOKENS, max_size=6), CODES)
@example(["1,249.50", "1.249,50", "1'249", "12.00", "0.0", "000.000", "1.2.3", "1,000,000", "0,123", "1'2"], "en")
@example(["0.123456", "0,123456", "1234.567890", "1,2,3", "0.5,0.5,7"], "en")
@example(["0.38774098", "1,0.387740981,5", "7.468264E-05", "é12.0000001234", "0.123456/0.1234567", "1.1234567kg"], "de")
@example(["1,2.5,3.25,1.2.3", "0.5,1'234,0.5", "1'2,3.4,5", "1’2,3.4,3.4"], "en")
@example(["getUserName", "HTTPServer2", "ABc", "aB", "ab12", "12ab", "_", "__x__", "a::b", "a:::b", "a:b"], "de")
@example(["--force-with-lease", "---a", "x--a", "--a_B9-", "a--b", "--", "--1"], "fr")
@example(["a.b.c.d.e.f.g.h.i.j", "9" * 70 + "." + "0" * 70, "0" * 80 + ".5", "A" * 63 + "aB" + "c" * 9], "en")
@example([".".join("123456789"), "1.234.567.890.123.456.789.012.345", "1,234.5"], "en")
def test_tokens_have_the_forms_that_python_gives_them(tokens, language):
    text = " ".join(tokens)
    quickly, slowly = both(lambda: passage.of(text).terms(language), passage)
    assert quickly == slowly


def test_every_character_is_of_a_word_or_not_as_in_python():
    every = [char for char in characters() if not "\ud800" <= char < "\ue000"]
    for start in range(0, len(every), 5000):
        part = every[start : start + 5000]
        text = unicodedata.normalize(
            "NFKC", " ".join(f"a{char}{char}b {char} {char}.2Cd {char}--ab-{char}" for char in part)
        )
        quickly, slowly = both(lambda text=text: passage.of(text).terms("en"), passage)
        assert quickly == slowly, f"from {ord(part[0]):x}"


@pytest.mark.skipif(passage.compiled is None, reason="nothing is compiled here")
def test_every_character_is_made_plain_as_in_python():
    for char in characters():
        if "\ud800" <= char < "\ue000":
            continue
        text, is_normal, is_lowered = passage.compiled.plain(f"a{char}b")
        assert unicodedata.normalize("NFKC", text) == words.plainly(f"a{char}b"), f"{ord(char):x}"
        if is_normal:
            # Nothing that stands before it is joined to it.
            assert all(unicodedata.is_normalized("NFKC", f"{before}{text[1:]}") for before in "ae가カᄀ"), (
                f"{ord(char):x}"
            )
            assert not unicodedata.combining(text[1]), f"{ord(char):x}"
        if is_lowered:
            assert text[1].isascii() or text[1].lower() == text[1], f"{ord(char):x}"


@given(TEXTS)
def test_a_text_is_made_plain_as_in_python(text):
    if passage.compiled:
        plain, is_lowered = passage._plainly(text)
        assert plain == words.plainly(text)
        assert not is_lowered or passage._table().words(plain) == passage._table().words(plain.lower())


@given(st.lists(st.tuples(TEXTS, CODES), max_size=6))
def test_what_was_met_before_in_other_languages_makes_no_difference(texts):
    together = [passage.of(text).terms(language) for text, language in texts]
    for (text, language), terms in zip(texts, together, strict=True):
        passage.forget()
        assert passage.of(text).terms(language) == terms


@pytest.mark.parametrize("language", ["en", "de", "fr", "tr", "pl", "hu", "vi"])
def test_the_words_of_many_scripts_are_read_the_same_in_python(language):
    text = (
        "the running rates über straße naïve x86 2021 être données мир שלום العربية والكتاب हिन्दी लड़कियों 数据 ΛΌΓΟΣ λόγος İstanbul IŞIK "
        f"Rechnungsprüfung wäre {'lang' * 20} {'é' * 80} {'数' * 70} Größe.Maß naïve-Bayes größte_Straße getÜberName O’Brien"
    )
    quickly, slowly = both(lambda: read(text, language), passage)
    assert quickly == slowly


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4), TEXTS)
def test_the_entries_of_a_file_are_the_same_in_python(pieces, title):
    plain = [
        (heading.encode("utf-8", "replace").decode(), text.encode("utf-8", "replace").decode())
        for heading, text in pieces
    ]
    segments = [RankedSegment(0, heading, text, f"lines {at}-{at}") for at, (heading, text) in enumerate(plain)]
    name = "/tree/Some-Name_2021.md"
    quickly, slowly = both(lambda: searchable.every(name, title.encode("utf-8", "replace").decode(), segments), passage)
    assert quickly == slowly
    assert [*map(searchable.packed, quickly)] == [*map(searchable.packed, slowly)]


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4), TEXTS, st.booleans())
@example([("open", "os.path.join(a, b)\nJoin one or more parts of a path.\n"), ("", "(\n")], "_", False)
def test_what_is_carried_of_a_file_are_its_entries(pieces, title, goes_on):
    plain = [[text.encode("utf-8", "replace").decode() for text in piece] for piece in pieces]
    segments = [
        Segment(at, "page 1" if goes_on else f"slide {at}", heading, text) for at, (heading, text) in enumerate(plain)
    ]
    about = "/tree/Some-Name_2021.md", title.encode("utf-8", "replace").decode(), segments
    quickly, slowly = both(lambda: searchable.carried(*about, searchable.texts(segments)), passage)
    assert quickly == slowly == [*map(searchable.packed, searchable.every(*about))]


def test_new_words_of_many_segments_are_learned_together():
    spoken = ["the running rates of {} and {}", "die größten Straßen über {} und {}", "les données de {} sont {}"]
    segments = [
        Segment(
            at, f"lines {at}-{at}", f"Part {at // 9}", spoken[at % 5 % 3].format(f"gathering{at}", f"maßStäbe{at}") * 9
        )
        for at in range(150)
    ]
    passage.forget()
    about = "/tree/a.md", "", segments, searchable.texts(segments)
    quickly, slowly = both(lambda: searchable.carried(*about), passage)
    assert quickly == slowly


HEADS = passage.Heads(b"above \x1d ", b"/name", b"\1\2\3" * 3, b"\4\5" * 2)


EXPLAINED = st.lists(st.text(alphabet="^abé", min_size=1, max_size=5), max_size=3)


@given(TEXTS, CODES, EXPLAINED, st.none() | TEXTS, st.sampled_from([b"", b"long words"]))
@example("the " * 70_000 + "unexplained " * 70_000, "en", ["^one", "^two"], "a b", b"")
@example(" ".join(f"getName{n}" for n in range(40_000)), "en", [], None, b"")
@example("end", "de", [], "Über–all Straßen_bau", b"strassenbau")
@example("", "en", [], "", b"")
def test_a_text_below_its_heads_is_written_the_same_in_python(text, language, explained, following, compounds):
    begins = None if following is None else passage.beginning(following)
    around = passage.Around(HEADS, explained, begins, compounds)
    passage.forget()
    quickly, slowly = both(lambda: passage.of(text).written(language, around), passage)
    assert quickly == slowly == passage.of(text).written(language, around)
    assert searchable.packed(searchable.unpacked(quickly)) == quickly


def test_languages_are_told_in_the_order_of_their_words():
    found = list(passage._flags())
    assert found == sorted(found), "sums of fractions depend on it"
    for letter in languages.RARE:
        text = f"der {letter} un la den"
        quickly, slowly = both(lambda text=text: read(text, "en"), passage)
        assert quickly == slowly


@given(st.lists(st.sampled_from(sorted(languages.BY_WORD)), max_size=40), st.sampled_from([0.2, 1.0, 2.0]))
def test_a_language_is_told_by_its_words_as_in_python(found, least):
    quickly, slowly = both(lambda: passage.of(" ".join(found)).language(least), passage)
    assert quickly == slowly


@given(st.text(alphabet="abXY019 _-./:'@,+&\n", max_size=80))
@example("---a--b _a__b_ a.b.c.d.e.f.g.h.i a::b:c 1,2 1,a x.")
def test_words_and_tokens_are_found_at_once_as_one_after_the_other(text):
    if passage.compiled:
        table = passage._table()
        assert table.both(text) == (*table.words(text), table.tokens(text)[0])


def test_a_table_is_begun_anew_when_it_is_full(monkeypatch):
    monkeypatch.setattr(passage, "_MOST", 200_000)
    passage.forget()
    texts = [" ".join(f"w{n}x{at} Ab{n}Cd.{at}" for n in range(400)) + " " + "é" * 50_000 for at in range(12)]
    told = [passage.of(text).terms("en") for text in texts]
    with in_python(passage):
        assert [passage.of(text).terms("en") for text in texts] == told
    if passage.compiled:
        assert passage._table().size() < 1_000_000


@pytest.mark.skipif(passage.compiled is None, reason="nothing is compiled here")
def test_numbers_that_a_table_has_not_given_are_refused():
    table = passage.compiled.Table(1, 2, [], {"a": 1})
    met, _ = table.words("one two")
    for number in (b"\xff\xff\xff\xff", b"\x09\x00\x00\x00"):
        with pytest.raises(ValueError, match="has not given"):
            table.terms(1, number, b"")
        with pytest.raises(ValueError, match="has not given"):
            table.unknown(1, met, number)
    with pytest.raises(KeyError):
        table.terms(1, met, b"")
    with pytest.raises(ValueError, match="one form"):
        table.learn(1, "", 1, False, met, ["one"], ["one"], ["one"])
    with pytest.raises(ValueError, match="characters"):
        passage.compiled.Table(1, 2, [(1, 0x110000, 1)], {})
    with pytest.raises(TypeError):
        table.words(b"bytes")
    with pytest.raises(ValueError, match="ASCII"):
        table.both("é")
    with pytest.raises(ValueError, match="has not given"):
        table.written(1, b"\xff\xff\xff\xff", b"", HEADS, [], b"", None, b"|", 4)
    with pytest.raises(ValueError, match="has not given"):
        table.votes(b"\xff\xff\xff\xff", 300)
    assert table.written(1, met, b"", HEADS, [], b"", None, b"|", 4) is None
    assert table.written(1, b"", b"", HEADS, [], b"", "one two", b"|", 4) is None
    assert table.head(1, met, b"", b"|") is None


@given(st.lists(st.text(alphabet=NASTY.replace("\n", ""), min_size=1, max_size=8)))
def test_words_folded_together_are_as_each_by_itself(found):
    assert words.fold_all(found) == [words.fold(word) for word in found]


def test_codes_are_those_of_the_terms():
    found = passage.of("getUserName costs 1,249.50").terms("en")
    assert found.also.split() == ["get", "user", "name", "1249.5"]
    assert found.also_codes == b"".join(map(codes.code, found.also.split()))
