"""Serve many clients over streamable HTTP: the gate, the SDK's session manager behind it, the operators' routes, the page.

In: what is offered.  Out: `/mcp`, `/healthz`, `/metrics`, and the page for people at `/`, until a signal.
Always: every request passes the gate first; at the end, running calls are finished or cancelled within a bound.
"""

from __future__ import annotations

import resource
import signal
import socket
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from smart_context import talk
from smart_context.errors import ConfigError
from smart_context.index.model import Health
from smart_context.server import frames, protocol
from smart_context.server.at_once import AtOnce, Entrance
from smart_context.server.connection import Listener, listener
from smart_context.server.gate import OPEN_PATHS, App, Gate, Policy, Receive, Scope, Send, allowed_hosts, is_loopback
from smart_context.server.listen import Listen, bind, url
from smart_context.server.metrics import Metrics
from smart_context.server.ops import PATHS as OPS_PATHS
from smart_context.server.ops import Ops
from smart_context.server.protocol import Offer
from smart_context.server.request_log import logged
from smart_context.server.session_calls import SessionCalls, again
from smart_context.server.sessions import McpSessions
from smart_context.server.stateless_calls import StatelessCalls

if TYPE_CHECKING:
    from smart_context.page.app import Page
    from smart_context.server.oauth import Issuer
    from smart_context.server.processes import Processes

PATH = "/mcp"

_FINISH_SECONDS = 10
_MAX_CONNECTIONS = 2048
_FILES = 2 * _MAX_CONNECTIONS  # descriptors: as many again for the index and the reading processes


def serve(
    offer: Offer, listen: Listen, metrics: Metrics, state: Callable[[], Health], page: Page | None = None
) -> None:
    """Serve until a signal asks to end."""
    if not is_loopback(listen.host) and listen.tokens is None:
        raise ConfigError(f"{listen.host} can be reached from elsewhere, so tokens are needed")
    room = _room()
    sockets = bind(listen.host, listen.port)
    gate, calls = application(offer, listen, metrics, state, page)
    config = listener(
        logged(gate, {PATH, *OPS_PATHS, *(page.paths if page else ())}),
        room,
        partial(AtOnce, Entrance(gate, calls)),
        proxy_headers=bool(listen.trusted_proxies),
        forwarded_allow_ips=list(listen.trusted_proxies),
        timeout_graceful_shutdown=_FINISH_SECONDS,
    )
    runner = _Announcing(config, listen, gate)
    # It raises the signal that ended it once more when it is done; being asked to end is no failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    if listen.tokens and hasattr(signal, "SIGHUP"):
        tokens = listen.tokens
        signal.signal(signal.SIGHUP, lambda *_: tokens.read_again())
    runner.run(sockets)


def _room() -> int:
    """How many connections may be open, after asking for the descriptors they need: half of what there is."""
    given, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if given == resource.RLIM_INFINITY:
        return _MAX_CONNECTIONS
    wanted = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
    if given < wanted:
        with suppress(ValueError, OSError):  # some systems have a bound below the one they tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return min(_MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


def application(
    offer: Offer, listen: Listen, metrics: Metrics, state: Callable[[], Health], page: Page | None = None
) -> tuple[Gate, StatelessCalls]:
    """Put the ASGI application together: all of it, and what serves calls in it."""
    manager = StreamableHTTPSessionManager(
        protocol.build(offer),
        session_idle_timeout=listen.session_seconds,
        max_request_body_size=listen.max_body,
        max_sessions=None,
    )
    sessions = McpSessions(partial(_messages, manager.handle_request))
    calls = StatelessCalls(SessionCalls(sessions, offer, listen.session_seconds), offer)
    issuer = _issuer(listen)
    told = issuer.paths if issuer else frozenset()

    def is_pages(scope: Scope) -> bool:
        """Whether the page answers: its own addresses, and for browsers all that no program asks for, so that nobody learns without signing in which there are."""
        if page is None or scope["path"] in page.paths:
            return page is not None
        is_for_programs = scope["path"].rstrip("/") in {PATH, *OPS_PATHS} or scope["path"].startswith("/.well-known")
        has_token = any(name == b"authorization" for name, _ in scope["headers"])
        return scope["method"] in {"GET", "HEAD"} and not is_for_programs and not has_token

    policy = Policy(
        allowed_hosts(listen.host, (*listen.hosts, issuer.host) if issuer else listen.hosts),
        frozenset(origin.lower().rstrip("/") for origin in listen.origins),
        listen.tokens.caller if listen.tokens else None,
        issuer,
        open_paths=OPEN_PATHS | told,
        is_pages=is_pages,
        max_body=listen.max_body,
        max_concurrent=listen.max_concurrent,
    )
    ops = Ops(metrics, state, dict.fromkeys(told, issuer.metadata()) if issuer else {}, offer.elsewhere)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(manager, offer.elsewhere, receive, send)
        elif scope["path"].rstrip("/") == PATH:
            await calls(scope, receive, send)
        elif page is not None and is_pages(scope):
            await page.application(scope, receive, send)
        else:
            await ops(scope, receive, send)

    return Gate(route, policy), calls


async def _messages(inner: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Pass valid messages on, and refuse others as over standard input: the SDK would take a request with an invalid id as a notification, and repeat what it cannot read."""
    if scope["method"] != "POST":
        await inner(scope, receive, send)
        return
    first = await receive()  # the whole body: the gate has seen to that
    found = frames.decode(first.get("body", b""))
    if not isinstance(found, frames.LineError):
        await inner(scope, again(first, receive), send)
        return
    body = frames.encode(found.message()).rstrip(b"\n")
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": head})
    await send({"type": "http.response.body", "body": body})


def _issuer(listen: Listen) -> Issuer | None:
    if listen.tokens is None or listen.oauth is None or not listen.oauth.issuer:
        return None
    from smart_context.server.oauth import Issuer

    return Issuer(listen.oauth, shared=listen.tokens.shared)


async def _lifespan(
    manager: StreamableHTTPSessionManager, elsewhere: Processes | None, receive: Receive, send: Send
) -> None:
    async with manager.run(), elsewhere.running() if elsewhere else nullcontext():
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


class _Announcing(Listener):
    """Says on stderr where it listens, once it does; hangs up on waiting streams when it ends."""

    def __init__(self, config: uvicorn.Config, listen: Listen, gate: Gate) -> None:
        super().__init__(config)
        self._listen = listen
        self._gate = gate

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            needs = "with a bearer token" if self._listen.tokens else "without a token"
            port = sockets[0].getsockname()[1]
            talk.say(f"listening on {url(self._listen.host, port, PATH)} {needs}\n")
            if self._listen.on_ready:
                self._listen.on_ready(port)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gate.hang_up()
        await super().shutdown(sockets)
        talk.say("the server has ended\n")
