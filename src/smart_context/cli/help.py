"""`context help`: the help of the program or of one command."""

from __future__ import annotations

import click

from smart_context.cli.program import Command, Group, cli


@click.command("help", cls=Command)
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_(context: click.Context, words: tuple[str, ...]) -> None:
    """Show the help of COMMAND, or of the program.

    \b
    Examples:
      context help
      context help search
      context help roots add
    """
    command: click.Command = cli
    at = click.Context(cli, info_name="context", **cli.context_settings)
    for word in words:
        if not isinstance(command, Group):
            raise click.UsageError(f"'{at.command_path}' has no commands", context)
        _, found, _ = command.resolve_command(at, [word])
        assert found is not None  # an unknown one has been refused
        command, at = found, click.Context(found, info_name=word, parent=at, **found.context_settings)
    click.echo(command.get_help(at))
