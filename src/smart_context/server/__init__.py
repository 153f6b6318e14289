"""MCP servers. `main` is the program `mcp-context-server`; `context serve` is in `cli/serving.py`."""

from __future__ import annotations

import sys
from typing import NoReturn

from smart_context.errors import ContextError
from smart_context.talk import configure, say

__all__ = ["main"]

_USAGE = """\
Usage: mcp-context-server [--debug]

Serve context caches to an MCP client over standard input and output. --debug shows tracebacks in the log.

  CONTEXT_CACHE_ROOT         folder whose subfolders are the caches
  CONTEXT_TOOL_TIMEOUT_SECS  seconds a call may take (30)
  CONTEXT_CACHE_MEMORY_MB    memory for caches held between calls (512)
"""


def main() -> NoReturn:
    """Run `mcp-context-server` and exit with its status."""
    sys.exit(_main(sys.argv[1:]))


def _main(args: list[str]) -> int:
    if args not in ([], ["--debug"]):
        return _told_about(args)
    configure(debug=bool(args))
    from smart_context.server import programs
    from smart_context.settings import config

    try:
        programs.context_server(config.served_caches())
    except ContextError as error:
        lines = (("error", error.message), ("reason", error.reason), ("hint", error.hint))
        say("".join(f"{name}: {text}\n" for name, text in lines if text))
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001  # the outer edge: no traceback reaches a person
        from smart_context.server.tools import unforeseen

        return unforeseen("mcp-context-server", error).exit_status
    return 0


def _told_about(args: list[str]) -> int:
    from smart_context import __version__

    if args in (["-h"], ["--help"]):
        sys.stdout.write(_USAGE)
        return 0
    if args == ["--version"]:
        sys.stdout.write(f"mcp-context-server {__version__}\n")
        return 0
    say(f"error: mcp-context-server takes no such arguments\n\n{_USAGE}")
    return 1
