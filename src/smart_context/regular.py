"""Read and replace files that may be traps: settings, tokens, keys, models.

In: a path.  Out: its bytes, or the file replaced.
Always: only a regular file is read, never more than was allowed, and nothing waits for a FIFO or a device. A replacement keeps
owner, group and mode, and is made beside the file, so that a link in its place is not written through.

A refusal is an `OSError` whose `strerror` says why, like those of the system.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_IS_POSIX = os.name == "posix"


class Refused(OSError):
    """A file that the system would have opened."""

    def __init__(self, path: str | os.PathLike[str], why: str) -> None:
        super().__init__(errno.EINVAL, why, os.fspath(path))


def open_fd(path: str | os.PathLike[str]) -> int:
    """Open a regular file for reading.

    Raises: OSError; Refused for a folder, FIFO, device or socket.
    """
    fd = os.open(path, _FLAGS)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Refused(path, "not a regular file")
    return fd


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """Read all of a regular file.

    Raises: OSError; Refused for anything else, and for one of more than `most` bytes.
    """
    with open(open_fd(path), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Refused(path, f"more than {most:,} bytes")
    return data


def read_secret(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file that no other user can read or replace.

    Raises: OSError; Refused, also where others may read the file or write its folder or one above it.
    """
    data = read(path, most)
    if _IS_POSIX:
        _check_alone(os.path.realpath(path))
    return data


def other_owner(path: str | os.PathLike[str]) -> str:
    """The user, neither root nor ourselves, to whom a file belongs; "" if there is none."""
    if not _IS_POSIX or (uid := os.stat(path).st_uid) in {0, os.geteuid()}:
        return ""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"#{uid}"


def _check_alone(path: str) -> None:
    found = os.stat(path)
    if found.st_mode & 0o077:
        raise Refused(path, f"others may read it (chmod 600 {path})")
    if found.st_uid not in {0, os.geteuid()}:
        raise Refused(path, "it belongs to another user")
    folder = os.path.dirname(path)
    while True:
        mode = os.stat(folder).st_mode
        # In a folder like /tmp, with the sticky bit, nobody can replace another's file.
        if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
            raise Refused(path, f"others may write in {folder} (chmod go-w {folder})")
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def replace(path: str | os.PathLike[str], data: bytes, mode: int = 0o600) -> None:
    """Write a file in one step; owner, group and mode stay if there is one, else it gets `mode`. A link is replaced, not followed.

    Raises: OSError, and then nothing has changed.
    """
    path = os.fspath(path)
    try:
        old: os.stat_result | None = os.lstat(path)
    except FileNotFoundError:
        old = None
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name[:50]}.{os.urandom(6).hex()}")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            if _IS_POSIX:
                _like(fd, old if old and stat.S_ISREG(old.st_mode) else None, mode)
            os.fsync(fd)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _like(fd: int, old: os.stat_result | None, mode: int) -> None:
    new = os.fstat(fd)
    if old and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except PermissionError as error:
            raise PermissionError(
                error.errno, "it belongs to another user or group, which could not be kept"
            ) from error
    os.fchmod(fd, stat.S_IMODE(old.st_mode) if old else mode)


@contextmanager
def as_owner_of(home: str | os.PathLike[str], path: str | os.PathLike[str]) -> Iterator[None]:
    """Let root change a file below another user's home as that user: a link there leads no further than they may go themselves.

    Raises: OSError when the system does not let us.
    """
    owner = _owner(home, path)
    if owner is None:
        yield
        return
    groups, group = os.getgroups(), os.getegid()
    os.setgroups([owner.st_gid])
    try:
        os.setegid(owner.st_gid)
        os.seteuid(owner.st_uid)
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)


def _owner(home: str | os.PathLike[str], path: str | os.PathLike[str]) -> os.stat_result | None:
    """The user to act as; none, unless we are root, and the path lies in another user's home."""
    home = os.path.abspath(home)
    if not _IS_POSIX or os.geteuid() != 0 or os.path.commonpath((home, os.path.abspath(path))) != home:
        return None
    try:
        owner = os.stat(home)
    except OSError:
        return None
    return owner if owner.st_uid else None
