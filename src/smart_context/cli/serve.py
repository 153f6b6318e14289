"""`context serve`: the MCP server for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from smart_context.cli import Command
from smart_context.cli.options import settings_options

if TYPE_CHECKING:
    from smart_context.config import Settings
    from smart_context.server.tools import ToolNames


@click.command(cls=Command)
@settings_options
@click.option(
    "--tool-names",
    type=click.Choice(["dotted", "underscore"]),
    default="dotted",
    show_default=True,
    help="How to list the tools of Context: some clients refuse dots in names. Both are always accepted.",
)
def serve(settings: Settings, tool_names: ToolNames) -> None:
    """Serve an MCP client over standard input and output.

    \b
    A client starts it, with a configuration like
      {"mcpServers": {"context": {"command": "context", "args": ["serve", "--root", "/srv/docs"]}}}
    """
    from smart_context.api import App
    from smart_context.server import programs

    with App(settings) as app:
        programs.serve(app, tool_names=tool_names)
