"""Steps below a folder that is already open: the only way in which roots, cache places, caches, build sources and the walk open anything.

In: the descriptor of a folder, and names below it.  Out: a descriptor, which the caller closes.
Always: no step follows a link, so what is opened lies below the folder by every step that led to it, whatever becomes of the tree
meanwhile; no pipe is waited for. Links are resolved before, by `leads` or by the caller, and their target is walked in the same way.
"""

from __future__ import annotations

import os
from typing import Final

_COMMON: Final[int] = getattr(os, "O_CLOEXEC", 0)
_DIRECTORY: Final[int] = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _COMMON
_NO_LINK: Final[int] = getattr(os, "O_NOFOLLOW", 0)

LIST: Final[int] = _DIRECTORY
# Where the system can, pass through without the right to list: that a folder may be entered is enough.
PASS: Final[int] = _DIRECTORY | getattr(os, "O_PATH", 0)
# O_NONBLOCK: should a FIFO take the place of a file just now, the open returns, and whoever looks at the descriptor refuses it.
FILE: Final[int] = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _COMMON


def top(path: str | os.PathLike[str], how: int = LIST) -> int:
    """Open the starting folder; links on the way to it are followed. Raises: OSError."""
    return os.open(path, how)


def folder(name: str, holder: int, how: int = LIST) -> int:
    """Open a subfolder of an open folder. Raises: OSError, for a link too."""
    return os.open(name, how | _NO_LINK, dir_fd=holder)


def file(name: str, holder: int) -> int:
    """Open an entry of an open folder for reading. The caller checks that it is a regular file. Raises: OSError, for a link too."""
    return os.open(name, FILE, dir_fd=holder)


def below(holder: int, path: str, *, on_the_way: int = LIST) -> int:
    """Open a folder some steps below another, to list it; the path has no `..`, and none at all leads to the other itself. Raises: OSError."""
    steps = path.split("/") if path else []
    here = os.dup(holder)
    for number, name in enumerate(steps, 1):
        outer = here
        try:
            here = folder(name, outer, LIST if number == len(steps) else on_the_way)
        finally:
            os.close(outer)
    return here


def leads(real_root: str, path: str) -> str | None:
    """Where a path below a root leads, all links followed, relative to the root; "" for the root, None for what is outside. Raises: OSError."""
    real = os.path.realpath(os.path.join(real_root, path))
    if real == real_root:
        return ""
    prefix = real_root.rstrip("/") + "/"
    return real[len(prefix) :] if real.startswith(prefix) else None
