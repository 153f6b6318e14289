"""Measure how long a process has been working on something, and for how long it has made no progress.

In: the process, looked at several times a second.  Out: the seconds of both.
Always: time in which the process waited for a processor does not count, nor time in which nobody looked: a busy machine ends no process.
"""

from __future__ import annotations

import os

_LOOK_WITHIN = 1.0  # seconds that count between two looks; of a longer gap nothing is known


class Clock:
    """The time of one process since `restart`.

    working: seconds in which it could run. stalled: of these, the last ones in which it used no CPU time; 0 where the system does not show that.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start again: the process has answered, or has something new to do."""
        self.working = self.stalled = 0.0
        self._looked: float | None = None
        self._cpu: float | None = None

    def look(self, now: float, seen: tuple[float, str] | None) -> None:
        """Count the time since the last look; `seen`: what `of` tells of the process."""
        passed = 0.0 if self._looked is None else min(now - self._looked, _LOOK_WITHIN)
        self._looked = now
        cpu, state = seen or (None, "")
        has_moved, self._cpu = cpu != self._cpu, cpu
        if state == "R" and not has_moved:
            return
        self.working += passed
        self.stalled = 0.0 if has_moved or cpu is None else self.stalled + passed


def of(pid: int) -> tuple[float, str] | None:
    """The CPU time of a process so far in seconds, and its state: "R" if it runs or waits for a processor. None where the system does not show them."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0].decode("ascii")
    except (OSError, ValueError, IndexError):
        return None
