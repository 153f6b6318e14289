"""tantivy: the schema of the index, and the translation of its errors into ours.

Only this package knows tantivy; it is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from smart_context import later
from smart_context.engine import refusals
from smart_context.engine.local import ranking_state
from smart_context.errors import SearchFailed, StorageFailed

if TYPE_CHECKING:
    import tantivy

_PANIC = "pyo3_runtime"  # the module of exceptions for a Rust panic: the engine met a damaged file
_NO_LOCK = later.pattern(r"Lockfile: IoError\(.*(?:PermissionDenied|ReadOnlyFilesystem)")  # before it reads anything
_REFUSED = later.pattern(r"IO error occurred: '(.*) \(os error ([0-9]+)\)'")  # what the system told the engine
_FULL = 4 << 20  # bytes: less than one part of the ranking needs


@cache
def query() -> type[tantivy.Query]:
    """The engine's class of queries."""
    import tantivy

    return tantivy.Query


@cache
def occur() -> type[tantivy.Occur]:
    """The engine's class for required, optional and excluded clauses."""
    import tantivy

    return tantivy.Occur


@cache
def schema() -> tantivy.Schema:
    """The fields of the index."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    for field in ("text", "border"):
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="position")
    for field in ("also", "compounds", "year"):
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="basic")
    for field in ("ext", "folder"):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    # Signed: the engine deletes by an integer term, and an unsigned field would not match it.
    builder.add_integer_field("file_id", indexed=True, fast=True)
    builder.add_unsigned_field("language", indexed=True, fast=True)
    builder.add_unsigned_field("first", indexed=True)
    for field in ("segment_id", "length"):
        builder.add_unsigned_field(field, fast=True)
    return _without_lengths(builder.build(), {"compounds", "year", "ext", "folder"})


def _without_lengths(built: tantivy.Schema, fields: Set[str]) -> tantivy.Schema:
    """A schema without field lengths for some fields, which saves a byte per segment and field: only scores need them.

    The builder has no option for that; the pickled form of a schema has.
    """
    make, (told,) = cast("tuple[Callable[[Any], tantivy.Schema], tuple[Any]]", built.__reduce__())
    for field in told["inner"]:
        if field["name"] in fields:
            field["options"]["indexing"]["fieldnorms"] = False
    return make(told)


class translated:  # noqa: N801  # a block, as `contextmanager` makes one for three times the time: a search enters some seventy
    """Translate errors of the engine and the disk into ours."""

    __slots__ = ("_folder", "_writes")

    def __init__(self, folder: Path, *, writes: bool = False) -> None:
        self._folder, self._writes = folder, writes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            _translate(error, self._folder, writes=self._writes)


def _translate(error: BaseException, folder: Path, *, writes: bool) -> None:
    """Raise our error for one of the engine or the disk; return for any other."""
    if isinstance(error, ValueError | RuntimeError):  # what the engine raises
        import shutil

        # If the disk is full, it only says that its writer died.
        if writes and shutil.disk_usage(folder).free < _FULL:
            raise refusals.full(folder) from error
        if (found := _REFUSED.search(str(error))) and int(found[2]) in refusals.OF_THE_DISK:
            what = f"the ranking index {folder} cannot be written or read"
            raise refusals.by_number(what, folder, int(found[2]), found[1]) from error
        if _NO_LOCK.search(str(error)):
            if refusals.is_read_only(folder):
                raise refusals.by_number(
                    f"cannot write in {folder}, where a search locks the index", folder, 0, ""
                ) from error
            raise StorageFailed(
                f"cannot write in {folder}, where a search locks the index",
                reason="Permission denied",
                hint="let this user write there, or copy the index and name the copy with --data-dir",
            ) from error
        raise _unusable(folder, error) from error
    if isinstance(error, OSError):
        raise refusals.refused(f"the ranking index {folder} cannot be written or read", folder, error) from error
    if type(error).__module__ == _PANIC:
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: BaseException) -> SearchFailed:
    reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
    return SearchFailed(f"the ranking index {folder} cannot be used", reason=reason, hint=ranking_state.REBUILD)
