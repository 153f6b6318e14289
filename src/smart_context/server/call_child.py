"""A process that answers calls for a server: it reads the index, and knows no protocol and no connection.

In: messages of `call_wire` on an inherited socket; the first one has the settings.  Out: an answer for each call.
Always: a call passes the same guard as in the server: rates and the audit log are in files that processes share. The process ends when the
socket is closed, and not by signals: a server that is asked to end lets its calls be answered first.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smart_context import heap, talk
from smart_context.errors import ContextError
from smart_context.server import call_wire, encoded
from smart_context.server.call_wire import CallMessage
from smart_context.server.calls import Stopper
from smart_context.server.guards import Guards
from smart_context.server.leader_followers import LeaderFollowers
from smart_context.server.metrics import Metrics
from smart_context.server.run import expect_little_garbage
from smart_context.server.tools import Call, Reply, Work, perform

if TYPE_CHECKING:
    from smart_context.server.table import Table

_THREADS = 17  # calls at work, as many as in a server that answers by itself, and one that reads which of them to stop
_PIECE = 64 * 1024  # bytes that are read at once


def main(args: Sequence[str]) -> None:
    """Answer calls until the server closes the socket."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    threading.excepthook = _end  # a failed thread would leave its call without an answer: so the server notices
    heap.share()
    with socket.socket(fileno=int(args[0])) as link:
        incoming = Incoming(link)
        if order := incoming.next():
            _serve(order, link, incoming)
    os._exit(0)  # without waiting for threads, whose answers nobody would get


class Incoming:
    """The server's messages."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._received = bytearray()
        self._messages: deque[dict[str, Any]] = deque()

    def next(self) -> dict[str, Any] | None:
        """The next message; None when no more will come."""
        while not self._messages:
            if not self._read():
                return None
        return self._messages.popleft()

    def arrived(self) -> list[dict[str, Any]]:
        """The messages that have come, without waiting for any."""
        with suppress(BlockingIOError):
            while self._read(socket.MSG_DONTWAIT):
                pass
        found = list(self._messages)
        self._messages.clear()
        return found

    def _read(self, flags: int = 0) -> bool:
        try:
            data = self._link.recv(_PIECE, flags)
        except BlockingIOError:
            raise
        except OSError:
            data = b""
        self._received += data
        self._messages += call_wire.messages(self._received)
        return bool(data)


def _serve(order: dict[str, Any], link: socket.socket, incoming: Incoming) -> None:
    from smart_context.api import App
    from smart_context.server import table
    from smart_context.settings import config

    talk.configure(debug=order["debug"])
    talk.count_repeats()
    if order["stamps"]:
        talk.stamp_lines()
    with App(config.from_dict(order["settings"])) as app, table.of(app) as rows:
        app.follows = True
        app.roots.become(order["roots"])
        from smart_context.find import search  # noqa: F401  # before the first call

        try:
            app.has_index()
        except ContextError:
            pass  # each search says why
        gc.collect()
        expect_little_garbage()
        Answering(rows, link, incoming).run()


class Answering:
    """The threads. The one that leads reads messages and works on the calls, in the order in which they came."""

    def __init__(self, rows: Table, link: socket.socket, incoming: Incoming) -> None:
        self._app = rows.app
        self._tools = {tool.name: tool for tool in rows.tools}
        self._metrics = Metrics()
        self._guard = Guards(rows.app.settings, rows.clean, self._metrics)
        self._link = link
        self._incoming = incoming
        self._writing = threading.Lock()
        self._over = threading.Event()
        self._asked: deque[CallMessage] = deque()
        self._stops: dict[int, Stopper] = {}

    def run(self) -> None:
        """Answer until the server hangs up."""
        self._send(call_wire.answer(call_wire.READY, encoded.of(Reply("")), 0))
        LeaderFollowers(self._next, self._work, _THREADS).start()
        self._over.wait()

    def _work(self, asked: CallMessage) -> None:
        reply = self._answered(asked, self._stops[asked.number])
        del self._stops[asked.number]
        made = encoded.of(reply, ascii_only=asked.ascii_only)
        self._send(call_wire.answer(asked.number, made, self._metrics.take_lost()))

    def _send(self, data: bytes) -> None:
        try:
            with self._writing:
                self._link.sendall(data)
        except OSError:  # the server is gone
            self._over.set()

    def _next(self) -> CallMessage | None:
        """The next call; None at the end. Other messages are read first: a call may have been cancelled meanwhile."""
        for message in self._incoming.arrived():
            self._handle(message)
        while not self._asked:
            if self._over.is_set() or (found := self._incoming.next()) is None:
                self._over.set()
                return None
            self._handle(found)
        return self._asked.popleft()

    def _handle(self, message: dict[str, Any]) -> None:
        if "call" in message:
            asked = call_wire.asked(message["call"])
            self._stops[asked.number] = Stopper(asked.deadline - time.monotonic())
            self._asked.append(asked)
        elif "stop" in message and (stop := self._stops.get(message["stop"])):
            stop.abandon()
        elif "roots" in message:
            self._app.roots.become(message["roots"])

    def _answered(self, asked: CallMessage, stop: Stopper) -> Reply:
        tool = self._tools[asked.tool]
        came = asked.deadline - (tool.seconds or 0.0)
        call = Call(tool, asked.arguments, asked.caller, asked.client, asked.address, came)
        return perform(call, Work(stop, lambda _step: None, asked.caller), self._guard)


def _end(failed: threading.ExceptHookArgs) -> None:
    from smart_context.server.tools import unforeseen

    if failed.exc_value is not None:
        unforeseen("a process that answers calls", failed.exc_value)
    os._exit(70)
