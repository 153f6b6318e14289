"""Build a cache from a folder of documents.

In: a sources folder and a target.  Out: a complete cache at the target.
Always: what was read is what is hashed and written, each source once; a build that fails leaves what stood at the target.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypedDict

from smart_context.access import confined
from smart_context.cache import document, durable, manifest, sources, working
from smart_context.cache.folder import DOCUMENTS
from smart_context.cache.manifest import Entry
from smart_context.cache.sources import OnLeftOut, OnSkipped, Source, Sources
from smart_context.cache.verify import INDEX, MANIFEST
from smart_context.data import NamedTuple
from smart_context.errors import IoError

if TYPE_CHECKING:
    from smart_context.model import OnProgress

_FEW = 64  # files are synced one by one up to here, and all at once above: ten thousand syncs take a minute
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Document(NamedTuple):
    """A document that was made elsewhere: its id, where its text comes from, and the text."""

    id: str
    source: str
    content: str


class BuildOptions(TypedDict, total=False):
    """The options of `cache`, for callers that pass them on."""

    force: bool
    fail_if_empty: bool
    on_skipped: OnSkipped | None
    on_left_out: OnLeftOut | None
    on_progress: OnProgress | None


class Built(NamedTuple):
    """A new cache."""

    cache_version: str
    document_count: int


def cache(
    source_dir: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    created_at: str,
    force: bool = False,
    fail_if_empty: bool = False,
    on_skipped: OnSkipped | None = None,
    on_left_out: OnLeftOut | None = None,
    on_progress: OnProgress | None = None,
) -> Built:
    """Build a cache at the target; `force` replaces an old one. `created_at` is an RFC 3339 time in UTC.

    Raises: SameId, IoError.
    """
    root = os.fspath(source_dir)
    with Sources(root) as tree:
        check_target(target, force=force, sources=root)
        found, misnamed = tree.find(on_skipped or (lambda _path, _why: None))
        if fail_if_empty and not found and not misnamed:
            raise nothing_in(root)
        if on_left_out:
            on_left_out(tree.left_out)
        with _in_place(target, created_at, force=force) as work:
            entries, unreadable = _write_documents(work.new, found, tree.read, on_progress)
            if bad := misnamed + unreadable:
                raise sources.not_utf8(root, bad)
            work.finish(entries, {})
    return Built(manifest.version_of(manifest.SUPPORTED, entries), len(entries))


def of_documents(
    documents: Sequence[Document],
    target: str | os.PathLike[str],
    *,
    created_at: str,
    force: bool,
    beside: Mapping[str, bytes] | None = None,
    on_progress: OnProgress | None = None,
) -> Built:
    """Build a cache of given documents, with additional files beside its manifest.

    Raises: SameId, IoError.
    """
    check_target(target, force=force)
    found = sorted((Source(one.id, one.source, str(number)) for number, one in enumerate(documents)))
    sources.refuse_same_ids(found)
    with _in_place(target, created_at, force=force) as work:
        entries, _ = _write_documents(
            work.new, found, lambda source: documents[int(source.place)].content.encode(), on_progress
        )
        work.finish(entries, beside or {})
    return Built(manifest.version_of(manifest.SUPPORTED, entries), len(entries))


def nothing_in(root: str) -> IoError:
    """Return the error of a build that must not give an empty cache."""
    return IoError(f"no document in {root}", reason="an empty cache was not wanted (--fail-if-empty)")


def check_target(target: str | os.PathLike[str], *, force: bool, sources: str | None = None) -> None:
    """Check that a cache may be built at a place, before any work is done. Raises: IoError."""
    parent, name = _split(os.fspath(target))
    if sources is not None:
        _refuse_parent_of_sources(os.path.join(parent, name), sources)
    _check_target(parent, name, force=force)


class _Work:
    """A cache that is being written: its folder, and how it is completed."""

    def __init__(self, new: int, created_at: str) -> None:
        self.new = new
        self._created_at = created_at

    def finish(self, entries: Sequence[Entry], beside: Mapping[str, bytes]) -> None:
        """Write the files beside the documents."""
        for name, data in beside.items():
            _write(self.new, name, data)
        _write(self.new, INDEX, manifest.index_json(entries))
        _write(self.new, MANIFEST, manifest.to_json(entries, self._created_at))
        os.fsync(self.new)


@contextmanager
def _in_place(target: str | os.PathLike[str], created_at: str, *, force: bool) -> Iterator[_Work]:
    """A context manager: a working folder beside the target, moved there on success."""
    parent, name = _split(os.fspath(target))
    with _io(os.path.join(parent, name)), _folder(parent) as holder, working.Working(holder, name) as work:
        yield _Work(work.new, created_at)
        # Another build may have changed the target meanwhile.
        work.put_in_place(replace=_check_target(parent, name, force=force))


def _split(target: str) -> tuple[str, str]:
    """Return the parent folder and the name of a target."""
    path = target.rstrip("/")
    if os.path.basename(path) in {"", ".", ".."}:
        path = os.path.realpath(target)
    parent, name = os.path.split(path)
    if not target or not name:
        raise IoError(f"cannot build a cache at {target!r}", reason="not a valid directory name")
    return parent or ".", name


def _refuse_parent_of_sources(target: str, root: str) -> None:
    # By identity: a name may differ in case alone, or lead through a link or another mount.
    with suppress(OSError):
        standing = os.stat(target)
        at = os.path.realpath(root)
        while not os.path.samestat(os.stat(at), standing):
            if at == os.path.dirname(at):
                return
            at = os.path.dirname(at)
        raise IoError(f"cannot build a cache at {target}", reason="the sources are in it")


def _check_target(parent: str, name: str, *, force: bool) -> bool:
    """Return whether the target exists and is to be replaced. Raises: IoError if it may not be."""
    path = os.path.join(parent, name)
    with _io(path):
        try:
            holder = confined.top(parent)
        except FileNotFoundError:
            return False
        try:
            working.recover(holder, name)
            os.lstat(name, dir_fd=holder)
        except FileNotFoundError:
            return False
        else:
            why = "use --force to replace a cache" if not force else working.not_replaceable(holder, name)
        finally:
            os.close(holder)
    if why:
        raise IoError(f"{path} exists", reason=why)
    return True


@contextmanager
def _io(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IoError(f"cannot build a cache at {path}", reason=error.strerror) from error


@contextmanager
def _folder(path: str) -> Iterator[int]:
    """Open a folder, made with its parents where they are missing and removed again if what follows fails."""
    made: list[str] = []
    at = path
    while not os.path.lexists(at):
        made.append(at)
        at = os.path.dirname(at) or "."
    try:
        for one in reversed(made):
            os.mkdir(one)
        holder = confined.top(path)
        try:
            yield holder
        finally:
            os.close(holder)
    except BaseException:
        for one in made:
            with suppress(OSError):
                os.rmdir(one)
        raise


def _write_documents(
    new: int, found: Sequence[Source], read: Callable[[Source], bytes], on_progress: OnProgress | None
) -> tuple[list[Entry], list[str]]:
    """Write the documents; return their entries, and the paths of sources whose contents are not UTF-8."""
    from smart_context.model import Progress

    entries: list[Entry] = []
    bad: list[str] = []
    used: dict[str, int] = {}
    sync_each = len(found) <= _FEW or not durable.can_sync()
    os.mkdir(DOCUMENTS, dir_fd=new)
    holder = confined.folder(DOCUMENTS, new)
    try:
        for source in found:
            data = read(source)
            try:
                text = data.decode()
            except UnicodeDecodeError:
                bad.append(source.path)
                continue
            version = document.version_of(data)
            name = _file_name(version, used)
            _write(holder, name, document.to_json(source.id, version, source.path, text), sync=sync_each)
            entries.append(Entry(source.id, version, f"{DOCUMENTS}/{name}"))
            if on_progress:
                on_progress(Progress(len(entries), len(found), source.path))
        if not sync_each:
            durable.file_system(holder)
        os.fsync(holder)
    finally:
        os.close(holder)
    return entries, bad


def _file_name(version: str, used: dict[str, int]) -> str:
    stem = version.removeprefix("sha256:")[:12]
    used[stem] = used.get(stem, 0) + 1
    return f"{stem}.json" if used[stem] == 1 else f"{stem}-{used[stem]}.json"


def _write(holder: int, name: str, data: bytes | bytearray, *, sync: bool = True) -> None:
    descriptor = os.open(name, _NEW_FILE, 0o666, dir_fd=holder)
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, memoryview(data)[written:])
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
