"""Scores: what is counted at once for many segments is what one would count by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smart_context.engine.expression import Everything
from smart_context.engine.port import Candidate
from smart_context.find import score
from smart_context.find.sought import Plan, Sought
from smart_context.text import codes

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
