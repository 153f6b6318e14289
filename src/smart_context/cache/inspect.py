"""Say what a cache is, without its contents: for the command `inspect` and the tool `inspect_cache`, which differ.

In: a cache directory.  Out: exact JSON with `cache_version`, `document_count`, `total_bytes` and `valid`.
Always: the same bytes on disk give the same answer. The command verifies everything; the tool looks at the manifest alone.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from smart_context.cache import folder, manifest, verify
from smart_context.cache.document import text
from smart_context.cache.exact_json import string
from smart_context.cache.strict_json import Malformed, Value, parse
from smart_context.errors import CacheInvalid, IoError

if TYPE_CHECKING:
    from smart_context.cache.folder import Folder
    from smart_context.cache.manifest import Manifest


def command_json(cache: str | os.PathLike[str]) -> bytes:
    """Return what `context inspect` prints. Raises: CacheMissing, CacheInvalid (no readable manifest), IoError."""

    def look(opened: Folder) -> tuple[Manifest, int, bool]:
        listed = verify.read_manifest(opened)
        sizes = (opened.size(entry.file) or 0 for entry in listed.documents if verify.is_plain(entry.file))
        return listed, sum(sizes), _verifies(opened, cache)

    listed, total, valid = folder.read(cache, look)
    return (
        f'{{\n  "cache_version": {string(listed.cache_version)},\n  "document_count": {listed.document_count},\n'
        f'  "total_bytes": {total},\n  "valid": {_boolean(valid)}\n}}\n'
    ).encode()


def tool_json(cache: str | os.PathLike[str]) -> bytes:
    """Return what the tool `inspect_cache` answers, without a newline. Raises: CacheMissing, IoError."""
    with folder.open_cache(cache) as opened:
        total = _top_level_bytes(opened)
        try:
            version, count, complete = _identity(opened)
        except IoError:
            version, count, complete, total = "", 0, False, None
    return (
        f'{{"cache_version":{string(version)},"document_count":{count}'
        f',"total_bytes":{total or 0},"valid":{_boolean(complete and total is not None)}}}'
    ).encode()


def _verifies(opened: Folder, cache: str | os.PathLike[str]) -> bool:
    try:
        for _ in verify.contents(opened, verify.manifest(opened)):
            pass
    except CacheInvalid:
        if not opened.is_at(cache):
            raise
        return False
    return True


def _identity(opened: Folder) -> tuple[str, int, bool]:
    """Return the version and the count as far as the manifest has them, and whether it has both. Raises: IoError."""
    version, count = "", None
    try:
        value = parse(opened.read(verify.MANIFEST))
        fields = _once(value) if type(value) is tuple else {}
        complete = "cache_version" in fields and "document_count" in fields
        try:
            count = manifest.count(fields.get("document_count"))
        except Malformed:
            complete = False
        version = text(fields, "cache_version")
    except (CacheInvalid, Malformed):
        complete = False
    return version, count or 0, complete


def _once(pairs: tuple[tuple[str, Value], ...]) -> dict[str, Value]:
    # A key that is given twice says nothing that could be relied on.
    keys = [key for key, _ in pairs]
    return {key: value for key, value in pairs if keys.count(key) == 1}


def _top_level_bytes(opened: Folder) -> int | None:
    """Sum the sizes of the regular files beside the manifest, it included; None if one cannot be told. Raises: IoError."""
    total = 0
    try:
        with os.scandir(opened.descriptor) as entries:
            found = list(entries)
    except OSError as error:
        raise IoError(f"cannot list cache {opened.cache}", reason=error.strerror) from error
    for entry in found:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return None
        if stat.S_ISREG(status.st_mode):
            total += status.st_size
    return total


def _boolean(value: bool) -> str:
    return "true" if value else "false"
