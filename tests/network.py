"""A host of its own for a test: a network namespace with one link to this machine, which can be cut. Only root can make one."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

_SOME = 65_536


@dataclass(frozen=True)
class Host:
    """The other host. here: this machine's address on the link. under: what starts a command there."""

    name: str
    here: str

    @property
    def under(self) -> list[str]:
        return ["ip", "netns", "exec", self.name]

    def cut(self) -> None:
        """Cut the link, as a cable is pulled: what is under way is answered by nobody."""
        _ip("link", "set", f"{self.name}-a", "down")

    def mend(self) -> None:
        """Let it work again."""
        _ip("link", "set", f"{self.name}-a", "up")


@contextmanager
def other_host() -> Iterator[Host]:
    """Make the host; the test is skipped where that cannot be."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("only root can make network namespaces, with `ip`")
    name, number = f"sc{os.getpid() % 100_000}", os.getpid() % 250
    host = Host(name, f"10.209.{number}.1")
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no network namespace can be made here: {made.stderr.decode().strip()}")
    try:
        _ip("link", "add", f"{name}-a", "type", "veth", "peer", "name", f"{name}-b", "netns", name)
        _ip("addr", "add", f"{host.here}/30", "dev", f"{name}-a")
        _ip("link", "set", f"{name}-a", "up")
        _ip("-n", name, "addr", "add", f"10.209.{number}.2/30", "dev", f"{name}-b")
        for link in (f"{name}-b", "lo"):
            _ip("-n", name, "link", "set", link, "up")
        yield host
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)  # the link goes with it


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def forwarded(host: Host, path: str) -> Iterator[int]:
    """Let the host reach a local socket of this machine: the port."""
    ends, end = socket.socketpair()
    with socket.create_server((host.here, 0)) as server, ends, end:
        thread = threading.Thread(target=_forward, args=(server, path, ends))
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            end.close()
            thread.join()


def _forward(server: socket.socket, path: str, ends: socket.socket) -> None:
    """Pass on what comes, in both directions, until the end."""
    others: dict[socket.socket, socket.socket] = {}
    while True:
        ready, _, _ = select.select([server, ends, *others], [], [])
        if ends in ready:
            break
        for each in ready:
            if each is server:
                come, there = server.accept()[0], socket.socket(socket.AF_UNIX)
                there.connect(path)
                others |= {come: there, there: come}
            elif each in others and not _passed_on(each, others[each]):
                for one in (others.pop(each), each):
                    others.pop(one, None)
                    one.close()
    for one in others:
        one.close()


def _passed_on(source: socket.socket, target: socket.socket) -> bool:
    try:
        data = source.recv(_SOME)
        target.sendall(data)
    except OSError:
        return False
    return bool(data)
