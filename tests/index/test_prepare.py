"""Files made ready in a reading process: what crosses the wire is checked, and depends on the file alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.engine import searchable
from smart_context.index import prepare
from smart_context.index.reading import Preparing
from smart_context.model import Extracted, Part, Unit
from smart_context.redact import Redactor
from smart_context.sources import wire
from smart_context.sources.wire import Answer, Garbled

TEXT = "Write to jane.doe@example.com in 2021.\npassword: tr0ub4dorzebra99 of 1984\nThe walrus sleeps. " * 30
PAGE = Unit((Part("page", first=1),), TEXT, "Walrus 漢字", certainty=91)
DOC = Extracted("pdf", "password: hunter2xyz", (PAGE,), ("a note",), "Jane <jane.doe@example.com>", "2021-05-06", 2)


def ready(**how):
    return prepare.file(DOC, "/r/report 2019.pdf", Preparing(500, **how), Redactor(how.get("patterns", ())))


def sent(outcome):
    _, meta, body = wire.encode(Answer(outcome, "ab"))
    return meta, body


def test_what_is_ready_crosses_the_wire_as_it_is():
    for outcome in (ready(), ready(searched=False), ready(patterns=("walrus",))):
        assert wire.decode(*sent(outcome)).outcome == outcome


def test_half_a_character_is_a_question_mark_wherever_it_stands():
    unit = Unit((Part("section", "a\ud800"),), "one \ud800 é two", "over \udfff it")
    made = prepare.file(Extracted("html", "t\ud800", (unit,)), "/r/a.html", Preparing(500), Redactor())
    [segment] = made.segments
    assert (made.about.title, segment.heading, segment.text) == ("t?", "over ? it", "one ? é two")
    assert segment.pointer == r"section 'a\ud800'"
    assert wire.decode(*sent(made)).outcome == made


def test_nothing_that_is_hidden_is_in_an_entry_a_year_or_a_title():
    made = ready()
    terms = " ".join(searchable.unpacked(data).text + searchable.unpacked(data).also for data in made.entries)
    for part in ("jane", "doe", "example", "tr0", "zebra"):
        assert part not in terms
    assert "walru" in terms
    assert "hunter2" not in made.about.title
    assert made.years == ("1984", "2019", "2021")


def test_a_title_or_an_author_shows_nothing_that_is_hidden_in_it_or_in_the_text():
    doc = replace(DOC, title="About tr0ub4dorzebra99", author="Jane <jane.doe@example.com>")
    about = prepare.file(doc, "/r/a.pdf", Preparing(500), Redactor()).about
    assert about.title == "About [redacted:secret]"
    assert about.author == "Jane <[redacted:email]>"
    assert about.dated == "2021-05-06"


def test_texts_that_differ_in_what_is_hidden_alone_have_the_same_marks():
    made = ready()
    other = replace(DOC, units=(replace(PAGE, text=TEXT.replace("tr0ub4dorzebra99", "c0rrecthorse77battery")),))
    again = prepare.file(other, "/r/b.docx", Preparing(900), Redactor())
    assert again.same_text == made.same_text
    assert again.like_text == made.like_text


def test_text_that_was_read_from_a_picture_says_how_certain_it_is():
    assert {segment.certainty for segment in ready().segments} == {91}


@pytest.mark.parametrize(
    "change",
    [
        {"entries": [1]},
        {"entries": [10**9]},
        {"entries": [-5, 5]},
        {"years": ["twenty"]},
        {"years": [2021]},
        {"ready": [["page 1", "", 10**9, [], None]]},
        {"ready": [["page 1", "", 3, [[0, 9, "secret"]], None]]},
        {"ready": [["page 1", "", 3, [[2, 1, "secret"]], None]]},
        {"ready": [["page 1", "", 3, [[0, 1, "other"]], None]]},
        {"ready": [["page 1", 5, 3, [], None]]},
        {"marks": ["ab"]},
        {"marks": ["ab", "zz"]},
        {"marks": ["ab", "00" * 129]},
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
