"""Check whether an indexed file still exists and may be read, so that a result may be shown.

In: the roots, the record, a file of it.  Out: whether it may be shown.
Always: a file that was moved, deleted, replaced by a link, or made unreadable for this process is not shown from then on; a file in a root or below a mount
that is not available now is shown. Folders stay open for one search, so that each is opened once; a file that is not found that way is
looked for from its root again.
"""

from __future__ import annotations

import os
import stat

from smart_context.access import confined
from smart_context.access.mounted import is_away
from smart_context.access.roots import Roots
from smart_context.closes import Closes
from smart_context.engine.model import FileRow
from smart_context.engine.port import Record
from smart_context.errors import ContextError, Forbidden

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
_MOST_OPEN = 64


class Presence(Closes):
    """Which files exist, checked once per search. Close it, or use it in a `with`."""

    def __init__(self, roots: Roots, record: Record) -> None:
        self._roots = roots
        self._record = record
        self._known: dict[int, bool] = {}
        self._away: dict[str, tuple[str, ...]] = {}
        self._open: dict[tuple[str, tuple[str, ...]], int] = {}

    def close(self) -> None:
        """Close the open folders."""
        while self._open:
            os.close(self._open.popitem()[1])

    def __call__(self, file: FileRow) -> bool:
        """Whether the file may be shown."""
        found = self._known.get(file.file_id)
        if found is None:
            found = self._known[file.file_id] = self._is_there(file.path) or self._look(file.path)
        return found

    def _is_there(self, path: str) -> bool:
        """Whether the path is a readable regular file, with no link in it; False may have other reasons, which `_look` finds out."""
        if not _BY_DESCRIPTOR or os.path.normpath(path) != path:
            return False
        if len(self._open) > _MOST_OPEN:
            self.close()
        try:
            top, (*folders, name) = self._roots.steps(path)
            holder = self._folder(top, tuple(folders))
            if not stat.S_ISREG(os.stat(name, dir_fd=holder, follow_symlinks=False).st_mode):
                return False
            opened = confined.file(name, holder)
        except (ContextError, OSError, ValueError):
            return False
        try:
            return stat.S_ISREG(os.fstat(opened).st_mode)
        finally:
            os.close(opened)

    def _folder(self, top: str, names: tuple[str, ...]) -> int:
        found = self._open.get((top, names))
        if found is None:
            found = (
                confined.folder(names[-1], self._folder(top, names[:-1]), confined.PASS)
                if names
                else confined.top(top, confined.PASS)
            )
            self._open[top, names] = found
        return found

    def _look(self, path: str) -> bool:
        try:
            place = self._roots.inside(path)
            if place.path == path:  # else a link has replaced it, or a folder above it
                os.close(self._roots.open_file(path))
                return True
        except Forbidden:
            return False
        except ContextError:
            pass
        return self._is_out_of_reach(path)

    def _is_out_of_reach(self, path: str) -> bool:
        root = next((name for name in self._roots.names if path == name or path.startswith(f"{name.rstrip('/')}/")), "")
        if not root:
            return False
        if self._roots.state(root) != "available":
            return True
        if root not in self._away:
            devices = self._record.mounts(root)
            own = self._record.device(root)
            if own is not None:
                devices = {root: own, **devices}
            self._away[root] = tuple(folder for folder, device in devices.items() if is_away(folder, device))
        return any(path.startswith(f"{folder.rstrip('/')}/") for folder in self._away[root])
