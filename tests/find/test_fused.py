"""Words and meaning together: the score as `docs/concepts/semantic.md` has it, counted by hand from cosines that are given."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest

import kept_answers
from searching import indexed, no_stop
from smart_context.engine.expression import Filters
from smart_context.engine.vectors import Near
from smart_context.find import feedback, hybrid, order, plan, query

LONG = "where do fishing boats of the northern harbour wait outside the lock for high water until the tide falls"
SENTENCE = "Fishing boats leave an hour before high water"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    place = tmp_path_factory.mktemp("fused").resolve()
    kept_answers.lay_out(place / "root")
    with indexed(place / "root", place / "data") as opened:
        yield opened.index


class Cosines:
    """How like segments are to a query, as vectors would say it."""

    def __init__(self, given):
        self._given = given  # segment → file, cosine

    def nearest(self, count, among=None):
        known = self._given.keys() if among is None else self._given.keys() & set(among)
        found = sorted(
            (Near(one, *self._given[one]) for one in known), key=lambda near: (-near.cosine, near.segment_id)
        )
        return [near for near in found if near.cosine >= found[min(count, len(found)) - 1].cosine]

    def cosines(self, segments):
        return {one: self._given[one][1] for one in segments if one in self._given}

    def neighbours(self, segments, count):
        """Nobody is compared with anybody else: what alike texts have of each other is tested in `test_alike`."""
        return np.empty(0, np.int64), None


def segments(index):
    _, view = index.both()
    return sorted((one.segment_id, one.file_id) for one in view.all_of(plan.make(None, view).wanted, Filters()))


def cosine(number):
    """One for each segment, without order: from -0.2 to 0.79."""
    return (number * 37 % 100) / 100 - 0.2


def fused(index, text, given, **more):
    record, view = index.both()
    made = plan.make(query.parse(text), view, text)
    ordering = hybrid.Fused(Cosines(given), record, view, made, Filters(), (), no_stop, **more)
    return [(one.segment.segment_id, one.score) for one in ordering.best()], ordering, len(made.sought)


def by_words(index, text):
    record, view = index.both()
    made = plan.make(query.parse(text), view, text)
    return {
        one.segment.segment_id: one.score for one in order.Ordering(record, view, made, Filters(), (), no_stop).best()
    }


def in_a_row(index, text):
    """What each gains by having the words one after the other; how that is counted is tested in `test_score`."""
    record, view = index.both()
    made = plan.make(query.parse(text), view, text)
    placed = order.Ordering(record, view, made, Filters(), (), no_stop).best()
    return {one.segment.segment_id: float(one.made_of.made.gained[one.made_of.row]) for one in placed if one.made_of}


def said_by_the_best(index, scores):
    """How much each says of what the best have in common; how that is counted is tested in `test_alike`."""
    _, view = index.both()
    every = [c for c in view.all_of(plan.make(None, view).wanted, Filters()) if c.segment_id in scores]
    ranked = [round(scores[c.segment_id], 6) for c in every]
    common = feedback.common(view.packed(every), ranked, view.average_length)
    return {c.segment_id: one for c, one in zip(every, common, strict=True)}


def by_hand(index, words, cosines, asked, *, spread=0.13, known=1.0, alone=False, gains=None):
    """The scores of all results: those that have a word, and those whose cosine is at least a quarter."""
    every = {**dict.fromkeys((one for one, (_, like) in cosines.items() if like >= 0.25), 0.0), **words}
    ranked = sorted(every.values(), reverse=True)
    weight = 2.1 * (min(1.0, max(0.4, asked / 9)) if asked > 2 else 1.0)
    lacking = 1 - (ranked[9] if len(ranked) > 9 else 0.0) / ranked[0] if ranked and ranked[0] else 0.0
    peak = 1 + 8 * max(0.0, lacking - 0.5)
    weight *= peak
    have = [cosines[one][1] for one in words if one in cosines]
    trusted = max(0.0, 1 - 2 * (1 - known)) * (len(have) / len(words) if words else 1.0)
    nearest = max([0.25, *(cosines[one][1] for one in every if one in cosines)])
    share = 1.0 if alone else trusted / (1 + weight * spread / nearest)
    others = median(have) if have else min((cosines[one][1] for one in every if one in cosines), default=0.0)
    out = {}
    for one, score in every.items():
        like = max(0.0, cosines[one][1] if one in cosines else others)
        best = ranked[0] if ranked else 0.0
        out[one] = (1 - share) * (score / best if best else 0.0) + share * like
    said = 0.0 if alone else 0.1 * trusted / peak * min(1.0, asked / 12)
    common = said_by_the_best(index, out) if said else dict.fromkeys(out, 0.0)
    for one, score in out.items():
        total = (score + said * common[one]) / (1 + said)
        gained = 0.0 if alone else share * (gains or {}).get(one, 0.0)
        out[one] = round(min(total + gained * max(0.0, 1 - total), 1.0), 6)
    return out, share


@pytest.mark.parametrize(
    "text", ["water", "copper kettle", "tide harbour boats", "zzqqxx", "boats wait outside the wall", LONG, SENTENCE]
)
@pytest.mark.parametrize(
    "more", [{}, {"spread": 0.3}, {"known": 0.8}, {"known": 0.4}, {"alone": True}, {"spread": 0.02, "known": 0.9}]
)  # fmt: skip
def test_a_score_by_words_and_meaning_is_the_one_counted_by_hand(index, text, more):
    given = {one: (file, cosine(at)) for at, (one, file) in enumerate(segments(index))}
    found, ordering, asked = fused(index, text, given, **more)
    expected, share = by_hand(index, by_words(index, text), given, asked, gains=in_a_row(index, text), **more)
    assert dict(found) == expected
    assert [score for _, score in found] == sorted(expected.values(), reverse=True)
    assert all(one in expected for one, _ in found[:3])
    told = {ordering.explain(one)[-1].rpartition("× ")[2] for one in ordering.best()}
    assert told <= {f"{share:.2f}"}


def test_a_sentence_that_stands_somewhere_is_first_whatever_is_nearer_in_meaning(index):
    [having] = [one for one, gained in in_a_row(index, SENTENCE).items() if gained > 0.5]
    given = {one: (file, 0.1 if one == having else 0.6) for one, file in segments(index)}
    [(first, score), (_, second), *_] = fused(index, SENTENCE, given, spread=0.02)[0]
    assert first == having
    assert score > second


@pytest.mark.parametrize("text", ["water", "tide harbour boats", LONG])
@pytest.mark.parametrize("left", [2, 3])
def test_what_has_no_vector_stands_where_its_words_put_it(index, text, left):
    every = segments(index)
    given = {one: (file, cosine(at)) for at, (one, file) in enumerate(every) if at % left == 0}
    found, ordering, asked = fused(index, text, given)
    assert dict(found) == by_hand(index, by_words(index, text), given, asked, gains=in_a_row(index, text))[0]
    told = {one.segment.segment_id: ordering.explain(one)[-1] for one in ordering.best()}
    assert {one for one, line in told.items() if line == "meaning: not compared"} == told.keys() - given.keys()


def test_without_any_vector_words_alone_decide(index):
    found, ordering, _ = fused(index, "tide harbour boats", {})
    words = by_words(index, "tide harbour boats")
    best = max(words.values())
    assert dict(found) == {one: round(score / best, 6) for one, score in words.items()}
    assert ordering.added == ()


def test_what_is_found_without_a_word_is_told_apart(index):
    given = {one: (file, 0.9 if at == 5 else 0.24) for at, (one, file) in enumerate(segments(index))}
    found, ordering, _ = fused(index, "zzqqxx", given)
    [(only, _)] = found
    assert ordering.added == (given[only][0],)


def test_the_nearest_are_taken_in_with_all_that_equal_the_last_of_them(index, monkeypatch):
    monkeypatch.setattr(hybrid, "DENSE", 3)
    every = segments(index)
    likes = [0.9, 0.8, 0.5, 0.5, 0.4, *[0.3] * 90]
    given = {one: (file, like) for (one, file), like in zip(every, likes, strict=False)}
    found, _, _ = fused(index, "zzqqxx", given)
    assert {one for one, _ in found} == {one for one, _ in every[:4]}


@pytest.mark.parametrize("each", [0, 1, 64])
@pytest.mark.parametrize("dense", [1, 2, 5, 30])
@pytest.mark.parametrize(
    "text", ["water", "boats -water", "-water -boats", "water AND harbour", '"high water"', "tide -zzqqxx", "zzqqxx AND water"]
)  # fmt: skip
def test_the_nearest_that_will_do_are_those_of_looking_at_every_segment(index, monkeypatch, text, dense, each):
    monkeypatch.setattr(hybrid, "_EACH", each)
    monkeypatch.setattr(hybrid, "DENSE", dense)
    monkeypatch.setattr(hybrid, "_WIDER", 3)
    monkeypatch.setattr(hybrid, "_FURTHER", 1)
    record, view = index.both()
    made = plan.make(query.parse(text), view, text)
    given = {one: (file, round(at * 37 % 100 / 100, 1)) for at, (one, file) in enumerate(segments(index))}
    given |= {10_000 + at: (1, 0.99) for at in range(4)}  # of segments that are gone
    ordering = hybrid.Fused(Cosines(given), record, view, made, Filters(), (), no_stop)
    will_do = {c.segment_id: c for c in view.all_of(made.required, Filters())}
    near = [one for one in Cosines(given).nearest(len(given)) if one.segment_id in will_do]
    near = [one for one in near if one.cosine >= max(near[:dense][-1].cosine, hybrid.LEAST)]
    by_words = {c.segment_id: c for c in ordering.matches.top(2)}
    for known in ({}, by_words):
        found = [c.segment_id for c in ordering._nearest(known)]
        assert found == [one.segment_id for one in near if one.segment_id not in known]


@pytest.mark.parametrize("text", ["water", "tide harbour boats", LONG])
def test_what_comes_after_the_best_of_both_follows_by_its_words(index, monkeypatch, text):
    every = segments(index)
    given = {one: (file, cosine(at)) for at, (one, file) in enumerate(every) if at % 3}
    whole, _, _ = fused(index, text, given)
    monkeypatch.setattr(hybrid, "LEXICAL", 2)
    monkeypatch.setattr(hybrid, "TIERS", (2, 4, 7))
    found, _, _ = fused(index, text, given)
    assert sorted(one for one, _ in found) == sorted(one for one, _ in whole)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_where_no_word_that_tells_something_stands_anywhere_meaning_decides_alone(index):
    given = {one: (file, cosine(at)) for at, (one, file) in enumerate(segments(index))}
    found, ordering, _ = fused(index, "what is the zzqqxx", given)
    assert by_words(index, "what is the zzqqxx")  # by its other words, it finds something
    assert {ordering.explain(one)[-1].rpartition("× ")[2] for one in ordering.best()} == {"1.00"}
    assert found[0][0] == max(given, key=lambda one: (given[one][1], -one))


def test_scores_are_rounded_together_as_each_is_alone():
    halves = np.arange(1, 999_999, 991) / 1e6 + 5e-7
    near = [np.nextafter(halves, 0.0), halves, np.nextafter(halves, 1.0), halves - 1e-10, halves + 1e-10]
    scores = np.concatenate([*near, np.random.default_rng(2).random(2000), [0.0, 1.0, -0.1234565]])
    assert hybrid.rounded(scores) == [round(score, 6) for score in scores.tolist()]
