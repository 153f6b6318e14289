"""Snippets: the part that answers, plain, short, and without secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both
from smart_context import redact
from smart_context.engine.model import Passage
from smart_context.find import snippet
from smart_context.find.marking import Hit
from smart_context.find.plan_model import Sought
from smart_context.model import Segment
from smart_context.redact import document
from smart_context.text import analysis

FILLER = "lorem ipsum dolor sit amet consectetur " * 40


def sought(*words: str) -> snippet.Words:
    return snippet.words([Sought(word, frozenset(analysis.terms(word, "en").line.split())) for word in words])


def judged(text: str) -> Passage:
    return Passage(text, tuple((span.start, span.end, span.kind) for span in redact.spans(text)))


def marked(cut: snippet.Snippet) -> list[str]:
    return [cut.text[start:end] for start, end in cut.highlights]


def test_a_short_text_is_shown_whole():
    cut = snippet.cut(Passage("The rent\n\n is   due."), sought("rents"), "en")
    assert cut == snippet.Snippet("The rent is due.", ((4, 8),))


@pytest.mark.parametrize(
    ("text", "marks"), [("x", ((0, 1),)), ("x y", ((0, 1),)), ("y x", ((2, 3),)), ("x x", ((0, 1), (2, 3)))]
)
def test_a_word_of_one_letter_is_marked_wherever_it_stands(text, marks):
    assert snippet.cut(Passage(text), sought("x"), "en").highlights == marks


def test_the_densest_part_of_a_long_text_is_shown_with_whole_words():
    text = f"rent {FILLER} the rent of the office is due in May {FILLER}"
    cut = snippet.cut(Passage(text), sought("office", "rent", "due"), "en")
    assert "the rent of the office is due in May" in cut.text
    assert marked(cut) == ["rent", "office", "due"]
    assert len(cut.text) <= snippet.MAX_CHARS
    assert cut.text.startswith("…")
    assert cut.text.endswith("…")
    assert set(cut.text.strip("…").split()) <= set(text.split())


def test_two_parts_are_shown_where_the_second_tells_what_the_first_does_not():
    text = f"The rent of the office is due in May. {FILLER}. The deposit is paid back by the landlord. {FILLER}"
    cut = snippet.cut(Passage(text), sought("rent", "office", "due", "deposit", "landlord"), "en")
    first, second = cut.text.split(" … ")
    assert first.startswith("The rent of the office is due in May. lorem")
    assert second.startswith("The deposit is paid back by the landlord. lorem")
    assert second.endswith("…")
    assert marked(cut) == ["rent", "office", "due", "deposit", "landlord"]
    assert 450 <= len(cut.text) <= snippet.MAX_CHARS


@pytest.mark.parametrize(
    ("there", "is_shown"),
    [
        ("rent office", True),  # both again, each worth half: half of what the first tells
        ("rent due", True),
        ("rent", False),  # a word that stands in the first
        ("due", False),  # one word is not enough, new or not
    ],
)
def test_a_second_part_has_two_words_and_tells_three_tenths_of_the_first(there, is_shown):
    text = f"the rent of the office {FILLER} {there} {FILLER}"
    cut = snippet.cut(Passage(text), sought("rent", "office", "due"), "en")
    assert (" … " in cut.text) is is_shown


@pytest.mark.parametrize(("more", "is_parted"), [(0, False), (20, True)])
def test_two_parts_with_hardly_anything_between_them_are_one(more, is_parted):
    between = "lorem ipsum " * (20 + more)
    text = f"{FILLER} rent office {between} deposit landlord {FILLER}"
    cut = snippet.cut(Passage(text), sought("rent", "office", "deposit", "landlord"), "en")
    assert (" … " in cut.text) is is_parted
    assert marked(cut) == ["rent", "office", "deposit", "landlord"]


@given(st.lists(st.sampled_from(["rent", "due", "office", "lorem", "ipsum. ", "dolor "]), max_size=400))
def test_each_part_of_a_snippet_stands_in_the_text_and_they_are_in_order(pieces):
    text = " ".join(" ".join(pieces).split())
    cut = snippet.cut(Passage(text), sought("rent", "due", "office"), "en")
    at = 0
    for part in cut.text.strip("…").split(" … "):
        at = text.index(part, at) + len(part)
    assert {word.lower() for word in marked(cut)} <= {"rent", "due", "office"}


def test_without_a_hit_the_beginning_is_shown():
    cut = snippet.cut(Passage(FILLER), sought("rent"), "en")
    assert cut.text.startswith("lorem ipsum")
    assert cut.highlights == ()


def test_text_without_spaces_is_cut_and_marked():
    text = "甲" * 700 + "数据库每晚备份一次" + "乙" * 700
    words = snippet.words([Sought("数据", frozenset({"数据"})), Sought("备份", frozenset({"备份"}))])
    cut = snippet.cut(Passage(text), words, "en")
    assert "数据库每晚备份一次" in cut.text
    assert marked(cut) == ["数据", "备份"]
    assert len(cut.text) <= snippet.MAX_CHARS


def test_a_secret_never_shows_in_either_of_two_parts():
    secret = "jane.doe.with.a.long.name@example.com"
    for pad in range(0, 520, 7):
        between = f"{FILLER} {'x ' * (pad // 2)} write to {secret} about the deposit of the landlord {FILLER}"
        cut = snippet.cut(
            judged(f"rent of the office {between}"), sought("rent", "office", "deposit", "landlord"), "en"
        )
        assert " … " in cut.text
        assert "jane" not in cut.text
        assert "example.com" not in cut.text
        assert "[redacted" not in cut.text or "[redacted:email]" in cut.text


def test_a_secret_never_shows_in_part():
    secret = "jane.doe.with.a.long.name@example.com"
    for pad in range(0, 520, 7):
        text = "x " * (pad // 2) + f"write to {secret} about the rent " + FILLER
        cut = snippet.cut(judged(text), sought("rent"), "en")
        assert "jane" not in cut.text
        assert "example.com" not in cut.text
        assert "[redacted" not in cut.text or "[redacted:email]" in cut.text


@pytest.mark.parametrize("at", [4, 12, 20, 30])
def test_a_secret_that_a_segment_ends_in_does_not_show(at):
    secret = "jane.doe.with.a.long.name@example.com"
    parts = [
        Segment(0, "page 1", "", f"the rent of {secret[:at]}"),
        Segment(1, "page 1", "", f"{secret[at:]} and rent"),
    ]
    cuts = [
        snippet.cut(Passage(part.text, part.hidden), sought("rent"), "en").text
        for part in document.judged(parts, redact.Redactor())
    ]
    assert cuts == ["the rent of [redacted:email]", "[redacted:email] and rent"]


@given(st.text(max_size=3000), st.lists(st.sampled_from(["a", "the", "數", "rent"])))
def test_any_text_has_a_snippet_within_bounds(text, words):
    cut = snippet.cut(Passage(text), sought(*words), "en")
    assert len(cut.text) <= snippet.MAX_CHARS
    assert all(0 <= start < end <= len(cut.text) for start, end in cut.highlights)
    assert "\n" not in cut.text


def test_marks_that_overlap_are_one():
    words = snippet.words([Sought("数据", frozenset({"数据"})), Sought("据库", frozenset({"据库"}))])
    assert marked(snippet.cut(Passage("一个数据库"), words, "en")) == ["数据库"]


def test_whole_words_choose_the_part_that_is_shown_before_parts_of_identifiers():
    text = f"getUserName setUserName UserTime {FILLER} the user has a name {FILLER}"
    cut = snippet.cut(Passage(text), sought("user", "name"), "en")
    assert "the user has a name" in cut.text


def test_a_rare_word_chooses_the_part_before_two_common_ones():
    text = f"the office is open {FILLER} the zeppelin landed there {FILLER}"
    asked = [("office", 0.4), ("open", 0.5), ("zeppelin", 6.0)]
    words = snippet.words([Sought(word, frozenset({word}), idf=idf) for word, idf in asked])
    assert "zeppelin landed" in snippet.cut(Passage(text), words, "en").text


@pytest.mark.parametrize(
    ("hits", "first", "last"),
    [
        ({200: "rent"}, "…w168", "w266…"),  # a third of the room before it
        ({2: "rent"}, "w000", "w098…"),
        ({33: "rent"}, "…w001", "w099…"),
        ({398: "rent"}, "…w301", "w399"),
        ({100: "rent", 150: "rent", 300: "due"}, "…w084", "w182…"),  # more of them
        ({100: "rent", 160: "due", 300: "rent", 365: "due"}, "…w087", "w186…"),  # as many: the first
        ({100: "rent", 166: "due"}, "…w068", "due…"),  # two thirds of the room are looked at together
        ({100: "rent", 167: "due"}, "…w068", "w166…"),
    ],
)
def test_what_is_shown_of_a_long_text_begins_and_ends_with_these_words(hits, first, last):
    text = " ".join(hits.get(number, f"w{number:03}") for number in range(400))
    cut = snippet.cut(Passage(text), sought("rent", "due"), "en")
    assert (cut.text.split()[0], cut.text.split()[-1]) == (first, last)
    assert set(marked(cut)) <= set(hits.values())


@pytest.mark.parametrize(("size", "shown"), [(499, 499), (500, 500), (501, 499)])
def test_five_hundred_characters_are_shown_as_they_are_and_of_more_what_fits(size, shown):
    assert len(snippet.cut(Passage("x" * size), sought("rent"), "en").text) == shown


@pytest.mark.parametrize("size", [58, 59, 60, 61, 62])
def test_a_cut_falls_between_words_where_one_ends_within_sixty_characters(size):
    """Of words of one size, a snippet has whole ones unless they are so long that it would lose much; what is cut is cut at its bound."""
    for shift in range(1, size):
        text = "y" * shift + " " + " ".join(["x" * (size - 1)] * 40)
        cut = snippet.cut(Passage(text), sought("rent"), "en").text
        last = cut.removesuffix("…").rpartition(" ")[2]
        end = next(at for at in range(498, 0, -1) if text[at] == " ")
        assert (last == "x" * (size - 1)) is (498 - end <= 60)
        assert len(cut) == (end if 498 - end <= 60 else 498) + 1


@pytest.mark.parametrize("size", [59, 60, 61, 62, 63])
def test_the_first_word_of_a_cut_is_whole_where_one_begins_within_sixty_characters(size):
    for shift in range(1, size):
        text = " ".join(["x" * (size - 1)] * 20) + " " + "y" * shift + " rent " + " ".join(["x" * (size - 1)] * 20)
        cut = snippet.cut(Passage(text), sought("rent"), "en").text
        hit = text.index("rent")
        start = hit - (498 - 4) // 3
        begins = text.find(" ", start - 1, hit) + 1
        assert cut.removeprefix("…")[:40] == text[begins if begins - 1 < start + 60 else start :][:40]


def test_a_mark_is_shown_whole_or_not_at_all_where_no_space_is_near():
    for before in range(300, 330, 4):
        for after in range(310, 345, 3):
            text = "S0" + "甲" * before + "S3" + "乙" * 160 + "数据" + "丙" * after + "S4" + "丁" * 300
            hidden = tuple((text.index(one), text.index(one) + 2, "secret") for one in ("S0", "S3", "S4"))
            cut = snippet.cut(Passage(text, hidden), snippet.words([Sought("数据", frozenset({"数据"}))]), "en").text
            assert "数据" in cut
            assert 400 < len(cut) <= snippet.MAX_CHARS
            assert not set("[]redacted:secret") & set(cut.replace("[redacted:secret]", ""))


def test_a_word_that_is_longer_than_what_is_shown_does_not_choose_the_part():
    words = snippet.words([Sought("boat*", frozenset({"boat"}), prefix="boat", idf=1.0)])
    long = "boat" + "x" * 400
    for said in ("boats and boats and a boat", "one boat"):
        cut = snippet.cut(Passage(f"{long} {FILLER} {said} {FILLER} {long}"), words, "en")
        assert said in cut.text
    cut = snippet.cut(Passage(f"{long} {FILLER} one boat {FILLER} boats and boats {FILLER}"), words, "en")
    assert "boats and boats" in cut.text


def long(*sentences: str) -> str:
    """A text of these sentences with others between them, each further apart than what a snippet shows."""
    return " ".join(f"{FILLER.strip()}. {sentence}" for sentence in sentences) + f" {FILLER.strip()}."


def weighed(**idf: float) -> snippet.Words:
    terms = {word: frozenset(analysis.terms(word, "en").line.split()) for word in idf}
    return snippet.words([Sought(word, terms[word], idf=worth) for word, worth in idf.items()])


def test_what_is_shown_begins_with_the_sentence_that_has_the_words():
    said = "On the first of May, says the contract, the rent is due."
    cut = snippet.cut(Passage(long(said)), sought("rent", "due"), "en")
    assert cut.text.startswith(f"…{said} ")


def test_a_sentence_that_begins_far_before_the_words_is_not_shown_whole():
    text = f"{FILLER.strip()}. Begins {'here ' * 60} the rent is due. {FILLER}"
    cut = snippet.cut(Passage(text), sought("rent", "due"), "en")
    assert "Begins" not in cut.text
    assert cut.text.startswith("…here")
    assert "the rent is due." in cut.text


def test_words_that_stand_in_one_sentence_tell_more_than_the_same_in_several():
    apart, together = "The rent. An office. Is it due?", "The rent of the office is due."
    cut = snippet.cut(Passage(long(apart, together)), weighed(rent=2.0, office=2.0, due=2.0), "en")
    assert together in cut.text


def test_a_word_that_every_sentence_has_tells_less_than_one_that_few_have():
    often = "The lease ends. The lease may be renewed by either party. A lease is a lease. Leases are kept."
    cut = snippet.cut(Passage(long(often, "It was named after Ada.")), weighed(lease=3.0, named=2.5), "en")
    assert "It was named after Ada." in cut.text


@pytest.mark.parametrize("end", ["。", "！", "？"])
def test_sentences_without_spaces_begin_after_their_marks(end):
    text = "甲" * 700 + end + "这个数据库每晚备份一次。" + "乙" * 700
    words = snippet.words([Sought("备份", frozenset({"备份"}))])
    assert snippet.cut(Passage(text), words, "en").text.startswith("…这个数据库每晚备份一次。")


@given(
    st.lists(st.tuples(st.integers(1, 90), st.integers(1, 60), st.integers(0, 4), st.integers(0, 1)), max_size=30),
    st.integers(20, 200),
)
def test_the_part_that_is_shown_is_the_best_of_all_that_are_tried_one_by_one(steps, reach):
    hits, sentences, at, sentence = [], [], 0, 1
    for gap, size, number, next_sentence in steps:
        at, sentence = at + gap, sentence + next_sentence
        hits.append(Hit(at, at + size, number))
        sentences.append(sentence)
    telling = (100, 250, 30, 400, 90)
    here = snippet._told(hits, sentences, telling)
    worth = here.worth
    best, expected = (-1, 0), (0, 0)
    for first, hit in enumerate(hits):
        ends = next((i for i in range(first, len(hits)) if hits[i].end > hit.start + reach), len(hits))
        inside = range(first, ends)
        if inside:
            told = sum(worth[number] for number in {hits[i].number for i in inside})
            own = [
                sum(worth[number] for number in {hits[i].number for i in inside if sentences[i] == one})
                for one in {sentences[i] for i in inside}
            ]
            if (told + max(own), len(inside)) > best:
                best, expected = (told + max(own), len(inside)), (hit.start, hits[ends - 1].end)
    assert snippet._best(hits, sentences, here, reach) == expected


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 90), st.integers(0, 4), st.integers(0, 3)), max_size=40),
    st.lists(st.integers(0, 500) | st.floats(0, 500), min_size=5, max_size=5),
    st.integers(0, 400),
)
def test_where_words_stand_together_is_told_in_c_as_in_python(steps, telling, reach):
    hits, sentences, at, sentence = [], [], 0, 1
    for gap, size, number, ahead in steps:
        at, sentence = at + gap, sentence + ahead
        hits.append(Hit(at, at + size, number))
        sentences.append(sentence)
    in_python = snippet._best(hits, sentences, snippet._told(hits, sentences, telling), reach)
    if snippet.compiled:
        assert snippet.compiled.best(hits, sentences, telling, snippet.EVERYWHERE, reach) == in_python


@pytest.mark.skipif(not snippet.compiled, reason="there is no compiler")
@pytest.mark.parametrize(
    ("hits", "sentences", "telling"),
    [
        ([Hit(5, 6, 0), Hit(1, 2, 0)], [1, 1], [1]),
        ([Hit(1, 2, 0), Hit(5, 6, 0)], [2, 1], [1]),
        ([Hit(1, 2, 0)], [0], [1]),
        ([Hit(1, 2, 1)], [1], [1]),
        ([Hit(1, 2, -1)], [1], [1]),
        ([Hit(2, 1, 0)], [1], [1]),
        ([Hit(1, 2, 0)], [1, 1], [1]),
        ([Hit(1, 2, 0)], [1], [float("nan")]),
        ([Hit(1, 2, 0)], [1], [-1]),
        ([(1, 2)], [1], [1]),
    ],
)
def test_what_is_no_hit_in_its_order_is_left_to_python(hits, sentences, telling):
    assert snippet.compiled.best(hits, sentences, telling, 0.6, 100) is None
    with pytest.raises((OverflowError, TypeError)):
        snippet.compiled.best([(1 << 70, "x", None)], [1], [1], 0.6, 100)


@given(st.text("rent due. office? 。数据库\n[redacted:x]", max_size=60).map(lambda some: some * 30))
def test_a_snippet_is_cut_in_c_as_in_python(text):
    words = weighed(rent=2.0, due=1.0, office=3.5)
    quickly, slowly = both(lambda: snippet.cut(Passage(text), words, "en"), snippet)
    assert quickly == slowly


_ODD = 'a. b? c! d." e.) f:: g…h… i.” j。k！l？ é\n\t\x1c\x85\xa0\u2028\u3000:.\ud800\U0001f600 '


@given(st.text(_ODD, max_size=80) | st.text(max_size=40))
def test_words_are_spaced_and_sentences_begin_in_c_as_in_python(text):
    if snippet.compiled:
        spaced = snippet.compiled.joined(text)
        assert spaced == " ".join(text.split())
        assert spaced.isascii() == all(one < "\x80" for one in spaced)
        for some in (text, spaced):
            assert snippet.compiled.begins(some) == sorted([0, *snippet._seams(some)])


@pytest.mark.skipif(not snippet.compiled, reason="there is no compiler")
def test_what_is_no_text_is_not_spaced():
    for work in (snippet.compiled.joined, snippet.compiled.begins):
        with pytest.raises(TypeError):
            work(b"bytes")
