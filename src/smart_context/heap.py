"""Keep the memory of this process small: malloc arenas, freed memory, pages of mapped files.

In: nothing; a folder.  Out: nothing.
Always: what is in memory stays the same. Where the C library is not glibc, or the system not Linux, nothing is changed.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

try:
    from smart_context import _heap as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same by ctypes, which takes longer to load

_M_ARENA_MAX = -8  # glibc's number for it
_MADV_PAGEOUT = 21  # Linux's


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


def mapped() -> int:
    """Bytes of mapped files that this process has in memory; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[2]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def page_out(folder: bytes) -> None:
    """Let go of the pages of mapped files in a folder; they are read again when they are needed.

    Another thread may end a mapping and use its addresses for other memory meanwhile: that could at worst go to the swap space, and nothing is
    lost. (`MADV_DONTNEED` would clear it.)
    """
    with suppress(OSError), open("/proc/self/maps", "rb") as maps:
        for line in maps:
            where, *_, path = line.split(None, 5)
            if path.startswith(folder + b"/"):
                start, end = (int(address, 16) for address in where.split(b"-"))
                _page_out(start, end - start)


def _page_out(start: int, length: int) -> None:
    if compiled:
        compiled.page_out(start, length)
    elif sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _MADV_PAGEOUT)
