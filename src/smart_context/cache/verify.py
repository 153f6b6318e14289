"""Verify a cache: the manifest, the index, every document, and that nothing else is there.

In: a cache directory.  Out: its manifest, then its documents' contents one by one.
Always: what comes out has been checked, in a fixed order, so that a broken cache gives the same first violation every time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from smart_context.cache import document, exact_json, folder
from smart_context.cache import manifest as manifests
from smart_context.cache.folder import DOCUMENTS, Folder
from smart_context.cache.manifest import Entry, Manifest
from smart_context.cache.strict_json import Malformed
from smart_context.data import NamedTuple
from smart_context.errors import CacheInvalid

if TYPE_CHECKING:
    from smart_context.model import OnProgress, Stop

MANIFEST = "manifest.json"
INDEX = "index.json"


class Verified(NamedTuple):
    """The version and size of a verified cache."""

    cache_version: str
    document_count: int


class Content(NamedTuple):
    """A document's content, and its length in UTF-8."""

    entry: Entry
    text: str
    size: int


def cache(path: str | os.PathLike[str], *, on_progress: OnProgress | None = None, stop: Stop | None = None) -> Verified:
    """Verify all of a cache. Raises: CacheMissing, CacheInvalid, IoError."""
    from smart_context.model import Progress

    def all_of(opened: Folder) -> Verified:
        listed = manifest(opened)
        for done, content in enumerate(contents(opened, listed, stop=stop), 1):
            if on_progress:
                on_progress(Progress(done, listed.document_count, content.entry.id))
        return Verified(listed.cache_version, listed.document_count)

    return folder.read(path, all_of)


def to_json(verified: Verified) -> bytes:
    """Return what `context verify` prints of a valid cache."""
    version = exact_json.string(verified.cache_version)
    return f'{{"cache_version":{version},"document_count":{verified.document_count},"valid":true}}\n'.encode()


def manifest(opened: Folder) -> Manifest:
    """Return the manifest, verified as far as it goes without the documents. Raises: CacheInvalid, IoError."""
    listed = read_manifest(opened)
    why = _contradiction(listed)
    if why:
        raise CacheInvalid(opened.cache, MANIFEST, why)
    _check_index(opened, listed)
    return listed


def read_manifest(opened: Folder) -> Manifest:
    """Return the manifest if it is well-formed, without checking its values. Raises: CacheInvalid, IoError."""
    try:
        return manifests.read(opened.read(MANIFEST))
    except Malformed as error:
        raise CacheInvalid(opened.cache, MANIFEST, str(error)) from error


def contents(opened: Folder, listed: Manifest, *, stop: Stop | None = None) -> Iterator[Content]:
    """Yield every document in the order of ids, verified; at the end nothing else stands in `documents/`.

    Raises: CacheInvalid, IoError; whatever `stop` raises.
    """
    superfluous = _check_files(opened, listed)
    for entry in listed.documents:
        if stop:
            stop()
        text, size = content(opened, entry)
        yield Content(entry, text, size)
    if superfluous:
        raise CacheInvalid(opened.cache, min(superfluous), "is not in the manifest")


def content(opened: Folder, entry: Entry) -> tuple[str, int]:
    """Return the content of one document, verified, and its length in UTF-8. Raises: CacheInvalid, IoError."""
    data = opened.read_document(entry.file)
    try:
        return document.read(data, entry.id, entry.version)
    except Malformed as error:
        raise CacheInvalid(opened.cache, entry.file, str(error)) from error


def is_plain(file: str) -> bool:
    """Whether a `file` of the manifest is a plain relative path below `documents/`."""
    first, *names = file.split("/")
    return (
        first == DOCUMENTS
        and bool(names)
        and "\0" not in file
        and "\\" not in file
        and not any(name in {"", ".", ".."} for name in names)
    )


def _contradiction(listed: Manifest) -> str | None:
    if listed.build_config != manifests.SUPPORTED:
        return "its build_config is not supported"
    if listed.document_count != len(listed.documents):
        return f"document_count is {listed.document_count}, but it lists {len(listed.documents)}"
    for one, other in pairwise(listed.documents):
        if one.id == other.id:
            return f"the id {one.id!r} is given twice"
    if listed.cache_version != manifests.version_of(listed.build_config, listed.documents):
        return "cache_version does not follow from its documents"
    return None


def _check_index(opened: Folder, listed: Manifest) -> None:
    data = opened.read(INDEX)
    # An index as we write it needs no parsing, which is most of the time and memory at 100,000 documents.
    if data == manifests.index_json(listed.documents):
        return
    try:
        files = manifests.read_index(data)
    except Malformed as error:
        raise CacheInvalid(opened.cache, INDEX, str(error)) from error
    if files != {entry.id: entry.file for entry in listed.documents}:
        raise CacheInvalid(opened.cache, INDEX, "does not hold exactly the manifest's ids and files")


def _check_files(opened: Folder, listed: Manifest) -> set[str]:
    """Check that each `file` is a plain name of a regular file; return the other entries of `documents/`."""
    for entry in listed.documents:
        if not is_plain(entry.file):
            raise CacheInvalid(opened.cache, MANIFEST, f"the file {entry.file!r} is not a plain path below documents/")
    regular, rest = _standing(opened, {os.path.dirname(entry.file) for entry in listed.documents})
    for entry in listed.documents:
        if entry.file not in regular:
            why = "is not a regular file" if entry.file in rest else "is missing"
            raise CacheInvalid(opened.cache, entry.file, why)
    return rest | regular.difference(entry.file for entry in listed.documents)


def _standing(opened: Folder, needed: set[str]) -> tuple[set[str], set[str]]:
    """Return the regular files below `documents/`, and what is neither that nor a folder on the way to a document."""
    if not needed and not opened.has_documents():
        return set(), set()  # an empty folder is easily lost in copying
    on_the_way = {DOCUMENTS}
    for holder in needed:
        names = holder.split("/")
        on_the_way.update("/".join(names[:end]) for end in range(1, len(names) + 1))
    regular: set[str] = set()
    rest: set[str] = set()
    waiting = [DOCUMENTS]
    while waiting:
        at = waiting.pop()
        found = opened.listing(at)
        regular.update([f"{at}/{name}" for name in found.files])
        rest.update([f"{at}/{name}" for name in found.others])
        for path in [f"{at}/{name}" for name in found.folders]:
            if path in on_the_way:
                waiting.append(path)
            else:
                rest.add(path)
    return regular, rest
