"""Who owns the sessions of the HTTP server, and how many there may be.

In: a request that passed the gate, and what serves it.  Out: its answer.
Always: a session belongs to its caller; for everybody else it does not exist. There are bounds for one caller and for all callers
together; a new session beyond a bound ends the least recently used one: of that caller, or of the caller who has most.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from smart_context.server.gate import App, Message, Receive, Scope, Send
from smart_context.server.identity import CALLER

PER_CALLER = 500
IN_ALL = 5000
ID_HEADER = b"mcp-session-id"


class McpSessions:
    """An ASGI application in front of the SDK's session manager."""

    def __init__(self, inner: App) -> None:
        self._inner = inner
        self._used: dict[str, OrderedDict[bytes, None]] = {}  # by caller, the one not used for longest first
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a caller."""
        caller: str = scope[CALLER].name
        # The SDK compares this with who opened the session, and answers 404 where they differ.
        scope["user"] = _user(caller)
        session = next((value for name, value in scope["headers"] if name == ID_HEADER), b"")
        if session:
            self.use(caller, session)
        opened, is_gone = b"", False

        async def watched(message: Message) -> None:
            nonlocal opened, is_gone
            if message["type"] == "http.response.start":
                is_gone = message["status"] == 404
            if not session and message["type"] == "http.response.start" and message["status"] < 400:
                opened = next((value for name, value in message["headers"] if name == ID_HEADER), b"")
            await send(message)

        await self._inner(scope, receive, watched)
        if opened:
            self._keep(caller, opened)
            await self._make_room(caller)
        if session and (is_gone or scope["method"] == "DELETE"):
            self._forget(caller, session)

    def use(self, caller: str, session: bytes) -> bool:
        """Note that a session is used; whether the caller has it."""
        theirs = self._used.get(caller, OrderedDict())
        if session in theirs:
            theirs.move_to_end(session)
            return True
        return False

    def _keep(self, caller: str, session: bytes) -> None:
        self._used.setdefault(caller, OrderedDict())[session] = None
        self._count += 1

    def _forget(self, caller: str, session: bytes) -> None:
        theirs = self._used.get(caller, OrderedDict())
        if session in theirs:
            del theirs[session]
            self._count -= 1
        if not theirs:
            self._used.pop(caller, None)

    async def _make_room(self, caller: str) -> None:
        while len(self._used.get(caller, ())) > PER_CALLER:
            await self._end(caller)
        while self._count > IN_ALL:
            await self._end(max(self._used, key=lambda name: len(self._used[name])))

    async def _end(self, caller: str) -> None:
        """End the session that a caller has not used for longest, as its client would."""
        session = next(iter(self._used[caller]))
        self._forget(caller, session)
        scope = {
            "type": "http",
            "method": "DELETE",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(ID_HEADER, session)],
            "user": _user(caller),
        }
        await self._inner(scope, _nothing, _nowhere)


@lru_cache(maxsize=1024)
def _user(caller: str) -> AuthenticatedUser:
    return AuthenticatedUser(AccessToken(token="", client_id=caller, scopes=[]))


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(_message: Any) -> None:
    return
