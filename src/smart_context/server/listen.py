"""Where the HTTP server listens and whom it lets in. Cheap to import: it is needed before anything is served."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context import defaults
from smart_context.access.tokens import Tokens
from smart_context.errors import IoError
from smart_context.settings.tables import OauthSettings

if TYPE_CHECKING:
    from smart_context.page.desk import Finding


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen and whom to let in. tokens: None lets everybody in who can connect. oauth: whose tokens count, too.

    processes: how many answer calls; 1 is the one that listens, more are beside it.
    """

    host: str = defaults.HOST
    port: int = defaults.PORT
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tokens: Tokens | None = None
    oauth: OauthSettings | None = None
    max_body: int = defaults.MAX_BODY
    max_concurrent: int = defaults.MAX_CONCURRENCY
    session_seconds: float = defaults.SESSION_SECONDS
    trusted_proxies: tuple[str, ...] = ()
    processes: int = defaults.PROCESSES
    on_ready: Callable[[int], None] | None = None
    """Called with the port once the server listens there."""
    examine: Callable[[], Sequence[Finding]] | None = None
    """Looks over the installation, for the owner on the page."""


def bind(host: str, port: int) -> list[socket.socket]:
    """Take the port on every address of the host.

    Raises: IoError when it cannot be had on any of them.
    """
    try:
        addresses = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise IoError(f"cannot listen on {_netloc(host, port)}", reason=error.strerror) from error
    bound: list[socket.socket] = []
    why = 0
    for family, _, _, _, address in addresses:
        try:
            listening = socket.create_server(address[:2], family=family)
            # TCP_NODELAY, inherited by accepted connections: without it the body of an answer waits until its head is acknowledged.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            bound.append(listening)
        except OSError as error:  # `localhost` may have an address of a kind that this machine does not speak
            why = error.errno or 0
    if not bound:
        hint = "something else listens there; choose another with --port" if why == errno.EADDRINUSE else None
        raise IoError(f"cannot listen on {_netloc(host, port)}", reason=os.strerror(why), hint=hint)
    return bound


def url(host: str, port: int, path: str) -> str:
    """The address for clients."""
    return f"http://{_netloc(host, port)}{path}"


def _netloc(host: str, port: int) -> str:
    name = host.strip("[]")
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
