"""A call that is answered without the SDK has the bytes that the SDK gives, and is as good a member of its session."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from contextlib import asynccontextmanager

import pytest

from conftest import clean_env
from smart_context.server import encoded, session_calls
from smart_context.server.http import application
from smart_context.server.listen import Listen
from smart_context.server.metrics import Metrics
from smart_context.server.protocol import Offer
from smart_context.server.tools import Program, Reply, Tool, unguarded
from smart_context.tool_table import TABLE

ID = "mcp-session-id"
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PLAIN = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home = tmp_path_factory.mktemp("direct")
    (home / "share").mkdir()
    for number in range(5):
        text = f"# Note {number}\n\nCafé turbine {number} “quoted” \u2028 \U0001f375 of 2021.\n"
        (home / "share" / f"note {number}.md").write_text(text, encoding="utf-8")
    (home / "config.toml").write_text("[rate_limits]\nsearchFiles = 0\n", encoding="utf-8")
    common = ["--root", "share", "--data-dir", "data", "--config", "config.toml"]
    context = [sys.executable, "-m", "smart_context"]
    subprocess.run(
        [*context, "index", "share", *common], cwd=home, env=clean_env(home), check=True, capture_output=True
    )
    running = subprocess.Popen(
        [*context, "serve", "--http", "--no-token", "--port", "0", *common],
        cwd=home,
        env=clean_env(home),
        stderr=subprocess.PIPE,
        text=True,
    )
    said = running.stderr.readline()
    while "listening" not in said:
        said = running.stderr.readline()
    yield int(re.findall(r":(\d+)/mcp", said)[0])
    running.send_signal(signal.SIGTERM)
    running.communicate()


@pytest.fixture
def opened(server):
    """How to open a session; its connection is closed in the end."""
    sessions = []

    def opened(version="2025-11-25"):
        sessions.append(Session(server, version))
        return sessions[-1]

    yield opened
    for session in sessions:
        session.link.close()


class Session:
    """A session on one connection."""

    def __init__(self, port, version):
        self.link = http.client.HTTPConnection("127.0.0.1", port)
        self._own = {}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        self._own = {ID: self.session, "mcp-protocol-version": version}
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, body, **headers):
        data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        self.link.request("POST", "/mcp", data, {**PLAIN, **self._own, **headers})
        return self._answer()

    def end(self):
        self.link.request("DELETE", "/mcp", headers={**PLAIN, **self._own})
        return self._answer()[0]

    def _answer(self):
        answer = self.link.getresponse()
        self.session = answer.getheader(ID) or ""
        head = [(name.lower(), value) for name, value in answer.getheaders() if name.lower() not in {"date", ID}]
        return answer.status, head, answer.read()


def call(name, arguments, request_id=1):
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


CALLS = [
    call("searchFiles", {"query": "turbine"}),
    call("searchFiles", {"query": "café “turbine”", "k": 2, "offset": 1}, "é\n\u2028\U0001f375"),
    call("searchFiles", {"query": "nothing of the kind"}, 0),
    call("searchFiles", {"query": ""}, -7),
    call("searchFiles", {"nonsense": {"a": [1, None, True]}}, ""),
    call("listRoots", {}, "x" * 300),
    call("openFile", {"path": "/etc/passwd"}),
    call("context.list_caches", {}),
    call("context_resolve", {"cache": "none", "query": "q", "budget": 5}),
]
UNUSUAL = [
    call("context.resolve", {"cache": "none", "query": "q", "budget": 5, "more": 1}),
    call("searchFiles", {"query": "turbine", "k": 2.0}),
    call("no such tool", {}),
    call("searchFiles", {"query": "turbine"}, 1.5),
    call("searchFiles", {"query": "turbine"}, 10**30),
    {**call("searchFiles", {"query": "turbine"}), "more": 1},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "listRoots"}},
    *(
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "listRoots", "_meta": meta}}
        for meta in (
            {},
            {"progressToken": 5, "editor/useId": {"a": ["b", None]}},
            {"progressToken": ""},
            {"progressToken": True},
            {"progressToken": 1.5},
            {"progressToken": None},
            {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
            None,
            [],
        )
    ),
    {"jsonrpc": "2.0", "id": 3, "method": "ping"},
    rb'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"searchFiles","arguments":{"query":"\u0074urbine"}}}',
    rb'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"searchFiles","arguments":{"query":"\ud800"}}}',
    b'{"jsonrpc":"2.0","id":-0,"method":"tools/call","params":{"name":"listRoots","arguments":{}}}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    b"{",
    b"",
]


def both(opened, version, bodies):
    """What is answered in a session that goes on as it began, and in one of which every head differs from the last: by the SDK."""
    quick, slow = opened(version), opened(version)
    assert [session.post(CALLS[0])[0] for session in (quick, slow)] == [200, 200]
    for number, body in enumerate(bodies):
        yield body, [quick.post(body), slow.post(body, **{"x-number": str(number)})]


@pytest.mark.parametrize("version", VERSIONS)
def test_answers_have_the_bytes_of_the_sdk(opened, version):
    for body, (one, other) in both(opened, version, [*CALLS, *CALLS[:2]]):
        assert one == other, body
        assert one[0] == 200


def test_what_is_unusual_is_answered_as_ever(opened):
    for body, (one, other) in both(opened, "2025-11-25", [*UNUSUAL, CALLS[0]]):
        assert one == other, body


@pytest.mark.parametrize("version", VERSIONS[2:])
@pytest.mark.parametrize("body", CALLS[:5], ids=lambda body: body["params"]["name"])
def test_what_the_sdk_makes_of_an_answer_is_what_is_made_here(opened, version, body):
    """Or no call would ever be answered here."""
    _, _, found = opened(version).post(body)
    result = json.loads(found.partition(b"data: ")[2])["result"]
    reply = Reply(result["content"][0]["text"], result["structuredContent"], "code" if result["isError"] else "")
    assert session_calls.event(body["id"], encoded.of(reply)) == found


def test_a_session_that_has_ended_is_not_found(opened):
    session = opened()
    assert [session.post(CALLS[0])[0] for _ in range(3)] == [200] * 3
    assert session.end() == 200
    assert session.post(CALLS[0])[0] == 404
    assert session.post(CALLS[0], **{"x-number": "1"})[0] == 404


class Driven:
    """The application itself, asked from here, with a tool that waits until it is told to end."""

    def __init__(self, guard=unguarded):
        self.began, self.may_end, self.ended = threading.Event(), threading.Event(), threading.Event()
        row = next(row for row in TABLE if row.name == "searchFiles")

        def run(arguments, work):
            if arguments.get("query") == "slow":
                self.began.set()
                try:
                    while not self.may_end.wait(0.01):
                        work.stop()
                finally:
                    self.ended.set()
            return Reply("{}", {})

        tool = Tool.of(row, run, lambda error: Reply("", code=error.code), 60.0, knows_arguments=True)
        offer = Offer(Program("p", "P", "how"), (tool,), guard)
        self.gate, self.calls = application(offer, Listen(), Metrics(), lambda: None)

    async def post(self, body, session=b"", address="127.0.0.1", method="POST"):
        sent = []
        waiting = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]
        headers = [(b"host", b"127.0.0.1"), *((k.encode(), v.encode()) for k, v in PLAIN.items())]
        headers += [(b"mcp-session-id", session), (b"mcp-protocol-version", b"2025-11-25")] if session else []

        async def receive():
            return waiting.pop() if waiting else await asyncio.Future()

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": method, "path": "/mcp", "raw_path": b"/mcp", "query_string": b""}
        scope |= {"headers": headers, "client": (address, 1)}
        await self.gate(scope, receive, send)
        self.status = sent[0]["status"]
        return dict(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])

    async def open(self):
        """A new session."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        head, _ = await self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, head[b"mcp-session-id"])
        return head[b"mcp-session-id"]

    @asynccontextmanager
    async def session(self):
        """Run the application: a session in it, and what it answers to a quick call."""
        stop = asyncio.Event()
        states = asyncio.Queue()

        async def receive():
            return {"type": "lifespan.startup"} if states.empty() else await stop.wait()

        life = asyncio.create_task(self.gate({"type": "lifespan"}, receive, states.put))
        await states.get()
        states.put_nowait("started")
        session = await self.open()
        quick = [await self.post(call("searchFiles", {"query": "q"}), session) for _ in range(2)]
        assert quick[0] == quick[1]
        yield session, quick[0]
        stop.set()
        await life


def test_a_call_that_is_cancelled_is_stopped_and_not_answered():
    async def talk(driven, session, quick):
        running = asyncio.create_task(driven.post(call("searchFiles", {"query": "slow"}, "s"), session))
        await asyncio.to_thread(driven.began.wait)
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s"}}
        await driven.post(told, session, "127.0.0.2")  # somebody else
        assert not running.done()
        await driven.post(told, session)
        _, body = await running
        assert body == b""
        assert await driven.post(call("searchFiles", {"query": "q"}), session) == quick

    drive(talk)


def test_calls_that_take_long_hold_up_no_others():
    async def talk(driven, session, quick):
        slow = [
            asyncio.create_task(driven.post(call("searchFiles", {"query": "slow"}, f"s{n}"), session)) for n in range(3)
        ]
        ping = await driven.post({"jsonrpc": "2.0", "id": "p", "method": "ping"}, session)
        assert b'"id":"p","result":{}' in ping[1]
        assert [await driven.post(call("searchFiles", {"query": "q"}), session) for _ in range(5)] == [quick] * 5
        assert not any(one.done() for one in slow)
        driven.may_end.set()
        assert all(b'"isError":false' in body for _, body in await asyncio.gather(*slow))

    drive(talk)


def drive(talk):
    async def driven():
        one = Driven()
        async with one.session() as (session, quick):
            await talk(one, session, quick)

    asyncio.run(driven())
