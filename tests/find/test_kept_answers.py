"""Whole answers about a small folder: order, scores and what they are made of, snippets, copies, totals, notes. Nothing of them changes unnoticed.

Where a change of an answer is meant, `python tests/kept_answers.py` keeps the new ones.
"""

from __future__ import annotations

import json

import pytest

import kept_answers
from searching import indexed

KEPT = json.loads(kept_answers.KEPT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("kept").resolve()
    kept_answers.lay_out(place / "root")
    with indexed(place / "root", place / "data") as opened:
        yield opened


@pytest.mark.parametrize(("query", "options"), kept_answers.QUESTIONS, ids=lambda one: str(one)[:40])
def test_an_answer_is_the_one_that_was_kept(folder, query, options):
    told = kept_answers.answer(folder.index, folder.root, query, options)
    assert told == KEPT["answers"][kept_answers.asked(query, options)]


def test_queries_are_read_as_they_were():
    assert {text: kept_answers.read(text) for text in kept_answers.READ} == KEPT["read"]


def test_nothing_is_kept_that_is_not_asked():
    assert list(KEPT["answers"]) == [kept_answers.asked(*one) for one in kept_answers.QUESTIONS]
    assert list(KEPT["read"]) == kept_answers.READ
