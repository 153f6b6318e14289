"""The command `completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from smart_context.cli import Command, cli


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that lets a shell complete `context`.

    \b
    Examples:
      context completion bash > ~/.local/share/bash-completion/completions/context
      context completion zsh > "${fpath[1]}/_context"
      context completion fish > ~/.config/fish/completions/context.fish
    """
    found = get_completion_class(shell)
    assert found is not None  # each of the three above is click's own
    made = found(cli, {}, "context", "_CONTEXT_COMPLETE")
    click.echo(made.source_template % made.source_vars())
