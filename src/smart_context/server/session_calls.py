"""Answer calls of tools over HTTP without the SDK, once the SDK has answered the first call of the session.

In: requests of callers, and what serves all of them.  Out: the SDK's answers, or the same bytes made here.
Always: nothing is answered here unless the SDK's answer to the first call of the session, head and body, had the bytes that would have been made here.
A request whose head differs from that call's, or whose body is not a plain call, goes to the SDK; so does one a minute, by which the SDK knows that the
session is in use.

The SDK takes a call through seven tasks and some twenty turns of the event loop, which is more work than most searches.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from typing import Any, NoReturn

from smart_context import tool_table
from smart_context.data import dataclass
from smart_context.errors import CallTimeout
from smart_context.model import Progress
from smart_context.server import encoded, running_call
from smart_context.server.calls import Stopper
from smart_context.server.encoded import Encoded, event
from smart_context.server.gate import Message, Receive, Scope, Send
from smart_context.server.identity import CALLER, peer
from smart_context.server.protocol import ANSWERED, HttpAnswer, Offer
from smart_context.server.running_call import IS_PLAIN, Headers, RunningCall
from smart_context.server.sessions import ID_HEADER, McpSessions
from smart_context.server.tools import Arguments, Call, Tool, Work, perform

_ALIVE_SECONDS = 60.0  # after which the SDK sees a call of a session again
_MOST_KNOWN = 5000
_CANCELLED = b"notifications/cancelled"
_MAX_DIGITS = 15
_PROTOCOL = "io.modelcontextprotocol/"
# Headers that do not change the answer; the gate has checked them.
_OTHER_HEADERS = frozenset({b"content-length", b"authorization"})


class Recorder:
    """Passes an answer on to a client, and records it: its headers (none for an error) and its body."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.headers: Headers = []
        self.body = b""

    async def __call__(self, message: Message) -> None:
        """Pass one message on."""
        if message["type"] == "http.response.start":
            self.headers = list(message["headers"]) if message["status"] == 200 else []
        else:
            self.body += message.get("body", b"")
        await self._send(message)


Owner = tuple[str, bytes]  # a caller, and one of its sessions


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session in which calls can be answered here: the head of the request and of the answer, who calls, and until when."""

    asked: Headers
    answered: Headers
    client: str
    until: float


@dataclass(frozen=True, slots=True)
class Plain:
    """A plain call of a tool. name: the tool's name as the client wrote it. meta: its `_meta`."""

    request_id: int | str
    tool: Tool
    arguments: Arguments
    name: str
    meta: Arguments


class SessionCalls:
    """An ASGI application in front of the sessions."""

    def __init__(self, sessions: McpSessions, offer: Offer, session_seconds: float) -> None:
        self._sessions = sessions
        self._offer = offer
        self._alive = min(_ALIVE_SECONDS, session_seconds / 4)
        self._tools = quick(offer)
        self._known: OrderedDict[Owner, KnownSession] = OrderedDict()
        self._running: dict[tuple[Owner, int | str], asyncio.Future[Encoded]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a caller."""
        session = _session(scope)
        if scope["method"] != "POST" or not session:
            await self._sessions(scope, receive, send)
            return
        first = await receive()  # the whole body: the gate has seen to that
        body = first.get("body", b"")
        plain = self._plain(body)
        owner = (scope[CALLER].name, session)
        asked = _asked(scope)
        if (call := self._begun(plain, asked, owner, scope)) is not None:
            await running_call.sent(call, receive, send)
            return
        if _CANCELLED in body:
            self._cancel(owner, body)
        await self._by_the_sdk(plain, asked, owner, scope, again(first, receive), send)

    def begin(self, scope: Scope, body: bytes) -> RunningCall | None:
        """Begin a call that can be answered here; None for everything else, before anything was done."""
        session = _session(scope)
        plain = self._plain(body) if session else None
        return self._begun(plain, _asked(scope), (scope[CALLER].name, session), scope) if plain else None

    def _plain(self, body: bytes) -> Plain | None:
        plain = plain_call(body, self._tools)
        return plain if plain and _is_aside(plain.meta) else None

    def _begun(self, plain: Plain | None, asked: Headers, owner: Owner, scope: Scope) -> RunningCall | None:
        known = self._known.get(owner)
        is_here = known is not None and known.asked == asked and known.until > time.monotonic()
        if not plain or not known or not is_here or (owner, plain.request_id) in self._running:
            return None
        if not self._sessions.use(*owner):
            self._known.pop(owner, None)
            return None
        call = Call(plain.tool, plain.arguments, scope[CALLER], known.client, peer(scope))
        done = performed(self._offer, call)
        key = (owner, plain.request_id)
        self._running[key] = done
        done.add_done_callback(lambda _: self._running.pop(key))
        scope[IS_PLAIN] = True
        return _InSession(plain, known.answered, done)

    def _cancel(self, owner: Owner, body: bytes) -> None:
        try:
            request_id = json.loads(body)["params"]["requestId"]
            task = self._running.get((owner, request_id))
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        if task is not None:
            task.cancel()

    async def _by_the_sdk(
        self, plain: Plain | None, asked: Headers, owner: Owner, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let the SDK answer; if that was a plain call, learn from it."""
        seen = Recorder(send)
        await self._sessions(scope, receive, seen if plain else send)
        answered: HttpAnswer | None = scope.get(ANSWERED)
        is_whole = answered is not None and answered.reply.structured is not None  # has all that an answer can have
        if (
            plain
            and answered
            and is_whole
            and seen.headers
            and seen.body == event(plain.request_id, encoded.of(answered.reply))
        ):
            self._known[owner] = KnownSession(asked, seen.headers, answered.client, time.monotonic() + self._alive)
            self._known.move_to_end(owner)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        elif plain and is_whole:
            self._known.pop(owner, None)


class _InSession:
    """A call in a session, which a client cancels by a notification. Its answer is always a stream."""

    ends_with_client = False

    def __init__(self, plain: Plain, head: Headers, done: asyncio.Future[Encoded]) -> None:
        self.done = done
        self.stream = head
        self._plain = plain

    def answer(self, *, is_stream: bool) -> tuple[Headers, bytes]:
        """The head and the body; none where the call was cancelled."""
        done = self.done
        return self.stream, b"" if done.cancelled() else event(self._plain.request_id, outcome(done, self._plain.tool))


def _session(scope: Scope) -> bytes:
    return next((value for name, value in scope["headers"] if name == ID_HEADER), b"")


def _asked(scope: Scope) -> Headers:
    return [header for header in scope["headers"] if header[0] not in _OTHER_HEADERS]


def quick(offer: Offer) -> dict[str, Tool]:
    """The tools whose calls can be answered here, by each of their names."""
    names = {row.name for row in tool_table.TABLE if row.is_brief}
    return {name: tool for tool in offer.tools if tool.name in names for name in (tool.name, tool.alias)}


def performed(offer: Offer, call: Call, *, ascii_only: bool = False) -> asyncio.Future[Encoded]:
    """Have a call answered, by another process or a thread: no task of its own waits for that. `outcome` has the answer."""
    elsewhere = offer.elsewhere
    if elsewhere is not None and elsewhere.takes(call.tool):
        return elsewhere.begin(call, ascii_only=ascii_only)

    def work(stop: Stopper) -> Encoded:
        return encoded.of(perform(call, Work(stop, _unheard, call.caller), offer.guard), ascii_only=ascii_only)

    return offer.workers.begin(work, call.tool.seconds)


def outcome(done: asyncio.Future[Encoded], tool: Tool, *, ascii_only: bool = False) -> Encoded:
    """What a call was answered with, or that it took too long."""
    try:
        return done.result()
    except CallTimeout as error:
        return encoded.of(tool.refuse(error), ascii_only=ascii_only)


def plain_call(body: bytes, tools: dict[str, Tool]) -> Plain | None:
    """A call of one of the tools without anything unusual about it: no number but small integers, nothing that is not text."""
    message = _usual(body)
    if message is None or message["jsonrpc"] != "2.0" or message["method"] != "tools/call":
        return None
    request_id, params = message["id"], message["params"]
    if not isinstance(request_id, int | str) or isinstance(request_id, bool):
        return None
    name, arguments = params.get("name"), params.get("arguments", {})
    if params.keys() - {"name", "arguments", "_meta"} or not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    meta = params.get("_meta", {})
    if not isinstance(meta, dict) or not _is_token(meta.get("progressToken", "")):
        return None
    tool = tools.get(name)
    if tool is None or (not tool.knows_arguments and tool.unknown(arguments)):
        return None
    return Plain(request_id, tool, arguments, name, meta)


def _usual(body: bytes) -> dict[str, Any] | None:
    """A request with parameters and nothing else; None for anything unusual."""
    if b"\\u" in body:  # perhaps half a character
        return None
    try:
        message = _DECODER.decode(body.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.keys() != {"jsonrpc", "id", "method", "params"}:
        return None
    return message if isinstance(message["params"], dict) else None


def _is_token(token: object) -> bool:
    """Whether this can name progress, of which these tools report none."""
    return isinstance(token, int | str) and not isinstance(token, bool)


def _is_aside(meta: Arguments) -> bool:
    """Whether the `_meta` of a call in a session has no effect on its answer."""
    return not any(name.startswith(_PROTOCOL) for name in meta)


def _refuse(_number: str) -> NoReturn:
    raise ValueError("a number that is left to the SDK")


def _small(digits: str) -> int:
    if len(digits) > _MAX_DIGITS or digits == "-0":
        raise ValueError("a number that is left to the SDK")
    return int(digits)


_DECODER = json.JSONDecoder(parse_float=_refuse, parse_int=_small, parse_constant=_refuse)


def _unheard(_step: Progress) -> None:
    """Discard progress that was not asked for."""


def again(first: Message, receive: Receive) -> Receive:
    """A `receive` that repeats a message, then continues."""
    waiting = [first]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
