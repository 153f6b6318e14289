"""A call without a session that is answered without the SDK has the bytes that the SDK gives."""

from __future__ import annotations

import asyncio
import http.client
import json

import mcp.server._streamable_http_modern as sdk
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_session_calls import CALLS, PLAIN, Driven, call, server  # noqa: F401

from smart_context.server import encoded, running_call, search_tools
from smart_context.server.tools import Reply

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def with_meta(body, **more):
    return {**body, "params": {**body["params"], "_meta": {**META, **more}}}


def headers(body, **more):
    name = body["params"]["name"].encode("ascii", "replace").decode()
    return {**PLAIN, "mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": name, **more}


def post(link, body, **more):
    link.request("POST", "/mcp", json.dumps(body, ensure_ascii=False).encode(), headers(body, **more))
    answer = link.getresponse()
    head = [(name.lower(), value) for name, value in answer.getheaders() if name.lower() != "date"]
    return answer.status, head, answer.read()


@pytest.fixture
def link(server):  # noqa: F811
    link = http.client.HTTPConnection("127.0.0.1", server)
    yield link
    link.close()


@pytest.mark.parametrize("body", CALLS, ids=lambda body: body["params"]["name"])
def test_answers_have_the_bytes_of_the_sdk(link, body):
    asked = with_meta(body)
    by_the_sdk = post(link, asked, **{"x-number": "1"})
    assert by_the_sdk[0] == 200
    assert [post(link, asked) for _ in range(3)] == [by_the_sdk] * 3


@pytest.mark.parametrize("body", CALLS, ids=lambda body: body["params"]["name"])
def test_what_the_sdk_makes_of_an_answer_is_what_is_made_here(link, body):
    """Or no call would ever be answered here."""
    _, _, found = post(link, with_meta(body))
    result = json.loads(found)["result"]
    code = "code" if result["isError"] else ""
    made = encoded.of(Reply(result["content"][0]["text"], result.get("structuredContent"), code), ascii_only=True)
    assert encoded.message(body["id"], encoded.with_more(made, encoded.added(result))) == found


def test_what_is_unusual_is_answered_as_ever(link):
    search = call("searchFiles", {"query": "turbine"})
    assert post(link, with_meta(search))[0] == 200
    unusual = [
        (search, {}),  # no `_meta`
        (with_meta(search, **{"io.modelcontextprotocol/protocolVersion": "1999-01-01"}), {}),
        (with_meta(search, **{"io.modelcontextprotocol/clientInfo": "x"}), {}),
        (with_meta(search, progressToken=True), {}),
        (with_meta(search), {"mcp-name": "openFile"}),
        (with_meta(search), {"mcp-method": "tools/list"}),
        (with_meta(search), {"mcp-param-query": "other"}),
        (with_meta(call("openFile", {"path": "/"})), {"mcp-name": "searchFiles"}),
        (with_meta(call("no such tool", {})), {}),
    ]
    for number, (body, more) in enumerate(unusual):
        one = post(link, body, **more)
        assert one == post(link, body, **more, **{"x-number": str(number)}), (body, more)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.sampled_from(["", "NOT_FOUND"]))
@example({"items": [{"snippet": "an ice\x7fberg\x1f", "score": 1e-07}]}, "")
@example({"items": [{"snippet": "Eisbär"}]}, "NOT_FOUND")
def test_an_object_that_is_there_in_json_is_not_written_another_way(answer, code):
    reply = search_tools.reply(answer, code)
    assert reply.is_compact
    again = Reply(reply.text, reply.structured, code)
    for ascii_only in (True, False):
        assert encoded.of(reply, ascii_only=ascii_only) == encoded.of(again, ascii_only=ascii_only)


CLIENTS = [
    {"name": "ada", "version": "1"},
    {"name": "bo", "version": "2.0"},
    {"name": "", "version": ""},
    {"name": 'Ǆ "{}\\u00e9\n' * 20, "version": "1"},
    {"name": "ada", "version": "1", "title": "Ada"},
    {"name": "ada", "version": 1},
    {"name": "ada"},
    {},
    "a name and a version",
    None,
]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: json.dumps(client)[:30])
def test_whatever_a_client_calls_itself_answers_have_the_bytes_of_the_sdk(link, client):
    search = call("searchFiles", {"query": "turbine"})
    post(link, with_meta(search))
    asked = with_meta(search, **{"io.modelcontextprotocol/clientInfo": client})
    by_the_sdk = post(link, asked, **{"mcp-session-id": ""})  # which is left to it
    assert [post(link, asked) for _ in range(2)] == [by_the_sdk] * 2


def test_clients_of_other_names_are_answered_alike_and_each_is_logged_by_its_name():
    seen = []

    def guard(asked, answer):
        seen.append(asked.client)
        return answer()

    driven = DrivenSingly(guard)

    async def talk():
        search = call("searchFiles", {"query": "q"})
        named = [with_meta(search, **{"io.modelcontextprotocol/clientInfo": client}) for client in CLIENTS[:3]]
        found = [await driven.post(body) for body in (*named, *named)]
        assert found == [found[0]] * 6
        assert seen == ["ada", "bo", ""] * 2
        assert len(driven.calls._known) == 1

    asyncio.run(living(driven, talk))


def test_progress_that_a_client_asks_for_by_another_name_each_time_changes_nothing(link):
    search = call("searchFiles", {"query": "turbine"})
    found = {post(link, with_meta(search, progressToken=token))[2] for token in (1, 2, "three")}
    assert len(found) == 1


class DrivenSingly(Driven):
    """The application itself, asked without a session."""

    async def post(self, body, gone=None):
        sent = []
        waiting = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]
        given = [(b"host", b"127.0.0.1"), *((k.encode(), v.encode()) for k, v in headers(body).items())]

        async def receive():
            if waiting:
                return waiting.pop()
            await (gone.wait() if gone else asyncio.Future())
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append({"more_body": False, **message})

        scope = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "query_string": b""}
        await self.gate({**scope, "headers": given, "client": ("127.0.0.1", 1)}, receive, send)
        return sent


async def living(driven, talk):
    """Let the application live while somebody talks with it."""
    stop, states = asyncio.Event(), asyncio.Queue()

    async def receive():
        return {"type": "lifespan.startup"} if states.empty() else await stop.wait()

    life = asyncio.create_task(driven.gate({"type": "lifespan"}, receive, states.put))
    await states.get()
    states.put_nowait("started")
    await talk()
    stop.set()
    await life


def test_a_client_that_hangs_up_has_cancelled_its_call():
    driven = DrivenSingly()

    async def talk():
        quick = with_meta(call("searchFiles", {"query": "q"}))
        assert await driven.post(quick) == await driven.post(quick)
        gone = asyncio.Event()
        slow = asyncio.create_task(driven.post(with_meta(call("searchFiles", {"query": "slow"})), gone))
        await asyncio.to_thread(driven.began.wait)
        gone.set()
        assert await slow == []

    asyncio.run(living(driven, talk))


def test_a_call_that_takes_long_becomes_a_stream_as_the_sdks(monkeypatch):
    monkeypatch.setattr(running_call, "PING_SECONDS", 0.05)
    monkeypatch.setattr(sdk, "_SSE_PING_INTERVAL", 0.05)
    slow = with_meta(call("searchFiles", {"query": "slow"}))

    async def asked(driven):
        running = asyncio.create_task(driven.post(slow))
        await asyncio.to_thread(driven.began.wait)
        await asyncio.to_thread(driven.may_end.wait, 0.2)  # long enough for a ping or more
        driven.may_end.set()
        sent = await running
        return [message for message in sent if message.get("body") != b": ping\r\n\r\n"]

    found = []

    async def by_the_sdk():
        found.append(await asked(driven))

    async def here():
        await driven.post(with_meta(call("searchFiles", {"query": "q"})))
        found.append(await asked(driven))

    for talk in (by_the_sdk, here):
        driven = DrivenSingly()
        asyncio.run(living(driven, talk))
    assert found[0] == found[1]
    assert len(found[0]) == 2
