"""What a command costs with all the processes that it starts.

In: a command line.  Out: a `Cost` and what the command printed. Always: CPU time is the kernel's own count of the whole tree; memory is the sum of the
processes' proportional shares (PSS), so that pages which several of them share count once.
"""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from bench.indexing import Cost, children


def measured(command: Sequence[str | Path]) -> tuple[Cost, str]:
    """Run a command to its end.

    Raises: SystemExit where it fails.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryFile("w+") as talk:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=talk, text=True)
        peak, over = [0], threading.Event()
        sampler = threading.Thread(target=_sample, args=(process.pid, peak, over))
        sampler.start()
        out, _ = process.communicate()
        over.set()
        sampler.join()
        if process.returncode:
            talk.seek(0)
            sys.exit(f"{command[0]} ended with {process.returncode}: {talk.read()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.monotonic() - began, peak[0] / 1e6), out


def _sample(pid: int, peak: list[int], over: threading.Event) -> None:
    while not over.wait(0.5):
        peak[0] = max(peak[0], sum(_share(each) for each in _tree(pid)))


def _tree(pid: int) -> list[int]:
    return [pid, *(below for child in children(pid) for below in _tree(child))]


def _share(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
