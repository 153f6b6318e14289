"""The roots of a program that runs for long, as its configuration file has them now.

In: the file that the roots come from.  Out: the roots there, whenever the file has changed.
Always: a file that is missing or wrong changes nothing; what a server may read follows from a file that was read whole.
"""

from __future__ import annotations

import os

from smart_context.settings import config


class RootsFile:
    """A configuration file, looked at from time to time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: tuple[int, ...] | None = None

    def changed(self) -> tuple[str, ...] | None:
        """The roots that it names; None where it is as at the last look, or not there.

        Raises: ContextError where it is wrong, once for each change.
        """
        try:
            info = os.stat(self.path)
        except OSError:
            return None
        now = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        if now == self._seen:
            return None
        self._seen = now
        found = config.load({"config": self.path})
        return tuple(dict.fromkeys(map(os.path.abspath, found.roots)))
