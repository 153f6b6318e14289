"""One writer at a time, across processes.

In: the data directory.  Out: the right to write the index, held until closed.
Always: the lock dies with the process that holds it, so that nothing is left to clean up.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from smart_context.engine import refusals
from smart_context.errors import Conflict

_NAME = "write.lock"


class WriteLock:
    """The right to write, held from `take` until `close`."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def take(cls, folder: Path, name: str = _NAME, doing: str = "the index is being written by") -> WriteLock:
        """Take the lock without waiting.

        Raises: Conflict, saying who holds it.
        """
        try:
            fd = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise refusals.refused(f"cannot write in {folder}", folder, error) from error
        if not _locked(fd):
            who = _read(fd)
            os.close(fd)
            raise Conflict(
                f"{doing} {who or 'another process'}",
                hint="try again when it has finished; searches go on meanwhile",
            )
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        os.ftruncate(fd, 0)
        with suppress(OSError):  # the name is for people; a full disk will be met where it matters
            os.pwrite(fd, json.dumps({"pid": os.getpid(), "since": since}).encode(), 0)
        return cls(fd)

    def close(self) -> None:
        """Let the next writer in."""
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1


def _locked(fd: int) -> bool:
    # `holder` looks by taking the lock for an instant; that is no reason to turn a writer away.
    for wait in (0.005, 0.01, 0.02, 0.0):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(wait)
        else:
            return True
    return False


def holder(folder: Path) -> str:
    """Who is writing now ("process 123 since …"), or "" when nobody is."""
    try:
        fd = os.open(folder / _NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(fd) or "another process"
    finally:
        os.close(fd)
    return ""


def _read(fd: int) -> str:
    try:
        who = json.loads(os.pread(fd, 4096, 0))
        return f"process {int(who['pid'])} since {who['since']}"
    except (ValueError, KeyError, TypeError):
        return ""
