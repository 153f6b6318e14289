"""What a reader that was taken over would try: run in a process that should not be able to do any of it.

`attempt(folder)` tries each act on a folder laid out by `lay_out` and says for each "done" or the name of the error.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

ANYBODY = 0o777
_libc = ctypes.CDLL(None, use_errno=True)


def lay_out(folder: Path) -> None:
    """What the acts are about: files and folders that anybody may read and change."""
    folder.mkdir(exist_ok=True)
    folder.chmod(ANYBODY)
    for name in ("secret", "victim", "moved", "mapped"):
        (folder / name).write_bytes(b"untouched")
        (folder / name).chmod(ANYBODY)
    (folder / "empty").mkdir()
    (folder / "empty").chmod(ANYBODY)


def attempt(folder: str, listening: int, but_not: Sequence[str] = ()) -> dict[str, str]:
    """Try everything; the descriptors that this process has are used as well."""

    def at(name: str) -> str:
        return os.path.join(folder, name)

    acts: dict[str, Callable[[], object]] = {
        "read a file": lambda: os.open(at("secret"), os.O_RDONLY),
        "list a folder": lambda: os.listdir(folder),
        "look at a file": lambda: os.stat(at("secret")),
        "read its own memory": lambda: os.open("/proc/self/mem", os.O_RDWR),
        "make a file": lambda: os.open(at("new"), os.O_CREAT | os.O_WRONLY),
        "make a folder": lambda: os.mkdir(at("new folder")),
        "make a link": lambda: os.symlink("secret", at("link")),
        "make a hard link": lambda: os.link(at("secret"), at("hard")),
        "make a pipe": lambda: os.mkfifo(at("fifo")),
        "make a file in memory": lambda: os.memfd_create("x"),
        "truncate a file": lambda: os.truncate(at("victim"), 0),
        "remove a file": lambda: os.unlink(at("moved")),
        "remove a folder": lambda: os.rmdir(at("empty")),
        "rename a file": lambda: os.rename(at("victim"), at("renamed")),
        "change a mode": lambda: os.chmod(at("victim"), 0o600),
        "change a time": lambda: os.utime(at("victim"), (1, 1)),
        "truncate what it was given": lambda: _any_descriptor(lambda fd: os.ftruncate(fd, 0)),
        "change the mode of what it was given": lambda: _any_descriptor(lambda fd: os.fchmod(fd, 0o600)),
        "change the time of what it was given": lambda: _any_descriptor(lambda fd: os.utime(fd, (1, 1))),
        "lock what it was given": lambda: _any_descriptor(lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)),
        "write through a map": lambda: _any_descriptor(_write_through_map),
        "connect": lambda: socket.socket().connect(("127.0.0.1", listening)),
        "send a datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
        "listen": lambda: socket.socket().bind(("127.0.0.1", 0)),
        "make a pair of sockets": socket.socketpair,
        "start a program": lambda: os.execv("/bin/sh", ["sh", "-c", "exit 99"]),
        "fork": _fork,
        "start a thread": lambda: threading.Thread(target=int).start(),
        "map executable memory": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
        "make memory executable": _make_executable,
        "signal its parent": lambda: os.kill(os.getppid(), signal.SIGCONT),
        "trace its parent": lambda: _call(_libc.ptrace, 16, os.getppid(), 0, 0),
        "limit its parent": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE),
        "raise its own limit": _raise_limit,
        "ask for io_uring": lambda: _call(_libc.syscall, 425, 1, ctypes.byref((ctypes.c_char * 120)())),
        "enter another namespace": lambda: _call(_libc.unshare, 0x10000000),
    }
    return {name: _outcome(act) for name, act in acts.items() if name not in but_not}


def _outcome(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "?")
    except (RuntimeError, ValueError) as error:
        return type(error).__name__
    return "done"


def _any_descriptor(act: Callable[[int], object]) -> None:
    """Try it on every descriptor; it is enough to succeed with one."""
    failure = OSError(errno.EBADF, "no descriptor")
    for fd in range(3, 64):
        try:
            act(fd)
            return
        except OSError as error:
            failure = error if error.errno != errno.EBADF else failure
    raise failure


def _write_through_map(fd: int) -> None:
    with mmap.mmap(fd, 1, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
        mapped[0] = ord("X")


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _make_executable() -> None:
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    _call(_libc.mprotect, ctypes.c_void_p(address), mmap.PAGESIZE, 5)


def _raise_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard + 1 if hard >= 0 else hard - 1))


def _call(function: Callable[..., int], *args: object) -> None:
    if function(*args) < 0:
        raise OSError(ctypes.get_errno(), "refused")
