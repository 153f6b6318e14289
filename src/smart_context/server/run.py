"""Serve a table of tools over standard input and output. The two programs differ only in what they put on the table.

Always: the wire is claimed before anything heavy is imported.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence

from smart_context.server.tools import Guard, Program, Tool, ToolNames, unguarded
from smart_context.server.wire import claim

_THREADS = 16  # calls at work at the same time; further ones wait their turn within their time
_LONG_THREADS = 8
_DRAIN_BEYOND = 1.0  # seconds past a call's own limit that the end of input waits for answers


def over_stdio(
    program: Program,
    rows: Sequence[Tool],
    *,
    seconds: float,
    tool_names: ToolNames = "dotted",
    guard: Guard = unguarded,
) -> None:
    """Serve a table of tools over standard input and output until the client leaves; a call may take `seconds`."""
    wire = claim()
    # Importing the SDK makes a hundred thousand objects that all stay: looking for garbage among them costs a fifth of it.
    gc.disable()
    import anyio

    from smart_context.server import protocol, stdio
    from smart_context.server.calls import Workers

    gc.freeze()
    gc.enable()
    long_workers = Workers(_LONG_THREADS)
    offer = protocol.Offer(program, rows, guard, Workers(_THREADS), long_workers, seconds, tool_names)
    try:
        anyio.run(stdio.serve, protocol.build(offer), wire, seconds + _DRAIN_BEYOND)
    finally:
        long_workers.end()
