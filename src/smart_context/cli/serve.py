"""`context serve`: the MCP server for agents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smart_context import defaults, talk
from smart_context.cli import Command
from smart_context.cli.options import settings_options
from smart_context.data import replace
from smart_context.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from smart_context.access.tokens import Tokens
    from smart_context.cli.checks import Finding
    from smart_context.server.listen import Listen
    from smart_context.server.tools import ToolNames
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@settings_options
@click.option(
    "--tool-names",
    type=click.Choice(["dotted", "underscore"]),
    default="dotted",
    show_default=True,
    help="How to list the tools of Context: some clients refuse dots in names. Both are always accepted.",
)
@click.option("--watch", is_flag=True, help="Keep the index up to date while files change.")
@click.option("--http", "over_http", is_flag=True, help="Serve many clients over streamable HTTP, at /mcp.")
@click.option("--host", metavar="ADDRESS", help="With --http: where to listen. Default: this machine alone.")
@click.option("--port", type=click.IntRange(0, 65535), help="With --http: the port; 0 takes a free one.")
@click.option(
    "--processes",
    type=click.IntRange(1, defaults.MOST_PROCESSES),
    metavar="N",
    help="With --http: so many processes answer calls, one a processor is enough. Default: the server itself.",
)
@click.option("--no-token", is_flag=True, help="Let every user of this machine in; on loopback only.")
@click.option("--ops-port", type=click.IntRange(1, 65535), help="Without --http: serve /healthz and /metrics there.")
@click.option("--connect", "url", metavar="URL", help="Pass everything on to the server at URL, and keep no index.")
def serve(
    settings: Settings,
    tool_names: ToolNames,
    watch: bool,
    over_http: bool,
    host: str | None,
    port: int | None,
    processes: int | None,
    no_token: bool,
    ops_port: int | None,
    url: str | None,
) -> None:
    """Serve MCP clients: one over standard input and output, or many over HTTP.

    A client starts it by itself; `context connect` writes its configuration. HTTP needs a bearer token: the server's own, which
    stands in the data folder (http-token) or in the file that `http.token_file` names, or one of `context token`. It says on
    standard error where it listens and which requests were refused or failed, with the time where that is not a terminal.

    \b
    Examples:
      context serve --root ~/Documents --watch
      context serve --http --port 8765 --root /srv/share
      context serve --connect http://127.0.0.1:8765/mcp
    """
    from smart_context.api import App
    from smart_context.server import programs, run

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
    if url is not None:
        run.relayed(url, _token_for(settings, url))
        return
    if watch:
        # Who wants an index that keeps up with the files wants one to begin with.
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

    Raises: UsageError where no token is wanted and others could connect.
    """
    from smart_context.server import gate, listen

    http = settings.http
    address = host or http.host
    if no_token and not gate.is_loopback(address):
        raise UsageError(f"{address} can be reached from elsewhere, so --no-token cannot be", hint="leave it out")

    return listen.Listen(
        address,
        http.port if port is None else port,
        http.allowed_hosts,
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
