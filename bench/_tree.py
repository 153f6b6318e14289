"""What a command costs with all the processes that it starts.

In: a command line.  Out: a `Cost` and what the command printed, from `watched` also what each process held when they held most. Always: CPU time is the
kernel's own count of the whole tree; memory is the sum of the processes' proportional shares (PSS), so that pages which several of them share count once.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.indexing import Cost, children


@dataclass(frozen=True, slots=True)
class Held:
    """What a process held: bytes of its own, bytes of files that it had mapped, and the files below a folder that it had open."""

    own: int
    mapped: int
    open_files: tuple[str, ...]


def measured(command: Sequence[str | Path]) -> tuple[Cost, str]:
    """Run a command to its end.

    Raises: SystemExit where it fails.
    """
    cost, out, _ = watched(command)
    return cost, out


def watched(command: Sequence[str | Path], below: Path | None = None) -> tuple[Cost, str, list[Held]]:
    """Run a command to its end, and tell what its processes, it first, held when they held most.

    Raises: SystemExit where it fails.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryFile("w+") as talk:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=talk, text=True)
        most: list[Held] = []
        over = threading.Event()
        sampler = threading.Thread(target=_sample, args=(process.pid, below, most, over))
        sampler.start()
        out, _ = process.communicate()
        over.set()
        sampler.join()
        if process.returncode:
            talk.seek(0)
            sys.exit(f"{command[0]} ended with {process.returncode}: {talk.read()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.monotonic() - began, _sum(most) / 1e6), out, most


def _sample(pid: int, below: Path | None, most: list[Held], over: threading.Event) -> None:
    while not over.wait(0.25):
        held = [_held(each, below) for each in _tree(pid)]
        if _sum(held) > _sum(most):
            most[:] = held


def _sum(held: Sequence[Held]) -> int:
    return sum(each.own + each.mapped for each in held)


def _tree(pid: int) -> list[int]:
    return [pid, *(below for child in children(pid) for below in _tree(child))]


def _held(pid: int, below: Path | None) -> Held:
    shares: dict[str, int] = {}
    names: list[str] = []
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]:
            name, value = line.split(":")
            shares[name] = int(value.split()[0]) * 1024
        if below:
            names = [os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()]
    mapped = shares.get("Pss_File", 0)
    return Held(shares.get("Pss", 0) - mapped, mapped, tuple(n for n in names if n.startswith(f"{below}/")))
