"""`context serve`: the MCP server for agents. `serve.py` and `quick.py` parse its command line."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context import talk
from smart_context.cli import say
from smart_context.data import replace
from smart_context.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from smart_context.access.tokens import Tokens
    from smart_context.cli.checks import Finding
    from smart_context.server.listen import Listen
    from smart_context.server.tools import ToolNames
    from smart_context.settings.config import Settings


def run(
    *,
    settings: Settings,
    tool_names: ToolNames = "dotted",
    watch: bool = False,
    over_http: bool = False,
    host: str | None = None,
    port: int | None = None,
    processes: int | None = None,
    no_token: bool = False,
    ops_port: int | None = None,
    url: str | None = None,
) -> None:
    """Serve MCP clients until they leave."""
    from smart_context.api import App
    from smart_context.server import programs, run

    gc.enable()  # from here on the process runs for long
    if not over_http and (host is not None or port is not None):
        raise UsageError("--host and --port go with --http")
    if not over_http and processes is not None:
        raise UsageError("--processes goes with --http: a client over standard input and output has its own server")
    if no_token and not over_http and ops_port is None:
        raise UsageError("--no-token goes with --http or --ops-port")
    if over_http and (url is not None or ops_port is not None):
        raise UsageError("--http serves /healthz and /metrics itself, and does not go with --connect")
    if over_http and (sys.stderr is None or not sys.stderr.isatty()):
        talk.stamp_lines()
    if not over_http and sys.stdin is not None and sys.stdin.isatty():
        say(
            "waiting for an MCP client on standard input; end it with Ctrl-C",
            "have a client start it by itself: context connect",
            "search in a browser instead: context ui",
        )
    if url is not None:
        run.relayed(url, _token_for(settings, url))
        return
    if watch:
        # A server that watches also makes the first index.
        begun = replace(settings.index, at_start=True)
        settings = replace(settings, watch=replace(settings.watch, enabled=True), index=begun)
    if processes is not None:
        settings = replace(settings, http=replace(settings.http, processes=processes))
    listen = listen_on(settings, host, port, no_token=no_token) if over_http else None
    with App(settings) as app:
        ops_tokens = _tokens(settings) if ops_port is not None and not no_token else None
        programs.serve(app, tool_names=tool_names, listen=listen, ops_port=ops_port, ops_tokens=ops_tokens)


def listen_on(settings: Settings, host: str | None, port: int | None, *, no_token: bool) -> Listen:
    """Where to listen and whom to let in, as the settings say; host and port go before them.

    Raises: UsageError if no token is required and others could connect.
    """
    from smart_context.server import gate, listen

    http = settings.http
    address = host or http.host
    if no_token and not gate.is_loopback(address):
        raise UsageError(f"{address} can be reached from elsewhere, so --no-token cannot be", hint="leave it out")

    return listen.Listen(
        address,
        http.port if port is None else port,
        _hosts(http.allowed_hosts),
        http.allowed_origins,
        None if no_token else _tokens(settings),
        None if no_token else settings.oauth,
        http.max_body,
        http.max_concurrency,
        http.session_seconds,
        _addresses(http.trusted_proxies),
        http.processes,
        examine=lambda: _examined(settings),
    )


def _examined(settings: Settings) -> list[Finding]:
    from smart_context.cli import checks

    return list(checks.of_settings(settings))


def _tokens(settings: Settings) -> Tokens:
    from smart_context import engine
    from smart_context.access.tokens import Tokens
    from smart_context.talk import warn

    shared = (
        engine.shared(settings.data_dir, settings.engine, settings.engine_places).tokens() if settings.engine else None
    )
    return Tokens(Path(settings.data_dir), settings.http.token_file or None, warn, shared=shared)


def _hosts(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if "/" in name or name.count(":") == 1:  # an address of a page, or a port: no `Host` would ever be equal to it
            raise ConfigError(
                f"http.allowed_hosts: {name!r} is not the name of a host",
                hint="without https:// and without a port: context.example.com",
            )
    return names


def _addresses(names: tuple[str, ...]) -> tuple[str, ...]:
    import ipaddress

    for name in names:
        try:
            ipaddress.ip_network(name, strict=False)
        except ValueError:
            raise ConfigError(f"http.trusted_proxies: {name!r} is not an address or a network") from None
    return names


def _token_for(settings: Settings, url: str) -> str:
    """Give the token of a shared server: the configured one, or this machine's own for a server on loopback."""
    from urllib.parse import urlsplit

    from smart_context.access import tokens
    from smart_context.server import gate

    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"{url} is not an address of a server", hint="it looks like http://127.0.0.1:8765/mcp")
    own = Path(settings.data_dir) / tokens.OWN_FILE
    if settings.http.token_file or (gate.is_loopback(parts.hostname) and own.exists()):
        return tokens.own(Path(settings.data_dir), settings.http.token_file or None)
    return ""
