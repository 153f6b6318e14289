"""How often a client may call a tool.

In: a client and a tool.  Out: nothing, or `RateLimited` with the seconds to wait.
Always: in any 60 seconds a client gets at most the tool's number of calls, however many server processes it starts, at once or
one after the other: the times of its calls are kept in the data folder. A refused call does not count.

Times are those of the system's monotonic clock, which all processes share and nobody can set. It starts anew with the machine;
times from before then lie in the future and are forgotten.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from smart_context import flock
from smart_context.errors import RateLimited

_WINDOW_SECONDS = 60.0
_TIME = struct.Struct("<d")
_FORGET_SECONDS = 3600.0
_SWEEP_EVERY = 1000  # calls


class RateLimits:
    """The calls of the last minute, by client and tool."""

    def __init__(self, data_dir: str, per_minute: Mapping[str, int], now: Callable[[], float] = time.monotonic) -> None:
        """per_minute: by tool; 0, or a tool that is not in it: no bound."""
        self._folder = os.path.join(data_dir, "rates")
        self._per_minute = per_minute
        self._now = now
        self._mutex = threading.Lock()
        self._own: dict[str, list[float]] = {}
        self._taken = 0

    def take(self, client: str, tool: str) -> None:
        """Count a call.

        Raises: RateLimited if it comes too early.
        """
        most = self._per_minute.get(tool, 0)
        if most <= 0:
            return
        with self._mutex:
            self._sweep()
            wait = self._counted(client, tool, most)
        if wait > 0:
            raise RateLimited(
                f"too many calls of {tool}: {most} a minute are allowed",
                retry_after=wait,
                hint=f"try again in {max(1, round(wait + 0.5))} seconds",
            )

    def _counted(self, client: str, tool: str, most: int) -> float:
        """Seconds to wait; 0 if the call was counted."""
        key = hashlib.sha256(f"{client}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        try:
            return self._counted_on_disk(key, most)
        except OSError:
            # A full or read-only disk must not end the service: this process at least keeps its own count.
            wait, self._own[key] = _after_one_more(self._own.get(key, []), self._now(), most)
            return wait

    def _counted_on_disk(self, key: str, most: int) -> float:
        fd = self._open(key)
        try:
            flock.lock(fd)
            wait, times = _after_one_more(_times(os.read(fd, 8 * most + 8 * 1024)), self._now(), most)
            if not wait:
                os.lseek(fd, 0, os.SEEK_SET)
                kept = os.write(fd, b"".join(map(_TIME.pack, times)))
                os.ftruncate(fd, kept)
            return wait
        finally:
            os.close(fd)

    def _open(self, key: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        path = os.path.join(self._folder, key)
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(self._folder), mode=0o700, exist_ok=True)
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            return os.open(path, flags, 0o600)

    def _sweep(self) -> None:
        """Remove the files of clients that have not called for long, now and then."""
        self._taken += 1
        if self._taken % _SWEEP_EVERY != 1:
            return
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    # mtime is wall-clock time, like what it is compared with here; nothing but tidiness rests on it.
                    if stat.S_ISREG(info.st_mode) and time.time() - info.st_mtime > _FORGET_SECONDS:
                        os.unlink(entry.path)
        except OSError:
            return


def _times(data: bytes) -> list[float]:
    whole = len(data) // _TIME.size * _TIME.size
    return [at for (at,) in _TIME.iter_unpack(data[:whole])]


def _after_one_more(times: Sequence[float], now: float, most: int) -> tuple[float, list[float]]:
    recent = sorted(at for at in times if now - _WINDOW_SECONDS < at <= now)
    if len(recent) < most:
        return 0.0, [*recent, now]
    return recent[-most] + _WINDOW_SECONDS - now, recent
