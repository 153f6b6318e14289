"""Answer calls of tools without a session (2026-07-28) without the SDK, once it has answered one like them.

In: requests of callers, and what serves all of them.  Out: the SDK's answers, or the same bytes made here.
Always: a call is answered here only after the SDK was seen to answer one of the same caller, tool, head and `_meta` with the bytes that would have
been made here; one a minute goes to it again. A plain name and version of the client make no difference, except in the log. A client that hangs up has cancelled its call.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict

from smart_context.data import dataclass
from smart_context.server import encoded, running_call
from smart_context.server.encoded import Encoded, SdkFields
from smart_context.server.gate import Receive, Scope, Send
from smart_context.server.identity import CALLER, peer
from smart_context.server.protocol import ANSWERED, HttpAnswer, Offer
from smart_context.server.running_call import IS_PLAIN, Headers, RunningCall
from smart_context.server.session_calls import (
    Plain,
    Recorder,
    SessionCalls,
    again,
    outcome,
    performed,
    plain_call,
    quick,
)
from smart_context.server.sessions import ID_HEADER
from smart_context.server.tools import Call

AGAIN_SECONDS = 60.0  # after which the SDK sees a call again
_MOST_KNOWN = 5000
_STREAM: Headers = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
]
_LENGTH = b"content-length"
_CHECKED = b"mcp-param-"  # headers that the SDK compares with arguments
_CLIENT = "io.modelcontextprotocol/clientInfo"

Kind = bytes  # a hash of caller, head, tool and what is said beside: these may be long


@dataclass(frozen=True, slots=True)
class KnownKind:
    """How the SDK answers calls of a kind: the head, what it adds to a result, who calls where the call does not say it plainly, and until when that counts."""

    answered: Headers
    around: SdkFields
    client: str
    until: float


class StatelessCalls:
    """An ASGI application in front of the sessions."""

    def __init__(self, inner: SessionCalls, offer: Offer) -> None:
        self._inner = inner
        self._offer = offer
        self._tools = quick(offer)
        self._known: OrderedDict[Kind, KnownKind] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a caller."""
        if scope["method"] != "POST" or not _is_single(scope):
            await self._inner(scope, receive, send)
            return
        first = await receive()  # the whole body: the gate has seen to that
        plain = plain_call(first.get("body", b""), self._tools)
        if plain is None:
            await self._inner(scope, again(first, receive), send)
            return
        kind = _kind(plain, scope)
        if (call := self._begun(plain, kind, scope)) is not None:
            await running_call.sent(call, receive, send)
        else:
            await self._by_the_sdk(plain, kind, scope, again(first, receive), send)

    def begin(self, scope: Scope, body: bytes) -> RunningCall | None:
        """Begin a call that can be answered here, in a session or without; None for everything else, before anything was done."""
        if not _is_single(scope):
            return self._inner.begin(scope, body)
        plain = plain_call(body, self._tools)
        return self._begun(plain, _kind(plain, scope), scope) if plain else None

    def _begun(self, plain: Plain, kind: Kind, scope: Scope) -> RunningCall | None:
        known = self._known.get(kind)
        if known is None or known.until <= time.monotonic():
            return None
        client = _named(plain)
        call = Call(plain.tool, plain.arguments, scope[CALLER], known.client if client is None else client, peer(scope))
        scope[IS_PLAIN] = True
        return _Alone(plain, known, performed(self._offer, call, ascii_only=True))

    async def _by_the_sdk(self, plain: Plain, kind: Kind, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the SDK answer, and learn from it."""
        seen = Recorder(send)
        await self._inner(scope, receive, seen)
        self._known.pop(kind, None)
        answered: HttpAnswer | None = scope.get(ANSWERED)
        if answered is None or (b"content-type", b"application/json") not in seen.headers:
            return
        if _named(plain) not in {None, answered.client}:
            return
        around = encoded.added(json.loads(seen.body)["result"])
        made = encoded.with_more(encoded.of(answered.reply, ascii_only=True), around)
        if encoded.message(plain.request_id, made) == seen.body:
            self._known[kind] = KnownKind(seen.headers, around, answered.client, time.monotonic() + AGAIN_SECONDS)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)


def _kind(plain: Plain, scope: Scope) -> Kind:
    head = [header for header in scope["headers"] if header[0] not in {_LENGTH, b"authorization"}]
    is_named = _named(plain) is not None
    aside = {"progressToken", _CLIENT} if is_named else {"progressToken"}
    beside = {name: value for name, value in plain.meta.items() if name not in aside}
    told = (scope[CALLER].name, head, plain.name, is_named, json.dumps(beside, sort_keys=True))
    return hashlib.sha256(repr(told).encode()).digest()


def _named(plain: Plain) -> str | None:
    """The client's name; None if it says more, or less, than a name and a version."""
    told = plain.meta.get(_CLIENT)
    if not isinstance(told, dict) or told.keys() != {"name", "version"}:
        return None
    name, version = told["name"], told["version"]
    return name if isinstance(name, str) and isinstance(version, str) else None


def _is_single(scope: Scope) -> bool:
    return not any(name == ID_HEADER or name.startswith(_CHECKED) for name, _ in scope["headers"])


class _Alone:
    """A call without a session. Its answer is a stream only where that takes long."""

    ends_with_client = True
    stream = _STREAM

    def __init__(self, plain: Plain, known: KnownKind, done: asyncio.Future[Encoded]) -> None:
        self.done = done
        self._plain = plain
        self._known = known

    def answer(self, *, is_stream: bool) -> tuple[Headers, bytes]:
        """The head and the body."""
        plain, known = self._plain, self._known
        answer = encoded.with_more(outcome(self.done, plain.tool, ascii_only=True), known.around)
        if is_stream:
            return self.stream, encoded.event(plain.request_id, answer)
        body = encoded.message(plain.request_id, answer)
        length = str(len(body)).encode()
        return [(name, length if name == _LENGTH else value) for name, value in known.answered], body
