"""List a folder, and tell which of its files are as they were recorded.

In: what is recorded of files, then one folder after the other.  Out: for each folder what is not as it is known, and how many files are.
Always: a file is as it is known when it is a regular one of the same size and modification time. It is known no longer then, unless it is put back:
what is left at the end was not met. Nothing is opened, and no link is followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from smart_context.model import changed_at

try:
    from smart_context.sources import _known as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

Stamp = tuple[bytes, int, int, int]
"""What is recorded of a file: (path, file_id, size, mtime_ns)."""

_NOT_HERE = 0x1000 | 0x40000 | 0x400000  # Windows: offline, recall on open, recall on data access
_DATALESS = 0x40000000  # macOS: SF_DATALESS
CAN_BE_ELSEWHERE = hasattr(os.stat_result, "st_file_attributes") or hasattr(os.stat_result, "st_flags")
"""Whether this system has files whose content is elsewhere."""


Listed = tuple[int, list[tuple[str, bool]], set[str], bool]
"""A folder: how many of its files are as they are known; its other files and its folders, with whether each is a folder, in no order; the names that tell
something; whether a name begins as those of hidden files or of what office programs leave. A bare tuple, because a class would take longer to make than it helps."""


def of(rows: Iterable[Stamp], telling: frozenset[str] = frozenset()) -> Known:
    """What is known by some rows, one for each file. telling: names that every listing is looked through for."""
    if compiled and not CAN_BE_ELSEWHERE:
        return compiled.Known(rows, telling)
    return InPython(rows, telling)


def identity(fd: int) -> tuple[int, int]:
    """The device and the number there of what is open. Raises: OSError."""
    if compiled:
        return compiled.identity(fd)
    info = os.fstat(fd)
    return info.st_dev, info.st_ino


def is_placeholder(info: os.stat_result) -> bool:
    """Say whether a file's content is elsewhere, so that reading it would download it."""
    attributes: int = getattr(info, "st_file_attributes", 0)
    flags: int = getattr(info, "st_flags", 0)
    return bool(attributes & _NOT_HERE or flags & _DATALESS)


class InPython:
    """Files that are recorded, but for those that were met."""

    def __init__(self, rows: Iterable[Stamp], telling: frozenset[str]) -> None:
        self._files = {os.fsdecode(row[0]): row[1:] for row in rows}
        self._telling = telling
        self._met: dict[str, tuple[int, int, int]] = {}
        self._folder = ""

    def __len__(self) -> int:
        return len(self._files)

    def listed(self, fd: int, folder: str, /) -> Listed:
        """List a folder, given by its path too, without a slash at the end. Raises: OSError, and then nothing in it was met."""
        self._met, self._folder = {}, f"{folder}/"
        entries: list[tuple[str, bool]] = []
        telling: set[str] = set()
        is_odd = False
        try:
            with os.scandir(fd) as found:
                for entry in found:
                    name = entry.name
                    is_odd = is_odd or name.startswith((".", "~$"))
                    if name in self._telling:
                        telling.add(name)
                    if not self._meets(entry) and (is_folder := _is_folder(entry)) is not None:
                        entries.append((name, is_folder))
        except OSError:
            self.put_back()
            raise
        return len(self._met), entries, telling, is_odd

    def _meets(self, entry: os.DirEntry[str]) -> bool:
        path = self._folder + entry.name
        known = self._files.get(path)
        if known is None:
            return False
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError:  # it is looked at again when its turn comes, and reported
            return False
        if (
            known[1:] != (info.st_size, changed_at(info))
            or not stat.S_ISREG(info.st_mode)
            or (CAN_BE_ELSEWHERE and is_placeholder(info))
        ):
            return False
        self._met[entry.name] = self._files.pop(path)
        return True

    def met(self) -> list[str]:
        """The names that were met in the folder that was listed last."""
        return list(self._met)

    def put_back(self, names: Container[str] | None = None, /) -> int:
        """Make some files known again that were met in the folder that was listed last, or all; how many are met still."""
        for name in [name for name in self._met if names is None or name in names]:
            self._files[self._folder + name] = self._met.pop(name)
        return len(self._met)

    def take(self, path: str, /) -> tuple[int, int, int] | None:
        """What is known of a file (file_id, size, mtime_ns), which is then known no longer; None for nothing."""
        return self._files.pop(path, None)

    def left(self) -> list[tuple[str, int]]:
        """The path and file_id of every file that is known still, in no order."""
        return [(path, known[0]) for path, known in self._files.items()]


def _is_folder(entry: os.DirEntry[str]) -> bool | None:
    """Whether an entry is a folder; None for what is neither that nor a regular file."""
    try:
        is_folder = entry.is_dir(follow_symlinks=False)
        return is_folder if is_folder or entry.is_file(follow_symlinks=False) else None
    except OSError:  # a file that cannot be looked at is reported when its turn comes
        return False


if TYPE_CHECKING:
    Known = InPython | compiled.Known
