"""What is looked for: each word with what it is worth, by how many segments have it; and where that turns."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from smart_context.engine.expression import AnyOf, Everything, Group, Sequence, Term
from smart_context.find import clauses, corrections, plan, query, snippet
from smart_context.text import analysis, codes


class Words:
    """A view of an index of which only the words are known: how many segments have each."""

    average_length, dead = 10.0, 0

    def __init__(self, counts, segments=1000, languages=("en",), compounds=()):
        self.segments, self.languages = segments, languages
        self._counts, self._compounds = counts, compounds

    def having(self, term):
        return self._counts.get(term, 0)

    def standing(self, terms):
        return list(filter(self.having, terms))

    def terms(self, prefix, *, rough=False):
        found = [term for term in self._counts if term.startswith(prefix)]
        return sorted(found, key=lambda term: (-self._counts[term], term))

    def compounds(self, part):
        return [word for word in self._compounds if part in word]

    def count(self, wanted):
        return sum(map(self.having, wanted.terms))


def made(text, view):
    return plan.make(query.parse(text), view, text)


def idf(count, segments=1000):
    return math.log(1 + (segments - count + 0.5) / (count + 0.5))


def test_a_word_is_worth_the_more_the_fewer_segments_have_it():
    view = Words({"harbour": 100, "kettl": 10})
    [harbour, kettles] = made("harbour kettles", view).sought
    assert (harbour.count, harbour.idf, harbour.times) == (100, pytest.approx(idf(100)), 1)
    assert (kettles.count, kettles.idf, kettles.typed) == (10, pytest.approx(idf(10)), "kettles")
    [twice] = made("kettles kettles", view).sought
    assert twice.times == 2


def test_a_word_that_hardly_says_what_a_question_is_about_is_worth_a_fifth():
    view = Words({"harbour": 100, "somebodi": 10})
    asked, typed = made("where is somebody in a harbour?", view), made("somebody in a harbour", view)
    assert [(word.text, word.times) for word in asked.sought] == [("somebody", 0.2), ("harbour", 1.0)]
    assert [(word.text, word.times) for word in typed.sought] == [("somebody", 1.0), ("harbour", 1.0)]
    assert (asked.asks, typed.asks) == (True, False)


def test_everything_is_planned_for_no_query():
    assert plan.make(None, Words({})) == plan.Plan(Everything(), ())


@pytest.mark.parametrize(
    ("count", "commoner", "is_meant"), [(1, 50, True), (1, 49, False), (2, 100, True), (2, 99, False), (3, 999, False)]
)
def test_a_word_that_hardly_anything_has_is_looked_for_with_one_that_far_more_have(count, commoner, is_meant):
    [word] = made("harbor", Words({"harbor": count, "harbour": commoner}, 10_000)).sought
    assert (word.terms, word.parts) == ({"harbor"}, {"harbour"} if is_meant else set())  # the other counts less
    assert word.idf == pytest.approx(idf(count, 10_000))


@pytest.mark.parametrize(
    ("counts", "is_meant"),
    [
        ({"harbor": 10, "harbour": 500}, True),
        ({"harbor": 10, "harbour": 499}, False),
        ({"harbor": 11, "harbour": 9999}, False),
        ({"harbor": 3, "arbor": 9999}, False),  # the first letter is as it should be
        ({"parsec": 2, "parser": 9999}, True),
        ({"parsec": 3, "parser": 9999}, False),  # words of their own
    ],
)
def test_in_a_large_index_a_word_that_one_segment_in_ten_thousand_has_may_be_a_slip(counts, is_meant):
    typed, other = counts
    [word] = made(typed, Words(counts, 100_000)).sought
    assert (word.text, word.instead) == (typed, (other,) if is_meant else ())


def test_matches_of_a_correction_beside_a_rare_word_are_told_apart_by_how_often_it_stands():
    view = Words({"harbor": 10, "harbour": 500}, 100_000)
    found = made("harbor", view).wanted.should
    own, shared, often = found
    assert own == Term("harbor")
    assert (shared.terms, shared.weight) == (("harbour",), round(idf(10, 100_000) / 2, 3))
    assert (often.text, often.weight) == ("harbour", round(0.01 * idf(10, 100_000) / idf(500, 100_000), 3))


class Texts(Words):
    """The same with what segments have: for each, a term and how it stands there."""

    def __init__(self, counts, segments, texts, languages=("en", "fr")):
        super().__init__(counts, segments, languages)
        self._texts = texts

    def all_of(self, wanted, filters):
        return [text for text in self._texts if text[0] in wanted.terms]

    def packed(self, candidates):
        return [_packed(*text) for text in candidates]


def _packed(term, word):
    is_stem = term.partition(analysis.TAG)[0] == word
    there = b"" if is_stem else codes.short(analysis.form(word))
    return codes.pack(9, codes.code("before") + codes.code(term, is_stem), b"", b"", codes.short("the") + there)


FRENCH = [("adress~fr", "adresses")] * 100


@pytest.mark.parametrize(
    ("typed", "counts", "texts", "meant"),
    [
        ("adress", {"adress": 8, "adress~fr": 100, "address": 400}, [("adress", "adress")] * 8 + FRENCH, ("address",)),
        ("adress", {"adress": 8, "adress~fr": 100, "address": 399}, [("adress", "adress")] * 8 + FRENCH, ()),
        ("adress", {"adress": 11, "adress~fr": 100, "address": 9999}, FRENCH, ()),
        ("adress", {"adress": 8, "adress~fr": 393, "address": 9999}, [("adress", "adress")] * 8 + FRENCH, ()),
        ("adresses", {"adress": 8, "adress~fr": 100, "address": 9999}, FRENCH, ()),  # a word of that language
        ("adress", {"adress~fr": 100, "address": 9999}, FRENCH, ()),  # nobody mistypes it
        ("adress", {"adress~fr": 10, "address": 9999}, [("adress~fr", "adress")] * 10, ()),
    ],
)
def test_what_is_mistyped_in_the_index_s_main_language_may_have_the_stem_of_a_word_in_another(
    typed, counts, texts, meant
):
    [word] = made(typed, Texts(counts, 100_000, texts)).sought
    assert (word.text, word.instead) == (typed, meant)


@pytest.mark.parametrize("commoner", [800, 799])
def test_a_word_that_stands_nowhere_as_it_was_typed_is_another_where_that_is_far_commoner(commoner):
    counts, texts = {"permis~fr": 16, "permiss": commoner}, [("permis~fr", "permis")] * 16
    [word] = made("permision", Texts(counts, 200_000, texts)).sought
    assert (word.terms, word.parts) == (({"permiss"}, {"permis~fr"}) if commoner == 800 else ({"permis~fr"}, set()))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("recieve", "receive"), ("seperate", "separate"), ("vaccum", "vacuum"), ("accross", "across"), ("neccessary", "necessary"),
        ("posible", "possible"), ("enviroment", "environment"), ("retrun", "return"), ("responce", "response"), ("usefull", "useful"),
        ("truely", "truly"), ("charachter", "character"), ("priviledge", "privilege"), ("tommorrow", "tomorrow"), ("tommorow", "tomorrow"),
    ],
)  # fmt: skip
def test_people_slip_so(typed, meant):
    assert (meant in set(corrections.slips(typed))) is (typed != "tommorow")  # that is two slips


@pytest.mark.parametrize(("typed", "other"), [("parsec", "parser"), ("boats", "goats"), ("latent", "latest"), ("sgetmask", "setmask"), ("matcha", "match")])  # fmt: skip
def test_what_is_a_word_of_its_own_is_no_slip(typed, other):
    assert other not in set(corrections.slips(typed))


def test_of_words_that_people_may_have_slipped_from_the_far_rarer_ones_are_not_meant():
    view = Words({"version": 900, "venison": 180, "verizon": 179, "verion": 179})
    assert corrections.slipped("verison", ["verison"], view) == ("version",)
    view = Words({"preced": 900, "proceed": 180})
    assert corrections.slipped("preceeding", ["preceed"], view) == ("preced", "proceed")
    assert corrections.slipped("preceeding", ["preceed"], view, least=200) == ("preced",)
    assert corrections.slipped("prec", ["prec"], Words({"perc": 9})) == ()
    assert corrections.slipped("x" * 25, ["x"], Words({"x" * 24: 9})) == ()


def test_a_typo_is_rather_that_than_a_compound_of_a_rare_piece():
    view = Words({"direc": 3, "troy": 8, "directori": 900}, languages=("en", "de"))
    assert made("directroy", view).sought[0].instead == ("directori",)
    view = Words({"direc": 3000, "troy": 8000, "directori": 900}, 10_000, languages=("en", "de"))
    assert made("directroy", view).sought[0].instead == ("direc", "troy")


def test_a_short_word_and_a_word_among_many_are_looked_for_as_they_are():
    view = Words(
        {"boots": 1, "boot": 900, "boats": 900, "harbor": 1, "harbour": 900, "copper": 9, "kettl": 9, "rope": 9}, 10_000
    )
    [short] = made("boots", view).sought
    assert not short.instead
    assert made("harbor copper kettles", view).sought[0].instead == ("harbour",)
    assert made("the harbor of copper kettles", view).sought[0].instead == ("harbour",)
    assert [word.instead for word in made("harbor copper kettles rope", view).sought] == [()] * 4


def test_a_word_that_stands_nowhere_is_replaced_at_less_worth():
    [word] = made("harbuor", Words({"harbour": 40})).sought
    assert (word.instead, word.idf) == (("harbour",), pytest.approx(0.6 * idf(40)))
    assert made("x1y2z3w4", Words({"x1y2z3w5": 40})).sought == ()


@pytest.mark.parametrize(
    ("typed", "worth"),
    [
        ("notes.md", 2.0),
        ("one two three.md", 2.0 * 4 / 3),
        ("a b c d e f.md", 2.0 * 7 / 3),
        ("a b c d e f g h i.md", None),
    ],
)
def test_the_name_of_a_file_that_is_all_that_was_typed_is_worth_more_the_longer_it_is(typed, worth):
    key = "/" + typed.replace(" ", "")
    found = [word for word in made(typed, Words({key: 2})).sought if word.name]
    assert [word.times for word in found] == ([] if worth is None else [pytest.approx(worth)])


def test_a_name_among_other_words_is_worth_as_much_as_the_best_of_them():
    view = Words({"/notes.md": 2, "kettl": 10, "harbour": 100})
    named = made("kettles harbour notes.md", view)
    [name] = [word for word in named.sought if word.name]
    assert (name.times, name.idf, name.stands) == (1.0, pytest.approx(idf(10)), False)
    assert Term("/notes.md") in named.wanted.should


@pytest.mark.parametrize(
    ("typed", "is_asked"),
    [("os.error denied", True), ("error: denied", False), ("denied error.", False), ("what is an error?", False)],
)
def test_a_word_is_no_identifier_for_what_stands_behind_it(typed, is_asked):
    counts = {"error": 400, "deni": 20, "oserror": 3, "os": 9, "^error": 5, "^oserror": 2}
    sought = made(typed, Words(counts)).sought
    assert any("explained" in word.text for word in sought) is is_asked


def test_explaining_what_thousands_of_texts_are_about_is_worth_little_beside_a_rare_word():
    counts = {"libreoffic": 400, "office": 400, "libr": 400, "vlookup": 2, "^libreoffice": 30}
    [alone] = [word for word in made("LibreOffice", Words(counts)).sought if "explained" in word.text]
    [beside] = [word for word in made("LibreOffice VLOOKUP", Words(counts)).sought if "explained" in word.text]
    assert (alone.times, alone.idf) == (3.0, pytest.approx(idf(400)))
    assert (beside.times, beside.idf) == (3.0, pytest.approx(idf(400) ** 2 / idf(2)))


@pytest.mark.parametrize("typed", ["ada@example.org", "mail to ada@example.org"])
def test_the_end_of_an_address_is_not_what_it_asks_about(typed):
    counts = {"ada": 3, "exampl": 9, "org": 200, "mail": 50, "^org": 4, "^exampleorg": 2}
    assert not any("explained" in word.text for word in made(typed, Words(counts)).sought)


def test_four_names_are_looked_for_at_most():
    names = [f"n{number}.md" for number in range(6)]
    view = Words({f"/{name}": 1 for name in names})
    assert [
        word.name for word in made(" ".join(["kettles", *names, "and", "more", "words", "here"]), view).sought
    ] == names[:4]


def test_a_number_is_no_name():
    assert not [word for word in made("42", Words({"/42": 2, "42": 3})).sought if word.name]  # the file is `4_2.h`


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("base_evnts.py", ("/baseevents.py",)),
        ("src/Base-Evnts.py", ("/src/baseevents.py",)),
        ("base_evnts", ("/baseevents",)),
        ("base_evnts2.py", ()),  # numbers are not corrected
        ("base_evnts.txt", ()),
        ("read base_evnts.py", ()),  # it is not the whole query
        ("zq_said.py", ()),  # some text has it
    ],
)
def test_a_mistyped_file_name_is_corrected_if_it_is_the_whole_query(typed, meant):
    view = Words(
        {
            "/baseevents.py": 3,
            "/src/baseevents.py": 3,
            "/baseevents": 3,
            "/baseevents3.py": 2,
            "zqsaidpy": 1,
            "/zqsaids.py": 1,
        }
    )
    assert [word.instead for word in made(typed, view).sought if word.name] == ([meant] if meant else [])


def test_a_common_piece_of_a_word_finds_nothing_beside_the_whole_in_a_large_index():
    for segments, count, finds in ((24_000, 2001, False), (24_000, 2000, True), (19_999, 9000, True)):
        planned = made("rfc3901", Words({"rfc3901": 2, "rfc": count}, segments))
        found = planned.wanted.should if isinstance(planned.wanted, Group) else (planned.wanted,)
        assert (Term("rfc") in found, "rfc" in {word.text for word in planned.sought}) == (finds, True)
    assert Term("rfc") in made("rfc3901", Words({"rfc": 9000}, 24_000)).wanted.should


@pytest.mark.parametrize(
    ("typed", "common", "is_left"),
    [
        ("kettles 1.3", 2001, True),
        ("kettles 1.3", 2000, False),  # not as common
        ("1.3", 2001, False),  # nothing else finds
        ("the 1.3", 2001, False),
        ("kettles AND 1.3", 2001, False),
        ("kettles OR 1.3", 2001, False),
        ("kettles 1.4", 2001, False),  # stands nowhere as a whole
    ],
)
def test_in_a_large_index_common_parts_of_a_number_are_not_sought_in_a_row_beside_other_words(typed, common, is_left):
    counts = {"kettl": 9, "1": common, "3": 9000, "4": 9000, "1.3": 20}
    wanted = made(typed, Words(counts, 24_000)).wanted
    assert (f"Sequence(terms=('1', '{typed[-1]}')" not in repr(wanted)) is is_left
    assert is_left <= ("Term(text='1.3'" in repr(wanted))


def test_an_option_is_no_name():
    assert not [word for word in made("-notes.md kettles", Words({"/notes.md": 2, "kettl": 3})).sought if word.name]


@pytest.mark.parametrize(("words", "is_sentence"), [(4, False), (5, True), (40, True), (41, False)])
def test_five_to_forty_words_may_be_a_sentence_of_some_text(words, is_sentence):
    said = [f"walrus{'bcdfghjkmp'[n % 10]}{'bcdfghjkmp'[n // 10]}" for n in range(words)]
    found = made(" ".join(said), Words(dict.fromkeys(said, 5))).verbatim
    assert found == (Sequence(tuple(said)) if is_sentence else None)


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ("the copper in the harbour of it", ("the", "copper", "in", "the", "harbour", "of", "it")),
        ("harbour of copper", ("harbour", "of", "copper")),
        ("in the harbour", ("in", "the", "harbour")),
        ("the harbour", ()),  # two words
        ("copper kettle harbour", ()),  # no stop word
        ("copper of the kettle", ()),  # a section has this heading
        ("the copper in the harbour of a kettle -rope", ()),  # an operator
    ],
)
def test_a_few_words_with_a_stop_word_among_them_are_looked_for_as_a_phrase_unless_they_are_a_heading(typed, terms):
    view = Words({"harbour": 5, "kettl": 5, "copper": 5, "§copper+kettl": 1})
    assert made(typed, view).verbatim == (Sequence(terms) if terms else None)


def test_a_sentence_is_looked_for_in_a_language_in_which_the_index_has_its_words():
    text = "Apache va traduire un nom virtuel en nom physique"  # `va` and `un` are Romanian too
    terms = [clauses.line(text, language) for language in ("en", "fr", "ro")]
    for having in (terms[1], terms[2], [*terms[1], *terms[2]]):
        found = made(text, Words(dict.fromkeys(having, 9), languages=("en", "fr", "ro"))).verbatim
        assert found == Sequence(tuple(terms[1] if having == terms[1] else terms[2]))


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ("pipes", {"pipe", "pipe~vi"}),
        ("kettle", {"kettles~vi"}),
        ("files", {"files~vi"}),  # as typed
    ],
)
def test_an_english_word_is_found_in_texts_of_a_language_without_stems(typed, terms):
    view = Words(dict.fromkeys(("pipe", "pipe~vi", "kettles~vi", "files~vi", "file~vi"), 3), languages=("en", "vi"))
    [word] = made(typed, view).sought
    assert word.terms == terms


@pytest.mark.parametrize(
    ("segments", "common", "is_left"), [(24_000, 2001, True), (24_000, 2000, False), (19_999, 9000, False)]
)
def test_in_a_large_index_a_common_word_of_a_sentence_finds_nothing_by_itself(segments, common, is_left):
    counts = {"harbour": common, "copper": 9, "kettl": 9, "rope": 9}
    text = "How was the copper in the harbour with a kettle and a rope?"
    tree = query.parse(text)
    assert tree.is_prose
    found = plan.make(tree, Words(counts, segments), text)
    assert (Term("harbour") not in found.wanted.should) is is_left
    assert "harbour" in {word.text for word in found.sought}
    fewer = plan.make(tree, Words({**counts, "rope": 0}, segments), text)
    assert Term("harbour") in fewer.wanted.should


def test_of_a_page_the_words_that_tell_most_are_looked_for():
    said = [f"walrus{'bcdfghjkmp'[n % 10]}{'bcdfghjkmp'[n // 10]}" for n in range(50)]
    view = Words({word: 1 + n for n, word in enumerate(said)})
    assert [word.text for word in made(" ".join(said), view).sought] == said[:48]


def test_a_beginning_is_looked_for_as_every_word_that_has_it():
    view = Words({f"harb{letter}": 30 - at for at, letter in enumerate("abcdefghijklmnopqrstuvwxy")})
    [few] = made("harba*", view).sought
    assert few.terms == {"harba"}
    many = made("harb*", view)
    [word] = many.sought
    assert (word.prefix, len(word.terms), len(word.commonest)) == ("harb", 25, 24)
    assert many.wanted == Group((AnyOf(tuple(sorted(word.terms)), 0.0, "harb"),), tuple(
        Term(term, round(word.idf / idf(view.having(term)), 3)) for term in word.commonest
    ))  # fmt: skip


def test_a_word_is_looked_for_in_compounds_at_half_its_worth_where_a_language_has_them():
    view = Words(
        {"miet~de": 10, "mietvertrag~de": 4, "kaltmiet~de": 3},
        languages=("de",),
        compounds=("mietvertrag", "kaltmiete"),
    )
    found = made("Miete", view)
    [word] = found.sought
    assert word.parts == {"mietvertrag~de", "kaltmiet~de"}
    assert AnyOf(("kaltmiet~de", "mietvertrag~de"), round(0.5 * word.idf, 3)) in found.wanted.should
    english = made("Miete", Words({"miet": 10}, languages=("en",), compounds=("mietvertrag",)))
    assert english.sought[0].parts == frozenset()


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("Vertrag", {"mietvertrag~de", "vertragwerk~de"}),
        ("Uhr", set()),
        ("Miete", {"mietvertrag~de"}),
        ("Haus1", set()),
    ],
)
def test_a_word_of_four_letters_or_more_is_looked_for_inside_of_others(typed, parts):
    counts = {"vertrag~de": 5, "uhr~de": 5, "miet~de": 5, "mietvertrag~de": 4, "vertragwerk~de": 3, "uhrwerk~de": 3}
    view = Words(counts, languages=("de",), compounds=("mietvertrag", "vertragwerk", "uhrwerk", "haus1x"))
    assert {part for word in made(typed, view).sought for part in word.parts} == parts


def test_a_word_longer_than_any_term_is_not_cut_in_two():
    asked = []

    class Counted(Words):
        def having(self, term):
            asked.append(term)
            return super().having(term)

    view = Counted({"miet~de": 10, "vertrag~de": 10}, languages=("de",))
    assert made("mietvertrag", view).sought[0].instead == ("miet~de", "vertrag~de")
    asked.clear()
    assert not made("x" * 3000, view).sought
    assert len(asked) < 50


@pytest.mark.parametrize(("english", "is_looked_for"), [(95, True), (96, False)])
def test_a_word_is_not_looked_for_in_compounds_where_nearly_all_that_have_it_are_in_other_languages(
    english, is_looked_for
):
    view = Words({"band~de": 5, "band": english, "bandmass~de": 2}, languages=("de", "en"), compounds=("bandmass",))
    [word] = made("Band", view).sought
    assert (word.parts == {"bandmass~de"}) is is_looked_for


def test_the_shortest_three_hundred_compounds_are_looked_at():
    every = [f"vertrag{'bcdfghjkmp'[n % 10]}{'bcdfghjkmp'[n // 10 % 10]}{'bcd'[n // 100]}k" for n in range(300)]
    every += ["vertragbbbbk", "vertragbbbbbk"]
    view = Words({"vertrag~de": 5} | {f"{word}~de": 1 for word in every}, languages=("de",), compounds=every[::-1])
    [word] = made("Vertrag", view).sought
    assert word.parts == {f"{one}~de" for one in every[:300]}


def test_a_compound_that_stands_nowhere_is_cut_into_two_words_that_do():
    view = Words({"miet~de": 10, "vertrag~de": 4}, languages=("de",))
    [word] = made("Mietvertrag", view).sought
    assert set(word.instead) == {"miet~de", "vertrag~de"}
    joined = made("Arbeitsvertrag", Words({"arbeit~de": 10, "vertrag~de": 4}, languages=("de",)))
    assert set(joined.sought[0].instead) == {"arbeit~de", "vertrag~de"}


@pytest.mark.parametrize(
    ("a", "b", "steps"),
    [
        ("kettle", "kettle", 0), ("kettle", "kettel", 1), ("kettle", "ettle", 1), ("kettle", "kettles", 1), ("kettle", "kittle", 1),
        ("kettle", "kitels", 3), ("kettle", "ketttles", 2), ("kettle", "ktetel", 2), ("abcd", "wxyz", 3), ("kettle", "kettleabc", 3), ("ab", "ba", 1), ("abc", "bca", 2),
    ],
)  # fmt: skip
def test_the_way_from_one_word_to_another_is_counted_in_letters(a, b, steps):
    assert corrections.distance(a, b, 2) == corrections.distance(b, a, 2) == steps


@pytest.mark.parametrize(
    ("unit", "there", "found"),
    [
        ("cat", "cut", ()), ("boot", "boat", ("boat",)), ("boot", "baat", ()), ("kettles", "kattlus", ()),
        ("kettlest", "kattlust", ("kattlust",)), ("kettlest", "kattlusd", ()), ("boot", "b0ot", ()),
    ],
)  # fmt: skip
def test_a_longer_word_may_be_mistyped_further(unit, there, found):
    assert corrections.words(unit, [unit], Words({there: 5})) == found


def test_the_nearest_words_come_first_then_the_commonest_and_three_at_most():
    view = Words({"boat": 1, "book": 9, "boor": 5, "boom": 7, "root": 3})
    assert corrections.words("boot", ["boot"], view) == ("book", "boom", "boor")
    assert corrections.words("boot", ["boot"], view, least=6) == ("book", "boom")
    assert corrections.words("kettlest", ["kettlest"], Words({"kattlest": 1, "kattlust": 9})) == ("kattlest",)


def test_in_a_large_index_words_that_begin_alike_are_looked_at():
    for segments, found in ((20_000, ("bpat",)), (20_001, ())):
        assert corrections.words("boat", ["boat"], Words({"bpat": 5}, segments)) == found
    for other in ("boit", "obat", "baot"):
        assert corrections.words("boat", ["boat"], Words({other: 5}, 20_001)) == (other,)


def test_one_word_that_is_also_the_name_of_a_file_is_looked_for_as_both():
    assert made("kettles", Words({"kettl": 3, "/kettles": 2})).wanted == Group(should=(Term("kettl"), Term("/kettles")))
    assert made("kettles -rope", Words({"kettl": 3, "/kettlesrope": 2})).wanted.must_not


@pytest.mark.parametrize(("terms", "counted"), [(23, 46), (24, 7)])
def test_many_terms_are_counted_together_and_few_one_by_one(terms, counted):
    class Counting(Words):
        def count(self, wanted):
            return 7

    view = Counting({f"harb{'bcdfghjklmnpqrstvwxzaeiou'[at]}": 2 for at in range(terms)})
    [word] = made("harb*", view).sought
    assert (len(word.terms), word.count) == (terms + 1, counted)  # and the beginning itself


ONE, TWO, THREE = Term("one"), Term("two"), Term("three")


def test_optional_clauses_are_added_to_what_is_wanted():
    assert clauses.also(ONE, [TWO]) == Group(should=(ONE, TWO))
    assert clauses.also(Group(should=(ONE,)), [TWO, THREE]) == Group(should=(ONE, TWO, THREE))
    # Where something must be there, or must not, what finds more would change what is found.
    for bound in (Group((ONE,)), Group((ONE,), (TWO,)), Group(should=(ONE,), must_not=(TWO,)), Group(must_not=(ONE,))):
        assert clauses.also(bound, [THREE]) == bound


def test_optional_clauses_are_one_flat_list():
    bound = Group((ONE,), (TWO,))
    assert clauses.any_of([ONE]) == ONE
    assert clauses.any_of([Group(should=(ONE,))]) == ONE
    assert clauses.any_of([ONE, Group(should=(TWO, THREE)), bound]) == Group(should=(ONE, TWO, THREE, bound))
    assert clauses.flat([Group(must_not=(ONE,)), Group()]) == [Group(must_not=(ONE,))]


@pytest.mark.parametrize(
    ("unit", "language", "spelt"),
    [
        ("haeuser", "de", ["haeuser", "häuser"]), ("häuser", "de", ["häuser", "haeuser"]), ("haeuser", "en", ["haeuser"]), ("haus", "de", ["haus"]),
        ("tueren", "de", ["tueren", "türen"]), ("löcher", "de", ["löcher", "loecher"]), ("bloede", "de", ["bloede", "blöde"]),
    ],
)  # fmt: skip
def test_german_umlauts_are_looked_for_both_ways(unit, language, spelt):
    assert clauses.spellings(unit, language) == spelt


@pytest.mark.parametrize(
    ("unit", "worth"), [("鮭に", 0.5), ("に鮭", 0.5), ("鮭魚", 1.0), ("にに", 1.0), ("鮭", 1.0), ("ab", 1.0), ("鮭にに", 1.0), ("éa", 1.0)]
)  # fmt: skip
def test_a_pair_of_a_hiragana_and_another_character_is_worth_half(unit, worth):
    assert clauses.worth(unit) == worth


@pytest.mark.parametrize(("segments", "count", "is_rare"), [(100, 2, True), (100, 3, False), (999, 4, True), (999, 5, False)])  # fmt: skip
def test_a_character_that_hardly_any_segment_has_is_looked_for_alone(segments, count, is_rare):
    view = Words({"港口": count - 1, "港": 1, "口": segments}, segments)
    assert clauses.alone("港口", view) == (["港"] if is_rare else [])
    assert clauses.alone("鮭に", view) == ["鮭"]
    assert clauses.alone("harbour", view) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rent office", {"rent": 1.0, "office": 1.0}),
        ("成分", {"成分": 1.0}),
        ("認定法", {"認定": 2**-0.25, "定法": 2**-0.25}),
        ("認定法 成分", {"認定": 2**-0.25, "定法": 2**-0.25, "成分": 1.0}),
        ("東京は首都", {"東京": 1.0, "京は": 0.5, "は首": 0.5, "首都": 1.0}),
    ],
)
def test_pairs_of_a_long_run_of_ideographs_count_less_each(text, expected):
    assert dict(clauses.worths(analysis.units(text))) == expected


# Words that say the same


def by_text(text, view):
    return {word.text: word for word in made(text, view).sought}


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("How do I rename a kettle?", {"move"}),
        ("how is a kettle renamed", {"move"}),
        ("rename a kettle", set()),  # no question
        ("Wie kann ich einen kettle in der Datei rename?", set()),  # not in English
        ("How do I paint a kettle?", set()),
    ],
)
def test_a_question_in_english_is_scored_by_words_that_say_the_same(text, alike):
    view = Words({"renam": 3, "move": 9, "kettl": 10, "paint": 4})
    words = by_text(text, view)
    assert {term for word in words.values() for term in word.synonyms} == alike
    assert {term for word in words.values() for term in word.parts} == alike


def test_a_word_that_nothing_has_is_not_counted_in_place_of_another():
    assert by_text("How do I rename a kettle?", Words({"renam": 3, "kettl": 10}))["rename"].synonyms == frozenset()


def test_what_says_the_same_finds_nothing_by_itself():
    question = "How do I rename a kettle?"
    with_it, without = Words({"renam": 3, "move": 9, "kettl": 10}), Words({"renam": 3, "kettl": 10})
    assert plan.make(query.parse(question), with_it).wanted == plan.make(query.parse(question), without).wanted


def test_what_says_the_same_is_not_marked():
    words = by_text("How do I rename a kettle?", Words({"renam": 3, "move": 9, "kettl": 10})).values()
    text = "Move the kettle, then rename it."
    marked = snippet.marks(text, snippet.words(list(words)))
    assert [text[a:b] for a, b in marked] == ["kettle", "rename"]
    plain = [replace(word, parts=frozenset(), synonyms=frozenset()) for word in words]
    assert snippet.words(plain) == snippet.words(list(words))


def test_in_a_large_index_a_stop_word_of_a_few_puts_matches_higher_and_finds_none():
    counts = {"harbour": 100, "through": 500}
    [harbour, through] = made("harbour through", Words(counts, 20_000)).sought
    assert (harbour.is_stop_word, through.is_stop_word) == (False, True)
    assert made("harbour through", Words(counts, 19_999)).wanted == Group(should=(Term("harbour"),))
    assert made("harbour through", Words(counts, 20_000)).wanted == Group(
        (Group(should=(Term("harbour"),)),), (Term("through"),)
    )


@pytest.mark.parametrize(
    ("text", "segments", "lacking"),
    [
        ("harbour kettles", 20_000, 2.0),
        ("harbour kettles", 19_999, 1.0),
        ("harbour", 20_000, 1.0),
        ("which harbour has kettles?", 20_000, 1.0),
    ],
)
def test_a_word_that_is_lacking_costs_more_in_a_large_index_unless_it_is_one_of_a_question(text, segments, lacking):
    assert made(text, Words({"harbour": 100, "kettl": 10}, segments)).lacking == lacking
