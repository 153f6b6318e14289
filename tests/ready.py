"""Start our programs without waiting for Python and its imports: a process that has them loaded forks for each.

In: what `subprocess.Popen` and `subprocess.run` take.  Out: what they give.
Always: what is started is a process of its own, with its own arguments, environment, folder and descriptors, and ends as Python does; a command
that is not ours, or an environment that Python reads while it starts, is started by `subprocess`. What a test says about starting itself (which
modules are loaded, what happens before them, how long it takes) it must say with `subprocess`. The processes that read files are forked too, jail and
limits included: by a forked program itself, unless it has several threads, and for the tests by the process that forks (`Reading`).
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import importlib
import inspect
import logging
import marshal
import os
import pkgutil
import runpy
import select
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

# Arguments, environment, folder, whether its coverage is measured, and the numbers of its descriptors; a program has the first three.
Order = tuple[list[bytes], dict[bytes, bytes], bytes, bool, list[int]]

_HOW = inspect.signature(subprocess.Popen._execute_child)
_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_HEAD = struct.Struct("!Q")
_MOST_FDS = 16  # that a process is given
_STATUS = struct.Struct("!q")
# Read by Python before it runs anything of ours.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "COVERAGE")
_KEPT = {"PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR"}
# What Python itself sets while it starts in the locale C, for its own processes too.
_SET_AT_START = "LC_CTYPE"
_OPTIONS = {"stdin", "stdout", "stderr", "env", "cwd", "bufsize", "text", "encoding"}
# What our modules import when they are used, not when they are imported.
_LATER = (
    "anyio._backends._asyncio", "charset_normalizer", "h11", "httpx2", "jinja2", "lxml.etree", "mcp.server.streamable_http_manager", "numpy",
    "phonenumbers", "sqlite3", "starlette.applications", "tantivy", "tomlkit", "uvicorn", "uvicorn.protocols.http.h11_impl",
)  # fmt: skip


def kept() -> dict[str, str]:
    """Of the developer's environment, what every process of a test may have."""
    return {key: value for key, value in os.environ.items() if key in _KEPT}


_coverage: dict[str, str] = {}  # where its settings are, if it is measured


def only_when_asked() -> Any:
    """What measures coverage here, stopped until it is wanted; None where it is not measured. No other process will measure it but those that
    are forked while this one does: loading it takes longer than most of them."""
    if told := os.environ.pop("COVERAGE_PROCESS_START", None):
        _coverage["COVERAGE_PROCESS_START"] = told
    if found := measuring():
        found.stop()
    return found


def measuring() -> Any:
    """What measures coverage in this process just now; None if nothing does."""
    return sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None


class Popen(subprocess.Popen):
    """`subprocess.Popen` that forks from the process that has everything loaded, where that gives the same process."""

    def __init__(self, args: Sequence[Any], *more: Any, **options: Any) -> None:
        self._status: socket.socket | None = None
        self._is_forked = can_be_forked(args, options)
        super().__init__(args, *more, **options)

    def _execute_child(self, *given: Any) -> None:
        if not self._is_forked:
            super()._execute_child(*given)
            return
        named = _HOW.bind(self, *given).arguments
        ours = [named[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        order = (
            [os.fsencode(word) for word in named["args"][1:]],
            {os.fsencode(key): os.fsencode(value) for key, value in (named["env"] or os.environ).items()},
            os.fsencode(named["cwd"] or os.getcwd()),
            measuring() is not None,
            [0, 1, 2],
        )
        try:
            self._status, self.pid = _forked(order, [number if fd == -1 else fd for number, fd in enumerate(ours)])
            self._child_created = True
        finally:
            self._close_pipe_fds(*(named[name] for name in _PIPES))

    def _internal_poll(self, *args: Any, **options: Any) -> int | None:
        if self._status is None:
            return self.returncode if self._is_forked else super()._internal_poll(*args, **options)
        return self._ended(0)

    def _wait(self, timeout: float | None) -> int:
        if self._status is None:
            return self.returncode if self._is_forked else super()._wait(timeout)
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and self._status and _is_readable(self._status, timeout):
            with self._status as status:
                told = status.recv(_STATUS.size)
            self.returncode = os.waitstatus_to_exitcode(_STATUS.unpack(told)[0]) if told else -signal.SIGKILL
            self._status = None
        return self.returncode


def _is_readable(what: socket.socket, timeout: float | None) -> bool:
    asked = select.poll()
    asked.register(what, select.POLLIN)
    return bool(asked.poll(None if timeout is None else timeout * 1000))


def run(
    args: Sequence[Any],
    *,
    input: bytes | str | None = None,  # noqa: A002
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run`, by such a process."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(args, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def can_be_forked(args: Any, options: dict[str, Any]) -> bool:
    """Whether a command gives the same process when it is forked."""
    if sys.platform != "linux" or options.keys() - _OPTIONS:
        return False
    if not isinstance(args, list | tuple) or len(args) < 2 or args[0] != sys.executable:
        return False
    if _read_at_start(options.get("env") or os.environ) != _read_at_start(kept()):
        return False
    is_ours = list(args[1:3]) == ["-m", "smart_context"] or (args[1] == "-c" and "smart_context" in str(args[2]))
    return is_ours or str(args[1]).endswith(".py")


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in env.items() if key.startswith(_READ_AT_START)}


_started: dict[int, str] = {}  # by our process, as a test may fork: where the process that forks listens


def program(path: Path) -> None:
    """Put a program there that a shell can start as `context`."""
    words = {"python": sys.executable, "place": _place()}
    path.write_text(_PROGRAM.format(**words), encoding="utf-8")
    path.chmod(0o755)


_PROGRAM = """#!{python} -IS
import _socket, marshal, os, sys
way = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
way.connect({place!r})
order = marshal.dumps(([b"-m", b"smart_context", *map(os.fsencode, sys.argv[1:])], dict(os.environb), os.getcwdb(), False, [0, 1, 2]))
fds = b"".join(fd.to_bytes(4, sys.byteorder) for fd in range(3))
way.sendmsg([len(order).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
way.sendall(order)
told = way.recv(16, _socket.MSG_WAITALL)
status = os.waitstatus_to_exitcode(int.from_bytes(told[8:], "big"))
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def begin() -> None:
    """Start the process that forks, so that none appears among ours in the middle of a test."""
    if sys.platform == "linux":
        _place()


def _forked(order: Order, fds: list[int]) -> tuple[socket.socket, int]:
    """A new process: where its end will be told, and its number."""
    way = socket.socket(socket.AF_UNIX)
    way.connect(_place())
    text = marshal.dumps(order)
    socket.send_fds(way, [_HEAD.pack(len(text))], fds)
    way.sendall(text)
    return way, _STATUS.unpack(way.recv(_STATUS.size, socket.MSG_WAITALL))[0]


def _place() -> str:
    """Where the process listens that forks; it ends when we do."""
    if os.getpid() not in _started:
        place = tempfile.mkdtemp(prefix="ready-")
        _started[os.getpid()] = os.path.join(place, "socket")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(_started[os.getpid()])
            listening.listen()
            process = subprocess.Popen(
                [sys.executable, __file__, str(listening.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[listening.fileno()],
                env=kept() | _coverage,
            )
        atexit.register(_end, process, place)
    return _started[os.getpid()]


def _end(process: subprocess.Popen[bytes], place: str) -> None:
    process.communicate()
    shutil.rmtree(place)


def _load() -> None:
    import smart_context

    for module in pkgutil.walk_packages(smart_context.__path__, "smart_context."):
        if not module.name.endswith("__main__"):
            _import(module.name)
    for name in _LATER:
        _import(name)
    from smart_context.index import reading_child

    reading_child.loaded('{"max_chars": 1, "patterns": [], "searched": true}')


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # an extra that is not installed


def _serve(listening: socket.socket, begin_to_measure: Callable[[], None]) -> list[str] | None:
    """Fork for each who asks, and tell how it ends. Returns in the forked processes what they are to run, and None when our own is closed."""
    living: dict[int, tuple[int, socket.socket]] = {}  # by what becomes readable when they end: number, whom to tell
    with selectors.DefaultSelector() as selector:
        selector.register(listening, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while True:
            for fd in [key.fd for key, _ in selector.select()]:
                if fd == 0:
                    return None
                if fd in living:
                    selector.unregister(fd)
                    os.close(fd)
                    pid, asking = living.pop(fd)
                    _tell(asking, os.waitpid(pid, 0)[1])
                    asking.close()
                    continue
                asking, _ = listening.accept()
                head, fds, *_ = socket.recv_fds(asking, _HEAD.size, _MOST_FDS)
                order = marshal.loads(asking.recv(_HEAD.unpack(head)[0], socket.MSG_WAITALL))
                is_reading = order[0][: len(_READS)] == _READS
                pid = os.fork()
                if not pid:
                    if is_reading:
                        os._exit(_leave_one_that_reads(asking, order, fds))
                    return _become(order, fds, begin_to_measure)
                for given in fds:
                    os.close(given)
                if not is_reading:
                    _tell(asking, pid)
                ended = os.pidfd_open(pid)
                living[ended] = (pid, asking)
                selector.register(ended, selectors.EVENT_READ)


def _leave_one_that_reads(asking: socket.socket, order: Order, fds: list[int]) -> int:
    """Fork a process that reads, and end, so that it comes to who asked."""
    if not (pid := os.fork()):
        os._exit(_status_of_reading(order, fds))
    _tell(asking, pid)
    return 0


def _measuring() -> Callable[[], None]:
    """Where coverage is measured: note what was loaded here, and give what begins to measure in a forked process."""
    if "COVERAGE_PROCESS_START" not in os.environ:
        return lambda: None
    import coverage

    if loaded := measuring():
        loaded.stop()
        loaded.save()
    settings = os.environ["COVERAGE_PROCESS_START"]
    place = coverage.Coverage(config_file=settings).get_option("run:data_file")
    measured = coverage.Coverage(os.path.abspath(str(place)), config_file=settings)  # wherever a process works
    measured.start()  # finds out what is to be measured, which takes longer than most programs do
    measured.stop()

    def end() -> None:
        measured.stop()
        measured.save()

    def begin() -> None:
        atexit.register(end)
        measured.start()

    return begin


def _tell(status: socket.socket, number: int) -> None:
    try:
        status.sendall(_STATUS.pack(number))
    except OSError:
        pass  # nobody waits for it any more


def _become(order: Order, fds: list[int], begin_to_measure: Callable[[], None]) -> list[str]:
    words = _take(order, fds)
    time.tzset()
    subprocess.Popen = ReadingOfPrograms  # type: ignore[misc]
    if order[3]:
        begin_to_measure()
    return words


def _take(order: Order, fds: list[int]) -> list[str]:
    """Take environment, folder and descriptors as they are ordered, and no others; return the arguments."""
    words, env, folder, _, numbers = order
    beyond = max(*numbers, *fds) + 1
    copies = [fcntl.fcntl(fd, fcntl.F_DUPFD, beyond) for fd in fds]
    for number, copy in zip(numbers, copies, strict=True):
        os.dup2(copy, number)
    for first, last in pairwise([*sorted(numbers), os.sysconf("SC_OPEN_MAX")]):
        os.closerange(first + 1, last)
    set_at_start = os.environ.get(_SET_AT_START)
    os.environb.clear()
    os.environb.update(env)
    if set_at_start is not None:
        os.environ.setdefault(_SET_AT_START, set_at_start)
    os.chdir(folder)
    return [os.fsdecode(word) for word in words]


_READS = [b"-I", b"-S", b"-c"]


class Reading(subprocess.Popen):
    """`subprocess.Popen` of the tests themselves, which knows the processes that read files: the process that forks makes them, and as their parent
    ends at once they become children of ours."""

    def _execute_child(self, *given: Any) -> None:
        named = _HOW.bind(self, *given).arguments
        words = [os.fsencode(word) for word in named["args"][1:]]
        if words[:3] != _READS or b"reading_child" not in words[3] or not self._can_fork():
            super()._execute_child(*given)
            return
        order = (words, dict(os.environb), os.fsencode(named["cwd"]), False, [0, 1, 2, *named["pass_fds"]])
        ours = [named[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        try:
            self.pid = self._fork(order, [*ours, *named["pass_fds"]])
            self._child_created = True
        finally:
            self._close_pipe_fds(*(named[name] for name in _PIPES))

    def _can_fork(self) -> bool:
        return sys.platform == "linux"

    def _fork(self, order: Order, fds: list[int]) -> int:
        with _adopting:
            _adopt_orphans(True)
            try:
                way, pid = _forked(order, fds)
                with way:
                    way.recv(_STATUS.size)  # its parent has ended
            finally:
                _adopt_orphans(False)
        return pid


class ReadingOfPrograms(Reading):
    """The same of a program that was forked: it has the readers loaded already, and forks them itself while it has one thread."""

    def _can_fork(self) -> bool:
        return threading.active_count() == 1

    def _fork(self, order: Order, fds: list[int]) -> int:
        if not (pid := os.fork()):
            os._exit(_status_of_reading(order, fds))
        return pid


_adopting = threading.Lock()
_PR_SET_CHILD_SUBREAPER = 36


def _adopt_orphans(wanted: bool) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _status_of_reading(order: Order, fds: list[int]) -> int:
    """What a new process does that reads, where all is loaded: it has its own session, folder, descriptors, and no way of ours to end."""
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    atexit._clear()
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):  # a handler of ours; what is ignored stays so
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.setsid()
    words = _take(order, fds)
    sys.argv = ["-c", *words[4:]]
    try:
        exec(words[3], {"__name__": "__main__"})
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _run(words: list[str]) -> None:
    """What Python does with its arguments."""
    if words[0] in {"-m", "-c"}:
        sys.argv = [words[0], *words[2:]]
        sys.path[0] = os.getcwd() if words[0] == "-m" else ""
    else:
        sys.argv = words
        sys.path[0] = str(Path(words[0]).resolve().parent)
    if words[0] == "-m":
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        exec(words[1], {"__name__": "__main__"})
    else:
        runpy.run_path(words[0], run_name="__main__")


def _status_of(words: list[str]) -> int:
    """Run it to its end, and what Python does then, but for taking apart all that was loaded."""
    status = 0
    try:
        _run(words)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if not isinstance(end.code, int | None):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        sys.excepthook(*sys.exc_info())
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except OSError:
            status = 120
    return status & 255


if __name__ == "__main__":
    _load()
    begin_to_measure = _measuring()
    # Some libraries clean up at the end, which takes longer than most programs do. A program that has not loaded them does not do it.
    atexit._clear()
    atexit.register(logging.shutdown)
    gc.collect()
    gc.freeze()
    if asked := _serve(socket.socket(fileno=int(sys.argv[1])), begin_to_measure):
        os._exit(_status_of(asked))
