"""A server for a benchmark: started over HTTP on some roots, and ended when the benchmark ends.

In: a configuration, a data directory, roots.  Out: its process and its port.
Always: it listens when it is given out, and no process of it is left.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def started(
    options: Sequence[str | Path], env: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server with these options, and the port that it listens on; in an environment of its own where that is given."""
    command = [sys.executable, "-m", "smart_context", "serve", "--http", "--no-token", "--port", "0", *options]
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


def cpu(pid: int) -> float:
    """Processor time of the server itself, in seconds; the reading processes have their own."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
