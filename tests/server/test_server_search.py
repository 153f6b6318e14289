"""The tools of Smart File Search: what reaches the app, and how answers and errors are put."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters, types

from conftest import clean_env
from server_client import Peer, text_of

ECHO = (sys.executable, str(Path(__file__).parents[1] / "clients" / "echo_server.py"))
ITEM = {"path": "/a/x", "snippet": "s"}


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    with Peer(ECHO, tmp_path_factory.mktemp("home")) as peer:
        peer.initialize()
        yield peer


def test_the_six_tools_are_listed_in_order_with_titles_schemas_and_hints(peer: Peer) -> None:
    tools = peer.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == [
        "listRoots",
        "indexFolder",
        "searchFiles",
        "openFile",
        "summarizeResults",
        "rewriteQuery",
    ]
    for tool in tools:
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["title"]
        assert tool["annotations"]["readOnlyHint"] is (tool["name"] != "indexFolder")
        assert tool["annotations"]["destructiveHint"] is False


@pytest.mark.parametrize(
    ("name", "arguments", "asked"),
    [
        ("indexFolder", {"root": "/a"}, ["/a", False, "normal"]),
        ("indexFolder", {"root": "/a", "full": True, "priority": "high"}, ["/a", True, "high"]),
        ("searchFiles", {"query": "q"}, ["q", 10, 0, [], [], [], None, None, "relevance", False]),
        (
            "searchFiles",
            {"query": "q", "k": 100, "offset": 7, "exts": [".docx"], "years": ["2021"], "roots": ["/a"]},
            ["q", 100, 7, [".docx"], ["2021"], ["/a"], None, None, "relevance", False],
        ),
        (
            "searchFiles",
            {"query": "q", "since": "2024-03", "sort": "date", "all_copies": True},
            ["q", 10, 0, [], [], [], "2024-03", None, "date", True],
        ),
        (
            "searchFiles",
            {"query": "q", "k": 5.0, "offset": None, "exts": None, "since": None, "sort": None, "all_copies": None},
            ["q", 5, 0, [], [], [], None, None, "relevance", False],
        ),
        ("summarizeResults", {"query": "q", "results": [{**ITEM, "score": 1}]}, ["q", [ITEM], "bullets", None]),
        (
            "summarizeResults",
            {"query": "q", "results": [ITEM], "style": "table", "max_tokens": 5},
            ["q", [ITEM], "table", 5],
        ),
        ("rewriteQuery", {"query": "q"}, ["q"]),
    ],
)
def test_arguments_reach_the_app_with_their_defaults(
    peer: Peer, name: str, arguments: dict[str, Any], asked: list[Any]
) -> None:
    result = peer.call(name, arguments)
    assert text_of(result) == json.dumps({"asked": asked, "mcp_version": "v1.0.0"}, separators=(",", ":"))
    assert result["structuredContent"] == {"asked": asked, "mcp_version": "v1.0.0"}
    assert result.get("isError", False) is False


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("listRoots", {"x": 1}, "x"),
        ("indexFolder", {}, "root"),
        ("indexFolder", {"root": 5}, "root"),
        ("indexFolder", {"root": "/a", "full": 1}, "full"),
        ("indexFolder", {"root": "/a", "priority": "urgent"}, "priority"),
        ("indexFolder", {"root": "/a", "priority": ["low"]}, "priority"),
        ("searchFiles", {}, "query"),
        ("searchFiles", {"query": " \n"}, "query"),
        ("searchFiles", {"query": None}, "query"),
        ("searchFiles", {"query": "q", "k": 0}, "k"),
        ("searchFiles", {"query": "q", "k": 101}, "k"),
        ("searchFiles", {"query": "q", "k": 1.5}, "k"),
        ("searchFiles", {"query": "q", "k": 1e300}, "k"),
        ("searchFiles", {"query": "q", "k": True}, "k"),
        ("searchFiles", {"query": "q", "k": "5"}, "k"),
        ("searchFiles", {"query": "q", "offset": -1}, "offset"),
        ("searchFiles", {"query": "q", "offset": 2**63}, "offset"),
        ("searchFiles", {"query": "q", "exts": ".pdf"}, "exts"),
        ("searchFiles", {"query": "q", "years": [2021]}, "years"),
        ("searchFiles", {"query": "q", "roots": {}}, "roots"),
        ("searchFiles", {"query": "q", "limit": 5}, "limit"),
        ("searchFiles", {"query": "q", "sort": "size"}, "sort"),
        ("searchFiles", {"query": "q", "since": 2024}, "since"),
        ("searchFiles", {"query": "q", "all_copies": "yes"}, "all_copies"),
        ("openFile", {}, "path"),
        ("openFile", {"path": "/a/x", "pointer": 3}, "pointer"),
        ("openFile", {"path": "/a/x", "before": -1}, "before"),
        ("openFile", {"path": "/a/x", "after": 1.5}, "after"),
        ("summarizeResults", {"results": [ITEM]}, "query"),
        ("summarizeResults", {"query": "q"}, "results"),
        ("summarizeResults", {"query": "q", "results": []}, "results"),
        ("summarizeResults", {"query": "q", "results": [ITEM, 5]}, "results[1]"),
        ("summarizeResults", {"query": "q", "results": [{"path": "/a"}]}, "results[0].snippet"),
        ("summarizeResults", {"query": "q", "results": [ITEM], "style": "poem"}, "style"),
        ("summarizeResults", {"query": "q", "results": [ITEM], "max_tokens": 0}, "max_tokens"),
        ("rewriteQuery", {"query": ""}, "query"),
    ],
)
def test_a_malformed_argument_is_a_bad_request_that_names_it(
    peer: Peer, name: str, arguments: dict[str, Any], field: str
) -> None:
    result = peer.call(name, arguments)
    body = json.loads(text_of(result))
    assert result["isError"] is True
    assert list(body) == ["error", "mcp_version"]
    assert list(body["error"]) == ["code", "message", "details"]
    assert body["error"]["code"] == "BAD_REQUEST"
    assert f"'{field}'" in body["error"]["message"]
    assert body["error"]["details"]["hint"]
    assert result["structuredContent"] == body


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (10**30, f"an integer from 0 to {2**63 - 1}"),
        (-(10**30), "an integer, at least 0"),
        (0.5, "an integer, at least 0"),
        (True, "an integer, at least 0"),
    ],
)
def test_a_number_that_cannot_be_is_told_what_it_lacks(peer: Peer, value: float, wanted: str) -> None:
    body = json.loads(text_of(peer.call("searchFiles", {"query": "q", "offset": value})))
    assert body["error"]["message"] == f"'offset' must be {wanted}"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (
            "forbidden",
            {
                "code": "FORBIDDEN",
                "message": "outside for [redacted:email]",
                "details": {"hint": "not for [redacted:email] either"},
            },
        ),
        (
            "limited",
            {"code": "RATE_LIMITED", "message": "too many calls", "details": {"hint": "try again in 3 seconds"}},
        ),
    ],
)
def test_an_error_has_its_code_message_and_hint_redacted(peer: Peer, query: str, error: dict[str, Any]) -> None:
    assert json.loads(text_of(peer.call("searchFiles", {"query": query}))) == {"error": error, "mcp_version": "v1.0.0"}


@pytest.mark.parametrize("query", ["bug", "disk"])
def test_a_failure_nobody_foresaw_shows_only_a_number_that_the_log_repeats(peer: Peer, query: str) -> None:
    body = json.loads(text_of(peer.call("searchFiles", {"query": query})))
    assert body["error"]["code"] == "INTERNAL_ERROR"
    number = body["error"]["message"].removeprefix("internal error ")
    assert number in body["error"]["details"]["hint"]
    assert f"internal error {number} in " in peer.log
    assert "secret" not in str(body)
    assert "shadow" not in str(body)


def test_every_answer_fits_its_output_schema_errors_included(peer: Peer) -> None:
    tools = {tool["name"]: tool for tool in peer.ask("tools/list")["result"]["tools"]}
    roots = peer.call("listRoots")["structuredContent"]
    assert list(roots) == ["roots", "mcp_version"]
    for name, body in [
        ("listRoots", roots),
        ("searchFiles", peer.call("searchFiles", {})["structuredContent"]),
    ]:
        Draft202012Validator(tools[name]["outputSchema"]).validate(body)


def test_text_that_is_not_unicode_does_not_cost_the_answer(peer: Peer) -> None:
    result = peer.call("openFile", {"path": "/a/x"})
    assert json.loads(text_of(result))["preview"] == "half a pair: ?"
    assert result["structuredContent"]["asked"] == ["/a/x", None, 0, 0]


def test_the_guard_sees_who_called_what_and_the_outcome(peer: Peer) -> None:
    peer.call("rewriteQuery", {"query": "q"})
    peer.call("rewriteQuery", {})
    assert peer.log.splitlines()[-2:] == ["peer rewriteQuery ok", "peer rewriteQuery BAD_REQUEST"]


def test_a_tool_may_ask_the_model_of_a_client_that_offers_one(tmp_path: Path) -> None:
    async def answer(_context: object, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        (message,) = params.messages
        assert isinstance(message.content, types.TextContent)
        if message.content.text == "sample badly":
            raise ValueError("no")
        said = f"{params.system_prompt} {params.max_tokens} {message.content.text}"
        return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(type="text", text=said))

    async def session() -> list[Any]:
        server = StdioServerParameters(command=ECHO[0], args=list(ECHO[1:]), env=clean_env(tmp_path))
        async with Client(server, mode="legacy", sampling_callback=answer) as client:
            return [
                (await client.call_tool("rewriteQuery", {"query": query})).structured_content
                for query in ("sample this", "sample badly")
            ]

    asked, refused = asyncio.run(session())
    assert asked["fts"] == "Be short. 7 sample this"
    assert refused["error"]["code"] == "LLM_UPSTREAM"


def test_a_client_without_a_model_is_not_asked(peer: Peer) -> None:
    result = peer.call("rewriteQuery", {"query": "sample this"})
    assert result["structuredContent"]["error"]["code"] == "INTERNAL_ERROR"
    assert "AssertionError: no model to ask" in peer.log
