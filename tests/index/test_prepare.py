"""Files made ready in a reading process: what crosses the wire is checked, and depends on the file alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.engine import searchable
from smart_context.index import prepare
from smart_context.index.prepare import Preparing
from smart_context.model import Extracted, Part, Unit
from smart_context.redact import Redactor
from smart_context.sources import wire
from smart_context.sources.wire import Answer, Garbled

TEXT = "Write to jane.doe@example.com in 2021.\npassword: tr0ub4dorzebra99 of 1984\nThe walrus sleeps. " * 30
DOC = Extracted("pdf", "password: hunter2xyz", (Unit((Part("page", first=1),), TEXT, "Walrus 漢字"),), ("a note",))


def ready(**how):
    return prepare.file(DOC, "/r/report 2019.pdf", Preparing(500, **how), Redactor(how.get("patterns", ())))


def sent(outcome):
    _, meta, body = wire.encode(Answer(outcome, "ab"))
    return meta, body


def test_what_is_ready_crosses_the_wire_as_it_is():
    for outcome in (ready(), ready(searched=False), ready(patterns=("walrus",))):
        assert wire.decode(*sent(outcome)).outcome == outcome


def test_nothing_that_is_hidden_is_in_an_entry_a_year_or_a_title():
    made = ready()
    terms = " ".join(searchable.unpacked(data).text + searchable.unpacked(data).also for data in made.entries)
    for part in ("jane", "doe", "example", "tr0", "zebra"):
        assert part not in terms
    assert "walru" in terms
    assert "hunter2" not in made.about.title
    assert made.years == ("1984", "2019", "2021")


@pytest.mark.parametrize(
    "change",
    [
        {"entries": [1]},
        {"entries": [10**9]},
        {"entries": [-5, 5]},
        {"years": ["twenty"]},
        {"years": [2021]},
        {"ready": [["page 1", "", 10**9, []]]},
        {"ready": [["page 1", "", 3, [[0, 9, "secret"]]]]},
        {"ready": [["page 1", "", 3, [[2, 1, "secret"]]]]},
        {"ready": [["page 1", "", 3, [[0, 1, "other"]]]]},
        {"ready": [["page 1", 5, 3, []]]},
        {"ready": 7},
    ],
)
def test_an_answer_that_says_something_impossible_is_no_answer(change):
    meta, body = sent(ready())
    head = {**json.loads(meta), **change}
    with pytest.raises(Garbled):
        wire.decode(json.dumps(head).encode(), body)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_entry_are_refused(noise):
    whole = ready().entries[0]
    for data in (noise, whole + noise if noise else whole[:-1], whole[: len(noise)]):
        try:
            made = searchable.unpacked(data)
        except ValueError:
            continue
        assert searchable.packed(made) == data
