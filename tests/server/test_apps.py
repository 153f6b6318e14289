"""The page inside MCP clients: there for whoever declares that it shows such pages, and for nobody else. Over real pipes."""

from __future__ import annotations

import asyncio

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.extension import advertise
from test_early import SLOWLY, STARTED, greeting, lines_of, request

from conftest import clean_env
from server_client import CONTEXT_SERVER, SERVE, Peer
from smart_context.server import apps
from smart_context.server.early import VERSIONS

SHOWS = {"extensions": {apps.EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]}}}
ARGV = [*SERVE, "--root", "."]
PAGE = "ui://smart-context/results.html"
PAGES_OF_TOOLS = {"searchFiles": PAGE}


def pages_of(tools):
    return {tool["name"]: tool["_meta"]["ui"]["resourceUri"] for tool in tools if "_meta" in tool}


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_the_first_answers_to_a_client_that_shows_pages_have_the_bytes_of_the_sdk(tmp_path, version):
    asked = [STARTED, request(2, "tools/list")]
    shows = {"capabilities": SHOWS}
    early = lines_of(ARGV, tmp_path, request(1, "initialize", {**greeting(version), **shows}), *asked)
    late = lines_of(ARGV, tmp_path, request(1, "initialize", {**greeting(version), **shows, **SLOWLY}), *asked)
    assert early == late


@pytest.mark.parametrize(
    "capabilities",
    [
        None,
        {},
        {"extensions": {}},
        {"extensions": [apps.EXTENSION]},
        {"extensions": {apps.EXTENSION: {}}},
        {"extensions": {apps.EXTENSION: {"mimeTypes": []}}},
        {"extensions": {apps.EXTENSION: {"mimeTypes": ["text/html"]}}},
        {"extensions": {apps.EXTENSION: {"mimeTypes": apps.MIME_TYPE}}},
        {"extensions": {"another/extension": {"mimeTypes": [apps.MIME_TYPE]}}},
    ],
)
def test_only_the_extension_with_its_type_declares_it(capabilities):
    assert not apps.are_shown_by(capabilities)
    assert apps.are_shown_by(SHOWS)


@pytest.mark.parametrize("how", [{}, SLOWLY], ids=["early", "sdk"])
def test_whoever_does_not_declare_it_gets_the_bytes_of_a_server_without_pages(tmp_path, how):
    asked = [
        STARTED,
        request(2, "tools/list"),
        request(3, "resources/list"),
        request(4, "resources/read", {"uri": PAGE}),
    ]
    declared = {"extensions": {apps.EXTENSION: {"mimeTypes": ["text/html"]}}}
    params = {**greeting("2025-11-25"), "capabilities": declared, **how}
    found = lines_of(ARGV, tmp_path, request(1, "initialize", params), *asked)
    assert b"ui://" not in b"".join(found[:2])
    assert b'"capabilities":{"tools":{"listChanged":false}}' in found[0]
    assert [b'"code":-32601' in line for line in found[2:]] == [True, True]


def test_a_client_that_declares_it_is_told_of_the_page_and_can_read_it(tmp_path):
    with Peer(ARGV, tmp_path) as peer:
        hello = peer.ask("initialize", {**greeting("2025-11-25"), "capabilities": SHOWS})["result"]
        peer.send(STARTED)
        assert hello["capabilities"].keys() == {"tools", "resources", "extensions"}
        assert pages_of(peer.ask("tools/list")["result"]["tools"]) == PAGES_OF_TOOLS
        listed = peer.ask("resources/list")["result"]["resources"]
        assert [(one["uri"], one["mimeType"]) for one in listed] == [(PAGE, "text/html;profile=mcp-app")]
        assert peer.ask("resources/templates/list")["result"]["resourceTemplates"] == []
        read = peer.ask("resources/read", {"uri": PAGE})["result"]["contents"]
        assert [(one["uri"], one["mimeType"]) for one in read] == [(PAGE, "text/html;profile=mcp-app")]
        assert read[0]["text"].startswith("<!doctype html>")
        assert peer.ask("resources/read", {"uri": "ui://smart-context/../x"})["error"]["code"] == -32602
        assert peer.ask("resources/read", {})["error"]["code"] == -32602
        assert peer.ask("resources/read", {"uri": "file:///etc/passwd"})["error"]["code"] == -32602


def test_a_server_without_searches_has_no_page(tmp_path):
    with Peer(CONTEXT_SERVER, tmp_path) as peer:
        hello = peer.ask("initialize", {**greeting("2025-11-25"), "capabilities": SHOWS})["result"]
        assert hello["capabilities"].keys() == {"tools"}


@pytest.mark.parametrize(("mode", "shows"), [("legacy", True), ("2026-07-28", True), ("auto", False)])
def test_the_sdks_own_client_in_each_of_its_modes(tmp_path, mode, shows):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("A walrus.\n", encoding="utf-8")

    async def session():
        args = [*SERVE[1:], "--root", str(root), "--data-dir", str(tmp_path / "data")]
        server = StdioServerParameters(command=SERVE[0], args=args, env=clean_env(tmp_path))
        declared = [advertise(apps.EXTENSION, {"mimeTypes": [apps.MIME_TYPE]})] if shows else []
        async with Client(server, mode=mode, extensions=declared) as client:
            tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
            assert tools["searchFiles"] == ({"ui": {"resourceUri": PAGE}} if shows else None)
            await client.call_tool("indexFolder", {"root": str(root)})
            answer = await client.call_tool("searchFiles", {"query": "walrus"})
            assert answer.meta is None or "ui" not in answer.meta
            assert len(answer.structured_content["items"]) == 1
            if shows:
                read = await client.read_resource(PAGE)
                assert "<script>" in read.contents[0].text
            else:
                with pytest.raises(MCPError):
                    await client.read_resource(PAGE)

    asyncio.run(session())
