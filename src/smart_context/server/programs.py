"""The two server programs, and the tools of each.

In: settings.  Out: a server that runs until its client leaves.
Always: `mcp-context-server` reads no configuration file and writes nothing to disk.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import util
from typing import TYPE_CHECKING

from smart_context import heap
from smart_context.errors import ConfigError, how_to_add
from smart_context.server import run
from smart_context.server.context_tools import Caches
from smart_context.server.tools import Guard, Program, ToolNames
from smart_context.settings.config import ServedCaches, Settings
from smart_context.talk import say, warn

if TYPE_CHECKING:
    from smart_context.access.tokens import Tokens
    from smart_context.api import App
    from smart_context.page.app import Page
    from smart_context.server.calls import Workers
    from smart_context.server.guards import Guards
    from smart_context.server.listen import Listen
    from smart_context.server.metrics import Metrics
    from smart_context.server.processes import Processes
    from smart_context.server.table import Table

_CACHES = (
    "Caches hold frozen documents. Call context.list_caches to see which there are, then context.resolve with the path of "
    "one, a query and a token budget."
)
_FILES = (
    "Call searchFiles to find text in the user's own files, then openFile with a result's path and pointer to read on."
)
_MB = 1024 * 1024


def context_server(served: ServedCaches) -> None:
    """Serve the three tools of Context as `mcp-context-server`."""
    heap.share()
    warn_about(served.root)
    with Caches(served.root, served.memory_mb * _MB) as caches:
        run.over_stdio(
            Program("mcp-context-server", "Context", _CACHES), caches.table("caches", seconds=served.timeout)
        )


def serve(
    app: App,
    *,
    tool_names: ToolNames = "dotted",
    listen: Listen | None = None,
    ops_port: int | None = None,
    ops_tokens: Tokens | None = None,
) -> None:
    """Serve `context serve`: the six tools of Smart File Search, the three of Context and `context.pack`, over one app.

    listen: over HTTP, there; else over standard input and output, with the operators' routes on `ops_port` if that is given,
    for those who have one of `ops_tokens`.
    """
    from smart_context.index import background, health
    from smart_context.server import table
    from smart_context.server.guards import Guards
    from smart_context.server.metrics import Metrics

    heap.share()
    settings = app.settings
    root = settings.cache_root or None
    if root or not settings.roots:
        warn_about(root)
    how = _CACHES.replace("context.", "context_") if tool_names == "underscore" else _CACHES
    program = Program("smart-context", "Smart Context", f"{_FILES} {how}")
    metrics = Metrics()

    def rest_for(workers: Workers) -> None:
        app.wait_elsewhere = lambda: workers.are_wanted

    with (
        table.of(app) as rows,
        background.work(app, watch=settings.watch.enabled, report=lambda line: say(f"{line}\n")),
        _courier(settings),
    ):
        guard = Guards(settings, rows.clean, metrics)
        if listen is not None:
            run.over_http(
                program,
                rows.tools,
                listen,
                metrics,
                lambda: health.of(app),
                tool_names=tool_names,
                guard=guard,
                page=_page(rows, guard, listen),
                elsewhere=_processes(listen.processes, app, guard, metrics),
                on_workers=rest_for,
            )
            return
        if ops_port is not None:
            from smart_context.server import ops

            ops.beside(ops_port, metrics, lambda: health.of(app), ops_tokens)
        run.over_stdio(program, rows.tools, tool_names=tool_names, guard=guard, on_workers=rest_for)


def _processes(count: int, app: App, guard: Guards, metrics: Metrics) -> Processes | None:
    """The processes that answer calls; None where the server does so by itself."""
    if count == 1:
        return None
    if sys.platform == "win32":
        raise ConfigError("more than one process needs a system with Unix sockets", hint="leave --processes out")
    from smart_context.server.processes import Processes

    return Processes(count, app, guard, metrics)


def _courier(settings: Settings) -> AbstractContextManager[object]:
    """Delivers audit lines to the shared record, which has those of all machines."""
    if not settings.engine or not settings.audit.enabled:
        return nullcontext()
    from smart_context import team

    return team.courier(settings)


def _page(rows: Table, guard: Guard, listen: Listen) -> Page | None:
    """The page for people, where what renders it is installed."""
    if util.find_spec("jinja2") is None:
        warn(f"no page at /: jinja2 is missing; {how_to_add('http')}")
        return None
    from smart_context.page.app import Page
    from smart_context.server.desk import ServerDesk

    return Page(ServerDesk(rows.app, rows.caches, rows.tools, guard, rows.clean, listen))


def warn_about(root: str | None) -> None:
    """Say at the start what every call of a tool would only answer with a code."""
    if root is None:
        say(
            "warning: no cache root is configured, so every cache is missing\nhint: set CONTEXT_CACHE_ROOT to the folder of caches\n"
        )
        return
    try:
        with os.scandir(root):
            return
    except OSError as error:
        say(f"warning: cache root {root} cannot be listed: {error.strerror}\n")
