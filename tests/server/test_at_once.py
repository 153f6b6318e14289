"""A call like the one before it on its connection gets the bytes that it would have got the ordinary way, whatever a client does with its bytes."""

from __future__ import annotations

import asyncio
import json
import re
from functools import partial

import pytest
from test_session_calls import Driven, call
from test_stateless_calls import headers, with_meta

from smart_context.model import Caller
from smart_context.server import running_call
from smart_context.server.at_once import AtOnce, Entrance
from smart_context.server.connection import Listener, listener
from smart_context.server.gate import Gate, Policy
from smart_context.server.listen import bind

QUICK, SLOW = "quick", "slow"


class Counted(Entrance):
    """Counts the calls that came this way, and those that waited for their turn."""

    count = 0
    waited = 0

    def turn(self, scope, body):
        found = super().turn(scope, body)
        self.waited += isinstance(found, asyncio.Future)
        return found

    def begin(self, scope, body):
        found = super().begin(scope, body)
        self.count += found is not None
        return found


class Ready(Listener):
    """Says when it listens."""

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.ready.set()


class Served:
    """The application at a socket. policy: what its gate lets through, if not everything."""

    def __init__(self, **policy):
        self.driven = Driven()
        gate = self.driven.gate
        if policy:
            gate = Gate(gate._inner, Policy(frozenset({"127.0.0.1"}), **policy))
        self.entrance = Counted(gate, self.driven.calls)
        self.server = Ready(listener(gate, 64, partial(AtOnce, self.entrance)))
        self._links = []

    def run(self, talk):
        async def life():
            self.server.ready = asyncio.Event()
            sockets = bind("127.0.0.1", 0)
            self.port = sockets[0].getsockname()[1]
            serving = asyncio.create_task(self.server.serve(sockets))
            await self.server.ready.wait()
            try:
                await talk(self)
            finally:
                self.driven.may_end.set()
                for link in self._links:
                    link.close()
                self.server.should_exit = True
                await serving

        asyncio.run(life())

    async def link(self):
        link = Link(*await asyncio.open_connection("127.0.0.1", self.port))
        self._links.append(link)
        return link


class Link:
    """A connection, by its bytes."""

    def __init__(self, reader, writer):
        self.reader, self.write, self.close = reader, writer.write, writer.close

    async def answer(self):
        """The bytes of the next answer, its date left out."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if length:
            body = await self.reader.readexactly(int(length[1]))
        else:
            body = await self.reader.readuntil(b"0\r\n\r\n") if b"chunked" in head else b""
        return re.sub(rb"date: [^\r]*\r\n", b"", head) + body

    async def ask(self, data):
        self.write(data)
        return await self.answer()


def request(body, more=b"", **given):
    data = json.dumps(body).encode()
    told = {"host": "127.0.0.1", "content-length": str(len(data)), **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in told.items()).encode()
    return b"POST /mcp HTTP/1.1\r\n" + head + more + b"\r\n" + data


def alone(query, **more):
    body = with_meta(call("searchFiles", {"query": query}))
    return request(body, **headers(body), **more)


async def in_session(served):
    """How to ask in a new session."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    plain = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    link = await served.link()
    answer = await link.ask(request({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, **plain))
    own = {**plain, "mcp-session-id": re.search(rb"mcp-session-id: (\S+)", answer)[1].decode()}
    own["mcp-protocol-version"] = "2025-11-25"
    await link.ask(request({"jsonrpc": "2.0", "method": "notifications/initialized"}, **own))
    return lambda query: request(call("searchFiles", {"query": query}), **own)


async def asking(served, kind):
    """How to ask, after the SDK has seen one such call."""
    ask = alone if kind == "alone" else await in_session(served)
    await (await served.link()).ask(ask(QUICK))
    return ask


@pytest.fixture(params=["alone", "in a session"])
def kind(request):
    return request.param


def test_the_bytes_are_those_of_the_ordinary_way(kind):
    async def talk(served):
        ask = await asking(served, kind)
        ordinary = [await (await served.link()).ask(ask(query)) for query in (QUICK, "another and longer")]
        assert served.entrance.count == 0
        link = await served.link()
        found = [await link.ask(ask(query)) for query in (QUICK, QUICK, "another and longer")]
        assert served.entrance.count == 2
        assert found == [ordinary[0], *ordinary]

    Served().run(talk)


def test_a_request_may_come_in_pieces(kind):
    async def talk(served):
        ask = await asking(served, kind)
        link = await served.link()
        first = await link.ask(ask(QUICK))
        data = ask(QUICK)
        for at in (data.index(b"\r\n\r\n") + 4, 10, len(data) - 1, data.index(b"content-length") + 16):
            link.write(data[:at])
            await asyncio.to_thread(lambda: None)  # the loop comes round
            assert await link.ask(data[at:]) == first
        link.write(data[:-1])
        for byte in (data[-1:], *(data[at : at + 1] for at in range(len(data)))):
            link.write(byte)
            await asyncio.to_thread(lambda: None)
        assert [await link.answer() for _ in range(2)] == [first] * 2

    Served().run(talk)


def test_a_head_whose_body_does_not_come_goes_the_ordinary_way(kind):
    async def talk(served):
        ask = await asking(served, kind)
        link = await served.link()
        first = await link.ask(ask(QUICK))
        head, _, body = ask(QUICK).partition(b"\r\n\r\n")
        link.write(head + b"\r\n\r\n")
        connection = next(one for one in served.server.server_state.connections if one._head)
        while connection._is_idle():  # until it has waited long enough
            await asyncio.to_thread(lambda: None)
        assert await link.ask(body) == first
        assert served.entrance.count == 0

    Served().run(talk)


def test_requests_that_come_in_advance_are_answered_in_their_order(kind):
    async def talk(served):
        ask = await asking(served, kind)
        link = await served.link()
        first = await link.ask(ask(QUICK))
        link.write(ask(QUICK) * 3)
        assert [await link.answer() for _ in range(3)] == [first] * 3
        link.write(ask(SLOW))
        await asyncio.to_thread(served.driven.began.wait)
        assert served.entrance.count == 1
        link.write(ask(QUICK) + b"no HTTP\r\n\r\n")
        served.driven.may_end.set()
        assert [await link.answer() for _ in range(2)] == [first] * 2
        assert (await link.answer()).startswith(b"HTTP/1.1 400 ")
        assert await link.reader.read() == b""

    Served().run(talk)


def test_a_client_that_hangs_up_has_cancelled_its_call():
    async def talk(served):
        ask = await asking(served, "alone")
        link = await served.link()
        await link.ask(ask(QUICK))
        link.write(ask(SLOW))
        await asyncio.to_thread(served.driven.began.wait)
        assert served.entrance.count == 1
        link.close()
        await asyncio.to_thread(served.driven.ended.wait)
        assert not served.driven.may_end.is_set()

    Served().run(talk)


def test_a_call_that_takes_long_becomes_a_stream(kind, monkeypatch):
    monkeypatch.setattr(running_call, "PING_SECONDS", 0.01)
    ping = b"a\r\n: ping\r\n\r\n\r\n"

    async def talk(served):
        ask = await asking(served, kind)
        found = []
        for is_first in (True, False):
            link = await served.link()
            if not is_first:
                await link.ask(ask(QUICK))
            link.write(ask(SLOW))
            await asyncio.to_thread(served.driven.began.wait)
            start = await link.reader.readuntil(ping * 2)
            served.driven.may_end.set()
            end = await link.reader.readuntil(b"\r\n0\r\n\r\n")
            found.append(re.sub(rb"date: [^\r]*\r\n", b"", start + end).replace(ping, b""))
            served.driven.began.clear()
            served.driven.may_end.clear()
        assert served.entrance.count == 1
        assert found[0] == found[1]

    Served().run(talk)


@pytest.mark.parametrize(
    "odd",
    [
        b"content-length: %d\r\n",
        b"expect: 100-continue\r\n",
        b"connection: close\r\n",
        b"transfer-encoding: chunked\r\n",
    ],
)
def test_a_head_that_is_odd_always_goes_the_ordinary_way(odd):
    async def talk(served):
        body = with_meta(call("searchFiles", {"query": QUICK}))
        data = request(body, odd.replace(b"%d", str(len(json.dumps(body))).encode()), **headers(body))
        for _ in range(2):
            link = await served.link()
            for _ in range(3):
                link.write(data)
            await link.answer()
        assert served.entrance.count == 0

    Served().run(talk)


def test_a_body_that_is_shorter_or_longer_than_said_is_no_part_of_another_request():
    async def talk(served):
        ask = await asking(served, "alone")
        link = await served.link()
        first = await link.ask(ask(QUICK))
        link.write(ask(QUICK) + ask(QUICK)[:-30])
        assert await link.answer() == first
        assert await link.ask(ask(QUICK)[-30:]) == first
        link.write(re.sub(rb"content-length: \d+", b"content-length: 7", ask(QUICK)))
        assert (await link.answer()).startswith(b"HTTP/1.1 400 ")

    Served().run(talk)


def test_a_token_that_is_withdrawn_lets_nobody_in_on_an_open_connection():
    known = {b"one": Caller("ada")}

    async def talk(served):
        data = alone(QUICK, authorization="Bearer one")
        link = await served.link()
        assert [(await link.ask(data))[9:12] for _ in range(4)] == [b"200"] * 4
        assert served.entrance.count == 2
        known.clear()
        assert (await link.ask(data))[9:12] == b"401"

    Served(known=lambda token: known.get(token, "no")).run(talk)


def test_what_is_under_way_at_the_end_is_answered(kind):
    async def talk(served):
        ask = await asking(served, kind)
        link = await served.link()
        first = await link.ask(ask(QUICK))
        link.write(ask(SLOW))
        await asyncio.to_thread(served.driven.began.wait)
        served.server.should_exit = True
        connection = next(one for one in served.server.server_state.connections if one._call)
        while not connection._is_ending:
            await asyncio.to_thread(lambda: None)
        served.driven.may_end.set()
        assert await link.answer() == first
        assert await link.reader.read() == b""

    Served().run(talk)


def test_calls_for_which_there_is_no_turn_wait_in_their_order(kind):
    async def talk(served):
        ask = await asking(served, kind)
        links = [await served.link() for _ in range(6)]
        ordinary = [await link.ask(ask(QUICK)) for link in links]
        await links[0].ask(ask(QUICK))
        links[0].write(ask(SLOW))
        await asyncio.to_thread(served.driven.began.wait)
        came = []

        async def answered(number):
            came.append((number, await links[number].answer()))

        for number, link in enumerate(links[1:], 1):
            link.write(ask(QUICK))
            while served.entrance.waited < number:
                await asyncio.sleep(0)
        waiting = [asyncio.create_task(answered(number)) for number in range(1, 6)]
        links[2].write(ask(QUICK))  # in advance
        served.driven.may_end.set()
        await links[0].answer()
        await asyncio.gather(*waiting)
        assert came == [(number, ordinary[number]) for number in range(1, 6)]
        assert await links[2].answer() == ordinary[2]

    Served(max_concurrent=1).run(talk)


def test_who_waits_too_long_for_a_turn_is_told_so_as_ever(kind):
    async def talk(served):
        ask = await asking(served, kind)
        link, other, new = [await served.link() for _ in range(3)]
        ordinary = [await one.ask(ask(QUICK)) for one in (link, other)]
        link.write(ask(SLOW))
        await asyncio.to_thread(served.driven.began.wait)
        refused = await other.ask(ask(QUICK))
        assert served.entrance.waited == 1
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert refused == await new.ask(ask(QUICK))  # the ordinary way: it has asked nothing before
        assert served.entrance.waited == 1
        served.driven.may_end.set()
        await link.answer()
        assert await other.ask(ask(QUICK)) == ordinary[1]

    Served(max_concurrent=1, wait_seconds=0.01).run(talk)


def test_who_hangs_up_while_a_call_waits_takes_nobodys_turn(kind):
    async def talk(served):
        ask = await asking(served, kind)
        link, other, third = [await served.link() for _ in range(3)]
        ordinary = [await one.ask(ask(QUICK)) for one in (link, other, third)]
        link.write(ask(SLOW))
        await asyncio.to_thread(served.driven.began.wait)
        other.write(ask(QUICK))
        while served.entrance.waited < 1:
            await asyncio.sleep(0)
        other.close()
        served.driven.may_end.set()
        await link.answer()
        assert [await third.ask(ask(QUICK)) for _ in range(3)] == [ordinary[2]] * 3

    Served(max_concurrent=1).run(talk)


def test_what_waits_for_its_turn_at_the_end_is_answered(kind):
    async def talk(served):
        ask = await asking(served, kind)
        link, other = [await served.link() for _ in range(2)]
        ordinary = [await one.ask(ask(QUICK)) for one in (link, other)]
        link.write(ask(SLOW))
        await asyncio.to_thread(served.driven.began.wait)
        other.write(ask(QUICK))
        while served.entrance.waited < 1:
            await asyncio.sleep(0)
        served.server.should_exit = True
        served.driven.may_end.set()
        await link.answer()
        assert await other.answer() == ordinary[1]

    Served(max_concurrent=1).run(talk)
