"""What tests ask of the machine they run on, in ways that do not depend on how busy it is."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
