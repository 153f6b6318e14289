"""Rewriting: a model's query is used only if it is one; the rules of search answer otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chat_server as chat
from smart_context.errors import BadRequest
from smart_context.llm import grammar, rewrite
from smart_context.llm.model import Rewritten
from smart_context.redact import Redactor
from smart_context.settings.tables import LlmSettings

QUESTION = "Find vendor X contracts from 2021 in ppt or docx"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-Zx81")


def rewritten(folder: Path, server: chat.ChatServer | None, text: str = QUESTION) -> Rewritten:
    given = LlmSettings(provider="openai", base_url=server.url, timeout=20.0, retries=0) if server else LlmSettings()
    return rewrite.query(text, settings=given, redactor=Redactor(), data_dir=folder, stop=lambda: None)


def made(**fields: object) -> str:
    return json.dumps(
        {"fts": "vendor NEAR/5 contract*", "exts": [".pptx"], "years": ["2021"], "notes": "paired", **fields}
    )


def test_offline_the_rules_of_search_answer(tmp_path):
    told = rewritten(tmp_path, None)
    assert told.years == ("2021",)
    assert {".docx", ".pptx"} <= set(told.exts)
    assert "contracts" in told.fts
    assert "2021" not in told.fts
    assert told.notes


def test_filters_alone_come_with_a_query_that_search_takes(tmp_path):
    told = rewritten(tmp_path, None, "spreadsheets from 2021")
    assert (told.fts, told.years) == ("*", ("2021",))
    with chat.serving(chat.answer(made(fts=""))) as server:
        assert rewritten(tmp_path, server).fts == "*"


def test_a_models_query_is_taken_as_it_is(tmp_path):
    with chat.serving(chat.answer(made())) as server:
        told = rewritten(tmp_path, server)
    assert told == Rewritten("vendor NEAR/5 contract*", (".pptx",), ("2021",), "paired")


def test_an_answer_in_the_shape_of_the_tool_is_taken(tmp_path):
    told = {
        "fts": "contract*",
        "filters": {"exts": [".docx"], "years": ["2021"]},
        "notes": "See [x](https://e.example)",
    }
    with chat.serving(chat.answer(json.dumps({**told, "mcp_version": "v1.0.0"}))) as server:
        read = rewritten(tmp_path, server)
        assert len(server.requests) == 1
    assert (read.fts, read.exts, read.years) == ("contract*", (".docx",), ("2021",))
    assert "](" not in read.notes
    assert "://" not in read.notes


def test_a_code_fence_around_the_answer_is_forgiven(tmp_path):
    with chat.serving(chat.answer(f"Here it is:\n```json\n{made()}\n```")) as server:
        assert rewritten(tmp_path, server).fts == "vendor NEAR/5 contract*"


@pytest.mark.parametrize(
    "bad",
    [
        "no json at all", "{", "[1]", made(fts=7), made(fts=""  , exts=[], years=[]), made(fts="a AND"), made(fts="(a OR b"), made(fts='"open'),
        made(exts="pptx"), made(exts=["pptx"]), made(exts=[".PPTX; rm"]), made(years=[2021]), made(years=["21"]), made(notes=[]), made(more=1),
        made(fts="x" * 2000), made(fts="title:secret^2~"), made(years=["2021"] * 99), "[" * 5000,
    ],
)  # fmt: skip
def test_an_invalid_answer_is_repaired_once(tmp_path, bad):
    with chat.serving(chat.answer(bad), chat.answer(made())) as server:
        assert rewritten(tmp_path, server).notes == "paired"
        first, second = server.bodies()
        assert second["messages"][:-1] == first["messages"]  # type: ignore[index]
        assert len(server.requests) == 2


def test_after_two_invalid_answers_the_rules_answer_and_the_notes_say_so(tmp_path):
    with chat.serving(chat.answer("obey me")) as server:
        told = rewritten(tmp_path, server)
        assert len(server.requests) == 2
        assert "obey me" not in server.sent_text()
    assert told.years == ("2021",)
    assert "could not be used" in told.notes
    assert told.fts == rewritten(tmp_path, None).fts


def test_a_question_is_redacted_and_cut_before_it_is_sent(tmp_path):
    with chat.serving(chat.answer(made())) as server:
        rewritten(tmp_path, server, "mail from nora@example.org, password: hunter2horse! " + "x " * 9000)
        assert "nora@example.org" not in server.sent_text()
        assert "hunter2horse" not in server.sent_text()
        assert len(server.sent_text()) < 5000


def test_an_empty_question_is_a_bad_request(tmp_path):
    with pytest.raises(BadRequest):
        rewritten(tmp_path, None, "  ")


@pytest.mark.parametrize(
    "text",
    ["budget", "budget plan", '"annual report"', "a AND b", "a OR (b AND c)", "NOT draft", "-draft budget", "a NEAR/5 b", "a NEAR b", "contract*",
     '-"old draft" plan', "ISO-27001 O'Brien", "(a)", "预算 AND 计划", "C++ OR c#", "a AND NOT b"],
)  # fmt: skip
def test_the_query_language_is_accepted(text):
    assert grammar.problem(text) == ""


@pytest.mark.parametrize(
    "text",
    ["", "  ", "AND a", "a AND", "a OR OR b", "NOT", "()", "(a", "a)", '"', '""', '"a', "a NEAR/", "a NEAR/0 b", "NEAR/5 b", "*", "a**", "a^2",
     "{a}", "a;b|", "((((((((((((((a))))))))))))))", "(a AND) b", "x" * 1001],
)  # fmt: skip
def test_what_is_not_the_query_language_is_told(text):
    assert grammar.problem(text) != ""
