"""Let other processes answer calls, so that several processors work on them.

In: a call.  Out: its answer, from the process that has least to do.
Always: connections, sessions, limits and metrics stay in the one process that listens; a process that dies is replaced, with a line on standard
error, and callers that waited for it get an error that says so; none of them outlives the server.

They are started as new programs, not forked: the server has threads, and its descriptors must not be inherited.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from smart_context import talk, tool_table
from smart_context.data import dataclass
from smart_context.errors import CallTimeout, InternalError
from smart_context.server import call_wire, encoded
from smart_context.server.calls import within
from smart_context.server.encoded import Encoded
from smart_context.server.tools import Call, Tool
from smart_context.settings import config
from smart_context.sources.child import command

if TYPE_CHECKING:
    from smart_context.access.roots import Roots
    from smart_context.api import App
    from smart_context.server.guards import Guards
    from smart_context.server.metrics import Metrics

TAKEN = frozenset(row.name for row in tool_table.TABLE if row.is_brief and not row.writes)
_AT_WORK = 2  # calls of a process that are computed at a time; those beyond wait
_SHORT_LIFE = 10.0  # seconds; what dies sooner is not started again at once
_LONGEST_REST = 30.0
_ENDING = 5.0  # seconds for a process to close its index


@dataclass(frozen=True, slots=True)
class _Pending:
    call: Call
    began: float
    ascii_only: bool
    answer: asyncio.Future[Encoded]


class Processes:
    """So many processes. They run while `running` does."""

    def __init__(self, count: int, app: App, guard: Guards, metrics: Metrics) -> None:
        self._count = count
        self._app = app
        self._guard = guard
        self._metrics = metrics
        self._alive: list[_Process] = []
        self._early_deaths = 0
        self._ending = False
        self._starting: asyncio.Task[None] | None = None  # kept: a task that nobody holds may be collected
        self.died = 0
        """Processes that ended unexpectedly."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start them, and end them when the block ends."""
        for _ in range(self._count):
            await self._start()
        self._app.wait_elsewhere = lambda: any(len(each.pending) > _AT_WORK for each in self._alive)
        try:
            yield
        finally:
            self._ending = True
            last = tuple(self._alive)
            for each in last:
                each.hang_up()
            await asyncio.to_thread(_wait_for, [each.popen for each in last])

    @property
    def pids(self) -> Sequence[int]:
        """The processes that are alive."""
        return [each.popen.pid for each in self._alive]

    @property
    def ready(self) -> int:
        """How many of them have begun to answer."""
        return sum(each.is_ready for each in self._alive)

    def takes(self, tool: Tool) -> bool:
        """Whether calls of a tool are answered there now. A search that waits for the first files to be indexed is not."""
        first = self._app.first_runs
        return tool.name in TAKEN and bool(self._alive) and (first is None or first.is_over)

    async def answer(self, call: Call, *, ascii_only: bool = False) -> Encoded:
        """Pass a call on, and return its encoded answer. Raises: CallTimeout when its time is up."""
        return await self.begin(call, ascii_only=ascii_only)

    def begin(self, call: Call, *, ascii_only: bool = False) -> asyncio.Future[Encoded]:
        """The same without waiting; cancelling the future abandons the call."""
        process = min(self._alive, key=lambda each: (not each.is_ready, len(each.pending)))
        self._metrics.begin()
        number, answer = process.ask(call, ascii_only=ascii_only)
        within(answer, call.tool.seconds)

        def end(_: object) -> None:
            if answer.cancelled() or isinstance(answer.exception(), CallTimeout):
                process.stop(number)

        answer.add_done_callback(end)
        return answer

    async def _start(self) -> None:
        try:
            popen, ours = _started()
        except OSError as error:
            talk.warn(f"cannot start a process that answers calls: {error.strerror}; the server answers by itself")
            asyncio.get_running_loop().call_later(_LONGEST_REST, self._start_again)
            return
        ours.setblocking(False)
        await asyncio.get_running_loop().create_unix_connection(lambda: _Process(popen, self), sock=ours)

    def born(self, process: _Process) -> bytes:
        """Take a new process, and return the first message for it."""
        self._alive.append(process)
        app = self._app
        told = {"settings": config.to_dict(app.settings), "roots": app.roots.resolved}
        return call_wire.message({**told, "debug": talk.shows_tracebacks(), "stamps": talk.stamps_lines()})

    @property
    def roots(self) -> Roots:
        """The roots, which may become more."""
        return self._app.roots

    def ended(self, pending: _Pending, answer: Encoded, lost: int) -> None:
        """Take the answer to a call."""
        self._metrics.end(pending.call.tool.name, answer.code or "ok", time.monotonic() - pending.began)
        for _ in range(lost):
            self._metrics.lose_line()
        if not pending.answer.done():
            pending.answer.set_result(answer)

    def lost(self, process: _Process) -> None:
        """Handle the death of a process: answer its calls, and start another."""
        if process in self._alive:
            self._alive.remove(process)
        if self._ending:
            return
        self.died += 1
        process.popen.kill()
        how = _how(process.popen.wait())
        talk.warn(f"a process that answers calls ended unexpectedly ({how}); another takes its place")
        error = InternalError(
            f"the process that worked on this call ended unexpectedly ({how})",
            hint="ask again: another process answers; if it happens again, the server's log may tell more",
        )
        for pending in process.pending.values():
            reply = pending.call.tool.refuse(error)
            self._guard.failed(pending.call, reply.code, time.monotonic() - pending.began)
            self.ended(pending, encoded.of(reply, ascii_only=pending.ascii_only), 0)
        lived = time.monotonic() - process.began
        self._early_deaths = self._early_deaths + 1 if lived < _SHORT_LIFE else 0
        rest = min(_LONGEST_REST, 2.0 ** (self._early_deaths - 2)) if self._early_deaths > 1 else 0.0
        asyncio.get_running_loop().call_later(rest, self._start_again)

    def _start_again(self) -> None:
        if not self._ending:
            self._starting = asyncio.get_running_loop().create_task(self._start())


class _Process(asyncio.Protocol):
    """One process, and the calls that it works on."""

    def __init__(self, popen: subprocess.Popen[bytes], owner: Processes) -> None:
        self.popen = popen
        self.pending: dict[int, _Pending] = {}
        self.is_ready = False
        self.began = time.monotonic()
        self._owner = owner
        self._received = bytearray()
        self._number = 0
        self._names = owner.roots.names
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the process how to be set up."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._owner.born(self))

    def ask(self, call: Call, *, ascii_only: bool) -> tuple[int, asyncio.Future[Encoded]]:
        """Give it a call; return its number and the future of its answer."""
        roots = self._owner.roots
        if self._names is not roots.names:
            self._names = roots.names
            self._transport.write(call_wire.message({"roots": roots.resolved}))
        self._number += 1
        now = time.monotonic()
        assert call.tool.seconds is not None
        pending = _Pending(call, now, ascii_only, asyncio.get_running_loop().create_future())
        self.pending[self._number] = pending
        self._transport.write(call_wire.call(self._number, call, now + call.tool.seconds, ascii_only=ascii_only))
        return self._number, pending.answer

    def stop(self, number: int) -> None:
        """Tell it that a call was abandoned."""
        if number in self.pending:
            self._transport.write(call_wire.message({"stop": number}))

    def data_received(self, data: bytes) -> None:
        """Take answers."""
        self._received += data
        for one in call_wire.answers(self._received):
            if one.number == call_wire.READY:
                self.is_ready = True
                continue
            self._owner.ended(self.pending.pop(one.number), one.answer, one.lost)

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle its death."""
        self._owner.lost(self)

    def hang_up(self) -> None:
        """Let it end."""
        self._transport.close()


def _started() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a process; return it, and our end of the sockets that lead to it. Raises: OSError, as where no descriptor is left."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            popen = subprocess.Popen(
                [*command("smart_context.server.call_child"), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is for the server to act on
                cwd="/",
            )
        except OSError:
            ours.close()
            raise
    return popen, ours


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def _wait_for(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    until = time.monotonic() + _ENDING
    for popen in processes:
        with suppress(subprocess.TimeoutExpired):
            popen.wait(max(0.0, until - time.monotonic()))
            continue
        popen.kill()
        popen.wait()
