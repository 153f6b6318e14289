"""The parts of the engine's index: how many there are, whether their files are whole, and how to make the engine merge all of them.

In: the ranking's folder.  Out: its parts; which file is damaged; what to write so that one is left.
Always: merging changes nothing that a search finds; if the engine does not merge, or is interrupted, the index is whole and in more parts.

Parts are what tantivy calls segments. Each commit adds one, and a search looks up every word in each of them. The engine merges eight parts of about the same number of live documents; it goes
through them by their number of documents, deleted ones included, the largest first. So a part with more documents than any other, of which hardly any is live, is in one group with all
smaller ones. We make such a part of empty documents, deleted before they are committed, and one file that is added again. That file is from the smallest part: of a
part with deletions the engine only estimates the number of words, and rough scores depend on it.
"""

from __future__ import annotations

import json
import os
import struct
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from smart_context.data import dataclass

MERGED = 8  # parts of a group that the engine merges
_LARGE = 20_000  # segments from which merging is worth its time
_SHARE = 4  # merged only if at least one segment in so many is outside of the largest part, so that this is not rewritten too often
_SHARE_OF_UPKEEP = 50  # the same during upkeep, when there is time
_OF_PARTS = {".idx", ".pos", ".term", ".store", ".fast", ".fieldnorm", ".del"}
_REMEMBERED = 10_000  # files
_END, _SIGN = (
    struct.Struct("<II"),
    1337,
)  # the end of each of the engine's files: the size of its footer, and a magic number
_LOOKS = 3
_AT_ONCE = 1 << 20  # bytes per read
_MOST = 3_000_000  # documents in the largest part, at most: the empty documents beside it must fit into one part


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the index: how many documents it has, and how many of them are live."""

    held: int
    living: int


def read(folder: Path) -> list[Part]:
    """The parts of the last commit from the engine's metadata; none if that has another format.

    Raises: OSError where they cannot be read.
    """
    try:
        found = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
        gone = [(one["deletes"] or {"num_deleted_docs": 0})["num_deleted_docs"] for one in found]
        return [Part(one["max_doc"], one["max_doc"] - dead) for one, dead in zip(found, gone, strict=True)]
    except (ValueError, KeyError, TypeError):
        return []


def flaw(folder: Path) -> str:
    """Verify the checksums of the engine's files of the last commit; the name of a damaged one, or "".

    Raises: OSError where they cannot be read.
    """
    try:
        found = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
        names = {one["segment_id"].replace("-", "") for one in found}
    except (ValueError, KeyError, TypeError, AttributeError):
        return "meta.json"
    files = (file for file in folder.iterdir() if file.suffix in _OF_PARTS and file.name.split(".")[0] in names)
    return next((file.name for file in sorted(files) if not _is_whole(file)), "")


def flaw_of_last(folder: Path) -> str:
    """As `flaw`, while others may write; also "" if there is no index, or commits follow each other too fast."""
    for _ in range(_LOOKS):
        try:
            before = (folder / "meta.json").read_bytes()
        except OSError:
            return ""
        found = ""
        with suppress(OSError):  # a file was merged away: the next commit is checked instead
            found = flaw(folder)
        with suppress(OSError):
            if (folder / "meta.json").read_bytes() == before:
                return found
    return ""


def check(folder: Path) -> None:
    """Verify the checksums of small files in which a wrong byte would give wrong answers unnoticed: the ids of segments and files, and
    deletions. Each is read once in a process.

    Raises: ValueError for a damaged one; OSError if they cannot be read.
    """
    for name in _numbers_of(folder):
        path = folder / name
        with suppress(FileNotFoundError):  # a writer has just merged it into another
            info = path.stat()
            known = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
            if known in _whole:
                continue
            if not _is_whole(path):
                raise ValueError(f"{name} is damaged")
            if len(_whole) >= _REMEMBERED:
                _whole.clear()
            _whole.add(known)


def _numbers_of(folder: Path) -> list[str]:
    """The files of the last commit that `check` reads: others may still be written. None if the engine's metadata has another format."""
    try:
        found = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
        ids = [one["segment_id"].replace("-", "") for one in found]
        dead = [one["deletes"]["opstamp"] if one["deletes"] else None for one in found]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    deleted = [f"{own}.{opstamp}.del" for own, opstamp in zip(ids, dead, strict=True) if opstamp is not None]
    return [f"{own}.fast" for own in ids] + deleted


_whole: set[tuple[int, int, int, int]] = set()  # files that were found whole: device, inode, size, time


def _is_whole(file: Path) -> bool:
    """Whether a file has the checksum that is in its footer."""
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        opened.seek(max(0, size - _END.size))
        last = opened.read()
        length, sign = _END.unpack(last) if len(last) == _END.size else (0, 0)
        if sign != _SIGN or length > size - _END.size:
            return False
        opened.seek(size - _END.size - length)
        try:
            told = json.loads(opened.read(length))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        opened.seek(0)
        sum_, left = 0, size - _END.size - length
        while left and (piece := opened.read(min(left, _AT_ONCE))):
            sum_, left = crc32(piece, sum_), left - len(piece)
    return bool(sum_ == told)


def needs(folder: Path) -> int:
    """The disk space that merging may take, in bytes: the size of the parts, and as much again for safety."""
    return 2 * sum(file.stat().st_size for file in folder.glob("*.*") if file.suffix in _OF_PARTS)


def are_many(parts: list[Part], *, is_upkeep: bool = False) -> bool:
    """Whether merging the parts pays; is_upkeep: also if nearly all of the index is in one."""
    living = sum(part.living for part in parts)
    outside = living - max((part.living for part in parts), default=0)
    is_worth_it = living >= _LARGE and outside * (_SHARE_OF_UPKEEP if is_upkeep else _SHARE) >= living
    return is_worth_it and can_be_one(parts)


def can_be_one(parts: list[Part]) -> bool:
    """Whether the engine merges these parts and one more."""
    return len(parts) >= MERGED - 1 and max(part.held for part in parts) <= _MOST
