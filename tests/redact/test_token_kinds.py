"""Recall: how many tokens of how many kinds are hidden, wherever people leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import token_kinds

from smart_context import redact

_PIECE = 12  # characters in a row that would be worth something to a finder


def _is_hidden(case: token_kinds.Case) -> bool:
    cleaned = redact.clean(case.text)
    secret = case.secret
    if "://" in secret:
        secret = secret.rstrip("/")[-_PIECE:]  # of an address the end is the key
    first = 0 if len(secret) < 3 * _PIECE else _PIECE + 1  # a long mark may stand in the name before it, too
    return secret not in cleaned and not any(
        secret[i : i + _PIECE] in cleaned for i in range(first, max(1, len(secret) - _PIECE + 1))
    )


@pytest.fixture(scope="module")
def judged() -> list[tuple[token_kinds.Case, bool]]:
    return [(case, _is_hidden(case)) for case in token_kinds.cases()]


def test_there_are_at_least_150_kinds_each_in_eight_contexts():
    assert len({kind.name for kind in token_kinds.kinds()}) == len(token_kinds.kinds()) >= 150
    assert {case.context for case in token_kinds.cases()} == set(token_kinds.CONTEXTS)
    assert len(token_kinds.CONTEXTS) == 8


@pytest.mark.unmeasured
def test_97_of_100_tokens_are_hidden_over_all(judged):
    assert sum(hidden for _, hidden in judged) / len(judged) >= 0.97


@pytest.mark.parametrize("context", token_kinds.CONTEXTS)
def test_9_of_10_tokens_are_hidden_in_every_context(judged, context):
    here = [hidden for case, hidden in judged if case.context == context]
    assert sum(here) / len(here) >= 0.90


def test_a_token_that_its_issuer_marks_is_hidden_without_a_word_about_it(judged):
    bare = [hidden for case, hidden in judged if case.context == "prose" and case.kind.is_marked]
    assert sum(bare) / len(bare) >= 0.97


def test_no_kind_is_shown_in_most_contexts(judged):
    shown = Counter(case.kind.name for case, hidden in judged if not hidden)
    each = Counter(case.kind.name for case, _ in judged)
    assert [name for name, count in shown.items() if count > each[name] // 2] == []


def test_values_are_the_same_on_every_run():
    script = "import token_kinds; print(*(case.text for case in token_kinds.cases()), sep='\\n')"
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=Path(token_kinds.__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


@pytest.mark.parametrize(
    "text",
    ["fc-list 0f1e2d3c4b5a69788796a5b4c3d2e1f0", "sk-model 0f1e2d3c4b5a69788796a5b4c3d2e1f0", "test_2 0f1e2d3c4b5a69788796a5b4c3d2e1f0", "AKIA MOUNTAIN RAILWAYS", "ASIA TRANSFORMATIONAL", "ASIA | TELECOMMUNICATIO"],
)  # fmt: skip
def test_the_name_of_a_program_and_a_checksum_after_it_are_no_token(text):
    assert redact.clean(text) == text
