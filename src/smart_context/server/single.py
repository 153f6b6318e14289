"""Answer calls of tools without a session (2026-07-28) without the SDK, once it has answered one like them.

In: requests of callers, and what serves all of them.  Out: its answers, or the same bytes made here.
Always: a call is answered here only after the SDK was seen to answer one of the same caller, tool, head and `_meta` with the bytes that would have
been made here; one a minute goes to it again. A client that hangs up has cancelled its call.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from typing import Any

from smart_context.data import dataclass
from smart_context.server import encoded
from smart_context.server.direct import Headers, Plain, Seen, again, outcome, performed, plain_call, quick
from smart_context.server.encoded import Around, Encoded
from smart_context.server.gate import App, Receive, Scope, Send
from smart_context.server.identity import CALLER, peer
from smart_context.server.protocol import ANSWERED, Answered, Offer
from smart_context.server.sessions import ID_HEADER
from smart_context.server.tools import Call

AGAIN_SECONDS = 60.0  # after which the SDK sees a call again
_MOST_KNOWN = 5000
PING_SECONDS = 15.0  # after which the SDK begins a stream, to show that the call goes on
_PING = b": ping\r\n\r\n"
_STREAM: Headers = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
]
_LENGTH = b"content-length"
_CHECKED = b"mcp-param-"  # headers that the SDK compares with arguments

Kind = bytes  # a hash of caller, head, tool and what is said beside: these may be long


@dataclass(frozen=True, slots=True)
class Known:
    """How the SDK answers calls of a kind: the head, what it adds to a result, who calls, and until when that counts."""

    answered: Headers
    around: Around
    client: str
    until: float


class Single:
    """Stands before what serves sessions."""

    def __init__(self, inner: App, offer: Offer) -> None:
        self._inner = inner
        self._offer = offer
        self._tools = quick(offer)
        self._known: OrderedDict[Kind, Known] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a caller."""
        headers: Headers = scope["headers"]
        if scope["method"] != "POST" or any(name == ID_HEADER or name.startswith(_CHECKED) for name, _ in headers):
            await self._inner(scope, receive, send)
            return
        first = await receive()  # the whole body: the gate has seen to that
        plain = plain_call(first.get("body", b""), self._tools)
        if plain is None:
            await self._inner(scope, again(first, receive), send)
            return
        kind = _kind(plain, scope)
        known = self._known.get(kind)
        if known is not None and known.until > time.monotonic():
            await self._answer(plain, known, scope, receive, send)
        else:
            await self._by_the_sdk(plain, kind, scope, again(first, receive), send)

    async def _answer(self, plain: Plain, known: Known, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call(plain.tool, plain.arguments, scope[CALLER], known.client, peer(scope))
        task = performed(self._offer, call, ascii_only=True)
        gone = asyncio.create_task(_left(receive))
        both: set[asyncio.Future[Any]] = {task, gone}
        try:
            is_stream = False
            while not task.done():
                await asyncio.wait(both, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    break
                if gone.done():
                    return
                if not is_stream:
                    await send({"type": "http.response.start", "status": 200, "headers": _STREAM})
                is_stream = True
                await send({"type": "http.response.body", "body": _PING, "more_body": True})
            answer = encoded.with_more(outcome(task, call.tool, ascii_only=True), known.around)
            await _send(plain, answer, None if is_stream else known, send)
        finally:
            task.cancel()
            gone.cancel()

    async def _by_the_sdk(self, plain: Plain, kind: Kind, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the SDK answer, and learn from it."""
        seen = Seen(send)
        await self._inner(scope, receive, seen)
        self._known.pop(kind, None)
        answered: Answered | None = scope.get(ANSWERED)
        if answered is None or (b"content-type", b"application/json") not in seen.headers:
            return
        around = encoded.added(json.loads(seen.body)["result"])
        made = encoded.with_more(encoded.of(answered.reply, ascii_only=True), around)
        if encoded.message(plain.request_id, made) == seen.body:
            self._known[kind] = Known(seen.headers, around, answered.client, time.monotonic() + AGAIN_SECONDS)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)


def _kind(plain: Plain, scope: Scope) -> Kind:
    head = [header for header in scope["headers"] if header[0] not in {_LENGTH, b"authorization"}]
    beside = {name: value for name, value in plain.meta.items() if name != "progressToken"}
    told = (scope[CALLER].name, head, plain.name, json.dumps(beside, sort_keys=True))
    return hashlib.sha256(repr(told).encode()).digest()


async def _send(plain: Plain, answer: Encoded, known: Known | None, send: Send) -> None:
    """Send an answer with the head that is known, or as the end of a stream."""
    if known is None:
        body = encoded.event(plain.request_id, answer)
    else:
        body = encoded.message(plain.request_id, answer)
        length = str(len(body)).encode()
        headers = [(name, length if name == _LENGTH else value) for name, value in known.answered]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _left(receive: Receive) -> None:
    """Wait until the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
