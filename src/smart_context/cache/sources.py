"""Find and read the documents that a cache is built from.

In: a sources folder.  Out: the paths of its documents in the order of their ids, and each one's bytes.
Always: only regular files inside the folder are opened, each once; links are followed to files that stay inside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from smart_context.cache import document, names
from smart_context.errors import IoError, SameId

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_ENDING = ".md"
_PIECE = 16 * 1024 * 1024

OnSkipped = Callable[[str, str], None]
"""Told of a file that is left out: its path, and why."""


class Source(NamedTuple):
    """A file that becomes a document: its id, its path relative to the sources, and where it is read."""

    id: str
    path: str
    place: str


def find(root: str, on_skipped: OnSkipped) -> tuple[list[Source], list[str]]:
    """Return the sources below a folder, sorted by id, and the paths of those whose names are not UTF-8.

    Raises: SameId, IoError.
    """
    found: list[Source] = []
    misnamed: list[str] = []
    real_root = os.path.realpath(root)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in _entries(root, folder):
            path = folder + names.as_text(entry.name)
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path + "/")
            elif entry.name.endswith(_ENDING) and entry.name != _ENDING:  # a stem, and this very ending
                place = _place(entry, real_root, path, on_skipped)
                if place is None:
                    continue
                if names.is_text(path):
                    found.append(Source(document.id_of(path), path, place))
                else:
                    misnamed.append(path)
    found.sort()
    for one, other in pairwise(found):
        if one.id == other.id:
            raise SameId(one.id, one.path, other.path)
    return found, misnamed


def read(source: Source) -> bytes:
    """Return the bytes of a source. Raises: IoError."""
    try:
        descriptor = os.open(source.place, _FILE)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise IoError(f"cannot read {source.place}", reason="it is no regular file any more")
            data = os.read(descriptor, status.st_size + 1)
            if len(data) != status.st_size:  # it grows or shrinks, or is too large for one read: go on to the end
                while more := os.read(descriptor, _PIECE):
                    data += more
            return data
        finally:
            os.close(descriptor)
    except OSError as error:
        raise IoError(f"cannot read {source.place}", reason=error.strerror) from error


def not_utf8(root: str, paths: list[str]) -> IoError:
    """Return the error that names every source whose name or content is not UTF-8."""
    shown = ", ".join(path if path.isprintable() else repr(path) for path in sorted(paths))
    return IoError(f"sources in {root} have names or contents that are not UTF-8", reason=shown)


def _entries(root: str, folder: str) -> list[os.DirEntry[str]]:
    path = os.path.join(root, names.for_system(folder))
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError as error:
        raise IoError(f"cannot list sources in {path}", reason=error.strerror) from error


def _place(entry: os.DirEntry[str], real_root: str, path: str, on_skipped: OnSkipped) -> str | None:
    """Return where to read an entry, or None if it is not to be taken."""
    if entry.is_file(follow_symlinks=False):
        return entry.path
    if not entry.is_symlink():
        return None
    real = os.path.realpath(entry.path)
    if not real.startswith(real_root.rstrip("/") + "/"):
        on_skipped(path, "it is a link that leaves the sources")
        return None
    try:
        mode = os.lstat(real).st_mode
    except OSError as error:
        on_skipped(path, f"it is a link that leads nowhere: {error.strerror}")
        return None
    if stat.S_ISLNK(mode):
        on_skipped(path, "it is a link that leads to itself")
    return real if stat.S_ISREG(mode) else None
