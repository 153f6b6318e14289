"""The two programs: what each puts on the table, and what it can be told."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from smart_context.errors import ConfigError
from smart_context.server import context_tools, run, search_tools
from smart_context.server.search_tools import App
from smart_context.server.tools import Guard, Program, ToolNames, unguarded
from smart_context.server.wire import say

_CACHES = (
    "Caches hold frozen documents. Call context.list_caches to see which there are, then context.resolve with the path of "
    "one, a query and a token budget."
)
_FILES = (
    "Call searchFiles to find text in the user's own files, then openFile with a result's path and pointer to read on."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What both programs can be told. memory_bytes: what caches held in memory may take."""

    cache_root: str | None = None
    seconds: float = 30
    memory_bytes: int = 1024**3


def settings(environ: Mapping[str, str], *, cache_root: str | None = None) -> Settings:
    """Read the settings from an environment; a given cache root goes before the environment's.

    Raises: ConfigError: a number is not a positive integer.
    """
    return Settings(
        cache_root=cache_root or environ.get("CONTEXT_CACHE_ROOT") or None,
        seconds=_positive(environ, "CONTEXT_TOOL_TIMEOUT_SECS", 30),
        memory_bytes=_positive(environ, "CONTEXT_CACHE_MEMORY_MB", 1024) * 1024**2,
    )


def context_server(told: Settings) -> None:
    """Serve the three tools of Context as `mcp-context-server`."""
    warn_about(told.cache_root)
    rows = context_tools.table(told.cache_root, told.memory_bytes)
    run.over_stdio(Program("mcp-context-server", "Context", _CACHES), rows, seconds=told.seconds)


def serve(
    told: Settings,
    *,
    tool_names: ToolNames = "dotted",
    app: App | None = None,
    guard: Guard = unguarded,
    clean: Callable[[str], str] = str,
) -> None:
    """Serve `context serve`: the three tools of Context, and with an `app` the six of Smart File Search."""
    warn_about(told.cache_root)
    rows = context_tools.table(told.cache_root, told.memory_bytes)
    instructions = _CACHES.replace("context.", "context_") if tool_names == "underscore" else _CACHES
    if app is not None:
        rows = (*search_tools.table(app, clean), *rows)
        instructions = f"{_FILES} {instructions}"
    run.over_stdio(
        Program("smart-context", "Smart Context", instructions),
        rows,
        seconds=told.seconds,
        tool_names=tool_names,
        guard=guard,
    )


def _positive(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"\+?0*[1-9][0-9]{0,4000}", text, re.ASCII):
        raise ConfigError(f"{name} is not a positive integer", reason=f"it is {text!r}")
    return min(int(text), 10**9)


def warn_about(root: str | None) -> None:
    """Say at the start what every call of a tool would only answer with a code."""
    if root is None:
        say("warning: no cache root is configured, so every cache is missing\nhint: set CONTEXT_CACHE_ROOT\n")
        return
    try:
        with os.scandir(root):
            return
    except OSError as error:
        say(f"warning: cache root {root} cannot be listed: {error.strerror}\n")
