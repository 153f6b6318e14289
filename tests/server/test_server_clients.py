"""The servers with clients that nobody here wrote: the Python SDK's, the TypeScript SDK's, the MCP Inspector's."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

import ready
from conftest import clean_env
from server_client import CONTEXT_SERVER
from smart_context.cache import build

CLIENTS = Path(__file__).parents[1] / "clients"
PACKAGES = (
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
)
TOOLS = ["context.resolve", "context.list_caches", "context.inspect_cache"]
ASK = {"cache": "docs", "query": "deploy", "budget": 1000}
MISSING = '{"error":{"code":"cache_missing","message":"Cache does not exist"}}\n'


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a server with one cache."""
    home = tmp_path_factory.mktemp("home")
    (home / "sources").mkdir()
    (home / "sources" / "deploy.md").write_text("How to deploy: push the “tag”.\n", encoding="utf-8")
    (home / "sources" / "other.md").write_text("Nothing.\n", encoding="utf-8")
    (home / "caches").mkdir()
    build.cache(home / "sources", home / "caches" / "docs", created_at="2026-01-01T00:00:00Z")
    return {**clean_env(home), "CONTEXT_CACHE_ROOT": str(home / "caches")}


@pytest.fixture(scope="module")
def resolved(env: dict[str, str]) -> str:
    """What the command prints for `ASK`."""
    words = [word for name, value in ASK.items() if name != "cache" for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "smart_context", "resolve", "--cache", f"{env['CONTEXT_CACHE_ROOT']}/docs", *words]
    return ready.run(command, env=env, capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_python_client_in_each_of_its_modes(env: dict[str, str], resolved: str, mode: str) -> None:
    async def session() -> None:
        server = StdioServerParameters(command=CONTEXT_SERVER[0], args=list(CONTEXT_SERVER[1:]), env=env)
        async with Client(server, mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            answer = await client.call_tool("context.resolve", ASK)
            assert [block.text for block in answer.content] == [resolved]  # type: ignore[union-attr]
            listed = await client.call_tool("context.list_caches", {})
            assert listed.structured_content == {"caches": [{"path": "docs", "has_manifest": True}]}
            refused = await client.call_tool("context_inspect_cache", {"cache": "nope"})
            assert (refused.is_error, refused.content[0].text) == (True, MISSING)  # type: ignore[union-attr]
            with pytest.raises(MCPError) as unknown:
                await client.call_tool("context.build", {})
            assert unknown.value.error.code == -32602

    asyncio.run(session())


@pytest.mark.timeout(600)  # the first run on a machine installs them
@pytest.mark.parametrize(("package", "mode"), [("sdk", "-"), ("client", "auto"), ("client", "2026-07-28")])
def test_the_typescript_clients(env: dict[str, str], resolved: str, package: str, mode: str) -> None:
    node = installed()
    calls = [
        ["context.resolve", ASK],
        ["context.list_caches", {}],
        ["context.inspect_cache", {"cache": "nope"}],
        ["none", {}],
    ]
    # Node looks for packages beside the script.
    script = shutil.copy(CLIENTS / "typescript.mjs", node.parent.parent.parent / f"client-{os.getpid()}.mjs")
    try:
        done = subprocess.run(
            [node, script, package, mode, json.dumps(calls), *CONTEXT_SERVER], env=env, capture_output=True, check=False
        )
    finally:
        os.unlink(script)
    assert done.returncode == 0, done.stderr.decode()
    seen = json.loads(done.stdout)
    assert (seen["server"], seen["tools"]) == ("mcp-context-server", TOOLS)
    answer, listed, refused, unknown = seen["results"]
    assert [block["text"] for block in answer["content"]] == [resolved]
    assert listed["structuredContent"] == {"caches": [{"path": "docs", "has_manifest": True}]}
    assert (refused["isError"], refused["content"][0]["text"]) == (True, MISSING)
    assert unknown == {"code": -32602}


@pytest.mark.timeout(600)
def test_the_inspector(env: dict[str, str], resolved: str) -> None:
    listed = inspector(env, "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
    given = [word for name, value in ASK.items() for word in ("--tool-arg", f"{name}={value}")]
    answer = inspector(env, "--method", "tools/call", "--tool-name", "context.resolve", *given)
    assert [block["text"] for block in answer["content"]] == [resolved]


def inspector(env: dict[str, str], *args: str) -> Any:
    node = installed()
    told = [
        word for name in ("CONTEXT_CACHE_ROOT", "PYTHONPATH") if name in env for word in ("-e", f"{name}={env[name]}")
    ]
    done = subprocess.run(
        [node, node.with_name("mcp-inspector"), "--cli", *told, *args, "--", *CONTEXT_SERVER],
        env={**env, "PATH": f"{node.parent}:{env['PATH']}"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def installed() -> Path:
    """The Node that the clients need, with them beside it; installed once a machine."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smart-context-tests"
    place = cache / hashlib.sha256(" ".join(PACKAGES).encode()).hexdigest()[:12]
    node = place / "node_modules" / ".bin" / "node"
    cache.mkdir(parents=True, exist_ok=True)
    with alone(cache / "lock"):
        if not node.exists():
            with tempfile.TemporaryDirectory(dir=cache) as fresh:
                env = {**os.environ, "PATH": f"{fresh}/node_modules/.bin:{os.environ['PATH']}"}
                for packages in (("node@22",), PACKAGES):  # npm chooses packages by the Node that runs it
                    install = [
                        npm,
                        "install",
                        "--prefix",
                        fresh,
                        "--no-audit",
                        "--no-fund",
                        "--loglevel=error",
                        *packages,
                    ]
                    done = subprocess.run(install, env=env, capture_output=True, check=False)
                    if done.returncode != 0:
                        pytest.skip(f"npm cannot install {packages[0]}: {done.stderr.decode()[-300:]}")
                os.rename(fresh, place)
                os.mkdir(fresh)  # for its own removal
    return node


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    if sys.platform == "win32":
        pytest.skip("needs fcntl")
    import fcntl

    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
