"""`context serve`: the MCP server for agents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from smart_context.cli import Command

if TYPE_CHECKING:
    from smart_context.server.tools import ToolNames


@click.command(cls=Command)
@click.option(
    "--cache-root",
    metavar="DIR",
    help="Folder whose subfolders are the caches. Default: CONTEXT_CACHE_ROOT.",
)
@click.option(
    "--tool-names",
    type=click.Choice(["dotted", "underscore"]),
    default="dotted",
    show_default=True,
    help="How to list the tools of Context: some clients refuse dots in names. Both are always accepted.",
)
def serve(cache_root: str | None, tool_names: ToolNames) -> None:
    """Serve an MCP client over standard input and output.

    \b
    A client starts it, with a configuration like
      {"mcpServers": {"context": {"command": "context", "args": ["serve", "--cache-root", "/srv/caches"]}}}
    """
    from smart_context.server import programs

    programs.serve(programs.settings(os.environ, cache_root=cache_root), tool_names=tool_names)
