"""Say which requests were refused or failed: one line each on standard error.

In: an ASGI application.  Out: the same, and a line for every answer with a status from 400 on.
Always: a line names status, method, path and peer, and nothing else that a request carries: neither query nor token nor body. A line
that repeats is counted (`talk`).
"""

from __future__ import annotations

from collections.abc import Set

from smart_context import plain, talk
from smart_context.server.gate import App, Message, Receive, Scope, Send
from smart_context.server.identity import peer

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def logged(inner: App, paths: Set[str]) -> App:
    """The application, with a line for each request that it refuses or fails; `paths` are those that lead somewhere."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                talk.say(f"{message['status']} {_request(scope, paths)}\n")
            await send(message)

        await inner(scope, receive, told)

    return application


def _request(scope: Scope, paths: Set[str]) -> str:
    # Only our own paths: a client that tries many others cannot fill the log with them.
    method = scope["method"] if scope["method"] in _METHODS else "another method"
    path = scope["path"] if scope["path"] in paths else "another path"
    return plain.line(f"{method} {path} from {peer(scope) or 'unknown'}")
