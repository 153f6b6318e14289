"""One connection to the HTTP server: what uvicorn does for it, and the three things that uvicorn leaves open.

In: bytes from a socket.  Out: requests for the application, its answers back.
Always: the head of a request comes in time, or the connection ends; a connection has one answer a request, and none after it broke the
protocol.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEADER_SECONDS = 10.0


class Connection(H11Protocol):
    """Closes a connection that does not bring the whole head of a request in time, and those that are far too many.

    uvicorn alone would wait for ever, and take connections until there is no descriptor left.
    """

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take the connection, or turn it away where there are far too many."""
        super().connection_made(transport)
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency * 9 // 8:
            self.transport.close()  # those just over the bound are answered, and told to come back
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read on; the clock of the head runs until the head is there."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._unwatch()
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
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._due is None:
            self._due = self.loop.call_later(_HEADER_SECONDS, self.transport.close)

    def _unwatch(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
