"""A server for a benchmark: started over HTTP on some roots, and ended when the benchmark ends.

In: a configuration, a data directory, roots.  Out: its process and its port.
Always: it listens when it is given out, and no process of it is left.
"""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_COUNTED = """
import os, struct, sys, time
from smart_context import api
place = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT)
search, spent = api.App.search_files, 0.0
def counted(*args, **named):
    global spent
    began = time.thread_time()
    try:
        return search(*args, **named)
    finally:
        spent += time.thread_time() - began
        os.pwrite(place, struct.pack("d", spent), 0)
api.App.search_files = counted
from smart_context.__main__ import main
main()
"""


@contextmanager
def started(
    options: Sequence[str | Path], env: Mapping[str, str] | None = None, counted: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server with these options, and the port that it listens on; in an environment of its own where that is given.

    counted: where the server keeps how much processor time its searches have taken, for `searched`.
    """
    program = ["-c", _COUNTED, str(counted)] if counted else ["-m", "smart_context"]
    command = [sys.executable, *program, "serve", "--http", *_without_token(env), "--port", "0", *options]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
    try:
        assert server.stderr
        said = server.stderr.readline()
        while "listening" not in said:
            if not said:
                raise SystemExit("the server ended before it listened")
            said = server.stderr.readline()
        yield server, int(re.findall(r":(\d+)/mcp", said)[0])
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)


def _without_token(env: Mapping[str, str] | None) -> list[str]:
    """What lets everybody in: versions that do not know the option do so on loopback anyway."""
    command = [sys.executable, "-m", "smart_context", "serve", "--help"]
    told = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return ["--no-token"] if "--no-token" in told else []


def searched(counted: Path) -> float:
    """Processor time that the searches of a server have taken, in seconds."""
    return float(struct.unpack("d", counted.read_bytes())[0])


def cpu(pid: int) -> float:
    """Processor time of the server itself, in seconds; the reading processes have their own."""
    found = 0.0
    for thread in os.listdir(f"/proc/{pid}/task"):  # to the nanosecond, where `stat` has hundredths of a second
        with suppress(OSError), open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as told:
            found += int(told.read().split()[0]) / 1e9
    return found


def tree_cpu(pid: int) -> float:
    """Processor time of the server and of the processes that it has started, in seconds."""
    found = cpu(pid)
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as children:
            found += sum(cpu(int(child)) for child in children.read().split())
    return found


def at(times: list[float], part: float) -> float:
    """The time that a part of all stays below, of times in order."""
    return round(times[min(len(times) - 1, int(part * len(times)))], 1) if times else 0.0
