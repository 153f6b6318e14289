"""The command `completion`: what a shell needs to complete commands, options, file names and pointers.

In: the name of a shell, or what was typed of a command.  Out: its script, or what could come next.
Always: completing fails silently and changes nothing; pointers are those that the index has of a file in the roots.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import get_completion_class

from smart_context.cli.program import Command, cli
from smart_context.errors import ContextError

# Replacements in click's scripts, for values with blanks, quotes or commas.
_CHANGES = {
    "bash": (
        "COMPREPLY+=($value)",
        # Headings and sheet names may hold quotes and commands: a value must stay one word, whichever quote was begun.
        r"""case ${COMP_WORDS[COMP_CWORD]} in
                \"*) COMPREPLY+=("$(printf '%%s' "$value" | sed 's/[\\$`"]/\\&/g')");;
                \'*) COMPREPLY+=("$(printf '%%s' "$value" | sed "s/'/'\\\\''/g")");;
                *) COMPREPLY+=("$(printf '%%q' "$value")");;
            esac""",
    ),
    "fish": ('string split ","', 'string split -m 1 ","'),
}


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that lets a shell complete `context`.

    \b
    Examples:
      mkdir -p ~/.local/share/bash-completion/completions
      context completion bash > ~/.local/share/bash-completion/completions/context

    \b
      mkdir -p ~/.config/fish/completions
      context completion fish > ~/.config/fish/completions/context.fish

    \b
      mkdir -p ~/.zfunc
      context completion zsh > ~/.zfunc/_context
      # and in ~/.zshrc, before compinit: fpath=(~/.zfunc $fpath)
    """
    found = get_completion_class(shell)
    assert found is not None  # each of the three above is click's own
    made = found(cli, {}, "context", "_CONTEXT_COMPLETE")
    before, after = _CHANGES.get(shell, ("", ""))
    click.echo(made.source_template.replace(before, after) % made.source_vars())


def pointers(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The pointers of the file that was named before which begin with what was typed."""
    from smart_context.api import App
    from smart_context.settings import config

    given = context.params
    # An option without its value ends the parsing: what stands before it is then still among the arguments.
    path = given.get("path") or next((word for word in context.args if not word.startswith("-")), "")
    names = {"config": "config_file", "roots": "roots", "data_dir": "data_dir", "cache_root": "cache_root"}
    try:
        with App(config.load({name: given.get(parameter) for name, parameter in names.items()})) as app:
            found = app.pointers(os.path.abspath(os.path.expanduser(path)))
    except ContextError:
        return []
    return [pointer for pointer in found if pointer.startswith(typed)]
