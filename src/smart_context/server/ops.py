"""The operators' routes: is the server alive, is it ready, what does it do. An ASGI application, which also serves the public documents of OAuth.

In: `/healthz` and `/metrics`.  Out: JSON and the text format of Prometheus.
Always: no file name, path or query is shown; a caller that may not see every root learns only that the server is alive.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio

from smart_context import __version__, talk
from smart_context.access.tokens import Tokens
from smart_context.errors import IoError
from smart_context.index.model import Health
from smart_context.model import Caller
from smart_context.server.gate import Gate, Policy, Receive, Scope, Send, allowed_hosts
from smart_context.server.identity import CALLER
from smart_context.server.listen import bind
from smart_context.server.metrics import Metrics, Sample

if TYPE_CHECKING:
    from smart_context.server.processes import Processes

PATHS = ("/healthz", "/metrics")
_LOOPBACK = "127.0.0.1"
_MAX_CONNECTIONS = 64  # of the operators' own port: a scraper needs one


class Ops:
    """The two routes, behind the gate. `state` is asked at each request. told: JSON by path, for anybody. elsewhere: who answers calls, too."""

    def __init__(
        self,
        metrics: Metrics,
        state: Callable[[], Health],
        told: Mapping[str, bytes] = MappingProxyType({}),
        elsewhere: Processes | None = None,
    ) -> None:
        self._metrics = metrics
        self._state = state
        self._told = told
        self._elsewhere = elsewhere
        self._one_at_a_time = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a GET or HEAD of one of the routes; 404 for everything else."""
        if scope["method"] not in {"GET", "HEAD"}:
            await _answer(scope, send, 405, "text/plain", "only GET\n")
        elif scope["path"] in self._told:
            await _answer(scope, send, 200, "application/json", self._told[scope["path"]].decode())
        elif scope["path"] == "/healthz":
            await self._health(scope, send)
        elif scope["path"] == "/metrics" and not _may_see_all(scope):
            await _answer(scope, send, 403, "text/plain", "this token sees some roots only\n")
        elif scope["path"] == "/metrics":
            page = self._metrics.page([*_gauges(await self._look()), *_memory(self._elsewhere)])
            await _answer(scope, send, 200, "text/plain; version=0.0.4", page)
        else:
            await _answer(scope, send, 404, "text/plain", "nothing here\n")

    async def _look(self) -> Health:
        """Counting a large index takes a while, so that it is done in a thread, and once at a time."""
        async with self._one_at_a_time:
            return await anyio.to_thread.run_sync(self._state)

    async def _health(self, scope: Scope, send: Send) -> None:
        if not _may_see_all(scope):
            await _answer(scope, send, 200, "application/json", '{"live":true}\n')
            return
        state = await self._look()
        told = {k: v for k, v in asdict(state).items() if k != "kinds"}
        if self._elsewhere:
            told["processes"] = self._elsewhere.ready
        body = json.dumps({"live": True, "ready": state.is_ready, "version": __version__, **told})
        await _answer(scope, send, 200 if state.is_ready else 503, "application/json", body + "\n")


def _may_see_all(scope: Scope) -> bool:
    caller: Caller | None = scope[CALLER]
    return caller is not None and caller.roots is None


def beside(port: int, metrics: Metrics, state: Callable[[], Health], tokens: Tokens | None) -> None:
    """Serve the two routes on loopback in a thread, for a server on standard input and output."""
    import asyncio

    from smart_context.server import logs
    from smart_context.server.connection import Listener, listener

    logs.set_up()
    gate = Gate(Ops(metrics, state), Policy(allowed_hosts(_LOOPBACK, ()), known=tokens.caller if tokens else None))
    try:
        sockets = bind(_LOOPBACK, port)
    except IoError as error:
        talk.warn(f"no /healthz and /metrics: {error.message}: {error.reason}")
        return
    server = Listener(listener(gate, _MAX_CONNECTIONS, lifespan="off"))

    def run() -> None:
        asyncio.run(server.serve(sockets))

    threading.Thread(target=run, name="ops", daemon=True).start()


def _gauges(state: Health) -> Iterable[Sample]:
    numbers = (
        ("roots", "Configured roots.", state.roots),
        ("roots_available", "Roots that are there now.", state.roots_available),
        ("index_sound", "1 when the index can be read.", int(state.is_sound)),
        ("index_ready", "1 when searches can be answered.", int(state.is_ready)),
        ("index_files", "Files in the index.", state.files),
        ("index_segments", "Segments in the index.", state.segments),
        ("vectors", "Segments that are embedded for ranking by meaning.", state.vectors),
        ("index_failures", "Files that could not be read.", state.failures),
        ("index_files_without_text", "Files that hold no text.", state.without_text),
        ("index_bytes", "Size of the index on disk.", state.index_bytes),
        ("index_generation", "Number of the index's last commit.", state.generation),
        ("record_away", "1 when a shared record does not answer.", int(state.record_away)),
        (
            "files_to_take_in",
            "Files of a shared record that this machine has not taken in yet.",
            state.files_to_take_in,
        ),
        ("jobs_queued", "Indexing jobs waiting or running.", state.queued),
    )
    for name, text, value in numbers:
        yield Sample(f"smart_context_{name}", text, value)
    if state.oldest_run_seconds is not None:
        text = "Seconds since the root that waited longest was last walked."
        yield Sample("smart_context_index_staleness_seconds", text, state.oldest_run_seconds)
    for kind, count in state.kinds.items():
        yield Sample("smart_context_files_by_kind", "Files in the index, by kind.", count, {"kind": kind})


def _memory(elsewhere: Processes | None) -> Iterable[Sample]:
    if elsewhere is None:
        yield Sample("smart_context_memory_bytes", "Resident memory of this process.", _resident())
        return
    used = _resident() + sum(map(_resident, elsewhere.pids))
    yield Sample("smart_context_memory_bytes", "Resident memory of the server and its processes.", used)
    yield Sample("smart_context_processes", "Processes that answer calls.", elsewhere.ready)
    text = "Processes that answered calls and ended unexpectedly."
    yield Sample("smart_context_processes_died_total", text, elsewhere.died, kind="counter")


def _resident(pid: int | None = None) -> int:
    """Resident memory of a process in bytes; of this one where none is given."""
    try:
        with open(f"/proc/{pid or 'self'}/statm", "rb") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        if pid is not None:  # it has just ended, or the system tells of ourselves only
            return 0
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


async def _answer(scope: Scope, send: Send, status: int, kind: str, text: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    headers += [(b"allow", b"GET, HEAD")] if status == 405 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
