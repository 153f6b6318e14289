"""Make many new files durable at once, where the system can.

In: an open folder.  Out: nothing; what was written to its file system before is on disk.
Always: an error in writing it is raised, not lost.
"""

from __future__ import annotations

import os
import sys
from functools import cache

_REPORTS_ERRORS = (5, 8)  # the Linux whose syncfs first did


def file_system(folder: int) -> None:
    """Write out the file system of a folder, if `can_sync`. Raises: OSError."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).syncfs(folder) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@cache
def can_sync() -> bool:
    """Whether the system can write out one file system and tell of errors."""
    if sys.platform != "linux":
        return False
    import ctypes

    numbers = os.uname().release.split("-")[0].split(".")[:2]
    is_new = all(n.isdigit() for n in numbers) and tuple(map(int, numbers)) >= _REPORTS_ERRORS
    return is_new and hasattr(ctypes.CDLL(None), "syncfs")
