"""Serve one client over standard input and output, one line per message.

In: an SDK `Server`.  Out: nothing but frames on what was standard output.
Always: a faulty line costs that line alone; what was asked before the end of input is answered; the process does not
outlive its client, whether that closes our input, stops reading our output, dies, or sends a signal.
"""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Protocol, Self

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INVALID_REQUEST, JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, RequestId

from smart_context.server import frames
from smart_context.server.early import GREETING_ID, Left
from smart_context.server.wire import Wire

_CHUNK = 64 * 1024
_LINES_AHEAD = 16  # read, not yet taken
_MAX_IN_FLIGHT = 1024  # requests; beyond, and beyond the bytes, we stop reading until some are answered
_MAX_IN_FLIGHT_BYTES = 64 * 1024 * 1024
_PARENT_EVERY = 1.0  # seconds

_NOTHING_LEFT = Left()

Incoming = MemoryObjectSendStream[SessionMessage | Exception]


class Served(Protocol):
    """What can stand behind the wire: an SDK `Server`, or a relay to one elsewhere."""

    def create_initialization_options(self) -> Any: ...  # noqa: D102

    async def run(self, read_stream: Any, write_stream: Any, initialization_options: Any) -> None: ...  # noqa: D102


async def serve(server: Served, wire: Wire, drain_seconds: float, left: Left = _NOTHING_LEFT) -> None:
    """Serve until the client leaves; at the end of input, what is in flight gets `drain_seconds` to be answered.

    left: what was read before.
    """
    in_flight = InFlight()
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with anyio.create_task_group() as tasks:
        leave = tasks.cancel_scope.cancel
        outgoing = Outgoing(wire.write_fd, in_flight, leave, is_greeted=left.is_greeted)
        tasks.start_soon(_until_signal, leave)
        tasks.start_soon(_until_orphaned, wire.parent, leave)
        reader = Reader(wire.read_fd, left.lines)
        tasks.start_soon(_feed, reader, send, outgoing, in_flight, drain_seconds)
        await server.run(receive, outgoing, server.create_initialization_options())
        leave()


class InFlight:
    """Requests whose answers are not written yet, with the sizes of their lines."""

    def __init__(self) -> None:
        self._sizes: dict[RequestId, int] = {}
        self._answered: set[RequestId] = set()
        self._bytes = 0
        self._changed = anyio.Event()

    async def is_free(self, request_id: RequestId) -> bool:
        """Whether an id may be used: not while its request is worked on. While its answer is being written, this waits."""
        # A client may have read an answer, and use its id again, before we know that it was written.
        while request_id in self._sizes:
            if request_id not in self._answered:
                return False
            await self._changed.wait()
        return True

    def add(self, request_id: RequestId, size: int) -> None:
        """Note a request that is about to be worked on."""
        self._sizes[request_id] = size
        self._bytes += size

    def answer(self, request_id: RequestId | None) -> None:
        """Note that a request has its answer, which is about to be written."""
        if request_id is not None and request_id in self._sizes:
            self._answered.add(request_id)

    def settle(self, request_id: RequestId | None) -> None:
        """Note that the answer to a request was written, or never will be."""
        if request_id is not None and request_id in self._sizes:
            self._bytes -= self._sizes.pop(request_id)
            self._answered.discard(request_id)
            self._changed.set()
            self._changed = anyio.Event()

    async def room(self) -> None:
        """Wait until one more may be taken."""
        while len(self._sizes) >= _MAX_IN_FLIGHT or self._bytes >= _MAX_IN_FLIGHT_BYTES:
            await self._changed.wait()

    async def drained(self) -> None:
        """Wait until every request is settled."""
        while self._sizes:
            await self._changed.wait()


class Outgoing:
    """The SDK's write stream: frames one after another, each written whole, by a thread of its own.

    A thread, because a client that does not read must not keep us from its signals, or from noticing that it died.
    """

    def __init__(self, fd: int, in_flight: InFlight, on_gone: Callable[[], None], *, is_greeted: bool) -> None:
        self._fd = fd
        self._in_flight = in_flight
        self._is_greeted = is_greeted
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._frames: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]]] = queue.SimpleQueue()
        threading.Thread(target=self._write_frames, name="frames out", daemon=True).start()

    async def send(self, item: SessionMessage) -> None:
        """Write a message of the SDK's, and settle the request that it answers."""
        message = item.message
        answered = message.id if isinstance(message, JSONRPCResponse | JSONRPCError) else None
        self._in_flight.answer(answered)
        try:
            if self._is_greeted and answered == GREETING_ID:
                self._is_greeted = False  # the client has this answer already
                return
            await self.write(message)
        finally:
            self._in_flight.settle(answered)

    async def write(self, message: JSONRPCMessage) -> None:
        """Write a frame; end the server if the pipe is closed."""
        written: asyncio.Future[bool] = self._loop.create_future()
        self._frames.put((frames.encode(message), written))
        if not await written:
            self._on_gone()
            raise anyio.BrokenResourceError

    def _write_frames(self) -> None:
        while True:
            frame, written = self._frames.get()
            was_written = _write(self._fd, frame)
            try:
                self._loop.call_soon_threadsafe(_tell, written, was_written)
            except RuntimeError:  # the loop has ended, and with it everybody who would wait
                return

    async def aclose(self) -> None:
        """Nothing to close: the descriptor lives as long as the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _write(fd: int, frame: bytes) -> bool:
    rest = memoryview(frame)
    try:
        while rest:
            rest = rest[os.write(fd, rest) :]
    except OSError:
        return False
    return True


def _tell(written: asyncio.Future[bool], was_written: bool) -> None:
    if not written.done():
        written.set_result(was_written)


async def _feed(
    reader: Reader, incoming: Incoming, outgoing: Outgoing, in_flight: InFlight, drain_seconds: float
) -> None:
    """Hand over line after line; then wait for the answers, since the SDK drops what is unanswered when input ends."""
    async with incoming:
        while (line := await reader.next()) is not END:
            await _take(line, incoming, outgoing, in_flight)
        with anyio.move_on_after(drain_seconds):
            await in_flight.drained()


async def _take(line: bytes | None, incoming: Incoming, outgoing: Outgoing, in_flight: InFlight) -> None:
    if line is None:
        why = f"Invalid Request: line over {frames.MAX_LINE} bytes"
        await outgoing.write(frames.LineError(INVALID_REQUEST, why).message())
        return
    if not line.strip(b" \t\r"):
        return
    message = frames.decode(line)
    if isinstance(message, JSONRPCRequest) and not await in_flight.is_free(message.id):
        message = frames.LineError(INVALID_REQUEST, "Invalid Request: this id is in flight", message.id)
    if isinstance(message, frames.LineError):
        await outgoing.write(message.message())  # not `send`: a request of the same id may still be worked on
    elif isinstance(message, JSONRPCRequest):
        await in_flight.room()
        in_flight.add(message.id, len(line))
        await incoming.send(SessionMessage(message, _settling(in_flight, message.id)))
    else:
        await incoming.send(SessionMessage(message))


def _settling(in_flight: InFlight, request_id: RequestId) -> ServerMessageMetadata:
    async def unanswered() -> None:
        in_flight.settle(request_id)

    return ServerMessageMetadata(on_request_unanswered=unanswered)


END = b"\n"  # no line holds its newline


class Reader:
    """Lines from a blocking descriptor (a pipe, a terminal, a file), read by a thread a few ahead."""

    def __init__(self, fd: int, before: bytes = b"") -> None:
        """before: what was read already, to be taken first."""
        self._fd = fd
        self._before = before
        self._loop = asyncio.get_running_loop()
        self._room = threading.Semaphore(_LINES_AHEAD)
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        threading.Thread(target=self._read_lines, name="frames in", daemon=True).start()

    async def next(self) -> bytes | None:
        """The next line; None for one that was too long; `END` at the end of input."""
        line = await self._lines.get()
        self._room.release()
        return line

    def _read_lines(self) -> None:
        try:
            for line in lines(self._read):
                self._room.acquire()
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, END)
        except RuntimeError:  # the loop has ended
            return

    def _read(self) -> bytes:
        if self._before:
            before, self._before = self._before, b""
            return before
        try:
            return os.read(self._fd, _CHUNK)
        except OSError:  # a terminal that hung up, a descriptor that is not for reading: no more input
            return b""


def lines(read: Callable[[], bytes], limit: int = frames.MAX_LINE) -> Iterator[bytes | None]:
    """Cut what `read` returns into lines, without their newlines; None is a line over the limit, which is discarded as it comes."""
    held = bytearray()
    is_over = False
    while chunk := read():
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            is_over = is_over or len(held) + end - start > limit
            yield None if is_over else bytes(held) + chunk[start:end]
            held.clear()
            is_over = False
            start = end + 1
        is_over = is_over or len(held) + len(chunk) - start > limit
        if is_over:
            held.clear()
        else:
            held += chunk[start:]
    if held or is_over:
        yield None if is_over else bytes(held)


async def _until_signal(leave: Callable[[], None]) -> None:
    if sys.platform == "win32":
        return  # asyncio has no signal handlers there; the system ends the process
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            if number != signal.SIGHUP:  # a terminal that closes takes our input with it, which is what ends us
                leave()


async def _until_orphaned(parent: int, leave: Callable[[], None]) -> None:
    # Somebody else may hold our input open after the client died. Asking is better than PR_SET_PDEATHSIG, which also fires
    # when only the thread ends that started us.
    while os.getppid() == parent:
        await anyio.sleep(_PARENT_EVERY)
    leave()
