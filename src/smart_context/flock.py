"""Lock an open file against other processes, on every platform. The lock ends with the descriptor, however that is closed."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import msvcrt

    def lock(fd: int) -> None:
        """Wait until the file is ours."""
        os.lseek(fd, 0, os.SEEK_SET)
        while True:
            try:
                msvcrt.locking(fd, msvcrt.LK_LOCK, 1)
                return
            except OSError:  # it gives up after ten seconds
                continue

    def try_lock(fd: int) -> bool:
        """Take the lock if it is free."""
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def lock(fd: int) -> None:
        """Wait until the file is ours."""
        fcntl.flock(fd, fcntl.LOCK_EX)

    def try_lock(fd: int) -> bool:
        """Take the lock if it is free."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
