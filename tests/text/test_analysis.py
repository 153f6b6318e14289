"""Analysis: the same word, however written, gives the same terms; the same text gives the same terms always."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smart_context.find import corrections
from smart_context.text import analysis, codes, identifiers, languages, words


def found_by(text: str, language: str = "en") -> set[str]:
    terms = analysis.terms(text, language)
    return {*terms.line.split(), *terms.also.split()}


@pytest.mark.parametrize(
    ("text", "language", "line"),
    [
        ("The houses were running", "en", "the hous were run"),
        ("die Häuser", "de", "die~de haus~de"),
        ("des maisons calculées", "fr", "de~fr maison~fr calcul~fr"),
        ("договоры аренды", "en", "договор аренд"),
        ("ＦＵＬＬ ｗｉｄｔｈ", "en", "full width"),
        ("数据库", "en", "数据 据库 库"),
        ("ﾃﾞｰﾀ", "en", "デー ータ タ"),
        ("데이터", "en", "데이 이터 터"),
        ("2021年", "en", "2021 年"),
        ("iPhone手机", "en", "iphon 手机 机"),
        ("invoice no. 2021-00417", "en", "invoic no 2021 00417"),
        ("", "en", ""),
        ("… — !", "en", ""),
    ],
)
def test_words_become_terms_in_order(text, language, line):
    assert analysis.terms(text, language).line == line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserName", {"get", "user", "name"}),
        ("HTTPServer", {"http", "server"}),
        ("snake_case", {"snake", "case", "snakecase"}),
        ("os.path.join", {"os", "path", "join", "ospathjoin"}),
        ("--force-with-lease", {"forc", "leas", "forcewithlease"}),
        ("ISO-27001", {"iso", "27001", "iso27001"}),
        ("ISO27001", {"iso", "27001", "iso27001"}),
        ("v2.1.3", {"v2", "1", "3", "v213"}),
        ("INV-2021/00417", {"inv", "2021", "00417", "inv202100417"}),
        ("1,000", {"1", "000", "1000"}),
        ("1.000", {"1", "000", "1000"}),  # a thousand, in other countries
        ("O'Brien", {"o", "brien", "obrien"}),
        ("foo@example.org", {"foo", "exampl", "org"}),
    ],
)
def test_identifiers_are_found_whole_and_in_parts(text, parts):
    assert parts <= found_by(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("3.14", {"3", "14", "3.14"}),
        ("12,5", {"12", "5", "12.5"}),
        ("0.3333", {"0", "3333", "0.3333"}),
        ("0.333333", {"0", "333333"}),
    ],
)
def test_a_decimal_is_not_found_without_its_point(text, parts):
    assert found_by(text) == parts


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("0.38774098", "0 0q38774"),
        ("-12.000012345678, 1", "12 0q000012345 1"),  # five digits after the zeros
        ("1,0.38774098,45.25", "1 0 0q38774 45 25"),
        ("7.468264E-05.", "7 0q46826"),
        ("0.38774", "0 38774"),
        ("0,38774098", "0 38774098"),  # two numbers, perhaps
        ("1,249.387740 and 1249.387740", "1 249 387740 and 1249 387740"),
        ("1.20240115", "1 20240115"),  # a date
        ("06.12345678", "06 12345678"),  # a telephone number
        ("1.2.840.113549.1 v1.234567 0.1234567kg", "1 2 840 113549 1 v1 234567 0 1234567kg"),
    ],
)
def test_of_a_decimal_with_many_digits_the_first_are_indexed(text, kept):
    assert " ".join(words.cut_words(text)) == kept
    assert " ".join(words.split(text)) == " ".join(re.findall("[a-z0-9]+", text.lower()))  # as it is typed and marked


@given(st.text("0123456789.,' eE+-a\n", max_size=60))
@example("0.38774098 99.12345678e-12,7.000000123\t1.2345678.9 1,249.3877409")
def test_every_long_decimal_of_a_text_is_shortened_in_its_place(text):
    assert words.shortened(text) == words._LONG_DECIMAL.sub(r" \1 0q\3 ", text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1249.50", ["1249.5"]),
        ("1,249.50", ["1249.5"]),
        ("1.249,50", ["1249.5"]),
        ("1'249.50", ["1249.5"]),
        ("1,249", ["1249", "1.249"]),  # a thousand here, a fraction there
        ("1.249.000", ["1249000"]),
        ("12.00", ["12"]),
        ("192.168.0.1", ["192.168.0.1"]),
        ("0.38774", ["0.38774"]),
        ("0.387741", []),  # its digits tell it
        ("1700000000.387741", ["1700000000.387741"]),  # a time of a log
        ("1,2,3", []),  # a line of a table
        ("2,0.5,1,249.50,7", ["0.5", "249.5"]),
        ("0.5,0.5,1.2.3", ["0.5", "0.5", "1.2.3"]),
    ],
)
def test_a_number_has_its_value_however_it_is_written(text, values):
    assert identifiers.values(text) == values


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("résumé", "resume", "fr"),
        ("Straße", "STRASSE", "de"),
        ("ÉLÈVE", "eleve", "fr"),
        ("ёлка", "елка", "en"),
        ("ΜΙΣΘΩΣΗ", "μίσθωση", "en"),
        ("İstanbul", "istanbul", "tr"),
        ("كِتَاب", "كتاب", "en"),
        ("إيجار", "ايجار", "en"),
        ("שָׁלוֹם", "שלום", "en"),
        ("काग़ज़", "कागज", "en"),
        ("Łódź", "Lodz", "pl"),
        ("đường", "duong", "vi"),
        ("ﬁle", "file", "en"),
    ],
)
def test_accents_and_forms_of_letters_make_no_difference(one, other, language):
    assert found_by(one, language) & found_by(other, language)


@given(st.text(), st.sampled_from(languages.CODES))
def test_any_text_has_terms_without_spaces_or_capitals(text, language):
    terms = analysis.terms(text, language)
    for term in (*terms.line.split(), *terms.also.split()):
        assert 0 < len(term) <= analysis.MAX_TERM + 4
        assert not any(char.isspace() for char in term)
    assert analysis.terms(text, language) == terms


@given(
    st.text(alphabet=st.characters(categories=["L", "M", "N", "P", "Zs"])), st.sampled_from(["en", "de", "fr", "tr"])
)
def test_compatibility_forms_make_no_difference(text, language):
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert analysis.terms(composed, language).line == analysis.terms(decomposed, language).line


@given(st.lists(st.text(min_size=1), max_size=5))
def test_what_was_met_before_makes_no_difference(texts):
    joined = analysis.terms(" ".join(texts), "en")
    analysis.forget()
    assert analysis.terms(" ".join(texts), "en") == joined


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The contract is signed by both of the parties", "en"),
        ("Der Vertrag wird von den Parteien unterzeichnet", "de"),
        ("Le contrat est signé par les deux parties", "fr"),
        ("El contrato lo firman las dos partes", "es"),
        ("Il contratto è firmato dalle parti", "it"),
        ("Umowa została podpisana przez obie strony i jest ważna", "pl"),
        ("Sözleşme iki taraf için de geçerli", "tr"),
        ("Rechnungsprüfung Größe Straße", "de"),
        ("Error Estimation Procedures", ""),
        ("int num = count(rows); return num + total(rows, cols, first, last, width, height, depth, size)", ""),
        ("The value of num is read from the file and written with the others after each of these", "en"),
        ("", ""),
        ("договор подписан", ""),
    ],
)
def test_a_language_shows_in_its_words_and_letters(text, language):
    assert analysis.language(text) == language


@pytest.mark.parametrize(
    ("a", "b", "steps"),
    [
        ("contract", "contract", 0),
        ("contarct", "contract", 1),
        ("contrct", "contract", 1),
        ("kontrakt", "contract", 2),
        ("abc", "xyz", 3),
        ("a", "abcd", 3),
    ],
)
def test_distance_counts_changes_and_swaps(a, b, steps):
    assert corrections.distance(a, b, 2) == min(steps, 3)
    assert corrections.distance(b, a, 2) == min(steps, 3)


def test_a_code_tells_whether_a_word_stands_as_its_stem_is_spelt():
    spelt, other = codes.code("open", as_written=True), codes.code("open")
    lines = {"open": spelt, "opening": other, "open opened": spelt + other}
    assert {text: analysis.terms(text, "en").line_codes for text in lines} == lines


def slowly(text: str, language: str) -> list[str]:
    """The terms of a text's line, a word at a time."""
    out = []
    for word in analysis.split(text):
        analysis.forget()
        out.append(analysis.read(analysis.Cut([word], []), language).line)
    return out


SCRIPTS = "abcXYZ019 _-./:'’@,é ßÄ жД λΣ אב عر हि 数据データ데이 ไทย ﬁ①"


@given(st.text(alphabet=SCRIPTS, max_size=60), st.sampled_from(["en", "de", "fr", "tr", "pl"]))
def test_the_quick_way_gives_the_terms_of_the_slow_way(text, language):
    assert analysis.terms(text, language).line.split() == slowly(text, language)


@given(st.text(alphabet="abXY09 _-./+&'@:,()\n", max_size=60))
@example("'--ab' /--ab, a--b --- --a-, 12. _ x_ 1,000, Ab.Cd. aB, ABc: it's -x")
def test_tokens_found_run_by_run_are_those_of_the_whole_text(text):
    words.forget()
    assert words.cut(text).odd == words._tokens(text)
    assert words.cut(text).odd == words._tokens(text), "looked up"


@given(st.text(alphabet=SCRIPTS, max_size=60))
def test_words_are_the_same_with_and_without_tokens(text):
    assert words.cut_words(text) == words.cut(text).words


@pytest.mark.parametrize("language", ["en", "de", "fr", "ar", "he", "pl", ""])
def test_each_word_learnt_alone_is_as_learnt_together(language):
    met = (
        "the running rates über straße naïve x86 2021 être données мир שלום العربية हिन्दी 数据 abc123 a " + "long" * 20
    )
    together = analysis.terms(met, language)
    analysis.forget()
    for word in met.split():
        analysis.terms(word, language)
    assert analysis.terms(met, language) == together


@pytest.mark.parametrize("language", [*languages.CODES, "", "none"])
def test_terms_of_words_that_are_not_remembered_are_those_of_words_that_are(language):
    asked = "connections kitab kitap arac dogru agac running lists x programmes ies ungen sses é größen ärger 2024 a1 мира 東京"
    words = [*asked.split(), *("w" * size for size in range(1, 120, 7)), "running"]
    analysis.forget()
    at_once = [analysis.words([word for word in words if word.isascii() and word.isalpha()], language)]
    at_once += [analysis.words(words[:9], language), analysis.words([], language), analysis.words(words, language)]
    assert analysis.words(words, language) == at_once[-1]
    terms = dict(zip(words, at_once[-1], strict=True))
    assert at_once[0] == [terms[word] for word in words if word.isascii() and word.isalpha()]
    assert at_once[1:3] == [[terms[word] for word in words[:9]], []]
    analysis.forget()
    assert analysis.stems_of(words, language) == [terms[word][0] for word in words]
    assert analysis.stems_of([], language) == []


def test_what_is_remembered_is_forgotten_before_it_grows_beyond_its_bound(monkeypatch):
    monkeypatch.setattr(analysis, "_MAX_KNOWN", 20)
    analysis.forget()
    before = [analysis.terms(f"word{n} Ab{n}cD other_{n}", "de" if n % 3 else "en") for n in range(40)]
    held = sum(len(table.words) + len(table.tokens) for table in analysis._tables.values())
    assert 0 < held <= 40
    analysis.forget()
    assert not analysis._tables.size
    monkeypatch.undo()
    assert [analysis.terms(f"word{n} Ab{n}cD other_{n}", "de" if n % 3 else "en") for n in range(40)] == before


def test_a_dump_without_spaces_is_analysed_in_time():
    """A search for identifiers from each of its characters on would run into the suite's time limit."""
    dump = "".join(f"{number * 2654435761 % 2**32:08x}" for number in range(25_000))
    assert analysis.terms(dump, "").also
