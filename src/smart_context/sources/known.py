"""List a folder, and tell which of its files are unchanged since they were recorded.

In: the records of files, then one folder after the other.  Out: for each folder its new or changed entries, and how many files are unchanged.
Always: a file is unchanged ("met") if it is a regular file of the same size and modification time. Its record is then removed, unless it is put back:
the records left at the end are of files that were not met. Nothing is opened, and no link is followed.
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
"""A folder: how many of its files are unchanged; its other files and its folders, with whether each is a folder, in no order; the `telling` names in it;
whether a name begins like a hidden file or an office lock file. A bare tuple, because an instance of a class takes longer to make."""


def of(rows: Iterable[Stamp], telling: frozenset[str] = frozenset()) -> Known:
    """The records of some rows, one for each file. telling: names to look for in every listing."""
    if compiled and not CAN_BE_ELSEWHERE:
        return compiled.Known(rows, telling)
    return InPython(rows, telling)


def identity(fd: int) -> tuple[int, int]:
    """The device and inode of an open descriptor. Raises: OSError."""
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
    """The records of files that were not met yet."""

    def __init__(self, rows: Iterable[Stamp], telling: frozenset[str]) -> None:
        self._files = {os.fsdecode(row[0]): row[1:] for row in rows}
        self._telling = telling
        self._met: dict[str, tuple[int, int, int]] = {}
        self._folder = ""

    def __len__(self) -> int:
        return len(self._files)

    def listed(self, fd: int, folder: str, /) -> Listed:
        """List a folder. folder: its path, without a slash at the end. Raises: OSError, and then no file in it counts as met."""
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
        except OSError:  # the walk stats it again when its turn comes, and reports it
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
        """The names of unchanged files in the folder listed last."""
        return list(self._met)

    def put_back(self, names: Container[str] | None = None, /) -> int:
        """Restore the records of some files met in the folder listed last, or of all; return how many are still met."""
        for name in [name for name in self._met if names is None or name in names]:
            self._files[self._folder + name] = self._met.pop(name)
        return len(self._met)

    def take(self, path: str, /) -> tuple[int, int, int] | None:
        """Remove and return the record of a file (file_id, size, mtime_ns); None if there is none."""
        return self._files.pop(path, None)

    def left(self) -> list[tuple[str, int]]:
        """The path and file_id of every record that is left, in no order."""
        return [(path, known[0]) for path, known in self._files.items()]


def _is_folder(entry: os.DirEntry[str]) -> bool | None:
    """Whether an entry is a folder; None if it is neither a folder nor a regular file."""
    try:
        is_folder = entry.is_dir(follow_symlinks=False)
        return is_folder if is_folder or entry.is_file(follow_symlinks=False) else None
    except OSError:  # the walk reports it when its turn comes
        return False


if TYPE_CHECKING:
    Known = InPython | compiled.Known
