"""Confine the caches that a client may name to one root.

In: the configured root and the name a client gave.  Out: a `Place`, to be handed on as the path of a cache.
Always: the directory that a `Place` opens is inside the root when it is opened; whatever else is `CacheMissing`, and looks
no different from a cache that is not there.
"""

from __future__ import annotations

import errno
import os

from smart_context.access import confined
from smart_context.cache import names
from smart_context.errors import CacheMissing, IoError

ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL})
"""The errors of opening a directory that is not there."""


class Place(os.PathLike[str]):
    """A directory below a root, by its resolved path: no component of it was a link when it was resolved."""

    __slots__ = ("_below", "_root")

    def __init__(self, root: str, below: str) -> None:
        self._root = root
        self._below = below

    def __fspath__(self) -> str:
        return os.path.join(self._root, self._below) if self._below else self._root

    def __str__(self) -> str:
        return os.fspath(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and os.fspath(self) == os.fspath(other)

    def __hash__(self) -> int:
        return hash(os.fspath(self))

    @property
    def below(self) -> str:
        """The path relative to the root; empty for the root itself."""
        return self._below

    def open(self) -> int:
        """Return a descriptor of the directory. Raises: CacheMissing, IoError."""
        # Resolving and opening are two steps, and the tree may change between them. A component that has become a link
        # since then is refused, so what is opened is below the root by every step that led to it.
        try:
            root = confined.top(self._root, confined.PASS if self._below else confined.LIST)
            try:
                return confined.below(root, self._below, on_the_way=confined.PASS)
            finally:
                os.close(root)
        except OSError as error:
            if error.errno in ABSENT:
                raise CacheMissing(f"no cache directory at {self}") from error
            raise IoError(f"cannot open {self}", reason=error.strerror) from error


def inside(root: str | os.PathLike[str], name: str, *, or_root: bool = False) -> Place:
    """Return where the name leads, links followed, if that is below the root.

    Raises: CacheMissing for whatever is not, including names that are no plain path. The root itself counts only with `or_root`.
    """
    missing = CacheMissing(f"no cache {name!r} below {os.fspath(root)}")
    if not name or "\0" in name or not names.is_text(name) or ".." in name.split("/"):
        raise missing
    try:
        real_root = os.path.realpath(root)
        below = confined.leads(real_root, names.for_system(name))
    except OSError as error:  # a link that was replaced while it was read
        raise missing from error
    if below is None or (not below and not or_root):
        raise missing
    return Place(real_root, below)
