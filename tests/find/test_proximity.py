"""Neighbours of a query: which of its words they are, and what finds first by them."""

from __future__ import annotations

import pytest

from searching import indexed
from smart_context.find import proximity
from smart_context.find.plan_model import Sought
from smart_context.text import analysis


def of(text: str, idf: dict[str, float] | None = None) -> proximity.Neighbours:
    units = analysis.units(text)
    return proximity.of([Sought(unit, frozenset({unit}), idf=(idf or {}).get(unit, 1.0), typed=unit) for unit in units])


def test_each_word_has_the_next_for_a_neighbour_the_rarer_both_the_more():
    found = of("copper kettle whistles", {"copper": 3.0, "kettle": 2.0})
    assert found.places is None
    assert found.worth == (2.0, 1.0)
    assert found.close == (0.0, 1.0, 1 / 4, 1 / 9, 1 / 16, 1 / 25)


def test_pairs_of_characters_are_no_neighbours_of_each_other_but_of_other_words():
    assert of("普仏戦争条約").worth == (0.0,) * 4
    found = of("日本 Linux 協会")
    assert (found.places, found.worth) == (None, (1.0, 1.0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("共産党の戦術", {"共産": 0, "産党": 0, "党の": -1, "の戦": -1, "戦術": 1}),
        ("応力テンソルの成分", {"応力": 0, "力テ": -1, "テン": 1, "ンソ": 1, "ソル": 1, "ルの": -1, "の成": -1, "成分": 2}),
        ("Linuxの歴史", {"linux": 0, "の歴": -1, "歴史": 1}),
    ],
)  # fmt: skip
def test_in_japanese_a_run_of_one_script_is_a_word_and_what_has_hiragana_stands_between(text, words):
    assert dict(zip(analysis.units(text), of(text).places or (), strict=True)) == words
    assert of(text).close == (0.0, *[proximity.CLOSE] * proximity.CHARACTERS)


def test_a_run_is_worth_what_its_rarest_pair_is():
    assert of("共産党の戦術", {"産党": 4.0, "戦術": 3.0}).worth == (3.0 * proximity.RUNS,)
    assert of("の").worth == of("戦術の").worth == ()


def test_a_text_where_the_words_of_a_japanese_question_stand_together_comes_first(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    apart = "港の組合は毎年春に大会を開き、古い灯台を守る人々を表彰する。その後で市長が戦術について長い話をした。"
    together = (
        "港では市長が毎年春に話をし、組合の新しい戦術を守る人々を表彰する。その後で古い灯台について大会を開いた。"
    )
    for name, text in (("a.txt", apart), ("b.txt", together)):
        (root / name).write_text(text, encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        assert searched.names("組合の戦術は何ですか") == ["b.txt", "a.txt"]
        assert searched.names("市長の戦術は何ですか") == ["a.txt", "b.txt"]
