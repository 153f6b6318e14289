"""What tests ask of the machine they run on, in ways that do not depend on how busy it is."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def children(pid: int) -> set[int]:
    """The processes that a process has started, by any of its threads. Needs /proc."""
    found: set[int] = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as listed:
                found.update(map(int, listed.read().split()))
        except (FileNotFoundError, ProcessLookupError):
            continue  # a thread that ended after it was listed
    return found


def held(begins: str) -> list[str]:
    """What this process holds open whose name begins so: a folder's path, or `pipe:`. What else it opens meanwhile, such as for coverage, is left out.

    Needs /proc; where there is none, nothing.
    """
    found: list[str] = []
    for number in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(OSError):  # one that was closed after it was listed
            name = os.readlink(f"/proc/self/fd/{number}")
            found += [name] if name.startswith(begins) else []
    return sorted(found)


@contextmanager
def kept_port() -> Iterator[int]:
    """A port for a server that has to be told one. While this lasts the system gives it to nobody who asks for any port.

    Linux lets a server listen on a port that is bound but not listened on; elsewhere the port is merely free.
    """
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        port: int = kept.getsockname()[1]
        if sys.platform != "linux":
            kept.close()
        yield port


def rest() -> None:
    """Between two looks at what is waited for: whoever looks without a pause takes the time of whoever is to do it."""
    time.sleep(0.1)
