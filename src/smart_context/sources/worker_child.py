"""The reading process: take opened files one after the other, answer with their text.

In: a socket on which descriptors arrive.  Out: one `Answer` per file, on the same socket.
Always: it confines itself before it reads the first byte of a file (memory, CPU time, and on Linux a jail in which it can open, change,
start and reach nothing), and a file that breaks a reader costs that file only: an exception is answered, a crash is seen by the parent.
"""

from __future__ import annotations

import gc
import hashlib
import json
import mmap
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from smart_context.data import replace
from smart_context.model import JAIL_LAYERS, Extracted, Limits, Prepared, Skipped, memory_for
from smart_context.sources import jail, sibling, wire
from smart_context.sources.wire import Answer

try:
    import fcntl
    import resource
except ImportError:  # Windows has neither; only the parent's time limit is left there
    pass

Reader = Callable[..., Extracted | Prepared | Skipped]
"""Read a file: its bytes, its name, the limits, and `more` if the parent sent any."""

_READ_BELOW = 16 * 1024 * 1024  # larger files are mapped: no copy, but SIGBUS if one shrinks meanwhile
_JOIN_BELOW = 64 * 1024
_OPEN_FILES = 64
_STDERR = 2
_GARBAGE = 20_000  # new objects before the garbage collector runs: a file makes that many, and nearly none is garbage
_REPLACE_ABOVE = 140 * 1024 * 1024  # bytes resident: a process that still holds more when it answers is replaced


def main(args: Sequence[str]) -> None:
    """Read files with our own readers until the parent closes the socket."""
    from smart_context.sources import extract
    from smart_context.sources.extract import preload

    preload.everything()
    serve(args, extract.extract)


def serve(args: Sequence[str], reader: Reader, *, memory: int = 0, replace_above: int = _REPLACE_ABOVE) -> None:
    """Read files with a reader until the parent closes the socket.

    args: descriptors of socket and lifeline, limits as JSON, the jail setting, and as JSON the descriptors of processes to be forked, if any. memory:
    bytes that any file may take, in addition to what its size allows. replace_above: bytes resident, above which the process ends after its answer.
    """
    gc.freeze()  # the garbage collector skips everything loaded so far
    args = [*_fork(args[:2], json.loads(args[4]) if len(args) > 4 else []), *args[2:]]
    sock = socket.socket(fileno=int(args[0]))
    limits = Limits(**json.loads(args[2]))
    held = _Memory(memory, replace_above)
    _confine(limits, int(args[1]))
    layers = jail.enter() if args[3] != "off" else ()
    if args[3] == "require" and layers != JAIL_LAYERS:
        sys.exit(wire.UNJAILED)
    gc.freeze()
    gc.enable()
    gc.set_threshold(_GARBAGE)
    sock.sendall(wire.ready(layers))
    while _serve_one(sock, limits, reader, held):
        pass
    sock.close()


def _fork(own: Sequence[str], others: Sequence[Sequence[int]]) -> Sequence[str]:
    """Fork the further processes that the parent wants; return, in each of them, the descriptors of its own socket and lifeline."""
    while others:
        (sock, lifeline, talk), *others = others
        try:
            pid = sibling.fork()
        except OSError:  # the parent sees the closed socket, and starts one itself
            pid = -1
        for fd in (*map(int, own), *(fd for each in others for fd in each)) if pid == 0 else (sock, lifeline, talk):
            os.close(fd)
        if pid == 0:
            os.setsid()
            os.dup2(talk, _STDERR)
            os.close(talk)
            os.write(sock, wire.born(os.getpid()))
            return str(sock), str(lifeline)
    return own


def _confine(limits: Limits, lifeline: int) -> None:
    if sys.platform == "win32":
        return
    # When the parent ends, in whatever way, the lifeline is closed and its signal ends this process in mid-work.
    # (The kernel's "parent death signal" would follow the parent's thread instead, which may end before the process.)
    if hasattr(fcntl, "F_SETOWN") and hasattr(os, "O_ASYNC"):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for what, most in (
        ("RLIMIT_AS", limits.memory_bytes),
        ("RLIMIT_NOFILE", _OPEN_FILES),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NPROC", 0),
    ):
        _limit(what, most)


def _limit(what: str, most: int) -> None:
    number = getattr(resource, what, None)
    if number is None:
        return
    _, hard = resource.getrlimit(number)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(number, (most, most))
    except (OSError, ValueError):  # a system that has the limit but does not allow setting it
        pass


def _serve_one(sock: socket.socket, limits: Limits, reader: Reader, memory: _Memory) -> bool:
    """Answer one request; False when there are no more, or when this process should end."""
    request = _receive(sock)
    if request is None:
        return False
    fd, more, size, name, wants_text = request
    grant_cpu(limits)
    _grant_memory(memory.now() + memory.extra + memory_for(size, limits))
    try:
        told = partial(reader, more=more) if more else reader
        answer = _read(fd, size, name, limits, told if wants_text else None)
    finally:
        os.close(fd)
    if memory.held() > memory.replace_above:
        answer = replace(answer, is_last=True)
    pieces = wire.encode(answer)
    for piece in pieces if len(pieces[-1]) > _JOIN_BELOW else [b"".join(pieces)]:
        sock.sendall(piece)
    return not answer.is_last


def _receive(sock: socket.socket) -> tuple[int, bytes, int, str, bool] | None:
    start, fds, _, _ = socket.recv_fds(sock, wire.REQUEST.size, 2)
    head = start + _exactly(sock, wire.REQUEST.size - len(start)) if start else b""
    if len(head) < wire.REQUEST.size:
        return None
    (length,) = wire.REQUEST.unpack(head)
    size, name, want = json.loads(_exactly(sock, length))
    return fds[0], _whole(fds[1]) if len(fds) > 1 else b"", size, name, want == "extract"


def _whole(fd: int) -> bytes:
    try:
        return b"".join(iter(lambda: os.read(fd, _JOIN_BELOW), b""))
    finally:
        os.close(fd)


def _exactly(sock: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        more = sock.recv(count - len(got))
        if not more:
            return b""
        got += more
    return got


def grant_cpu(limits: Limits) -> None:
    """Set the CPU time limit, counted from now on."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(time.process_time()) + limits.cpu_seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _grant_memory(most: int) -> None:
    if sys.platform.startswith("linux"):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _read(fd: int, size: int, name: str, limits: Limits, reader: Reader | None) -> Answer:
    if size > limits.max_file_bytes:
        return Answer(Skipped("", "too large", f"{size:,} bytes"), "")
    digest, is_last = "", False
    data: bytes | mmap.mmap = b""
    outcome: Extracted | Prepared | Skipped | None
    try:
        data = _load(fd, size)
        if len(data) < size:
            return Answer(Skipped("", "changed while being read"), "")
        digest = hashlib.sha256(data).hexdigest()
        outcome = within_limits(reader(data, name, limits), limits) if reader else None
    except MemoryError:
        # The state that the reader left behind is unknown; a new process starts clean.
        detail, is_last = f"more than {memory_for(size, limits):,} bytes", True
        outcome = Skipped(_kind(data, name), "too much memory", detail)
    except RecursionError:
        outcome = Skipped(_kind(data, name), "nested too deep")
    except Exception as error:  # noqa: BLE001  a parser's own failure on hostile bytes: it costs this file
        outcome = Skipped(_kind(data, name), "cannot be parsed", type(error).__name__)
    return Answer(outcome, digest, is_last)


def _kind(data: bytes | mmap.mmap, name: str) -> str:
    try:
        from smart_context.sources import sniff

        return sniff.kind(data, name)
    except Exception:  # noqa: BLE001  detection may be what has just failed
        return ""


def _load(fd: int, size: int) -> bytes | mmap.mmap:
    if size >= _READ_BELOW:
        return mmap.mmap(fd, size, access=mmap.ACCESS_READ)
    pieces = []
    while size > 0 and (piece := os.read(fd, size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def within_limits(outcome: Extracted | Prepared | Skipped, limits: Limits) -> Extracted | Prepared | Skipped:
    """The outcome of a reader, or `Skipped` where it exceeds the limits."""
    if isinstance(outcome, Extracted) and (
        len(outcome.units) > limits.max_units or sum(len(unit.text) for unit in outcome.units) > limits.max_text_chars
    ):
        return Skipped(outcome.kind, "too much text", f"more than {limits.max_text_chars:,} characters")
    return outcome


class _Memory:
    """The memory use of this process. Its file is opened once: in the jail nothing can be opened.

    extra: bytes that any file may take. replace_above: bytes held after which this process should end.
    """

    def __init__(self, extra: int, replace_above: int) -> None:
        self.extra = extra
        self.replace_above = replace_above
        try:
            self._told, self._page = os.open("/proc/self/statm", os.O_RDONLY), os.sysconf("SC_PAGE_SIZE")
        except OSError:
            self._told = -1

    def now(self) -> int:
        """Bytes of address space in use; 0 where the system does not say."""
        return self._bytes(0)

    def held(self) -> int:
        """Bytes resident, or the peak where the system reports only that; 0 where it reports neither."""
        if self._told >= 0:
            return self._bytes(1)
        # Not on Linux: there ru_maxrss starts at that of the parent, and below a large parent we would always seem large.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if sys.platform == "darwin" else 0

    def _bytes(self, which: int) -> int:
        try:
            return int(os.pread(self._told, 256, 0).split()[which]) * self._page
        except (OSError, ValueError, IndexError):
            return 0
