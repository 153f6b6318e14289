"""Keep the ranking's mapped files out of memory while the index is written.

In: the ranking's folder.  Out: nothing.
Always: the files are the same; a thread of its own does it, until `close`.

The engine merges parts by reading their files through the memory, once. The pages stay with the process until the parts are gone: with a million
segments, half a gigabyte.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from smart_context import heap
from smart_context.closes import Closes

_EVERY = 0.25  # seconds between two looks
_MOST = 24_000_000  # bytes of mapped files that come into memory before they are let go


class Paging(Closes):
    """Lets go of mapped files, from now on."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.fsencode(os.path.realpath(folder))
        self._before = heap.mapped()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="paging", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(_EVERY):
            if heap.mapped() - self._before > _MOST:
                heap.page_out(self._folder)

    def close(self) -> None:
        """Stop it."""
        self._over.set()
        self._thread.join()
