"""The folder in which a build works, beside its target, and how the result gets into place.

In: the parent folder and the name of a target.  Out: a locked working folder; at the end, the target replaced.
Always: the target is absent, the old cache or the new one, complete (where the system cannot exchange two folders: or the next
build puts the old one back); a working folder whose build is dead is removed by the next build, and only such a one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from smart_context.access import confined
from smart_context.cache import exchange
from smart_context.errors import IoError

_NEW, _OLD = "new", "old"


class Working:
    """A working folder, locked. Leaving it removes it with whatever is in it."""

    def __init__(self, parent: int, target: str) -> None:
        self._parent = parent
        self._target = target
        for name, _ in _dead(parent, target):
            _remove(parent, name)
        self._name, self._folder = _create(parent, target)
        try:
            os.mkdir(_NEW, dir_fd=self._folder)
            self.new = confined.folder(_NEW, self._folder)
        except OSError:
            _remove(parent, self._name)
            os.close(self._folder)
            raise

    def put_in_place(self, *, replace: bool) -> None:
        """Move the new cache to the target; with `replace`, exchange it for what stands there. Raises: IoError, OSError."""
        os.fsync(self._folder)
        if not replace:
            self._move_in()
        elif self._exchange():
            # What came out is looked at once more: it may have been put there after the first look.
            if why := not_replaceable(self._folder, _NEW):
                self._exchange()
                raise IoError(f"{self._target} was not replaced", reason=why)
        else:
            os.rename(self._target, _OLD, src_dir_fd=self._parent, dst_dir_fd=self._folder)
            self._move_in()
        try:
            os.fsync(self._parent)
        except OSError:
            if not (replace and self._exchange()):
                os.rename(self._target, _NEW, src_dir_fd=self._parent, dst_dir_fd=self._folder)
            raise

    def _move_in(self) -> None:
        os.rename(_NEW, self._target, src_dir_fd=self._folder, dst_dir_fd=self._parent)

    def _exchange(self) -> bool:
        return exchange.names(self._folder, _NEW, self._parent, self._target)

    def __enter__(self) -> Working:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.new)
        _put_back(self._folder, self._parent, self._target)
        _remove(self._parent, self._name)
        os.close(self._folder)


def recover(parent: int, target: str) -> None:
    """Put back an old cache that an interrupted build had moved aside. Raises: OSError."""
    for _, folder in _dead(parent, target):
        _put_back(folder, parent, target)


def not_replaceable(parent: int, name: str) -> str | None:
    """Say why the target may not be replaced by a cache; None if it may: an empty folder, or an old cache."""
    try:
        folder = confined.folder(name, parent)
    except OSError as error:
        if error.errno in {errno.ENOTDIR, errno.ELOOP, errno.ENXIO}:
            return "it is not a folder"
        return error.strerror
    try:
        if not os.listdir(folder):
            return None
        if stat.S_ISREG(os.lstat("manifest.json", dir_fd=folder).st_mode):
            return None
    except FileNotFoundError:
        pass
    except OSError as error:
        return error.strerror
    finally:
        os.close(folder)
    return "it is neither empty nor a cache"


def _create(parent: int, target: str) -> tuple[str, int]:
    while True:
        name = f".{target}.build-{os.getpid()}-{os.urandom(6).hex()}"
        os.mkdir(name, 0o700, dir_fd=parent)
        try:
            folder = confined.folder(name, parent)
        except FileNotFoundError:
            continue  # taken for dead before it was locked
        _lock(folder)
        if os.fstat(folder).st_nlink > 0 and _same(parent, name, folder):
            return name, folder
        os.close(folder)


def _dead(parent: int, target: str) -> Iterator[tuple[str, int]]:
    """Yield the working folders of dead builds of a target, each locked and open while it is looked at."""
    pattern = re.compile(re.escape(f".{target}.build-") + r"[0-9]+-[0-9a-f]+")
    for name in sorted(filter(pattern.fullmatch, os.listdir(parent))):
        with suppress(OSError), _opened(parent, name) as folder:
            if _lock(folder):
                yield name, folder


@contextmanager
def _opened(parent: int, name: str) -> Iterator[int]:
    folder = confined.folder(name, parent)
    try:
        yield folder
    finally:
        os.close(folder)


def _lock(folder: int) -> bool:
    """Lock a working folder; False if a living build has it, or if the file system knows no locks."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _same(parent: int, name: str, folder: int) -> bool:
    try:
        return os.path.samestat(os.lstat(name, dir_fd=parent), os.fstat(folder))
    except FileNotFoundError:
        return False


def _put_back(folder: int, parent: int, target: str) -> None:
    with suppress(FileNotFoundError):
        os.lstat(_OLD, dir_fd=folder)
        try:
            os.lstat(target, dir_fd=parent)
        except FileNotFoundError:
            os.rename(_OLD, target, src_dir_fd=folder, dst_dir_fd=parent)


def _remove(parent: int, name: str) -> None:
    # What cannot be removed now is found dead by the next build; the target is what it should be in any case.
    from shutil import rmtree

    rmtree(name, ignore_errors=True, dir_fd=parent)
