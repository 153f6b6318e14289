"""Why the disk under an index refuses, and what to do about it.

In: what could not be done, the folder, and what the system said.  Out: the error, with its next step.
Always: a disk that is full or may only be read is told as that, whatever SQLite or tantivy made of it; the hint names the
option and the variable that choose another folder.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from smart_context.errors import StorageFailed

_ELSEWHERE = "choose another data directory with --data-dir or SMART_CONTEXT_DATA_DIR"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_DENIED = frozenset({errno.EACCES, errno.EPERM})
_AT_ONCE = 32 * 1024  # bytes of the memory that processes share beside a write-ahead log
OF_THE_DISK = _FULL | _DENIED | {errno.EROFS, errno.EFBIG, errno.EIO}  # nothing that a rebuilt index would mend


def refused(what: str, folder: Path, error: OSError) -> StorageFailed:
    """The error for what the system refused in a folder, or in a file there."""
    return by_number(what, folder, error.errno or 0, error.strerror or str(error))


def by_number(what: str, folder: Path, number: int, reason: str) -> StorageFailed:
    """The same by the number of the system's error; 0 where only `reason` is known."""
    if number == errno.EROFS or is_read_only(folder):
        return StorageFailed(what, reason=os.strerror(errno.EROFS), hint=f"mount it for writing, or {_ELSEWHERE}")
    if number in _FULL:
        return full(folder, os.strerror(number) if number != errno.ENOSPC else None)
    if not number and has_no_room(folder):
        return full(folder)
    if number == errno.EFBIG:
        return StorageFailed(
            what, reason=reason, hint=f"raise the limit on the size of files (ulimit -f), or {_ELSEWHERE}"
        )
    if number in _DENIED:
        return StorageFailed(what, reason=reason, hint=f"let this user write there, or {_ELSEWHERE}")
    return StorageFailed(what, reason=reason, hint=f"check the disk, its quotas and `ulimit -f`, or {_ELSEWHERE}")


def full(folder: Path, reason: str | None = None) -> StorageFailed:
    """The error for a disk without room, or one on which this user has used up their share."""
    return StorageFailed(
        f"the disk under {folder} is full", reason=reason, hint=f"make room and index again, or {_ELSEWHERE}"
    )


def has_no_room(folder: Path) -> bool:
    """Whether the disk under a folder has less room than SQLite takes at once, whose errors do not say that it lacked some."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _AT_ONCE


def is_read_only(folder: str | Path) -> bool:
    """Whether a folder, or the nearest one above it that is there, is on a file system that may only be read."""
    for place in (Path(folder), *Path(folder).parents):
        try:
            return bool(os.statvfs(place).f_flag & os.ST_RDONLY)
        except OSError:
            continue
    return False
