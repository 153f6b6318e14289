"""Somebody with a token of one folder of a shared record tries to learn of another: every answer is what a record without that folder gives.

Two search nodes, real processes that see texts by token only, have the same roots on the same disk. The record of one holds the folder of the
token alone, that of the other holds a second folder too, with the same words, more of them, and some that stand nowhere else.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_http import ACCEPT, INITIALIZE, Served

import ready
from conftest import PATIENCE, clean_env
from machine import rest
from postgres_server import Server, taken_in

UNLIMITED = "[rate_limits]\nsearchFiles = 0\nopenFile = 0\nsummarizeResults = 0\n"
QUERIES = (
    "harbour", "crane", "Zwiebelkuchen", "zwiebelkuchn", "harbor crane", "zwi*", "ha*", '"secret harbour"', "harbour NEAR crane", "2031",
    "plan.md", "layoffs.md", "Vera Stone", "author Vera", "harbour -crane", "crane OR layoffs", "the", "berth 3", "zzz", "salaries 2031",
)  # fmt: skip
PAGES = (
    "/healthz", "/metrics", "/index", "/caches", "/?q=harbour", "/?q=crane", "/?q=Zwiebelkuchen", "/?q=zwiebelkuchn", "/?q=layoffs", "/?q=2031",
    "/?q=harbour&sort=newest", "/see?path={staff}/layoffs.md", "/see?path={sales}/plan.md", "/picture?path={staff}/layoffs.md&page=1",
    "/.well-known/oauth-protected-resource", "/audit", "/cache?cache=x",
)  # fmt: skip


def commanded(home: Path, *args: str) -> str:
    command = [sys.executable, "-m", "smart_context", *args]
    done = ready.run(
        command, env=clean_env(home), cwd=home, input=b"", capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    out: bytes = done.stdout
    return out.decode()


class Node:
    """A search node, and the token of somebody who sees `sales`."""

    def __init__(self, postgres: Server, home: Path, share: Path, held: tuple[str, ...]) -> None:
        home.mkdir()
        self.share = share
        self.address = postgres.new()
        places = ["--data-dir", str(home / "owner")]
        roots = [word for name in ("sales", "staff") for word in ("--root", str(share / name))]
        (home / "owner.toml").write_text(f'engine = "{self.address}"\n', encoding="utf-8")
        owner = ["--config", str(home / "owner.toml"), *places]
        commanded(home, "engine", "init", *owner)
        if not postgres.sql("postgres", "SELECT 1 FROM pg_roles WHERE rolname = 'attacked'"):
            postgres.sql("postgres", "CREATE ROLE attacked LOGIN")
        postgres.sql("postgres", "GRANT smart_context_node TO attacked")
        for name in held:
            commanded(home, "index", *owner, *roots, str(share / name))
        self.key = commanded(home, "token", "add", "eve", "--root", str(share / "sales"), *owner).split()[-1]
        config = f'engine = "{self.address.replace("tester@", "attacked@")}"\n{UNLIMITED}'
        self.served = Served(home, *roots, config=config)

    def takes_in(self) -> None:
        taken_in(self.served.home / "index", self.address, lambda: json.loads(self.served.ask("GET", "/healthz")[1]))

    def call(self, method: str, params: dict[str, Any]) -> bytes:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "eve", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        headers |= {"Mcp-Name": params["name"]} if "name" in params else {}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        status, said = self.ask("POST", "/mcp", body, {**ACCEPT, **headers})
        return str(status).encode() + b" " + said

    def tool(self, name: str, **arguments: Any) -> bytes:
        return self.call("tools/call", {"name": name, "arguments": arguments})

    def ask(self, method: str, path: str, body: Any = None, headers: Any = None) -> tuple[int, bytes]:
        path = path.replace("{sales}", str(self.share / "sales")).replace("{staff}", str(self.share / "staff"))
        return self.served.ask(method, path, body, {"Authorization": f"Bearer {self.key}", **(headers or {})})


def alike(said: bytes | tuple[int, bytes]) -> str:
    """What was said, but for the number of a commit, ports, times and what is drawn anew for each page."""
    text = str(said)
    text = re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+Z", "THEN", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "HERE", text)
    text = re.sub(r"nonce[-=][\"']?[\w+/=-]+", "NONCE", text)
    return re.sub(r"\b\d+ (seconds?|minutes?) ago|less than a minute ago|just now", "AGO", text)


@pytest.fixture(scope="module")
def nodes(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, Node]]:
    home = tmp_path_factory.mktemp("attacked")
    share = home / "share"
    for folder, words in (("sales", "harbour crane berth"), ("staff", "harbour crane Zwiebelkuchen secret layoffs")):
        (share / folder).mkdir(parents=True)
        for number in range(6 if folder == "sales" else 30):
            text = f"# Plan {number}\n\nThe {words} of berth {number}, by Vera Stone.\n"
            (share / folder / f"{number}.md").write_text(text, encoding="utf-8")
    (share / "sales" / "plan.md").write_text("# Plan\nThe harbour of 2030.\n", encoding="utf-8")
    (share / "staff" / "layoffs.md").write_text("# Layoffs 2031\nSalaries of 2031, secret harbour.\n", encoding="utf-8")
    (share / "staff" / "plan.md").write_text("# Plan\nThe harbour of 2030.\n", encoding="utf-8")  # a copy
    alone = Node(postgres, home / "alone", share, ("sales",))
    both = Node(postgres, home / "both", share, ("sales", "staff"))
    alone.takes_in()
    both.takes_in()
    yield alone, both
    assert [node.served.end() for node in (alone, both)] == [0, 0]


def test_searches_are_those_of_a_record_without_the_other_folder(nodes: tuple[Node, Node]) -> None:
    hows: list[dict[str, Any]] = [{}, {"k": 1}, {"k": 100}, {"offset": 5}, {"sort": "newest"}, {"exts": [".md"]}]
    hows += [{"years": [2031]}, {"all_copies": True}]
    for query in QUERIES:
        for more in hows:
            one, other = (node.tool("searchFiles", query=query, **more) for node in nodes)
            assert alike(one) == alike(other), (query, more)
            assert b"/staff" not in other


def test_whoever_may_see_both_folders_is_told_of_both(nodes: tuple[Node, Node]) -> None:
    """Else the tests above would compare nothing."""
    home = nodes[1].share.parent
    keys = [node.key for node in nodes]
    for node, name in zip(nodes, ("alone", "both"), strict=True):
        owner = ["--config", str(home / name / "owner.toml"), "--data-dir", str(home / name / "owner")]
        node.key = commanded(home / name, "token", "add", "all", "--all-roots", *owner).split()[-1]
    try:
        late = time.monotonic() + PATIENCE
        while any(
            node.ask("GET", "/metrics")[0] != 200 for node in nodes
        ):  # machines look for new tokens after a second
            assert time.monotonic() < late
            rest()
        apart = [
            query for query in QUERIES if len({alike(node.tool("searchFiles", query=query)) for node in nodes}) == 2
        ]
        assert len(apart) > len(QUERIES) // 2
        assert {"harbour", "Zwiebelkuchen", "zwiebelkuchn", "layoffs.md"} <= set(apart)
    finally:
        for node, key in zip(nodes, keys, strict=True):
            node.key = key


def test_other_tools_and_methods_tell_nothing(nodes: tuple[Node, Node]) -> None:
    staff, sales = str(nodes[0].share / "staff"), str(nodes[0].share / "sales")
    beyond = [
        f"{staff}/layoffs.md",
        f"{staff}/absent.md",
        staff,
        f"{sales}/../staff/layoffs.md",
        f"{staff}/0.md",
        f"{sales}x",
    ]
    asked: list[tuple[str, dict[str, Any]]] = [
        ("tools/list", {}),
        ("resources/list", {}),
        ("prompts/list", {}),
        ("server/discover", {}),
    ]
    for path in beyond:
        asked += [
            ("tools/call", {"name": "openFile", "arguments": {"path": path}}),
            ("tools/call", {"name": "searchFiles", "arguments": {"query": "harbour", "roots": [path]}}),
            ("tools/call", {"name": "indexFolder", "arguments": {"root": path}}),
            ("tools/call", {"name": "summarizeResults", "arguments": {"query": "x", "results": [{"path": path, "snippet": "y"}]}}),
            ("resources/read", {"uri": f"file://{path}"}),
            ("completion/complete", {"ref": {"type": "ref/resource", "uri": f"file://{path}"}, "argument": {"name": "path", "value": staff}}),
        ]  # fmt: skip
    asked += [
        ("tools/call", {"name": "listRoots", "arguments": {}}),
        ("tools/call", {"name": "openFile", "arguments": {"path": f"{sales}/plan.md"}}),
        ("tools/call", {"name": "context.list", "arguments": {}}),
    ]
    for method, params in asked:
        one, other = (node.call(method, params) for node in nodes)
        assert alike(one) == alike(other), (method, params)
        assert b"Salaries" not in other
    opened = [nodes[1].tool("openFile", path=path) for path in beyond]
    assert {
        json.loads(said[said.index(b"{") :])["result"]["structuredContent"]["error"]["message"] for said in opened
    } == {"the path is outside the allowed folders"}


def test_pages_health_and_metrics_tell_nothing(nodes: tuple[Node, Node]) -> None:
    for path in PAGES:
        one, other = (node.ask("GET", path) for node in nodes)
        assert alike(one) == alike(other), path
        assert not re.search(rb"Salaries|/staff/\d|Zwiebelkuchen secret", other[1])


def test_what_others_do_meanwhile_is_not_told_either(nodes: tuple[Node, Node], postgres: Server) -> None:
    """While machines index, health and notes say nothing of how many files there are."""
    before = [alike(node.tool("searchFiles", query="harbour")) for node in nodes]
    (nodes[0].share / "staff" / "new.md").write_text("# New\nharbour crane Zwiebelkuchen\n", encoding="utf-8")
    home = nodes[1].share.parent / "both"
    owner = ["--config", str(home / "owner.toml"), "--data-dir", str(home / "owner")]
    commanded(home, "index", *owner, "--root", str(nodes[1].share / "staff"), str(nodes[1].share / "staff"))
    nodes[1].takes_in()
    assert [alike(node.tool("searchFiles", query="harbour")) for node in nodes] == before


def test_a_token_that_ends_in_a_session_ends_there_and_says_when(nodes: tuple[Node, Node], postgres: Server) -> None:
    node = nodes[1]
    name = node.address.partition("@/")[2].partition("?")[0]
    session = node.ask("POST", "/mcp", INITIALIZE, ACCEPT)
    assert session[0] == 200
    postgres.sql(name, "UPDATE smart_context.tokens SET ends = '2020-01-01T00:00:00Z' WHERE name = 'eve'")
    try:
        late = time.monotonic() + PATIENCE
        while (said := node.ask("POST", "/mcp", INITIALIZE, ACCEPT))[0] == 200:  # machines look again after a second
            assert time.monotonic() < late
            rest()
        assert said == (401, b"this token ended at 2020-01-01T00:00:00Z; ask for a new one\n")
        assert node.ask("GET", "/?q=harbour")[0] in {401, 403}
    finally:
        postgres.sql(name, "UPDATE smart_context.tokens SET ends = '' WHERE name = 'eve'")
