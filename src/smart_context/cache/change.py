"""Notice changes of a cache on disk.

In: an open cache.  Out: whether anything that its verification looked at may have changed since.
Always: "unchanged" is certain as far as the system can tell; in doubt the answer is "changed".
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smart_context.cache.folder import DOCUMENTS, Folder, stamp
from smart_context.cache.verify import INDEX, MANIFEST
from smart_context.data import NamedTuple
from smart_context.errors import ContextError

if TYPE_CHECKING:
    import ctypes

# <linux/inotify.h>: modify, attrib, moved from and to, create, delete, delete self, move self, only a directory
_MASK = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x01000000
_EVENT = struct.Struct("iIII")
_NAMES = frozenset({DOCUMENTS.encode(), MANIFEST.encode(), INDEX.encode(), b""})
_TRUSTED_AFTER = 2_000_000_000  # nanoseconds: a file may change twice within the grain of its time stamp

# File systems all of whose changes pass through this kernel; on others (NFS, SMB, FUSE, …) somebody else may write.
_LOCAL = frozenset(
    {
        0xEF53,  # ext2, ext3, ext4
        0x58465342,  # xfs
        0x9123683E,  # btrfs
        0x01021994,  # tmpfs
        0x858458F6,  # ramfs
        0xF2F52010,  # f2fs
        0x2FC12FC1,  # zfs
        0xCA451A4E,  # bcachefs
        0x794C7630,  # overlayfs
        0x3153464A,  # jfs
        0x73717368,  # squashfs
        0xE0F5E1E2,  # erofs
    }
)


class Identity(NamedTuple):
    """The identity of a cache's state: device and inode of its folder, stamps of its members."""

    folder: tuple[int, int]
    members: tuple[tuple[int, ...], ...]

    def is_young(self, now_ns: int) -> bool:
        """Whether one of the stamps was too recent at a time to be trusted later."""
        return any(is_young(numbers, now_ns) for numbers in self.members)


class Watch:
    """Kernel events on the folders of a cache, from the moment this is made; close it."""

    def __init__(self, descriptor: int, top: int) -> None:
        self._descriptor = descriptor
        self._top = top

    def has_changed(self) -> bool:
        """Whether an event has come since the last look. Of the cache's own folder only the members' matter."""
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except BlockingIOError:
                return False
            except OSError:
                return True
            at = 0
            while at < len(data):
                watch, _, _, length = _EVENT.unpack_from(data, at)
                name = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0")
                if watch != self._top or name in _NAMES:
                    return True
                at += _EVENT.size + length

    def close(self) -> None:
        """Stop watching."""
        os.close(self._descriptor)


def watch(opened: Folder) -> Watch | None:
    """Watch the cache's folder and `documents/`; None where events are not to be had or not to be relied on."""
    if sys.platform != "linux":
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    try:
        folders = (opened.descriptor, opened.documents())
    except ContextError:
        return None
    if not all(_is_local(library, folder) for folder in folders):
        return None
    descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        return None
    watches = [
        # By descriptor: the path may lead elsewhere by now.
        library.inotify_add_watch(descriptor, b"/proc/self/fd/%d" % folder, _MASK)
        for folder in folders
    ]
    if min(watches) < 0:
        os.close(descriptor)
        return None
    return Watch(descriptor, watches[0])


def identity(opened: Folder) -> Identity:
    """Return what tells the cache, its manifest, index and `documents/` from others and from their past. Raises: OSError."""
    top = os.fstat(opened.descriptor)
    members = [os.stat(name, dir_fd=opened.descriptor, follow_symlinks=False) for name in (MANIFEST, INDEX, DOCUMENTS)]
    return Identity((top.st_dev, top.st_ino), tuple((status.st_dev, *stamp(status)) for status in members))


def is_young(numbers: Sequence[int], now_ns: int) -> bool:
    """Whether a stamp was too recent at a time to be trusted later."""
    return max(numbers[-2:]) > now_ns - _TRUSTED_AFTER


def _is_local(library: ctypes.CDLL, folder: int) -> bool:
    import ctypes

    buffer = ctypes.create_string_buffer(512)  # struct statfs; its type comes first
    if library.fstatfs(folder, buffer) != 0:
        return False
    kind = ctypes.c_long.from_buffer(buffer).value
    return kind & 0xFFFFFFFF in _LOCAL
