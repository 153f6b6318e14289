"""The command line by click: commands with their options, help and completion.

In: the words of a command line.  Out: the command, run.
Always: a command is a module, imported when it is asked for. `quick.py` does the same for plain searches, runs and servers, without click.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from smart_context import __version__, plain, talk
from smart_context.cli import COMMANDS, has_colours, say

# Commands whose name cannot be that of a function.
_FUNCTIONS = {"eval": "eval_", "open": "open_", "help": "help_"}

_CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _debug_option() -> click.Option:
    def note(_context: click.Context, _option: click.Parameter, is_given: bool) -> None:
        if is_given:
            talk.configure(debug=True)

    return click.Option(
        ["--debug"], is_flag=True, expose_value=False, callback=note, help="Show a traceback on an error."
    )


class _Place(click.Path):
    """A path argument; `~` is expanded also where the shell does not, as in `--root=~/notes`."""

    def __init__(self, inner: click.ParamType[Any], *, folder: bool) -> None:
        if isinstance(inner, click.Path):
            super().__init__(file_okay=inner.file_okay, dir_okay=inner.dir_okay)
        else:
            super().__init__(file_okay=not folder)
        self._inner = inner

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an empty one, which the system takes for the current folder; expand it, then check it as usual."""
        # The commands over caches take text, because Context says with which status they refuse it.
        if value == "" and isinstance(self._inner, click.Path):
            self.fail("it is empty; the current folder is written as a dot", param, ctx)
        return self._inner.convert(os.path.expanduser(value) if isinstance(value, str) else value, param, ctx)


def _expand(params: Sequence[click.Parameter]) -> None:
    for param in params:
        if isinstance(param.type, click.Path) or param.metavar in {"DIR", "FILE"}:
            param.type = _Place(param.type, folder=param.metavar == "DIR")


class Command(click.Command):
    """A command whose options may be given once, that takes `~` in every path, and that understands `--debug`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _expand(self.params)
        self.context_settings = {**_CONTEXT_SETTINGS, **self.context_settings}
        self.params.append(_debug_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, then parse as usual."""
        if not ctx.resilient_parsing:
            try:
                _, _, order = self.make_parser(ctx).parse_args(list(args))
            except click.NoSuchOption as error:
                typed = _typed(error.option_name, args)
                raise click.NoSuchOption(typed, possibilities=error.possibilities, ctx=ctx) from None
            except click.BadOptionUsage as error:
                raise click.UsageError(error.format_message(), ctx) from None  # with it the hint names this command
            for param in order:
                if isinstance(param, click.Option) and not param.multiple and order.count(param) > 1:
                    raise click.UsageError(f"option {param.opts[-1]} is given twice", ctx)
        return super().parse_args(ctx, args)


class Group(click.Group):
    """A group of such commands, which suggests the nearest one for a name that it does not know."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Said here, because versions of click say it differently.
        command = "[COMMAND]" if kwargs.get("invoke_without_command") else "COMMAND"
        told = {"no_args_is_help": False, "subcommand_metavar": f"{command} [ARGS]..."}
        super().__init__(*args, **{**told, **kwargs})
        _expand(self.params)
        self.context_settings = {**_CONTEXT_SETTINGS, **self.context_settings}
        self.params.append(_debug_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """On a terminal, list the commands if none is named."""
        if not (args or ctx.resilient_parsing) and _is_watched():
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for."""
        if args[0] in self.list_commands(ctx) or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        import difflib

        near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
        raise click.UsageError(f"no such command '{args[0]}'" + (f" (did you mean '{near[0]}'?)" if near else ""), ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence of each command's help, in as many lines as it takes."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(limit=formatter.width * 3))
                    for name in self.list_commands(ctx)
                    if (command := self.get_command(ctx, name))
                ]
            )


class Program(Group):
    """The group whose commands are modules, imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every command, in the order of the table."""
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command, and it alone."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"smart_context.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, from the table."""
        headings: dict[str, list[tuple[str, str]]] = {}
        for name, (_, text, heading) in COMMANDS.items():
            headings.setdefault(heading, []).append((name, text))
        for heading, rows in headings.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


@click.group(cls=Program, invoke_without_command=True)
@click.version_option(__version__, prog_name="context")
@click.pass_context
def cli(context: click.Context) -> None:
    """Find what your own files say, and prove later what was found.

    \b
    Examples:
      context index ~/Documents
      context search "contracts with vendor X from 2021"
      context build --sources docs --cache docs.cache
      context resolve --cache docs.cache --query "how do I deploy" --budget 4000

    Exit status: 0 done, 1 usage or configuration, 2 invalid query, 3 invalid budget, 4 missing, 5 cache invalid,
    6 I/O error or refused, 7 internal error, 8 a comparison that does not hold.
    """
    if context.invoked_subcommand is None:  # a script that lost its command must not go on
        raise click.UsageError("no command", context)


def _is_watched() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def run(args: list[str]) -> int:
    """Run a command and report errors of usage. Returns the exit status."""
    gc.enable()
    try:
        with cli.make_context("context", args, color=None if has_colours() else False) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        return _usage(error)
    return 0


def _usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "context"
    hint = f"hint: see '{path} --help'"
    if context and isinstance(error, click.NoSuchOption) and _takes_words(context.command):
        hint += f"; words that begin with a dash stand after `--`: {path} -- {plain.line(error.option_name)}"
    say(f"error: {error.format_message()}", hint)
    return 1


def _typed(option: str, args: Sequence[str]) -> str:
    """The word that an unknown option was read from: of `-draft` click knows `-d` alone."""
    if option.startswith("--"):
        return option
    return next((word for word in args if word.startswith("-") and option[1:] in word), option)


def _takes_words(command: click.Command) -> bool:
    return any("QUERY" in (each.metavar or "") for each in command.params)
