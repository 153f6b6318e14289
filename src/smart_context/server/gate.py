"""The check before every route of the HTTP server: Host, Origin, token, size and time.

In: an ASGI request.  Out: the inner application's answer, or a refusal.
Always: a request whose Host or Origin is not allowed, or that lacks the token where one is needed, reaches nothing behind this; a body
comes within its time and size, or the request ends.

Host is checked against DNS rebinding: a page of another site can make a browser call a loopback address, but Host and Origin have the name that the page
was loaded from.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

import anyio

from smart_context import defaults
from smart_context.model import Caller
from smart_context.server.identity import CALLER, peer
from smart_context.server.turn_queue import Turn, TurnQueue

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Known = Callable[[bytes], Caller | str]
"""Who has a token, or why nobody is let in with it."""

_SECONDS = "smart_context.seconds"
"""The key of how long a caller's token holds, for a stream that stays open."""

CROWDED = "too many requests at once; try again in a second"
OPEN_PATHS = frozenset({"/healthz"})
_BEARER = "Bearer"
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_ANY = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused. challenge: the `WWW-Authenticate` header."""

    status: int
    why: str
    challenge: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A token that an issuer gave: whose it is, and for how many seconds more."""

    caller: Caller
    seconds: float


class Issuer(Protocol):
    """An issuer of tokens that are not stored here."""

    async def caller(self, given: bytes) -> Accepted | Refusal:
        """The caller with this token."""

    def refusal(self, status: int, why: str, error: str = "") -> Refusal:
        """A refusal that names the issuer of tokens."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the gate lets through.

    hosts: names allowed in Host, without a port. origins: allowed in Origin besides those of the hosts. known: tells whose a token is;
    None lets everybody in, known by address. issuer: asked about tokens that are not known. open_paths: served without a token. is_pages: whether the page answers, which signs people in itself. max_concurrent: requests worked on at once; more wait up to `wait_seconds`, then are told to
    come back.
    """

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    known: Known | None = field(default=None, repr=False)
    issuer: Issuer | None = None
    open_paths: frozenset[str] = OPEN_PATHS
    is_pages: Callable[[Scope], bool] = lambda _scope: False
    max_body: int = defaults.MAX_BODY
    max_concurrent: int = defaults.MAX_CONCURRENCY
    body_seconds: float = 20.0
    wait_seconds: float = 10.0


def is_loopback(host: str) -> bool:
    """Say whether an address to bind to can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def allowed_hosts(bind: str, configured: tuple[str, ...]) -> frozenset[str]:
    """Give the names a client may use: loopback's own, what is configured, and the address itself unless it means "any".

    A page of another site that calls loopback by its name is recognised by its Origin.
    """
    names = {name.strip("[]").lower() for name in (*configured, bind)}
    return frozenset(names.difference(_ANY) | set(_LOOPBACK_NAMES))


class Gate:
    """The ASGI application in front of the real one."""

    def __init__(self, inner: App, policy: Policy) -> None:
        self._inner = inner
        self._policy = policy
        self._turns = TurnQueue(policy.max_concurrent)
        self._standing: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._inner(scope, receive, send)
            return
        refusal = self._refusal(scope) or await self._unknown(scope)
        if refusal is not None:
            await _refuse(send, refusal.status, refusal.why, refusal.challenge)
            return
        if scope["method"] == "GET":
            await self._stand(scope, receive, send)
        else:
            await self._serve(scope, receive, send)

    def known(self, scope: Scope) -> Caller | None:
        """The caller of a request whose head was accepted before; None if unknown or no longer valid: it then takes the ordinary way."""
        found = Caller(peer(scope) or "unknown") if self._policy.known is None else self._token(scope)[0]
        return None if isinstance(found, str) else found

    def enter(self) -> bool:
        """Take a turn if one is free."""
        return self._turns.enter()

    def wait(self) -> Turn:
        """Queue for a turn."""
        return self._turns.wait(self._policy.wait_seconds)

    def leave(self) -> None:
        """End a turn."""
        self._turns.leave()

    @property
    def max_body(self) -> int:
        """How many bytes a request may have."""
        return self._policy.max_body

    def hang_up(self) -> None:
        """End the idle streams, so that shutting down does not wait for them."""
        for stream in self._standing:
            stream.cancel()

    async def _stand(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A GET may be a stream that stays open as long as its client, so it takes no turn."""
        with anyio.move_on_after(scope.get(_SECONDS)) as stream:
            self._standing.add(stream)
            try:
                await self._inner(scope, receive, send)
            finally:
                self._standing.discard(stream)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}:
            # A proxy may end the body elsewhere than we do, so that a part of it would be a request of somebody else.
            return Refusal(400, "a request has a length or comes in chunks, not both")
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or _host(hosts[0]) not in self._policy.hosts:
            return Refusal(421, "this server does not answer to that Host")
        for name, value in headers:
            if name == b"origin" and not self._is_allowed_origin(value):
                return Refusal(403, "requests from that Origin are not allowed")
        return None

    async def _unknown(self, scope: Scope) -> Refusal | None:
        """Put the caller into the scope, or say why there is none."""
        if self._policy.known is None:
            scope[CALLER] = Caller(peer(scope) or "unknown")
            return None
        found, given = self._token(scope)
        scope[CALLER] = None if isinstance(found, str) else found
        if not isinstance(found, str):
            return None
        issuer = self._policy.issuer
        if issuer is not None and given is not None and given.count(b".") == 2:
            answer = await issuer.caller(given)
            if isinstance(answer, Refusal):
                return answer
            scope[CALLER], scope[_SECONDS] = answer.caller, answer.seconds
            return None
        is_bare = all(name != b"authorization" for name, _ in scope["headers"])
        if is_bare and (scope["path"] in self._policy.open_paths or self._policy.is_pages(scope)):
            return None
        return issuer.refusal(401, found) if issuer is not None else Refusal(401, found, _BEARER)

    def _token(self, scope: Scope) -> tuple[Caller | str, bytes | None]:
        """The caller with the request's bearer token, or why it is refused; and the token, if there is one."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        if scheme.lower() != b"bearer" or self._policy.known is None:
            return "a bearer token is needed", None
        token = token.strip()
        return self._policy.known(token), token

    def _is_allowed_origin(self, value: bytes) -> bool:
        origin = value.decode("latin-1").lower()
        if origin in self._policy.origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:  # `http://[x`
            return False
        return parts.scheme in {"http", "https"} and _name(parts.netloc) in self._policy.hosts

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the whole body within its bounds first: neither a turn nor anything behind the gate waits for a slow sender."""
        if _declared(scope) > self._policy.max_body:
            await self._refuse_body(receive, send)
            return
        body = b""
        more = True
        try:
            async with asyncio.timeout(self._policy.body_seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > self._policy.max_body:
                        break
        except TimeoutError:
            await _refuse(send, 408, "the request did not arrive in time")
            return
        if len(body) > self._policy.max_body:
            await self._refuse_body(receive, send)
            return
        replayed = False

        async def replay() -> Message:
            nonlocal replayed
            if not replayed:
                replayed = True
                return {"type": "http.request", "body": body, "more_body": False}
            return await receive()

        if not self.enter() and not await self._in_turn():
            await _refuse(send, 503, CROWDED)
            return
        try:
            await self._inner(scope, replay, send)
        finally:
            self.leave()

    async def _refuse_body(self, receive: Receive, send: Send) -> None:
        """Answer at once, then read on for a while: who is cut off while sending may not see the answer."""
        headers, why = refused(413, f"a request may have at most {self._policy.max_body:,} bytes")
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": why, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(self._policy.body_seconds):
                while (await receive()).get("more_body", False):
                    pass
        await send({"type": "http.response.body", "body": b""})

    async def _in_turn(self) -> bool:
        turn = self.wait()
        try:
            return await turn
        except asyncio.CancelledError:
            if not turn.cancelled() and turn.result():  # it came as this was cancelled
                self.leave()
            raise


def _declared(scope: Scope) -> int:
    """The declared length of a request's body; 0 if it declares none."""
    return max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)


def _host(value: bytes) -> str:
    return _name(value.decode("latin-1"))


def _name(netloc: str) -> str:
    """Give the name of a host without its port; nothing for what is not just a host and a port."""
    netloc = netloc.strip().lower()
    if netloc.startswith("["):
        name, bracket, port = netloc[1:].partition("]")
        return name if bracket and (not port or (port[1:].isdigit() and port[0] == ":")) else ""
    name, colon, port = netloc.partition(":")
    return name.rstrip(".") if not colon or port.isdigit() else ""


async def _refuse(send: Send, status: int, why: str, challenge: str = "") -> None:
    headers, body = refused(status, why, challenge)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def refused(status: int, why: str, challenge: str = "") -> tuple[list[tuple[bytes, bytes]], bytes]:
    """The head and the body of a refusal."""
    body = why.encode() + b"\n"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    headers += [(b"connection", b"close")] if status in {400, 408, 413} else []
    headers += [(b"www-authenticate", challenge.encode("latin-1", "replace"))] if challenge else []
    headers += [(b"retry-after", b"1")] if status == 503 else []
    return headers, body
