"""How this process has its memory from the C library.

In: nothing.  Out: nothing.
Always: where the C library is not glibc, nothing is changed.
"""

from __future__ import annotations

import sys
from contextlib import suppress

try:
    from smart_context import _heap as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same by ctypes, which takes longer to load

_M_ARENA_MAX = -8  # glibc's number for it


def share() -> None:
    """Let all threads share one malloc arena; call it before there are several threads, in programs of our own only.

    Each thread would get its own arena, which grows to the most that it ever held and is fragmented by itself. A server has many threads of which
    only one runs at a time (the GIL); an indexing process has those of the engine, which allocate for each commit anew.
    """
    if compiled:
        compiled.share()
    elif sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Return freed memory to the system."""
    if compiled:
        compiled.give_back()
    elif sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
