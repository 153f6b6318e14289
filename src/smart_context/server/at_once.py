"""Answer a call whose headers are those of an earlier call on its connection, from bytes to bytes.

In: bytes from a socket.  Out: the bytes of the answer, the same as on the ordinary way.
Always: the head equals, byte for byte apart from the length of the body, that of a call which took the ordinary way on the same connection and was answered without the SDK.
Token, turn, session and body are checked each time. Anything unusual takes the ordinary way, before anything was done here.

The ordinary way parses the head, makes a task, passes the gate and two applications and writes a head: seven turns of the event loop, which cost twice as much as the rest of a call besides its work.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES

from smart_context.server import running_call
from smart_context.server.connection import Connection
from smart_context.server.encoded import Encoded
from smart_context.server.gate import CROWDED, Gate, Scope, refused
from smart_context.server.identity import CALLER
from smart_context.server.running_call import IS_PLAIN, PING, Headers, RunningCall
from smart_context.server.stateless_calls import StatelessCalls
from smart_context.server.tools import unforeseen
from smart_context.server.turn_queue import Turn

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,9})\r\n", re.IGNORECASE)
_END = b"\r\n\r\n"
_STATUS = {status: b"HTTP/1.1 %d %b\r\n" % (status, STATUS_PHRASES[status]) for status in (200, 503)}
_MOST_DIGITS = 9
_MAX_HEAD = 4096  # bytes that a connection keeps
_BODY_SECONDS = 0.05  # for the body to follow its head: most clients send one right after the other
# Headers that change how the connection goes on or how the body is sent.
_ODD = frozenset({b"expect", b"transfer-encoding", b"upgrade", b"te", b"trailer"})


class Entrance:
    """How such a call passes the gate."""

    def __init__(self, gate: Gate, calls: StatelessCalls) -> None:
        self._gate = gate
        self._calls = calls

    def turn(self, scope: Scope, body: bytes) -> bool | Turn | None:
        """A turn for a call whose head was accepted before: True if it has one, else a future to wait for; None if the call must take the ordinary way."""
        if len(body) > self._gate.max_body or self._gate.known(scope) is None:
            return None
        return self._gate.enter() or self._gate.wait()

    def begin(self, scope: Scope, body: bytes) -> RunningCall | None:
        """Begin a call that has its turn; None if it must take the ordinary way: its turn was given back."""
        caller = self._gate.known(scope)
        scope[CALLER] = caller
        call = self._calls.begin(scope, body) if caller is not None else None
        if call is None:
            self._gate.leave()
        else:
            call.done.add_done_callback(lambda _: self._gate.leave())
        return call


class _Head:
    """The head of a request that came the ordinary way: the bytes before the length of its body and after it, and what was read from them."""

    def __init__(self, before: bytes, after: bytes, scope: Scope) -> None:
        self._before = before
        self._after = after
        self.scope = scope

    @classmethod
    def of(cls, data: bytes, scope: Scope) -> _Head | None:
        """The head that data begins with; None if it cannot be used here."""
        end = data.find(_END, 0, _MAX_HEAD)
        found = _LENGTH.search(data, 0, end + 2) if end >= 0 else None
        if found is None or data[:end].lower().count(b"content-length") != 1 or scope["http_version"] != "1.1":
            return None
        for name, value in scope["headers"]:
            if name in _ODD or (name == b"connection" and value.lower() != b"keep-alive"):
                return None
        return cls(data[: found.start(1)], data[found.end(1) : end + len(_END)], scope)

    def split(self, data: bytes) -> tuple[bytes, int] | None:
        """The body as far as it has come, and its full length; None if the head is another one."""
        before, after = self._before, self._after
        if not data.startswith(before):
            return None
        end = data.find(b"\r", len(before), len(before) + _MOST_DIGITS + 1)
        digits = data[len(before) : end]
        if end < 0 or not digits.isdigit() or not data.startswith(after, end):
            return None
        return data[end + len(after) :], int(digits)


class AtOnce(Connection):
    """A connection that answers such calls itself."""

    def __init__(self, entrance: Entrance, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._entrance = entrance
        self._head: _Head | None = None
        self._first = b""  # what came first of the request that goes the ordinary way
        self._held = b""  # a head that waits for its body
        self._release: asyncio.TimerHandle | None = None
        self._turn: Turn | None = None  # that a call waits for
        self._call: RunningCall | None = None
        self._ping: asyncio.TimerHandle | None = None
        self._is_stream = False
        self._next = b""  # what came before the call was answered
        self._is_ending = False

    def data_received(self, data: bytes) -> None:
        """Answer a call, or read on."""
        if self._call is not None or self._turn is not None:  # the next request, in advance
            self._next += data
            self.flow.pause_reading()
            return
        was_held = bool(self._held)
        if was_held:
            data, self._held = self._held + data, b""
            self._stop_holding()
        if not self._is_idle():
            super().data_received(data)
            return
        split = self._head.split(data) if self._head is not None else None
        if split is not None:
            body, length = split
            if len(body) == length and self._take(data, body):
                return
            if len(body) < length and not was_held:
                self._held = data
                self._release = self.loop.call_later(_BODY_SECONDS, self.data_received, b"")
                return
        self._first = data
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Remember the head of a call that took the ordinary way and could have been answered here."""
        scope = cast("Scope", self.scope)
        if scope.get(IS_PLAIN):
            self._head = _Head.of(self._first, scope) or self._head
        self._first = b""
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and its call if that was for it alone."""
        self._stop_holding()
        if self._call is not None and self._call.ends_with_client:
            self._call.done.cancel()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection: no call is running."""
        self._stop_holding()
        super().drop()

    def shutdown(self) -> None:
        """Close when the running call is answered."""
        if self._call is not None or self._turn is not None:
            self._is_ending = True
        else:
            super().shutdown()

    def _is_idle(self) -> bool:
        conn = self.conn
        return conn.our_state is h11.IDLE and conn.their_state is h11.IDLE and not conn.trailing_data[0]

    def _stop_holding(self) -> None:
        if self._release is not None:
            self._release.cancel()
            self._release = None

    def _take(self, data: bytes, body: bytes) -> bool:
        """Begin a call, or let it wait for its turn; False if it must take the ordinary way."""
        most = self.limit_concurrency
        is_full = most is not None and (len(self.connections) >= most or len(self.tasks) >= most)
        if is_full or self._head is None or self.flow.write_paused or self.transport.is_closing():
            return False
        turn = self._entrance.turn(self._head.scope, body)
        if turn is None or (turn is True and not self._begin(self._head, body)):
            return False
        self._unset_keepalive_if_required()
        self._unwatch()
        self._waiting.pop(self, None)
        if isinstance(turn, asyncio.Future):
            self._turn = turn
            self.tasks.add(turn)  # type: ignore[arg-type]  # waited for and cancelled at the end, like a task
            turn.add_done_callback(partial(self._go, self._head, data, body))
        return True

    def _go(self, head: _Head, data: bytes, body: bytes, turn: Turn) -> None:
        """Begin with a call whose turn has come, or say that none came in time."""
        self._turn = None
        self.tasks.discard(turn)
        if turn.cancelled():
            self.transport.close()
        elif not turn.result():
            headers, answer = refused(503, CROWDED)
            self._send(self._written(headers, 503) + answer)
        elif self._begin(head, body):
            if self.transport.is_closing() and self._call is not None and self._call.ends_with_client:
                self._call.done.cancel()
        elif not self.transport.is_closing():
            self._first = data
            super().data_received(data)
            self._read_next()

    def _begin(self, head: _Head, body: bytes) -> bool:
        call = self._entrance.begin(head.scope, body)
        if call is None:
            return False
        self._call, self._is_stream = call, False
        self._ping = self.loop.call_later(running_call.PING_SECONDS, self._go_on)
        self.tasks.add(call.done)  # type: ignore[arg-type]  # as above
        call.done.add_done_callback(self._answer)
        return True

    def _go_on(self) -> None:
        """Send the client a sign that its call is still running."""
        if self._call is not None and not self.transport.is_closing():
            head = b"" if self._is_stream else self._written(self._call.stream)
            self._is_stream = True
            self.joined.write_now(head + _chunk(PING))
            self._ping = self.loop.call_later(running_call.PING_SECONDS, self._go_on)

    def _answer(self, done: asyncio.Future[Encoded]) -> None:
        """Send the answer, and process the bytes received meanwhile."""
        call, self._call = self._call, None
        self.tasks.discard(done)
        if self._ping is not None:
            self._ping.cancel()
        if call is None or self.transport.is_closing():
            return
        try:
            head, body = call.answer(is_stream=self._is_stream)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # the outer edge: there is no answer
            unforeseen("an answer over HTTP", error)
            self.transport.close()
            return
        is_chunked = self._is_stream or all(name != b"content-length" for name, _ in head)
        start = b"" if self._is_stream else self._written(head)
        self._send(b"".join((start, *((_chunk(body), b"0", _END) if is_chunked else (body,)))))

    def _send(self, answer: bytes) -> None:
        """Send the end of an answer, and continue."""
        if self.transport.is_closing():
            return
        self.joined.write_now(answer)
        if self._is_ending:
            self.transport.close()
        super().on_response_complete()
        self._read_next()

    def _read_next(self) -> None:
        if self._next:
            data, self._next = self._next, b""
            self.data_received(data)

    def _written(self, headers: Headers, status: int = 200) -> bytes:
        """The head of an answer as h11 writes it."""
        lines = [_STATUS[status]]
        lines += [b"%b: %b\r\n" % header for header in (*self.server_state.default_headers, *headers)]
        if all(name != b"content-length" for name, _ in headers):
            lines.append(b"Transfer-Encoding: chunked\r\n")
        return b"".join((*lines, b"\r\n"))


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
