"""Find and read the documents that a cache is built from.

In: a sources folder.  Out: the paths of its documents in the order of their ids, and each one's bytes.
Always: only regular files inside the folder are opened, each once, by steps that follow no link, whatever happens to the tree
meanwhile; links are resolved first, and followed to files that stay inside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from itertools import pairwise

from smart_context.access import confined
from smart_context.cache import document, names
from smart_context.closes import Closes
from smart_context.data import NamedTuple
from smart_context.errors import IoError, SameId

_ENDING = ".md"
_PIECE = 16 * 1024 * 1024

OnSkipped = Callable[[str, str], None]
"""Called for a file that is left out, with its path and the reason."""

OnLeftOut = Callable[[int], None]
"""Called with the number of files of other formats than those asked for, hidden ones not counted."""


class Source(NamedTuple):
    """A file that becomes a document: its id, its path, and the one where it is read; both relative to the sources."""

    id: str
    path: str
    place: str


def _is_markdown(name: str) -> bool:
    return name.endswith(_ENDING) and name != _ENDING  # a stem, and this very ending


class Sources(Closes):
    """An open sources folder. Close it, or use it in a `with`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.left_out = 0  # files of other names that the last search for sources passed over, hidden ones not counted
        try:
            self._descriptor = confined.top(root)
        except OSError as error:
            raise IoError(f"cannot read sources {root}", reason=error.strerror) from error
        self._real_root = os.path.realpath(root)
        self._at, self._holder = "", os.dup(self._descriptor)  # the folder that was opened last: most have many files

    def find(
        self, on_skipped: OnSkipped, is_taken: Callable[[str], bool] = _is_markdown
    ) -> tuple[list[Source], list[str]]:
        """Return the sources, sorted by id, and the paths of those whose names are not UTF-8. Raises: SameId, IoError.

        `is_taken` says whether a file of that name is one; without it, Markdown is.
        """
        found: list[Source] = []
        misnamed: list[str] = []
        self.left_out = 0
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            for entry in self._entries(folder):
                path = folder + names.as_text(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path + "/")
                elif is_taken(entry.name):
                    place = self._place(entry, path, on_skipped)
                    if place is None:
                        continue
                    if names.is_text(path):
                        found.append(Source(document.id_of(path), path, place))
                    else:
                        misnamed.append(path)
                elif entry.is_file(follow_symlinks=False) and not f"/{path}".count("/."):
                    self.left_out += 1
        found.sort()
        refuse_same_ids(found)
        return found, misnamed

    def read(self, source: Source) -> bytes:
        """Return the bytes of a source. Raises: IoError."""
        descriptor = self.open(source)
        try:
            return _read(descriptor)
        except OSError as error:
            raise IoError(f"cannot read {os.path.join(self.root, source.path)}", reason=error.strerror) from error
        finally:
            os.close(descriptor)

    def open(self, source: Source) -> int:
        """Return a descriptor of a source, which the caller closes. Raises: IoError."""
        folder, _, name = source.place.rpartition("/")
        try:
            return confined.file(names.for_system(name), self._open(folder))
        except OSError as error:
            raise IoError(f"cannot read {os.path.join(self.root, source.path)}", reason=error.strerror) from error

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._holder)
        os.close(self._descriptor)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._open(folder.rstrip("/"))) as entries:
                return list(entries)
        except OSError as error:
            path = os.path.join(self.root, folder)
            raise IoError(f"cannot list sources in {path}", reason=error.strerror) from error

    def _place(self, entry: os.DirEntry[str], path: str, on_skipped: OnSkipped) -> str | None:
        """Return where to read an entry, or None if it is not to be taken."""
        if entry.is_file(follow_symlinks=False):
            return path
        if not entry.is_symlink():
            return None
        place = confined.leads(self._real_root, names.for_system(path))
        if not place:
            on_skipped(path, "it is a link that leaves the sources")
            return None
        try:
            mode = os.lstat(os.path.join(self._real_root, place)).st_mode
        except OSError as error:
            on_skipped(path, f"it is a link that leads nowhere: {error.strerror}")
            return None
        if stat.S_ISLNK(mode):
            on_skipped(path, "it is a link that leads to itself")
        return names.as_text(place) if stat.S_ISREG(mode) else None

    def _open(self, folder: str) -> int:
        """Return the descriptor of a folder, owned by this object until the next one is asked for. Raises: OSError."""
        if folder != self._at:
            holder = confined.below(self._descriptor, names.for_system(folder))
            os.close(self._holder)
            self._at, self._holder = folder, holder
        return self._holder


def refuse_same_ids(found: Sequence[Source]) -> None:
    """Refuse two sources that would be one document; they are sorted. Raises: SameId."""
    for one, other in pairwise(found):
        if one.id == other.id:
            raise SameId(one.id, one.path, other.path)


def not_utf8(root: str, paths: list[str]) -> IoError:
    """Return the error that names every source whose name or content is not UTF-8."""
    shown = ", ".join(path if path.isprintable() else repr(path) for path in sorted(paths))
    return IoError(f"sources in {root} have names or contents that are not UTF-8", reason=shown)


def _read(descriptor: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file any more")
    data = os.read(descriptor, status.st_size + 1)
    if len(data) != status.st_size:  # it grows or shrinks, or is too large for one read: go on to the end
        while more := os.read(descriptor, _PIECE):
            data += more
    return data
