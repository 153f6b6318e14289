"""One connection to a listener: uvicorn's protocol, with the limits that uvicorn lacks.

In: bytes from a socket.  Out: requests for the application, its answers back.
Always: the head of a request comes in time, or the connection ends; there are never more connections than the bound, and those without a
whole request under way make room for new ones, so that nobody can lock others out by holding connections open; each request gets one answer, and
none after the connection broke the protocol.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEADER_SECONDS = 10.0
_IDLE_SECONDS = 30
_QUEUE = 1024  # connections that the system holds until we take them


class Connection(H11Protocol):
    """Closes a connection that does not bring the whole head of a request in time, and the one that waited longest when there are too many.

    uvicorn alone would wait for ever, and take connections until there is no descriptor left.
    """

    _due: asyncio.TimerHandle | None = None
    _waiting: ClassVar[dict[Connection, None]] = {}  # no whole request under way; the one that waited longest first

    def connection_made(self, transport: Any) -> None:
        """Take the connection, and make room for it; where all are at work, turn it away."""
        super().connection_made(transport)
        self.joined = _Joined(transport, self.loop)
        self.transport = self.joined  # type: ignore[assignment]  # it is one in all that is asked of it here
        # uvicorn answers 503 at its bound, which is for requests at work: it is not to be met by those that only wait. A quarter is kept free, because the
        # task of a request whose connection is dropped ends a moment later.
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency * 3 // 4:
            for waiting in self._waiting:
                if waiting.connections is self.connections:
                    waiting.drop()
                    break
            else:
                if len(self.connections) > self.limit_concurrency * 9 // 8:
                    self.transport.close()
        self._watch()

    def drop(self) -> None:
        """Close the connection: no whole request was received."""
        self._unwatch()
        self._waiting.pop(self, None)
        self.connections.discard(self)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read on; the clock of the head runs until the head is there."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._line_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._unwatch()
        self._waiting.pop(self, None)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP, unless the request that they spoil has an answer already; then end the connection.

        The application may still be at work on that request, whose head was good. uvicorn would let it answer a second time, and
        log that this cannot be.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _watch(self) -> None:
        self._line_up()
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._due is None:
            self._due = self.loop.call_later(_HEADER_SECONDS, self.transport.close)

    def _line_up(self) -> None:
        """Mark this connection as one that may be dropped, or not: it may not once the whole request is there."""
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY} and not self.transport.is_closing():
            self._waiting[self] = None
        else:
            self._waiting.pop(self, None)

    def _unwatch(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


class _Joined:
    """A connection's transport, which sends at once what is written in one turn of the loop.

    uvicorn writes the head of an answer, its body and its end one after the other, and each costs the system as much as all of them.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send, together with what is written until the loop comes round."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)

    def write_now(self, data: bytes) -> None:
        """Send, after what was written before."""
        self._pieces.append(data)
        self._flush()

    def close(self) -> None:
        """Send what was written, and close."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._pieces.clear()
        self._transport.abort()

    def _flush(self) -> None:
        if self._pieces:
            self._transport.write(self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces))
            self._pieces.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Listener(uvicorn.Server):
    """Accepts a few connections at a time, and leaves many more in the system's queue."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_QUEUE)


def listener(app: Any, connections: int, protocol: Any = Connection, **more: Any) -> uvicorn.Config:
    """How every listener of ours is set up. protocol: makes what serves one connection."""
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=connections,
        backlog=max(1, connections // 16),  # as many are taken at once, before any of them can be closed
        timeout_keep_alive=_IDLE_SECONDS,
        **more,
    )
