"""Remove old caches below a root.

In: a root, how many to keep, how old the others must be.  Out: which go.
Always: only a folder with a readable manifest directly below the root goes; links, other folders and working folders stay. A cache leaves in
one step: what is left of a removal that was interrupted is no cache.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from smart_context.access import confined
from smart_context.cache import folder, listing, verify
from smart_context.cache.place import Place
from smart_context.errors import CacheMissing, ContextError, IoError, UsageError

_AGE = re.compile(r"([0-9]{1,6})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class Old(NamedTuple):
    """A cache that may go: its name below the root, and when it was built."""

    name: str
    created_at: datetime


def caches(root: str | os.PathLike[str], *, keep: int, before: datetime) -> list[Old]:
    """Return the caches that are neither among the `keep` newest nor as new as `before`; oldest first.

    Raises: CacheMissing, IoError.
    """
    newest_first = sorted(_found(root), key=lambda one: (one.created_at, one.name), reverse=True)
    return [one for one in newest_first[keep:] if one.created_at < before][::-1]


def remove(root: str | os.PathLike[str], old: Old) -> None:
    """Remove a cache, out of sight first. Raises: IoError."""
    # As a build names its working folder: it is no cache, and the next build of that name tidies up.
    hidden = f".{old.name}.build-{os.getpid()}-{os.urandom(6).hex()}"
    try:
        holder = confined.top(root)
        try:
            os.rename(old.name, hidden, src_dir_fd=holder, dst_dir_fd=holder)
            shutil.rmtree(hidden, dir_fd=holder)
        finally:
            os.close(holder)
    except OSError as error:
        raise IoError(f"cannot remove {os.path.join(root, old.name)}", reason=error.strerror) from error


def age(text: str) -> timedelta:
    """Read an age as people write it: 12h, 30d, 8w. Raises: UsageError."""
    found = _AGE.fullmatch(text)
    if found is None:
        raise UsageError(f"not an age: {text!r}", hint="write 12h, 30d or 8w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _found(root: str | os.PathLike[str]) -> Iterator[Old]:
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CacheMissing(f"no folder at {os.fspath(root)}", reason=error.strerror) from error
    except OSError as error:
        raise IoError(f"cannot list {os.fspath(root)}", reason=error.strerror) from error
    for name in names:
        if listing.is_working(name):
            continue
        try:
            yield Old(name, folder.read(Place(os.path.realpath(root), name), _built))
        except ContextError:
            continue  # not a cache, or one that cannot be looked at: it stays


def _built(opened: folder.Folder) -> datetime:
    verify.read_manifest(opened)  # which checks the time's form
    written = json.loads(opened.read(verify.MANIFEST))["created_at"].upper().replace(" ", "T").replace(":60", ":59")
    return datetime.fromisoformat(written)
