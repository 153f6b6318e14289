"""A process that answers calls for a server: it reads the index, and knows no protocol and no connection.

In: messages of `call_wire` on an inherited socket; the first says how to be set up.  Out: an answer for each call.
Always: a call passes the same guard as in the server: rates and the audit log are in files that processes share. The end of the socket is the end
of the server, and ends this; signals do not, because a server that is asked to end lets its calls be answered first.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

from smart_context import talk
from smart_context.errors import CallTimeout, ContextError
from smart_context.server import call_wire, encoded
from smart_context.server.call_wire import Asked
from smart_context.server.calls import Stopper
from smart_context.server.guards import Guards
from smart_context.server.metrics import Metrics
from smart_context.server.run import share_one_heap
from smart_context.server.tools import Call, Reply, Work, perform

if TYPE_CHECKING:
    from smart_context.server.table import Table

_THREADS = 17  # calls at work, as many as in a server that answers by itself, and one that hears which of them to stop


def main(args: Sequence[str]) -> None:
    """Answer calls until the server is gone."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    threading.excepthook = _end  # a thread that fails would leave its call without an answer: the server is to know
    share_one_heap()
    with socket.socket(fileno=int(args[0])) as link, link.makefile("rb") as source:
        if order := call_wire.read(source):
            _serve(order, link, source)
    os._exit(0)  # threads may still be at work for nobody


def _serve(order: dict[str, Any], link: socket.socket, source: IO[bytes]) -> None:
    from smart_context.api import App
    from smart_context.server import table
    from smart_context.settings import config

    talk.configure(debug=order["debug"])
    talk.count_repeats()
    if order["stamps"]:
        talk.stamp_lines()
    with App(config.restored(order["settings"])) as app, table.of(app) as rows:
        app.follows = True
        app.roots.become(order["roots"])
        from smart_context.find import search  # noqa: F401  # before the first call

        try:
            app.has_index()
        except ContextError:
            pass  # each search says why
        gc.collect()
        gc.freeze()
        Answering(rows, link, source).run()


class Answering:
    """The threads. One at a time reads the next message; who has read a call works on it, and another reads on."""

    def __init__(self, rows: Table, link: socket.socket, source: IO[bytes]) -> None:
        self._app = rows.app
        self._tools = {tool.name: tool for tool in rows.tools}
        self._metrics = Metrics()
        self._guard = Guards(rows.app.settings, rows.clean, self._metrics)
        self._link = link
        self._source = source
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._over = threading.Event()
        self._stops: dict[int, Stopper] = {}

    def run(self) -> None:
        """Answer until the server hangs up."""
        self._send(call_wire.answer(call_wire.READY, encoded.of(Reply("")), 0))
        for number in range(_THREADS):
            threading.Thread(target=self._work, name=f"call {number + 1}", daemon=True).start()
        self._over.wait()

    def _work(self) -> None:
        while (asked := self._next()) is not None:
            stop = self._stops[asked.number]
            reply = self._answered(asked, stop)
            del self._stops[asked.number]
            made = encoded.of(reply, ascii_only=asked.ascii_only)
            self._send(call_wire.answer(asked.number, made, self._metrics.take_lost()))

    def _send(self, data: bytes) -> None:
        try:
            with self._writing:
                self._link.sendall(data)
        except OSError:  # the server is gone
            self._over.set()

    def _next(self) -> Asked | None:
        """The next call; None when there will be no more."""
        with self._reading:
            while not self._over.is_set() and (found := call_wire.read(self._source)) is not None:
                if "call" in found:
                    asked = call_wire.asked(found["call"])
                    self._stops[asked.number] = Stopper(asked.deadline - time.monotonic())
                    return asked
                if "stop" in found and (stop := self._stops.get(found["stop"])):
                    stop.abandon()
                if "roots" in found:
                    self._app.roots.become(found["roots"])
            self._over.set()
            return None

    def _answered(self, asked: Asked, stop: Stopper) -> Reply:
        if stop.is_over:  # it waited too long, and nobody waits for it any more
            return Reply("", code=CallTimeout.code)
        call = Call(self._tools[asked.tool], asked.arguments, asked.caller, asked.client, asked.address)
        return perform(call, Work(stop, lambda _step: None, asked.caller), self._guard)


def _end(failed: threading.ExceptHookArgs) -> None:
    from smart_context.server.tools import unforeseen

    if failed.exc_value is not None:
        unforeseen("a process that answers calls", failed.exc_value)
    os._exit(70)
