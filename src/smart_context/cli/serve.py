"""`context serve`: its command line, by click; `serving.py` does the work."""

from __future__ import annotations

from typing import Any

import click

from smart_context import defaults
from smart_context.cli import serving
from smart_context.cli.options import settings_options
from smart_context.cli.program import Command


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
def serve(**given: Any) -> None:
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
    serving.run(**given)
