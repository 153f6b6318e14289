"""The parts of the engine's index: how many there are, whether their files are whole, and how to make the engine merge all of them.

In: the ranking's folder.  Out: its parts; which file is damaged; what to write so that one is left.
Always: merging changes nothing that a search finds; if the engine does not merge, or is interrupted, the index is whole and in more parts.

Each commit leaves a part, and a search looks every word up in each. The engine merges eight parts that are about as large as each other, by what lives in
them, and takes them up by what they hold in all, the largest first: one that holds more than any other, of which hardly anything lives, lies in one group with all
that are smaller. Such a part is made of documents without a word that are removed before they are committed, beside one file that is added anew. It is one of the smallest part: of a
part from which something was removed, the engine only estimates how many words it has, and rough scores depend on that.
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
_LARGE = 20_000  # segments from which merging pays
_SHARE = 4  # outside of the largest part lies at least one segment in so many: so that nothing is merged over and over
_SHARE_OF_UPKEEP = 50  # the same where there is time for it
_OF_PARTS = {".idx", ".pos", ".term", ".store", ".fast", ".fieldnorm", ".del"}
_REMEMBERED = 10_000  # files
_END, _SIGN = (
    struct.Struct("<II"),
    1337,
)  # what a file of the engine ends with: how long what it says of itself is, and a sign
_LOOKS = 3
_AT_ONCE = 1 << 20  # bytes per read
_MOST = 3_000_000  # documents that the largest part may hold: what is written in their place stays in one part


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the index: how many documents it holds, and how many of them live."""

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
    """Read the engine's files of the last commit; the name of one that is not as the checksum at its end says, or "".

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
    """As `flaw`, where somebody may write meanwhile; "" also where there is nothing, or commits follow one another too fast."""
    for _ in range(_LOOKS):
        try:
            before = (folder / "meta.json").read_bytes()
        except OSError:
            return ""
        found = ""
        with suppress(OSError):  # merged away: what was committed since is looked at instead
            found = flaw(folder)
        with suppress(OSError):
            if (folder / "meta.json").read_bytes() == before:
                return found
    return ""


def check(folder: Path) -> None:
    """Read those of the engine's files by which a wrong byte gives wrong answers that nothing else notices, and which are small: the
    numbers of segments and files, and what is deleted. Each is read once in a process.

    Raises: ValueError for one that is not as the checksum at its end says; OSError where they cannot be read.
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
    """The files of the last commit that `check` reads: others may still be being written. None where the engine tells them in another way."""
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
    """Say whether a file's bytes have the checksum that its last ones tell."""
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
