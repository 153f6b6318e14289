"""`mcp-context-server` and the tools of Context in `context serve`, black box over a real pipe."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from server_client import CONTEXT_SERVER, SERVE, Peer, text_of
from smart_context import __version__
from smart_context.cache import build

SOURCES = {
    "deploy.md": "How to deploy: push the tag.\n",
    "sub/rollback.md": "Roll back a deploy “at once”.\n",
    "empty.md": "",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a cache root that has one cache, `docs`, and a folder that is none."""
    home = tmp_path_factory.mktemp("home")
    for name, text in SOURCES.items():
        path = home / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (home / "caches" / "none").mkdir(parents=True)
    build.cache(home / "sources", home / "caches" / "docs", created_at="2026-01-01T00:00:00Z")
    return home


@pytest.fixture(scope="module")
def peer(home: Path) -> Iterator[Peer]:
    with Peer(CONTEXT_SERVER, home, {"CONTEXT_CACHE_ROOT": str(home / "caches")}) as peer:
        peer.initialize()
        yield peer


def error_text(code: str, message: str) -> str:
    return f'{{"error":{{"code":"{code}","message":"{message}"}}}}\n'


MISSING = error_text("cache_missing", "Cache does not exist")
INVALID = error_text("cache_invalid", "Cache exists but is invalid")
BAD_QUERY = error_text("invalid_query", "Query is invalid")
BAD_BUDGET = error_text("invalid_budget", "Budget is invalid")


def test_it_offers_exactly_the_three_tools_under_its_own_name(home: Path) -> None:
    with Peer(CONTEXT_SERVER, home, {"CONTEXT_CACHE_ROOT": str(home / "caches")}) as peer:
        info = peer.initialize()["result"]
        assert info["serverInfo"] == {"name": "mcp-context-server", "title": "Context", "version": __version__}
        assert info["instructions"]
        tools = peer.ask("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["context.resolve", "context.list_caches", "context.inspect_cache"]
        assert tools[0]["description"] == (
            "Resolve a natural-language query against a pre-built context cache and return a deterministic, explainable set "
            "of documents within a token budget."
        )
        for tool in tools:
            assert tool["inputSchema"]["additionalProperties"] is False
            assert tool["annotations"] == {
                "title": tool["title"],
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            }
        assert peer.finish() == []
        assert (peer.process.returncode, peer.log) == (0, "")


def test_resolve_gives_the_bytes_of_the_command(peer: Peer, home: Path, run: Run) -> None:
    for query, budget in [("deploy", 1000), ("roll “AT ONCE”.", 8), ("", 0), ('tab\tquote" \\ 😀', 2**64 - 1)]:
        done = run("resolve", "--cache", home / "caches" / "docs", "--query", query, "--budget", str(budget))
        result = peer.call("context.resolve", {"cache": "docs", "query": query, "budget": budget})
        assert text_of(result).encode() == done.stdout
        assert done.stdout.endswith(b"\n")
        assert result.get("isError", False) is False


def test_a_change_on_disk_is_noticed_by_the_next_call(peer: Peer, home: Path, tmp_path: Path) -> None:
    ask = {"cache": "changing", "query": "deploy", "budget": 1000}
    cache = home / "caches" / "changing"
    build.cache(home / "sources", cache, created_at="2026-01-01T00:00:00Z")
    first = text_of(peer.call("context.resolve", ask))
    assert text_of(peer.call("context.resolve", ask)) == first
    document = next((cache / "documents").iterdir())
    kept = document.read_bytes()
    document.write_bytes(kept.replace(b'"content":"', b'"content":"!'))
    assert text_of(peer.call("context.resolve", ask)) == INVALID
    document.write_bytes(kept)
    assert text_of(peer.call("context.resolve", ask)) == first
    (tmp_path / "new.md").write_text("deploy deploy", encoding="utf-8")
    build.cache(tmp_path, cache, created_at="2026-01-01T00:00:00Z", force=True)
    answer = json.loads(text_of(peer.call("context.resolve", ask)))
    assert [document["id"] for document in answer["documents"]] == ["new.md"]
    shutil.rmtree(cache)
    assert text_of(peer.call("context.resolve", ask)) == MISSING


def test_list_and_inspect_are_compact_without_a_newline_and_the_same_as_objects(peer: Peer) -> None:
    listed = peer.call("context.list_caches")
    assert text_of(listed) == '{"caches":[{"path":"docs","has_manifest":true},{"path":"none","has_manifest":false}]}'
    inspected = peer.call("context.inspect_cache", {"cache": "docs"})
    assert list(json.loads(text_of(inspected))) == ["cache_version", "document_count", "total_bytes", "valid"]
    assert " " not in text_of(inspected)
    for result in (listed, inspected):
        assert result["structuredContent"] == json.loads(text_of(result))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (None, MISSING),
        ({}, MISSING),
        ({"cache": 5, "query": 5, "budget": -1}, MISSING),
        ({"cache": "docs", "budget": -1}, BAD_QUERY),
        ({"cache": "no such", "query": ["x"], "budget": 1}, BAD_QUERY),
        ({"cache": "no such", "query": "x"}, BAD_BUDGET),
        ({"cache": "docs", "query": "x", "budget": -1}, BAD_BUDGET),
        ({"cache": "docs", "query": "x", "budget": 2**64}, BAD_BUDGET),
        ({"cache": "docs", "query": "x", "budget": 10**4200}, BAD_BUDGET),
        ({"cache": "docs", "query": "x", "budget": 1.0}, BAD_BUDGET),
        ({"cache": "docs", "query": "x", "budget": True}, BAD_BUDGET),
        ({"cache": "docs", "query": "x", "budget": "1"}, BAD_BUDGET),
        ({"cache": "docs", "query": "x", "budget": None}, BAD_BUDGET),
        ({"cache": "no such", "query": "x", "budget": 1}, MISSING),
        ({"cache": "../caches/docs", "query": "x", "budget": 1}, MISSING),
        ({"cache": "/etc", "query": "x", "budget": 1}, MISSING),
        ({"cache": "", "query": "x", "budget": 1}, MISSING),
        ({"cache": ".", "query": "x", "budget": 1}, MISSING),
        ({"cache": "docs\0", "query": "x", "budget": 1}, MISSING),
        ({"cache": "none", "query": "x", "budget": 1}, INVALID),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_tool_error_is_exactly_its_code_and_canonical_message(
    peer: Peer, arguments: dict[str, Any] | None, expected: str
) -> None:
    assert peer.call("context.resolve", arguments) == {
        "content": [{"type": "text", "text": expected}],
        "isError": True,
    }


def test_a_budget_with_an_exponent_is_no_integer(peer: Peer) -> None:
    peer.send_line(
        b'{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"context.resolve",'
        b'"arguments":{"cache":"docs","query":"x","budget":1e2}}}'
    )
    assert text_of(peer.read()["result"]) == BAD_BUDGET


@pytest.mark.parametrize("name", ["context.inspect_cache", "context.list_caches", "context.resolve"])
def test_an_unknown_argument_is_a_fault_of_protocol(peer: Peer, name: str) -> None:
    answer = peer.ask("tools/call", {"name": name, "arguments": {"cache": "docs", "verbose": True, "root": None}})
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("asked", [5, None, "..", "/", "no such"])
def test_a_root_that_is_not_inside_is_missing(peer: Peer, asked: object) -> None:
    assert text_of(peer.call("context.list_caches", {"root": asked})) == MISSING


def test_both_spellings_are_accepted_and_serve_lists_the_one_asked_for(home: Path) -> None:
    dotted = ["context.resolve", "context.list_caches", "context.inspect_cache"]
    underscore = ["context_resolve", "context_list_caches", "context_inspect_cache"]
    for argv, listed in [(SERVE, dotted), ((*SERVE, "--tool-names", "underscore"), underscore)]:
        with Peer((*argv, "--cache-root", str(home / "caches")), home) as peer:
            assert peer.initialize()["result"]["serverInfo"]["name"] == "smart-context"
            names = [tool["name"] for tool in peer.ask("tools/list")["result"]["tools"]]
            assert names[-3:] == listed
            for name in (*dotted, *underscore):
                assert "result" in peer.ask("tools/call", {"name": name})


@pytest.mark.parametrize("value", ["", "0", "-1", "1.5", "soon", " 30", "３"])
def test_a_time_limit_that_is_no_positive_integer_ends_it_with_the_reason(tmp_path: Path, value: str) -> None:
    with Peer(CONTEXT_SERVER, tmp_path, {"CONTEXT_TOOL_TIMEOUT_SECS": value}) as peer:
        assert peer.rest() == []
        assert peer.process.returncode == 1
        assert peer.log == f"error: CONTEXT_TOOL_TIMEOUT_SECS is not a positive integer\nreason: it is {value!r}\n"


def test_a_missing_cache_root_is_said_at_the_start_and_answered_by_the_tools(tmp_path: Path) -> None:
    for env in ({}, {"CONTEXT_CACHE_ROOT": str(tmp_path / "gone")}):
        with Peer(CONTEXT_SERVER, tmp_path, env) as peer:
            peer.initialize()
            assert peer.log.startswith("warning: ")
            assert text_of(peer.call("context.list_caches")) == MISSING
            assert text_of(peer.call("context.inspect_cache", {"cache": "x"})) == MISSING


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_an_unreadable_cache_root_is_an_io_error(tmp_path: Path) -> None:
    root = tmp_path / "locked"
    root.mkdir(mode=0o000)
    with Peer(CONTEXT_SERVER, tmp_path, {"CONTEXT_CACHE_ROOT": str(root)}) as peer:
        peer.initialize()
        assert "Permission denied" in peer.log
        assert text_of(peer.call("context.list_caches")) == error_text("io_error", "I/O error occurred")


def test_nothing_is_written_to_disk(peer: Peer, home: Path) -> None:
    before = sorted(home.rglob("*"))
    peer.call("context.resolve", {"cache": "docs", "query": "deploy", "budget": 100})
    peer.call("context.inspect_cache", {"cache": "docs"})
    assert sorted(home.rglob("*")) == before


def test_it_tells_what_it_is_and_takes_no_arguments(tmp_path: Path) -> None:
    outcomes = {}
    for argument in ("--version", "--help", "--cache-root"):
        with Peer((*CONTEXT_SERVER, argument), tmp_path) as peer:
            assert peer.process.stdout
            outcomes[argument] = (peer.process.stdout.readline().decode(), peer.process.wait())
    assert outcomes == {
        "--version": (f"mcp-context-server {__version__}\n", 0),
        "--help": ("Usage: mcp-context-server [--debug]\n", 0),
        "--cache-root": ("", 1),
    }
