"""List the directories below a root that may be caches.

In: the configured root, and the root that a caller asked for.  Out: exact JSON, one entry a directory, sorted by path.
Always: nothing is opened but directories; whether a candidate is a cache is for `inspect` and `verify` to say.
"""

from __future__ import annotations

import os
import re
import stat

from smart_context.access import confined
from smart_context.cache import names, place
from smart_context.cache.exact_json import string
from smart_context.cache.place import Place
from smart_context.errors import CacheMissing, IoError

_WORKING = re.compile(r"\..+\.build-[0-9]+-[0-9a-z]+", re.DOTALL)


def to_json(configured_root: str | os.PathLike[str], root: str | None = None) -> bytes:
    """Return what the tool `list_caches` answers, without a newline. Raises: CacheMissing, IoError."""
    if root is not None:
        at = place.inside(configured_root, root, or_root=True)
    elif os.fspath(configured_root):
        at = Place(os.path.realpath(configured_root), "")
    else:
        raise CacheMissing("no directory has an empty name")
    rows = sorted(_candidates(at))
    caches = ",".join(f'{{"path":{string(path)},"has_manifest":{"true" if has else "false"}}}' for path, has in rows)
    return f'{{"caches":[{caches}]}}'.encode()


def is_working(name: str) -> bool:
    """Whether a name is that of a folder in which a build works, or died."""
    return _WORKING.fullmatch(name) is not None


def _candidates(at: Place) -> list[tuple[str, bool]]:
    """Return the path of each directory in a place, from the root, and whether it has a manifest."""
    prefix = names.as_text(at.below) + "/" if at.below else ""
    descriptor = at.open()
    try:
        with os.scandir(descriptor) as entries:
            found = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return [
            (path, _has_manifest(descriptor, name))
            for name in found
            if not is_working(name) and names.is_text(path := prefix + names.as_text(name))
        ]
    except OSError as error:
        raise IoError(f"cannot list {at}", reason=error.strerror) from error
    finally:
        os.close(descriptor)


def _has_manifest(root: int, name: str) -> bool:
    try:
        child = confined.folder(name, root, confined.PASS)
    except OSError:
        return False
    try:
        return stat.S_ISREG(os.lstat("manifest.json", dir_fd=child).st_mode)
    except OSError:
        return False
    finally:
        os.close(child)
