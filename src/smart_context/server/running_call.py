"""A running call that is answered without the SDK, and how its answer is sent.

In: a call that was begun, and the client's connection.  Out: the answer as `http.response` messages.
Always: a call that takes long becomes a stream, which shows the client that it is still running.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from smart_context.server.encoded import Encoded
from smart_context.server.gate import Receive, Send

PING_SECONDS = 15.0  # after which the SDK shows that a call goes on
PING = b": ping\r\n\r\n"
IS_PLAIN = "smart_context.is_plain"
"""The key under which a request's scope says that its call was answered here."""

Headers = list[tuple[bytes, bytes]]


class RunningCall(Protocol):
    """A call that was begun.

    done: has the answer, and may be cancelled. stream: the head of the answer where that takes long. ends_with_client: whether a client that hangs
    up has cancelled it.
    """

    done: asyncio.Future[Encoded]
    stream: Headers
    ends_with_client: bool

    def answer(self, *, is_stream: bool) -> tuple[Headers, bytes]:
        """The head and the body to send when it is done; is_stream: the head went before."""


async def sent(call: RunningCall, receive: Receive, send: Send) -> None:
    """Send the answer when it is there."""
    gone = asyncio.create_task(_left(receive)) if call.ends_with_client else None
    both: set[asyncio.Future[Any]] = {call.done} if gone is None else {call.done, gone}
    is_stream = False
    try:
        while not call.done.done():
            await asyncio.wait(both, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if call.done.done():
                break
            if gone is not None and gone.done():
                return
            if not is_stream:
                await send({"type": "http.response.start", "status": 200, "headers": call.stream})
            is_stream = True
            await send({"type": "http.response.body", "body": PING, "more_body": True})
        head, body = call.answer(is_stream=is_stream)
        if not is_stream:  # together with the body, which costs less than one after the other
            await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body, "more_body": False})
    finally:
        call.done.cancel()
        if gone is not None:
            gone.cancel()


async def _left(receive: Receive) -> None:
    """Wait until the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
