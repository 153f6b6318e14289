"""Say whether a file that was indexed may still be shown.

In: the roots, the record, a file of it.  Out: yes or no.
Always: what was moved, deleted, replaced by a link, or may no longer be read by this process is not shown from that moment; what lies in a
root or below a mount that is away is.
"""

from __future__ import annotations

import os

from smart_context.access.mounted import is_away
from smart_context.access.roots import Roots
from smart_context.engine.model import FileRow
from smart_context.engine.port import Record
from smart_context.errors import ContextError, Forbidden


class Presence:
    """Which files are there, looked at once for each search."""

    def __init__(self, roots: Roots, record: Record) -> None:
        self._roots = roots
        self._record = record
        self._known: dict[int, bool] = {}
        self._away: dict[str, tuple[str, ...]] = {}

    def __call__(self, file: FileRow) -> bool:
        """Whether the file may be shown."""
        found = self._known.get(file.file_id)
        if found is None:
            found = self._known[file.file_id] = self._look(file.path)
        return found

    def _look(self, path: str) -> bool:
        try:
            place = self._roots.inside(path)
            if place.path == path:  # else a link has taken its place, or a folder's above it
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
