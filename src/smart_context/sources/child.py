"""The parent's side of one reading process: start it, send files, receive answers, end it.

In: jobs.  Out: answers, or the reason why the process died.
Always: nothing here waits for the process, except for its end once it was killed or has closed its socket.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Generic, TypeVar

from smart_context.data import asdict, dataclass
from smart_context.errors import InternalError
from smart_context.model import Limits, memory_for
from smart_context.sources import stall, wire
from smart_context.sources.wire import Answer

J = TypeVar("J")

_CHUNK = 256 * 1024
_SENT_AHEAD = 1 << 20  # bytes of the send buffer, so that it need not wait while we are busy; systems allow less
_FETCHED = 4_000_000  # bytes of a file that the system begins to fetch from the disk while the files before it are read
_AT_ONCE = 12  # answers that are decoded at once: the caller gives new files to the process before it decodes more
_HEAD_ROOM = 64 * 1024 * 1024  # for the JSON head of an answer: pointers, headings, notes
_MOST_A_CHAR = 24  # bytes of an answer per character of text: the character itself, and its index terms
_STARTUP_SECONDS = 60.0
_DYING_SECONDS = 5.0  # a process that closed its socket and has not ended after this time is killed
_OUT_OF_MEMORY = (b"memory allocation", b"bad_alloc", b"out of memory", b"MemoryError")
_SENT_FROM_OUTSIDE = {getattr(signal, name, None) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")}

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Death:
    """Why a process ended.

    may_be_innocent: it was killed from outside, so its current file is tried once more. was_planned: it announced its end in an answer.
    was_stillborn: it ended before it could read a file; `detail` is its stderr. lacks_jail: because it could not enter the jail.
    """

    reason: str
    detail: str
    may_be_innocent: bool = False
    was_planned: bool = False
    was_stillborn: bool = False
    lacks_jail: bool = False


class Child(Generic[J]):
    """A process and its jobs. `jobs` are answered in order; the first one is being read.

    layers: of the jail that the process is in, known when it is ready. has_more: something was received that `receive` should look at.
    """

    def __init__(self, limits: Limits, command: Sequence[str], jail: str, forks: Sequence[Child[J]] = ()) -> None:
        """command: empty for a process that another one forks. forks: the children that this process forks when it has loaded everything."""
        self.jobs: deque[J] = deque()
        self.layers: tuple[str, ...] = ()
        self._most = _MOST_A_CHAR * limits.max_text_chars + _HEAD_ROOM
        self._limits = limits
        self._sizes: deque[int] = deque()
        self.is_paused = False
        self._received = bytearray()
        self._whole, self._counted = (
            0,
            0,
        )  # answers in what was received, as far as they were counted, and where they end
        self.has_more = False
        self._is_ready = False
        self._verdict: Death | None = None
        self.socket, self._their_socket = socket.socketpair()
        self._their_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SENT_AHEAD)
        self._lifeline = os.pipe()
        self._talk, self._their_talk = os.pipe()
        # A process that writes much to stderr must not block until we read it.
        os.set_blocking(self._their_talk, False)
        os.set_blocking(self._talk, False)
        self._process = _started(command, limits, jail, [self, *forks]) if command else _Forked()
        # Read after the start: starting may raise our own peak memory, which the process inherits, and a crash would count as too much memory.
        self._inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.socket.setblocking(False)
        self._clock = stall.Clock()

    @property
    def theirs(self) -> tuple[int, int, int]:
        """The descriptors for the process: its socket, the pipe by which it notices our death (lifeline), and its stderr."""
        return self._their_socket.fileno(), self._lifeline[0], self._their_talk

    def hand_over(self) -> None:
        """Close our copies of the process's descriptors."""
        self._their_socket.close()
        os.close(self._lifeline[0])
        os.close(self._their_talk)

    def give(self, job: J, fd: int, size: int, name: str, want: str, more: bytes = b"") -> None:
        """Send an opened file, and `more` for the reader. If the process has just died, the next `receive` reports it."""
        if not self.jobs:
            self._clock.restart()
        self.jobs.append(job)
        self._sizes.append(size)
        if hasattr(os, "posix_fadvise"):
            with suppress(OSError):  # a file system that has none
                os.posix_fadvise(fd, 0, _FETCHED, os.POSIX_FADV_WILLNEED)
        request = json.dumps([size, name, want]).encode()
        with _held(more) as also:
            try:
                socket.send_fds(self.socket, [wire.REQUEST.pack(len(request)) + request], [fd, *also])
            except OSError:
                pass

    @property
    def unanswered(self) -> int:
        """How many jobs have no answer yet, decoded or not."""
        data, head = self._received, wire.LENGTHS.size
        with suppress(wire.Garbled):  # `receive` says so
            self._begins()
        while self._is_ready and len(data) >= self._counted + head:
            end = self._counted + head + sum(wire.LENGTHS.unpack_from(data, self._counted))
            if len(data) < end:
                break
            self._whole, self._counted = self._whole + 1, end
        return max(0, len(self.jobs) - self._whole)

    @property
    def undecoded(self) -> int:
        """Bytes that were received and wait to be decoded."""
        return len(self._received)

    def take_in(self, most: int) -> bool:
        """Read what has arrived, for `receive` to decode; False if the process has ended, or `most` bytes wait for that."""
        is_open = self._fill()
        self.has_more = True
        return is_open and self.undecoded < most

    def receive(self) -> tuple[list[tuple[J, Answer]], Death | None]:
        """Read what has arrived: answered jobs (`has_more`: not all of them), and why the process ended if it did."""
        is_over = not self._fill()
        self._clock.restart()
        self.has_more = False
        answered: list[tuple[J, Answer]] = []
        try:
            while self.jobs and (answer := self._next()):
                answered.append((self.jobs.popleft(), answer))
                self._sizes.popleft()
                if len(answered) == _AT_ONCE and not answer.is_last:
                    self.has_more = True
                    return answered, None
        except wire.Garbled:
            return answered, self.kill(Death("crashed", "the reading process gave a broken answer"))
        if answered and answered[-1][1].is_last:
            return answered, self.kill(Death("ended", "", was_planned=True))
        if is_over:
            return answered, self._bury()
        return answered, None

    def check(self, stall_seconds: float, wall_seconds: float) -> Death | None:
        """End the process if it has stopped working: no CPU time used for a while, or far too long altogether."""
        if self.is_paused:
            return None
        self._clock.look(time.monotonic(), stall.of(self._process.pid))
        if not self._is_ready:
            is_late = self._clock.working > _STARTUP_SECONDS
            return self.kill(Death("does not start", "", was_stillborn=True)) if is_late else None
        if self._clock.stalled > stall_seconds or self._clock.working > wall_seconds:
            return self.kill(Death("took too long", "stopped working"))
        return None

    def memory(self) -> int:
        """Bytes of private memory resident now, 0 where the system does not show it. Pages of files, such as programs, are shared and not counted."""
        try:
            with open(f"/proc/{self._process.pid}/statm", "rb") as file:
                _, held, shared, *_ = map(int, file.read().split())
            return (held - shared) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            return 0

    def pause(self, paused: bool) -> None:
        """Stop the process (SIGSTOP), or continue it."""
        if paused != self.is_paused:
            self.is_paused = paused
            self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)
            self._clock.restart()

    def kill(self, verdict: Death) -> Death:
        """End the process for a reason of ours."""
        self._verdict = verdict
        return self._bury()

    def _fill(self) -> bool:
        """Read what is available; False at the end of the stream."""
        try:
            while True:
                piece = self.socket.recv(_CHUNK)
                if not piece:
                    return False
                self._received += piece
                if len(piece) < _CHUNK:
                    return True
        except BlockingIOError:
            return True
        except OSError:
            return False

    def _next(self) -> Answer | None:
        data = self._received
        if not self._begins() or len(data) < wire.LENGTHS.size:
            return None
        head, body = wire.LENGTHS.unpack_from(data)
        if head + body > self._most:
            raise wire.Garbled("too long")
        start, middle, end = wire.LENGTHS.size, wire.LENGTHS.size + head, wire.LENGTHS.size + head + body
        if len(data) < end:
            return None
        answer = wire.decode(data[start:middle], data[middle:end])
        del data[:end]
        self._whole, self._counted = max(0, self._whole - 1), max(0, self._counted - end)
        return answer

    def _begins(self) -> bool:
        """Whether the process is ready, as far as it has said so."""
        data = self._received
        if not self._is_ready and self._is_born() and data:
            self.layers = wire.layers(data[0])
            self._is_ready = True
            del data[:1]
        return self._is_ready

    def _is_born(self) -> bool:
        """Whether there is a process: a forked one first sends its pid."""
        if not self._process.pid and len(self._received) >= wire.BORN.size:
            (self._process.pid,) = wire.BORN.unpack_from(self._received)
            del self._received[: wire.BORN.size]
        return bool(self._process.pid)

    def _await_birth(self) -> None:
        """Wait for the pid of a forked process that is to be killed. The process that forks it is mostly dead by then, so it exists now or never will."""
        self.socket.settimeout(_DYING_SECONDS)
        try:
            while not self._is_born() and (piece := self.socket.recv(_CHUNK)):
                self._received += piece
        except OSError:  # if it is forked later, it finds the socket closed and ends
            pass

    def _bury(self) -> Death:
        """Make sure that the process has ended, and say why."""
        if self._verdict:
            self._await_birth()
            self._process.kill()
        self.socket.close()
        used = self._reap()
        last_words = _drain(self._talk)
        self.close_descriptors()
        if self._verdict:
            return self._verdict
        if self._process.returncode is None:
            return Death("ended", "was not forked", was_planned=True)
        number = -self._process.returncode
        if not self._is_ready and number not in _SENT_FROM_OUTSIDE:
            last_line = last_words.decode("utf-8", "replace").strip()[-500:]
            lacks_jail = number == -wire.UNJAILED
            return Death("does not start", last_line, was_stillborn=True, lacks_jail=lacks_jail)
        allowed = memory_for(self._sizes[0], self._limits) if self._sizes else self._limits.memory_bytes
        ran_out = used > allowed * 3 // 4 or any(word in last_words for word in _OUT_OF_MEMORY)
        return _death(number, ran_out)

    def _reap(self) -> int:
        """Wait for the end of a process that closed its socket; return its peak memory."""
        late = time.monotonic() + _DYING_SECONDS
        while self._is_born():
            is_late = time.monotonic() > late
            if is_late:
                self._process.kill()
            try:
                pid, status, usage = os.wait4(self._process.pid, 0 if is_late else os.WNOHANG)
            except ChildProcessError:  # we inherited an ignored SIGCHLD: the exit status is lost
                self._process.returncode = 255
                return 0
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                # ru_maxrss of a process starts at that of its parent: only a higher value is its own.
                return usage.ru_maxrss * _RSS_UNIT if usage.ru_maxrss > self._inherited else 0
            time.sleep(0.001)
        return 0

    def close_descriptors(self) -> None:
        """Close our own descriptors."""
        self.socket.close()
        os.close(self._lifeline[1])
        os.close(self._talk)


class _Forked:
    """A process that another child forks: its pid is 0 until it sends it."""

    def __init__(self) -> None:
        self.pid = 0
        self.returncode: int | None = None

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        if self.pid and self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _started(command: Sequence[str], limits: Limits, jail: str, all_: Sequence[Child[J]]) -> subprocess.Popen[bytes]:
    """Start the process of the first child; it forks those of the others."""
    own, *others = (child.theirs for child in all_)
    args = [*map(str, own[:2]), json.dumps(asdict(limits)), jail, *([json.dumps(others)] if others else [])]
    try:
        return subprocess.Popen(
            [*command, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=own[2],
            pass_fds=(*own[:2], *(fd for each in others for fd in each)),
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        for child in all_:
            child.close_descriptors()
        raise InternalError("cannot start a reading process", reason=error.strerror) from error
    finally:
        for child in all_:
            child.hand_over()


def command(module: str = "smart_context.sources.worker_child") -> list[str]:
    """The command line of a reading process: this interpreter, isolated from the environment and the working folder."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    places = [package, *(place for place in sys.path if os.path.isabs(place) and not _is_here(place))]
    code = f"import sys; sys.path[:] = {list(dict.fromkeys(places))!r}; from {module} import main; main(sys.argv[1:])"
    # -S: sys.path is given; to compute it again would take longer than the rest of the start.
    # Bytecode is written unless it is disabled for us (-I ignores PYTHONDONTWRITEBYTECODE): not every installer compiles, and only these processes
    # import the readers.
    return [sys.executable, "-I", "-S", *(["-B"] if sys.dont_write_bytecode else []), "-c", code]


@contextmanager
def _held(more: bytes) -> Iterator[tuple[int, ...]]:
    """Bytes of any length as a descriptor, because the socket might not take them at once; () for b""."""
    if not more:
        yield ()
        return
    with open(os.memfd_create("more"), "w+b") if hasattr(os, "memfd_create") else _nameless() as file:
        file.write(more)
        file.seek(0)
        yield (file.fileno(),)


def _nameless() -> IO[bytes]:
    import tempfile

    return tempfile.TemporaryFile()


def _is_here(place: str) -> bool:
    # `python -m` puts the working folder first on sys.path; a reading process must not import from there.
    try:
        return os.path.samefile(place, os.curdir)
    except OSError:
        return False


def _death(number: int, ran_out_of_memory: bool) -> Death:
    if number == getattr(signal, "SIGXCPU", None):
        return Death("took too long", "used up its CPU time")
    if number == getattr(signal, "SIGBUS", None):
        return Death("changed while being read", "")
    if ran_out_of_memory:
        return Death("too much memory", "")
    if number in _SENT_FROM_OUTSIDE:
        return Death("killed", f"the reading process was ended from outside (signal {number})", may_be_innocent=True)
    return Death("crashed", f"signal {number}" if number > 0 else f"exit status {-number}")


def _drain(fd: int) -> bytes:
    try:
        return os.read(fd, 64 * 1024)
    except OSError:
        return b""
