"""Scores: they are those that one would count by hand, in C as in Python."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled import both
from smart_context.engine.expression import Everything
from smart_context.engine.port import Candidate
from smart_context.find import score, score_each
from smart_context.find.plan_model import Plan, Sought
from smart_context.text import analysis, codes

WORDS = ["copper", "kettle", "whistl", "harbour", "gull", "frozen"]
OTHERS = ["salt", "rope"]


class Packed:
    """What a scorer asks of a view."""

    average_length = 10.0

    def __init__(self, texts: list[list[str]]) -> None:
        self._texts = texts

    def packed(self, candidates: list[Candidate]) -> list[bytes]:
        return [
            codes.pack(len(text), b"".join(map(codes.code, text)), b"", b"", b"")
            for text in (self._texts[candidate.segment_id] for candidate in candidates)
        ]


def planned(words: list[str]) -> Plan:
    sought = tuple(Sought(word, frozenset({word}), count=1, idf=1.0) for word in words)
    return Plan(Everything(), sought, verbatim=Everything())


def by_hand(text: list[str], words: list[str]) -> float:
    """The longest part of the query that stands in order, each word at most two places after the last, as its share."""
    hits = [(place, words.index(term)) for place, term in enumerate(text) if term in words]
    best, run = 0, 0
    for at, (place, number) in enumerate(hits):
        before = hits[at - 1] if at else (-9, -9)
        run = run + 1 if 0 < place - before[0] <= score.LINK and number - before[1] == 1 else 1
        best = max(best, run)
    return best / len(words) if best >= score.LEAST_RUN else 0.0


@given(st.lists(st.lists(st.sampled_from([*WORDS, *OTHERS]), max_size=25), min_size=1, max_size=6), st.integers(4, 6))
def test_the_longest_run_of_a_query_is_the_one_found_by_hand(texts, size):
    words = WORDS[:size]
    plan = planned(words)
    scorer = score.Scorer(plan, Packed(texts))  # type: ignore[arg-type]
    candidates = [Candidate(number, number, "en", 1.0) for number in range(len(texts))]
    found = scorer.scores(candidates)
    gained = [round(float(one.made.gained[one.row]), 9) for one in found]
    assert gained == [round(score.RUN * by_hand(text, words) ** score.NEARLY, 9) for text in texts]


def test_what_has_all_that_was_typed_gains_most():
    texts = [WORDS, WORDS, ["copper"]]
    plan = planned(WORDS)
    candidates = [Candidate(number, number, "en", 1.0) for number in range(3)]
    verbatim, run, one = score.Scorer(plan, Packed(texts)).scores(candidates, {0})  # type: ignore[arg-type]
    assert 1 > verbatim.total > run.total > one.total


def test_a_run_does_not_go_on_in_the_next_segment():
    texts = [["copper", "kettle"], ["salt", "rope", "whistl", "harbour"], ["salt", *WORDS[:4]], ["salt"]]
    plan = planned(WORDS[:4])
    candidates = [Candidate(number, number, "en", 1.0) for number in range(len(texts))]
    gained = [float(one.made.gained[one.row]) for one in score.Scorer(plan, Packed(texts)).scores(candidates)]  # type: ignore[arg-type]
    assert gained == [0.0, 0.0, pytest.approx(score.RUN), 0.0]


class Segment:
    """What a segment says: its words, other forms of them, the words of its heads, and what is only known to be there."""

    def __init__(self, text: str = "", also: str = "", heads: str = "", there: str = "", as_written: str = "") -> None:
        self.text, self.also, self.heads = text.split(), also.split(), heads.split()
        self.there, self.as_written = there.split(), as_written.split()


class View:
    average_length = 6.0

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments

    def packed(self, candidates: list[Candidate]) -> list[bytes]:
        def coded(words: list[str], one: Segment) -> bytes:
            return b"".join(codes.code(word, word in one.as_written) for word in words)

        return [
            codes.pack(
                len(one.text),
                coded(one.text, one),
                coded(one.also, one),
                coded(one.heads, one),
                b"".join(map(codes.short, one.there)),
            )
            for one in (self._segments[candidate.segment_id] for candidate in candidates)
        ]


def scored(sought: list[Sought], *segments: Segment) -> list[float]:
    scorer = score.Scorer(Plan(Everything(), tuple(sought)), View(list(segments)))  # type: ignore[arg-type]
    return [one.total for one in scorer.scores([Candidate(at, at, "en", 1.0) for at in range(len(segments))])]


def one(word: str, idf: float = 1.0, **more: object) -> Sought:
    return Sought(word, frozenset({word}), count=1, idf=idf, **more)  # type: ignore[arg-type]


def total_by_hand(sought: list[Sought], segment: Segment) -> float:
    """The score as `docs/concepts/ranking.md` has it, one word and one pair after the other."""
    room = 1.4 * (0.35 + 0.65 * len(segment.text) / 6.0)
    most = got = found = 0.0
    for word in sought:
        times = float(
            sum(term in word.terms for term in segment.text) or sum(term in word.terms for term in segment.also)
        )
        times += (8 if word.name else 1) * sum(term in word.terms for term in segment.heads)
        if not times:
            inside = sum(term in word.parts for term in segment.text) or sum(
                term in word.parts for term in segment.also
            )
            times = 0.5 * (inside + (8 if word.name else 1) * sum(term in word.parts for term in segment.heads))
        worth = word.idf * word.times
        most += 2.4 * worth
        got += worth * 2.4 * times / (times + room)
        found += worth if times else 0.0
    for a, b in pairwise(sought):
        worth = 0.6 * min(a.idf * min(a.times, 1.0), b.idf * min(b.times, 1.0))
        near = sum(
            1 / (y - x) ** 2
            for x, first in enumerate(segment.text) for y, second in enumerate(segment.text)
            if first in a.terms and second in b.terms and 0 < abs(y - x) <= 5
        )  # fmt: skip
        most += 2.4 * worth
        got += worth * 2.4 * near / (near + room)
    share = found / sum(word.idf * word.times for word in sought)
    return round(min(got / most * share ** max(0.0, (5 - len(sought)) / 4), 1.0), 6)


_LINES = st.lists(st.sampled_from([*WORDS[:3], *OTHERS, "teakettle"]), max_size=14).map(" ".join)


@settings(max_examples=40)
@given(
    st.lists(st.builds(Segment, _LINES, _LINES, _LINES), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from([0.5, 1.0, 2.5]), st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=6),
)
def test_a_score_is_the_one_counted_by_hand(segments, weights):
    sought = [
        one(word, idf, times=times, parts=frozenset({"teakettle"}) if word == "kettle" else frozenset())
        for word, (idf, times) in zip(WORDS, weights, strict=False)
    ]
    assert scored(sought, *segments) == pytest.approx(
        [total_by_hand(sought, segment) for segment in segments], abs=2e-6
    )


def test_the_name_of_a_file_is_worth_more_than_a_text_that_says_it_often():
    sought = [one("kettle", name="kettle"), one("harbour")]
    named, said, both = (
        Segment(heads="kettle"),
        Segment("kettle kettle kettle kettle"),
        Segment("harbour", heads="kettle"),
    )
    totals = scored(sought, named, said, both)
    assert totals == pytest.approx([total_by_hand(sought, segment) for segment in (named, said, both)], abs=2e-6)
    assert totals[0] > totals[1]
    # Worth more than a word, it is all that was typed: nothing is lost by the other words.
    sought = [one("kettle", name="kettle", times=3.0), one("harbour")]
    room = 1.4 * 0.35
    assert scored(sought, named) == [pytest.approx(3 * 2.4 * 8 / (8 + room) / (2.4 * (4 + 0.6)), abs=2e-6)]


def test_a_word_in_another_form_than_the_one_typed_is_worth_less_the_fewer_words_there_are():
    as_typed, other = Segment("kettl~en", there=analysis.form("kettles")), Segment("kettl~en")
    for count, loss in ((1, 0.5), (2, 0.75)):
        sought = [Sought("kettles", frozenset({"kettl~en"}), count=1, idf=1.0, typed="kettles")]
        sought += [one(word) for word in WORDS[3 : 2 + count]]
        first, second = scored(sought, as_typed, other)
        assert second == pytest.approx(loss * first, abs=2e-6)
    # Of a few words in a large index, where something has all of them as they were typed, each loses as much as one alone.
    for count, loss in ((2, 0.5), (4, 0.5), (5, 0.9)):
        sought = [Sought("kettles", frozenset({"kettl~en"}), count=1, idf=1.0, typed="kettles")]
        sought += [one(f"x{at}") for at in range(1, count)]
        scorer = score.Scorer(Plan(Everything(), tuple(sought), lacking=2.0), View([as_typed, other]))  # type: ignore[arg-type]
        first, second = (each.total for each in scorer.scores([Candidate(at, at, "en", 1.0) for at in (0, 1)]))
        assert second == pytest.approx(loss * first, abs=2e-6)
    # What is spelt as its stem is known by the mark beside its code, and in a head by itself.
    sought = [Sought("kettl", frozenset({"kettl~en"}), count=1, idf=1.0, typed="kettl")]
    marked, plain, head = Segment("kettl~en", as_written="kettl~en"), Segment("kettl~en"), Segment(heads="kettl~en")
    totals = scored(sought, marked, plain, head)
    assert totals[0] == pytest.approx(2 * totals[1], abs=2e-6)
    assert totals[2] == pytest.approx(2.4 / (1 + 1.4 * 0.35) / 2.4, abs=2e-6)


def test_several_words_typed_as_one_thing_are_worth_half_where_they_stand_as_a_word():
    sought = [one("tea-kettle", typed="tea-kettle", is_joined=True)]
    apart, joined = scored(sought, Segment(also="tea-kettle"), Segment("tea-kettle"))
    assert apart > joined > 0


def test_a_stop_word_that_is_there_counts_once():
    sought = [Sought("the", frozenset({"the"}), count=1, idf=1.0, typed="the")]
    there, not_there = scored(sought, Segment("kettle", there=f"the {analysis.form('the')}"), Segment("kettle"))
    assert not_there == 0.0
    assert there == pytest.approx(1 / (1 + 1.4 * (0.35 + 0.65 / 6)), abs=2e-6)


def test_a_score_is_explained_by_its_parts():
    sought = [one("copper"), one("kettle", idf=2.0)]
    scorer = score.Scorer(Plan(Everything(), tuple(sought)), View([Segment("copper kettle copper"), Segment("rope")]))  # type: ignore[arg-type]
    both, none = scorer.scores([Candidate(at, at, "en", 1.0) for at in range(2)])
    room = 1.4 * (0.35 + 0.65 * 3 / 6)
    most = 3.6
    assert scorer.explain(both) == (
        f"copper × 2: {2 / (2 + room) / most:.4f}",
        f"kettle × 1: {2 * 1 / (1 + room) / most:.4f}",
        f"neighbours: {0.6 * 2 / (2 + room) / most:.4f}",
        "share of the query found: 1.00",
    )
    assert scorer.explain(none) == ("neighbours: 0.0000", "share of the query found: 0.00")
    assert list(scorer.scores([])) == []


@pytest.mark.parametrize(("stop", "told"), [(0, 0.75), (7, 0.8), (14, 0.85), (21, 0.9), (35, 1.0), (60, 1.0)])
def test_a_segment_of_few_sentences_loses_up_to_a_quarter_for_a_question_and_nothing_for_other_words(stop, told):
    text = ["copper", *["rope"] * (99 - stop)]
    packed = [codes.pack(100, b"".join(map(codes.code, text)), b"", b"", b"")]
    question, words = (Plan(Everything(), (one("copper"),), asks=asks) for asks in (True, False))
    [asked], [typed] = (score_each.scores(score.Weighed(plan, 100.0), packed, []) for plan in (question, words))
    assert asked.total == pytest.approx(told * typed.total, abs=2e-6)
    lines = score.Scorer(question, View([])).explain(asked)  # type: ignore[arg-type]
    assert [line for line in lines if "sentences" in line] == ([f"few sentences: × {told:.2f}"] if told < 1 else [])


TERMS = [*WORDS, *OTHERS, "the", "of", "harbourmaster", "cop", "京都", "都の", "の図", "図書", "書館"]
hits = st.lists(st.tuples(st.sampled_from(TERMS), st.booleans()), max_size=20)
segments = st.lists(
    st.tuples(st.integers(0, 3000), hits, hits, hits, st.lists(st.sampled_from(TERMS))), min_size=1, max_size=5
)
floats = st.floats(0.0, 12.0).map(lambda value: value * 0.7371)


@st.composite
def plans(draw):
    sought = []
    for typed in draw(st.lists(st.sampled_from(TERMS), min_size=1, max_size=14)):
        terms = frozenset({typed, *draw(st.lists(st.sampled_from(TERMS), max_size=2))})
        sought.append(
            Sought(
                typed,
                terms,
                count=1,
                idf=draw(floats),
                parts=frozenset(draw(st.lists(st.sampled_from(TERMS), max_size=1))),
                typed=draw(st.sampled_from([typed, ""])),
                times=draw(st.sampled_from([1.0, 2.0, 0.25])),
                name=draw(st.sampled_from(["", "", "", "x"])),
                is_joined=draw(st.booleans()),
            )
        )
    return Plan(
        Everything(), tuple(sought), verbatim=draw(st.sampled_from([None, Everything()])), asks=draw(st.booleans())
    )


class Given:
    """A view of packed segments as they are given."""

    def __init__(self, packed: list[bytes], average: float) -> None:
        self._packed, self.average_length = packed, average

    def packed(self, candidates: list[Candidate]) -> list[bytes]:
        return [self._packed[candidate.segment_id] for candidate in candidates]


def all_of(plan: Plan, view: Given, count: int, has_all: set[int]) -> list[tuple[object, ...]]:
    """The scores of so many segments, and all that they are made of."""
    scorer = score.Scorer(plan, view)  # type: ignore[arg-type]
    found = scorer.scores([Candidate(at, at, "en", 1.0) for at in range(count)], has_all)
    of_words, alone = ("times", "shares"), ("near", "found", "gained", "told")
    return [
        (
            one.total,
            one.times,
            *([float(value) for value in getattr(one.made, name)[one.row]] for name in of_words),
            *(float(getattr(one.made, name)[one.row]) for name in alone),
            scorer.explain(one),
        )
        for one in found
    ]


def packs(parts: list[tuple[Any, ...]]) -> list[bytes]:
    return [
        codes.pack(
            size,
            *(b"".join(codes.code(term, flag) for term, flag in kind) for kind in kinds),
            b"".join(map(codes.short, present)),
        )
        for size, *kinds, present in parts
    ]


numbered = st.dictionaries(
    st.sampled_from(TERMS), st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True).map(tuple)
)


@given(segments, numbered, st.lists(st.sampled_from(TERMS), unique=True))
def test_hits_are_those_of_a_look_at_each_code(parts, numbers, there):
    short = [codes.number(term) & 0xFFFF for term in there]
    for data, (size, *kinds, present) in zip(packs(parts), parts, strict=True):
        terms = [(k, term, flag) for k, every in enumerate(kinds) for term, flag in every]
        slow = [
            (place, number, kind, flag)
            for place, (kind, term, flag) in enumerate(terms)
            for number in sorted(numbers.get(term, ()))
        ]
        read = score_each.read(data, score_each.by_code(numbers), short)
        assert read == (size, len(kinds[0]), slow, [term in present for term in there])


@given(plans(), segments, st.just(0.0) | st.floats(0.5, 5_000.0), st.sets(st.integers(0, 4)))
def test_what_is_compiled_gives_the_same_scores_to_the_last_bit(plan, parts, average, has_all):
    packed = packs(parts)
    view = Given(packed, average)
    quickly, in_python = both(lambda: all_of(plan, view, len(packed), has_all), score)
    assert quickly == in_python


def test_a_query_of_hundreds_of_words_has_the_same_scores_compiled():
    terms = [f"t{number}" for number in range(300)]
    plan = planned(terms)
    texts = [terms, terms[::-1], terms[:150] * 3, terms[::7]]
    packed = [codes.pack(len(text), b"".join(map(codes.code, text)), b"", b"", b"") for text in texts]
    quickly, in_python = both(lambda: all_of(plan, Given(packed, 100.0), len(packed), set()), score)
    assert quickly == in_python


@given(st.binary(max_size=60), st.integers(0, 60))
def test_bytes_that_are_no_segment_are_refused_or_read_as_in_python(data, cut):
    whole = codes.pack(5, b"".join(map(codes.code, WORDS)), codes.code("cop"), codes.code("salt"), codes.short("the"))
    for packed in (data, whole[:cut]):
        view = Given([whole, packed], 7.0)

        def scored(view: Given = view) -> object:
            try:
                return all_of(planned(WORDS), view, 2, set())
            except (ValueError, IndexError, struct.error) as error:
                return type(error)

        quickly, in_python = both(scored, score)
        assert quickly == in_python


@pytest.mark.skipif(score.compiled is None, reason="not compiled here")
@pytest.mark.parametrize("column", [*range(11), 13])  # those between may have any numbers, and more than are needed
def test_columns_that_do_not_fit_each_other_are_refused(column):
    columns = score.Weighed(planned(WORDS), 7.0).columns
    packed = [codes.pack(5, b"".join(map(codes.code, WORDS)), b"", b"", b"")]
    too_large = (*columns[:column], [1 << 30] * 400, *columns[column + 1 :])
    with pytest.raises(ValueError, match="do not fit"):
        score.compiled.scores(packed, [], too_large)
    for odd in (None, ["x"], [None]):
        with pytest.raises(TypeError):
            score.compiled.scores(packed, [], (*columns[:column], odd, *columns[column + 1 :]))
    with pytest.raises(TypeError):
        score.compiled.scores(packed, [], columns[:column])
    with pytest.raises(TypeError):
        score.compiled.scores([None], [], columns)


@pytest.mark.skipif(score.compiled is None, reason="not compiled here")
def test_a_column_that_changes_while_it_is_read_is_read_as_it_was():
    class Clears:
        def __index__(self) -> int:
            column.clear()
            return 0

    column: list[object] = [Clears(), *(object() for _ in range(100_000))]
    with pytest.raises(TypeError, match="object"):
        score.compiled.scores([], [], (column, *[[]] * 13))
    assert column == []
