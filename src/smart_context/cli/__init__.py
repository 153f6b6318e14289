"""The command `context`: a table of commands, each loaded when it is asked for.

Always: stdout is data and empty on any error; stderr is for people; the exit status is that of the error.
"""

from __future__ import annotations

import atexit
import io
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from smart_context import plain, talk
from smart_context.errors import ContextError

# name → (module below smart_context.cli, one-line help, heading in --help). The help is here so that `context --help`
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

_NARROW = 20  # columns: a shorter line fits every terminal
_COLOURS = {"green": 32, "yellow": 33, "cyan": 36}


class Exit(Exception):
    """End a command with another status than 0, after its message was written."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class GivenOptions:
    """The options of this command, for the commands that its messages suggest. place: `--config` and `--data-dir`; options: these, and `--root`."""

    place = ""
    options = ""


def keep_given_options(flags: Mapping[str, Any]) -> None:
    """Keep the options that were given for the messages of this command."""
    given = [("--config", flags["config"]), ("--data-dir", flags["data_dir"])]
    GivenOptions.place = "".join(f" {option} {quoted(value)}" for option, value in given if value)
    GivenOptions.options = "".join(f" --root {quoted(root)}" for root in flags["roots"] or ()) + GivenOptions.place


def quoted(path: str) -> str:
    """A path as it is typed in a shell."""
    import shlex

    return shlex.quote(path)


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    sys.exit(run())


def run() -> int:
    """Run the command line. Returns the exit status."""
    _write_what_can_be_written()
    if os.environ.get("_CONTEXT_COMPLETE"):  # a shell asks what could come next
        from smart_context.cli.program import cli

        cli.main(prog_name="context")
    return _run(sys.argv[1:])


def end(status: int) -> NoReturn:
    """End as Python does, without freeing memory object by object: the system frees all of it at once."""
    if threading.active_count() == 1:
        atexit._run_exitfuncs()
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            sys.exit(status)  # Python has its own way of ending where nobody takes what is left
        os._exit(status)
    sys.exit(status)


def _write_what_can_be_written() -> None:
    """Escape what a terminal of another encoding than UTF-8 has no letter for, instead of failing on it."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() not in {"utf-8", "utf8"}:
        sys.stdout.reconfigure(errors="backslashreplace")


def echo(text: str, *, err: bool = False) -> None:
    """Write a line to standard output or error, and let it out at once."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    if (stream.encoding or "").lower() not in {"utf-8", "utf8"}:
        import click  # it knows what to do with a terminal that names none

        click.echo(text, err=err)
        return
    stream.write(f"{text}\n")
    stream.flush()


def style(text: str, colour: str = "", *, bold: bool = False, dim: bool = False) -> str:
    """Text in a colour; unchanged where colours cannot be shown."""
    if not (has_colours() and sys.stdout is not None and sys.stdout.isatty()):
        return text
    codes = [_COLOURS[colour]] if colour else []
    codes += [1] if bold else []
    codes += [2] if dim else []
    return "".join(f"\x1b[{code}m" for code in codes) + f"{text}\x1b[0m"


def has_colours() -> bool:
    """Whether a terminal may be shown colours."""
    return can_erase() and not os.environ.get("NO_COLOR")


def say(*lines: str | None) -> None:
    """Write lines for people to stderr, each no wider than the terminal; a closed stderr is no error."""
    try:
        for line in lines:
            if line:
                echo(_fitted(line), err=True)
    except OSError:
        _discard(2)


def warn_of_variables() -> None:
    """Name variables that are misspelt, so that a setting is not ignored in silence; their values may be secret."""
    from smart_context.settings import config

    for name, near in config.unknown_variables().items():
        known = f"; did you mean {near}?" if near else ""
        say(f"warning: the variable {plain.line(name)} is unknown and ignored{known}")


def _fitted(line: str) -> str:
    if len(line) < _NARROW or sys.stderr is None or not sys.stderr.isatty():
        return line
    from smart_context.cli import layout

    return layout.fitted(layout.with_home(line), min(layout.WIDEST, layout.columns(sys.stderr)))


def can_erase() -> bool:
    """Whether the terminal can erase what it shows, and show colours."""
    return os.environ.get("TERM", "dumb") != "dumb"


def screen(otherwise: tuple[int, int] = (80, 24)) -> os.terminal_size:
    """Columns and lines of the terminal behind stdout, as `shutil` finds them."""
    if "COLUMNS" in os.environ or "LINES" in os.environ:
        import shutil  # it loads what packs files, too

        return shutil.get_terminal_size(otherwise)
    try:
        found = os.get_terminal_size(sys.__stdout__.fileno()) if sys.__stdout__ else None
    except (ValueError, OSError):  # closed, or no terminal
        found = None
    return os.terminal_size((found.columns or otherwise[0], found.lines or otherwise[1]) if found else otherwise)


def in_our_words(text: str) -> str:
    """Replace names of tools and arguments in backticks by those of commands and options."""
    if "`" not in text:
        return text
    from smart_context import tool_table

    ours = tool_table.command_names()
    return "`".join(ours.get(word, word) for word in text.split("`"))


def _run(args: list[str]) -> int:
    """Run a command and say what went wrong, if anything. Returns the exit status."""
    try:
        from smart_context.cli import quick

        if not quick.run(args):
            from smart_context.cli import program

            status = program.run(args)
            if status:
                return status
        if sys.stdout:
            sys.stdout.flush()
    except Exit as ended:
        return ended.status
    except KeyboardInterrupt:
        _erase_line()
        say("interrupted")
        return 130
    except BrokenPipeError:  # the reader has gone (`context … | head`): not an error of ours
        _discard(1)
        return 0
    except Exception as error:  # noqa: BLE001  # the outer edge: no traceback reaches a person
        if talk.shows_tracebacks():
            say(_traceback(error))
        return _failure(error)
    return 0


def _erase_line() -> None:
    """Take off the screen what a terminal shows for Ctrl-C, and the bar or question before it."""
    if sys.stderr is not None and sys.stderr.isatty() and can_erase():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _failure(error: Exception) -> int:
    if isinstance(error, ContextError):
        say(
            plain.line(f"error: {in_our_words(error.message)}"),
            error.reason and plain.line(f"reason: {error.reason}"),
            error.hint and plain.line(f"hint: {in_our_words(error.hint)}"),
        )
        return error.exit_status
    if isinstance(error, OSError):
        reason = (
            f"{error.strerror}: {error.filename}" if error.strerror and error.filename else error.strerror or str(error)
        )
        say("error: the system refused to read or write", f"reason: {plain.line(reason)}")
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
