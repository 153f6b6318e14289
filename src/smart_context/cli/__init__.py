"""The command `context`: a table of commands, each loaded when it is asked for.

Always: stdout is data and empty on any error; stderr is for people; the exit status is that of the error.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from smart_context import __version__, plain, talk
from smart_context.errors import ContextError

# name → (module below smart_context.cli, one-line help, heading in --help). The help stands here so that `context --help`
# imports no command.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "index": ("index", "Read folders into the index.", "Search"),
    "search": ("search", "Find files by what they say.", "Search"),
    "open": ("reading", "Show a part of a file, or of a result, as agents see it.", "Search"),
    "cat": ("reading", "Print the text of a file of any format.", "Search"),
    "status": ("status", "Show what is indexed, what could not be read, and what has changed.", "Search"),
    "ui": ("ui", "Search in a browser.", "Search"),
    "eval": ("eval", "Measure how well search answers.", "Search"),
    "roots": ("roots", "List the folders that may be read, or change them.", "Search"),
    "summarize": ("llm", "Search, and summarize what was found, with its sources.", "Search"),
    "rewrite": ("llm", "Turn a question into a query with filters.", "Search"),
    "build": ("cache", "Freeze the documents of a folder into a cache.", "Caches"),
    "freeze": ("freeze", "Freeze what a search finds into a cache, with its sources.", "Caches"),
    "resolve": ("cache", "Print the documents that answer a query within a token budget.", "Caches"),
    "pack": ("pack", "Print the passages that answer a question within a token budget.", "Caches"),
    "why": ("compare", "Explain why resolve takes a document, or not.", "Caches"),
    "diff": ("compare", "Compare two caches: documents added, removed, moved and changed.", "Caches"),
    "replay": ("freeze", "Ask the question of a frozen cache again, and say what changed.", "Caches"),
    "inspect": ("cache", "Print the version and size of a cache, and whether it is valid.", "Caches"),
    "verify": ("cache", "Check that a cache is complete and unchanged.", "Caches"),
    "keygen": ("sign", "Make a key that signs caches.", "Caches"),
    "sign": ("sign", "Sign a cache, so that others can check that it is yours and unchanged.", "Caches"),
    "list": ("cache", "Print the folders that may be caches.", "Caches"),
    "prune": ("prune", "Remove old caches below a folder.", "Caches"),
    "serve": ("serve", "Serve MCP clients.", "Servers"),
    "watch": ("upkeep", "Keep the index up to date while files change.", "Servers"),
    "engine": ("engine", "Prepare the database of a shared record, show its state, or upgrade it.", "Servers"),
    "worker": ("worker", "Read files into a record that several machines share.", "Servers"),
    "token": ("token", "Give people tokens for a shared server.", "Servers"),
    "audit": ("audit", "Read the log of tool calls, or check it.", "Servers"),
    "connect": ("connect", "Connect an MCP client.", "Setup"),
    "doctor": ("doctor", "Check the installation, and say what to do.", "Setup"),
    "semantic": ("semantic", "Prepare the model for ranking by meaning, show its state, or remove it.", "Setup"),
    "forget": ("forget", "Remove text from the index for good.", "Setup"),
    "maintain": ("upkeep", "Tidy the index.", "Setup"),
    "completion": ("completion", "Print a script that lets a shell complete commands.", "Setup"),
    "llm": ("llm", "Show what is sent to a language model, and to whom.", "Setup"),
    "uninstall": ("uninstall", "Remove what this program has put on the machine.", "Setup"),
    "help": ("help", "Show the help of a command.", "Setup"),
}

# Commands whose name cannot be that of a function.
_FUNCTIONS = {"eval": "eval_", "open": "open_", "help": "help_"}

_NARROW = 20  # columns: a shorter line fits every terminal
_DEBUG = "smart_context.debug"  # in the meta that all contexts of a run share
_CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _debug_option() -> click.Option:
    def note(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
        if is_given:
            context.meta[_DEBUG] = True
            talk.configure(debug=True)

    return click.Option(
        ["--debug"], is_flag=True, expose_value=False, callback=note, help="Show a traceback on an error."
    )


class _Place(click.Path):
    """A path in whatever way it was given: `~` is one's own folder also where a shell leaves it alone, as in `--root=~/notes`."""

    def __init__(self, inner: click.ParamType[Any], *, folder: bool) -> None:
        if isinstance(inner, click.Path):
            super().__init__(file_okay=inner.file_okay, dir_okay=inner.dir_okay)
        else:
            super().__init__(file_okay=not folder)
        self._inner = inner

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Expand it, then check it as usual."""
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
            _, _, order = self.make_parser(ctx).parse_args(list(args))
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
        """Show somebody at a terminal who names no command which there are."""
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


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    _write_what_can_be_written()
    if os.environ.get("_CONTEXT_COMPLETE"):  # a shell asks what could come next
        cli.main(prog_name="context")
    sys.exit(_run(sys.argv[1:]))


def _write_what_can_be_written() -> None:
    """Escape what a terminal of another encoding than UTF-8 has no letter for, instead of failing on it."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() not in {"utf-8", "utf8"}:
        sys.stdout.reconfigure(errors="backslashreplace")


def say(*lines: str | None) -> None:
    """Write lines for people to stderr, each no wider than their terminal; where nobody takes them, they are lost rather than a failure."""
    try:
        for line in lines:
            if line:
                click.echo(_fitted(line), err=True)
    except OSError:
        _discard(2)


def _fitted(line: str) -> str:
    if len(line) < _NARROW or sys.stderr is None or not sys.stderr.isatty():
        return line
    from smart_context.cli import layout

    return layout.fitted(layout.with_home(line), min(layout.WIDEST, layout.columns(sys.stderr)))


def can_erase() -> bool:
    """Whether the terminal can erase what it shows, and show colours."""
    return os.environ.get("TERM", "dumb") != "dumb"


def in_our_words(text: str) -> str:
    """Put commands and options where the core's words name tools and arguments, in backticks."""
    if "`" not in text:
        return text
    from smart_context import tool_table

    ours = tool_table.command_names()
    return "`".join(ours.get(word, word) for word in text.split("`"))


def _run(args: list[str]) -> int:
    """Run a command and say what went wrong, if anything. Returns the exit status."""
    context = None
    try:
        color = None if can_erase() and not os.environ.get("NO_COLOR") else False
        with cli.make_context("context", args, color=color) as context:
            cli.invoke(context)
        if sys.stdout:
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        _erase_line()
        say("interrupted")
        return 130
    except click.ClickException as error:
        return _usage(error)
    except BrokenPipeError:  # the reader has gone (`context … | head`): not an error of ours
        _discard(1)
        return 0
    except Exception as error:  # noqa: BLE001  # the outer edge: a person never meets a traceback
        if context and context.meta.get(_DEBUG):
            say(_traceback(error))
        return _failure(error)
    return 0


def _erase_line() -> None:
    """Take off the screen what a terminal shows for Ctrl-C, and the bar or question before it."""
    if sys.stderr is not None and sys.stderr.isatty() and can_erase():
        click.echo("\r\x1b[K", err=True, nl=False)


def _usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "context"
    hint = f"hint: see '{path} --help'"
    if context and isinstance(error, click.NoSuchOption) and _takes_words(context.command):
        hint += f"; words that begin with a dash stand after `--`: {path} -- {plain.line(error.option_name)}"
    say(f"error: {error.format_message()}", hint)
    return 1


def _takes_words(command: click.Command) -> bool:
    return any("QUERY" in (each.metavar or "") for each in command.params)


def _failure(error: Exception) -> int:
    if isinstance(error, ContextError):
        say(
            plain.line(f"error: {in_our_words(error.message)}"),
            error.reason and plain.line(f"reason: {error.reason}"),
            error.hint and plain.line(f"hint: {in_our_words(error.hint)}"),
        )
        return error.exit_status
    if isinstance(error, OSError):
        say("error: the system refused to read or write", f"reason: {plain.line(str(error))}")
        _discard(1)
        return 6
    say(
        f"error: internal error ({type(error).__name__})",
        "reason: this is a bug; run it again with --debug to see where",
    )
    return 7


def _traceback(error: Exception) -> str:
    import traceback

    return "".join(traceback.format_exception(error)).rstrip()


def _discard(descriptor: int) -> None:
    # Python flushes what is left when it ends, and would fail once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
