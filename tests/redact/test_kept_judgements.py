"""What is hidden of many values under many names, and of many numbers in many contexts: as it was.

Where a change is meant, `python tests/kept_judgements.py` keeps the new tables; it says how to read them.
"""

from __future__ import annotations

import json

import pytest

import kept_judgements
from smart_context import redact

KEPT = json.loads(kept_judgements.KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("place", kept_judgements.PLACES, ids=repr)
def test_values_under_a_name_are_judged_as_they_were(place):
    for name in kept_judgements.NAMES:
        signs = dict(zip(kept_judgements.VALUES, KEPT["named"][f"{name} in {place!r}"], strict=True))
        assert {value: kept_judgements.sign(place, value, name) for value in signs} == signs, name


@pytest.mark.parametrize("place", kept_judgements.CONTEXTS, ids=repr)
def test_numbers_and_addresses_are_judged_as_they_were(place):
    signs = dict(zip(kept_judgements.NUMBERS, KEPT["alone"][repr(place)], strict=True))
    assert {value: kept_judgements.sign(place, value) for value in signs} == signs


def test_of_what_is_hidden_in_part_the_same_is_left():
    assert {text: redact.clean(text) for text in KEPT["partly"]} == KEPT["partly"]


def test_the_tables_are_of_these_values():
    assert KEPT["values"] == list(kept_judgements.VALUES)
    assert KEPT["numbers"] == list(kept_judgements.NUMBERS)
