"""Serve a table of tools, over standard input and output or over HTTP. The two programs differ only in their tools.

In: a table of tools.  Out: nothing until the client has left.
Always: the wire is claimed before anything heavy is imported.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from smart_context.server import early
from smart_context.server.tools import Guard, Program, Tool, ToolNames, unguarded
from smart_context.server.wire import claim

if TYPE_CHECKING:
    from smart_context.index.model import Health
    from smart_context.page.app import Page
    from smart_context.server.calls import Workers
    from smart_context.server.listen import Listen
    from smart_context.server.metrics import Metrics
    from smart_context.server.processes import Processes

_RELAYED_SECONDS = 120.0  # that the end of input waits for answers of a server whose limits we do not know
_GARBAGE = 20_000  # objects more than before, after which it is looked for
_DRAIN_BEYOND = 1.0  # seconds past a call's own limit that the end of input waits for answers


def expect_little_garbage() -> None:
    """Collect garbage less often; call it when everything is loaded.

    What is loaded stays. A search makes some ten thousand objects, all of which are freed when it ends: the collector took a tenth of its time.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(_GARBAGE)


def over_stdio(
    program: Program,
    rows: Sequence[Tool],
    *,
    tool_names: ToolNames = "dotted",
    guard: Guard = unguarded,
    on_workers: Callable[[Workers], None] = lambda _workers: None,
) -> None:
    """Serve a table of tools over standard input and output until the client leaves. on_workers: called with the threads that do the work."""
    wire = claim()
    left = early.serve(program, rows, tool_names, wire, _load)
    if left is None:
        return
    _load()
    import anyio

    from smart_context.server import identity, logs, protocol, stdio

    logs.set_up()
    offer = protocol.Offer(program, rows, guard, tool_names, identity.started_by(wire.parent))
    on_workers(offer.workers)
    server = protocol.build(offer)
    longest = max(row.seconds for row in rows if row.seconds is not None)
    anyio.run(stdio.serve, server, wire, longest + _DRAIN_BEYOND, left)


_loading = threading.Lock()


def _load() -> None:
    """Import the SDK."""
    with _loading:
        if "smart_context.server.stdio" in sys.modules:
            return
        # It makes a hundred thousand objects that all stay: looking for garbage among them costs a fifth of it.
        gc.disable()
        from smart_context.server import protocol, stdio  # noqa: F401

        expect_little_garbage()


def over_http(
    program: Program,
    rows: Sequence[Tool],
    listen: Listen,
    metrics: Metrics,
    state: Callable[[], Health],
    *,
    tool_names: ToolNames,
    guard: Guard,
    page: Page | None,
    elsewhere: Processes | None,
    on_workers: Callable[[Workers], None],
) -> None:
    """Serve a table of tools over HTTP until a signal, and a page for people beside it. elsewhere: who answers calls; on_workers: as above."""
    gc.disable()  # as above
    from smart_context.server import http, logs, protocol

    expect_little_garbage()
    logs.set_up()
    offer = protocol.Offer(program, rows, guard, tool_names, elsewhere=elsewhere)
    on_workers(offer.workers)
    http.serve(offer, listen, metrics, state, page)


def relayed(url: str, token: str) -> None:
    """Serve the client on standard input and output with what a shared server at `url` answers."""
    wire = claim()
    import anyio

    from smart_context.server import stdio
    from smart_context.server.relay import Relay

    anyio.run(stdio.serve, Relay(url, token), wire, _RELAYED_SECONDS)
