"""Open a cache directory and read its members, following no link and waiting for no pipe.

In: the path of a cache, or a `Place`.  Out: the bytes of its members, and what stands in `documents/`.
Always: what is read is a regular file below the directory that was opened, whatever happens to its path meanwhile.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from array import array
from collections.abc import Callable
from typing import TypeVar

from smart_context.access import confined
from smart_context.cache import names
from smart_context.cache.place import ABSENT, Place
from smart_context.closes import Closes
from smart_context.data import NamedTuple
from smart_context.errors import CacheInvalid, CacheMissing, ContextError, IoError

DOCUMENTS = "documents"
Result = TypeVar("Result")

# The errors of opening a member that is missing, or is a link, a folder, a socket, a device without a driver.
_NO_FILE = ABSENT | {errno.EISDIR, errno.ENXIO, errno.ENODEV, errno.EMLINK}
_WHOLE = 8 * 1024 * 1024  # larger members are read piece by piece
_PIECE = 1024 * 1024
_LARGEST = 2**63 - 1
_ATTEMPTS = 4
_LONG_SPACE = rb"[ \t\n\r]{64,}"


class Listing(NamedTuple):
    """The entries of a folder, by name."""

    files: list[str]
    folders: list[str]
    others: list[str]


def open_cache(cache: str | os.PathLike[str]) -> Folder:
    """Open the directory of a cache. Raises: CacheMissing, IoError."""
    if isinstance(cache, Place):
        return Folder(os.fspath(cache), cache.open())
    path = os.fspath(cache)
    try:
        return Folder(path, confined.top(path))
    except ValueError as error:  # a NUL in the path
        raise CacheMissing(f"no cache directory at {path!r}") from error
    except OSError as error:
        if error.errno in ABSENT:
            raise CacheMissing(f"no cache directory at {path}", reason=error.strerror) from error
        raise IoError(f"cannot open cache {path}", reason=error.strerror) from error


def read(cache: str | os.PathLike[str], work: Callable[[Folder], Result]) -> Result:
    """Do the work on the opened cache; repeat it if the cache was replaced meanwhile. Raises: what these raise.

    A build exchanges caches in one step, but removes the old one: whoever is still reading it would find it broken.
    """
    for attempt in range(_ATTEMPTS):
        with open_cache(cache) as opened:
            try:
                return work(opened)
            except CacheInvalid:
                if attempt == _ATTEMPTS - 1 or opened.is_at(cache):
                    raise
    raise AssertionError


class Folder(Closes):
    """An open cache directory; close it."""

    def __init__(self, cache: str, descriptor: int) -> None:
        self.cache = cache
        self.descriptor = descriptor
        self.stamps: array[int] | None = None  # set one to collect a `stamp` of each member that is read
        self.has_shared = False  # whether one of them has other names
        self._documents = -1

    def read(self, name: str) -> bytes:
        """Return the bytes of `manifest.json` or `index.json`. Raises: CacheInvalid, IoError."""
        return self._read(self.descriptor, name, name)

    def read_document(self, file: str) -> bytes:
        """Return the bytes of a document by its plain `file`. Raises: CacheInvalid, IoError."""
        below = file[len(DOCUMENTS) + 1 :]
        if "/" not in below:
            return self._read(self.documents(), below, file)
        holder = self._open_below(os.path.dirname(file))
        try:
            return self._read(holder, os.path.basename(file), file)
        finally:
            os.close(holder)

    def size(self, file: str) -> int | None:
        """Return the size of a document by its plain `file`; None where there is no regular file. Raises: IoError."""
        try:
            holder = self._open_below(os.path.dirname(file))
            try:
                status = os.lstat(names.for_system(os.path.basename(file)), dir_fd=holder)
            finally:
                os.close(holder)
        except CacheInvalid:
            return None
        except OSError as error:
            if error.errno in _NO_FILE:
                return None
            raise self._trouble(error, file) from error
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def listing(self, below: str) -> Listing:
        """Return the entries of a folder of the cache, given as a plain path. Raises: CacheInvalid, IoError."""
        found = Listing([], [], [])
        holder = self._open_below(below)
        try:
            with os.scandir(holder) as entries:
                for entry in entries:
                    name = names.as_text(entry.name)
                    if entry.is_file(follow_symlinks=False):
                        found.files.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        found.folders.append(name)
                    else:
                        found.others.append(name)
        except OSError as error:
            raise self._trouble(error, below) from error
        finally:
            os.close(holder)
        return found

    def has_documents(self) -> bool:
        """Whether anything is called `documents`. Raises: IoError."""
        try:
            os.lstat(DOCUMENTS, dir_fd=self.descriptor)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._trouble(error, DOCUMENTS) from error
        return True

    def documents(self) -> int:
        """Return the descriptor of `documents/`, owned by this object. Raises: CacheInvalid, IoError."""
        if self._documents < 0:
            self._documents = self._open_below(DOCUMENTS)
        return self._documents

    def is_at(self, cache: str | os.PathLike[str]) -> bool:
        """Whether the path still leads to this directory. Raises: CacheMissing, IoError."""
        with open_cache(cache) as now:
            return os.path.samestat(os.fstat(now.descriptor), os.fstat(self.descriptor))

    def close(self) -> None:
        """Let go of the directory."""
        if self._documents >= 0:
            os.close(self._documents)
        os.close(self.descriptor)

    def _open_below(self, path: str) -> int:
        try:
            return confined.below(self.descriptor, names.for_system(path))
        except OSError as error:
            raise self._trouble(error, path) from error

    def _read(self, holder: int, name: str, member: str) -> bytes:
        try:
            descriptor = confined.file(names.for_system(name), holder)
        except OSError as error:
            raise self._trouble(error, member) from error
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise CacheInvalid(self.cache, member, "is not a regular file")
            if self.stamps is not None:
                self.stamps.extend(stamp(status))
                self.has_shared |= status.st_nlink > 1
            if status.st_size > _WHOLE:
                return self._read_large(descriptor, status.st_size, member)
            data = os.read(descriptor, status.st_size + 1)
            if len(data) != status.st_size:
                raise CacheInvalid(self.cache, member, "changes while it is read")
            return data
        except OSError as error:
            raise self._trouble(error, member) from error
        finally:
            os.close(descriptor)

    def _read_large(self, descriptor: int, size: int, member: str) -> bytes:
        # White space means nothing in JSON, and a member may hold any amount of it: long runs are dropped while reading, so
        # that memory follows what the member says. A NUL is nowhere legal; without this a sparse file would be read to its end.
        parts: list[bytes] = []
        in_string = False
        carried = b""
        while piece := os.read(descriptor, _PIECE):
            size -= len(piece)
            if size < 0:
                raise CacheInvalid(self.cache, member, "changes while it is read")
            if b"\0" in piece:
                raise CacheInvalid(self.cache, member, "not JSON: it holds a NUL")
            piece, carried, in_string = _squeeze(carried + piece, in_string)
            parts.append(piece)
        return b"".join(parts) + carried

    def _trouble(self, error: OSError, member: str) -> ContextError:
        if error.errno == errno.ENOENT:
            return CacheInvalid(self.cache, member, "is missing")
        if error.errno in _NO_FILE:
            return CacheInvalid(self.cache, member, "is reached through a link, or is no regular file")
        return IoError(f"cannot read {os.path.join(self.cache, member)}", reason=error.strerror)


def stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return what changes when a file does, each number in 64 bits: its number, size, and times in nanoseconds."""
    inode, written = status.st_ino, status.st_mtime_ns
    if inode > _LARGEST or not -_LARGEST < written < _LARGEST:  # a file system's own numbers; anybody may set a time
        inode, written = inode & _LARGEST, written & _LARGEST
    return (inode, status.st_size, written, status.st_ctime_ns)


def _squeeze(piece: bytes, in_string: bool) -> tuple[bytes, bytes, bool]:
    """Shorten long white space outside strings. Returns what is settled, what to put before the next piece, the state there."""
    # A piece must not end inside an escape: `\` and `"` belong together.
    odd = (len(piece) - len(piece.rstrip(b"\\"))) % 2
    carried = piece[len(piece) - odd :]
    piece = piece[: len(piece) - odd]
    kept: list[bytes] = []
    done = 0
    for run in re.finditer(_LONG_SPACE, piece):
        before = piece[done : run.start()]
        in_string ^= _quotes(before) % 2 == 1
        kept.append(before)
        kept.append(run[0] if in_string else b" ")
        done = run.end()
    rest = piece[done:]
    kept.append(rest)
    return b"".join(kept), carried, in_string ^ (_quotes(rest) % 2 == 1)


def _quotes(text: bytes) -> int:
    return text.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"')
