"""Whole packs about a few documents, and the stems of some words: nothing of them changes unnoticed.

Where a change is meant, `python tests/kept_packs.py` keeps the new ones.
"""

from __future__ import annotations

import json

import pytest

import kept_packs

KEPT = json.loads(kept_packs.KEPT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return kept_packs.answers(kept_packs.build(tmp_path_factory.mktemp("packs").resolve()))


@pytest.mark.parametrize("query", kept_packs.QUESTIONS)
def test_a_pack_is_the_one_that_was_kept(answers, query):
    own = {name: text for name, text in KEPT["packs"].items() if name.startswith(f"{query}, ")}
    assert len(own) == len(kept_packs.BUDGETS) + 1
    assert {name: answers[name] for name in own} == own


def test_stems_are_those_that_were_kept():
    assert kept_packs.stems() == KEPT["stems"]


def test_queries_are_read_as_they_were():
    assert kept_packs.read() == KEPT["read"]
