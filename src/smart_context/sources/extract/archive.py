"""Read archives: zip, tar (plain or compressed), and single files in gzip, bzip2 or xz.

In: the bytes of an archive.  Out: the units of every entry that can be read, in order of name.
Always: names are never used as paths, nothing is written to disk; every unpacked byte is metered before it is kept; a refused
entry becomes a note.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zlib
from collections.abc import Iterator
from typing import IO, cast

from smart_context.model import Extracted
from smart_context.sources.extract import Buffer, Job, Meter, Refused
from smart_context.sources.extract.nested import Gathered
from smart_context.sources.extract.zipped import Entry, SafeZip, open_zip

_PIECE = 256 * 1024
# Below this many bytes the compression ratio does not matter: a page of spaces is not a decompression bomb.
_RATIO_FLOOR = 16 * 1024 * 1024
_MOST_EMPTY_READS = 8
_SUFFIXES = (".gz", ".bz2", ".xz")
_DAMAGE = (tarfile.TarError, OSError, EOFError, ValueError, RecursionError, MemoryError, zlib.error, lzma.LZMAError)


def read(data: Buffer, job: Job) -> Extracted:
    """Read all entries of an archive."""
    if job.depth >= job.limits.max_depth:
        raise Refused("nested too deep", f"more than {job.limits.max_depth} levels")
    gathered = Gathered(job, "entry")
    if job.kind == "zip":
        _zip(open_zip(data, job), gathered)
    elif job.kind == "tar":
        _tar(_Stream(data, gathered), gathered)
    else:
        gathered.add(_inner_name(job.name), _Stream(data, gathered).read())
    return Extracted(job.kind, "", gathered.sorted_units(), gathered.notes())


def _zip(opened: SafeZip, gathered: Gathered) -> None:
    if opened.cut:
        gathered.note(f"cut at {gathered.job.limits.max_entries:,} entries")
    for entry in sorted(opened.entries, key=lambda entry: (entry.name, entry.offset)):
        if gathered.is_full or _is_spent(gathered.job.meter):
            break
        if not entry.is_folder:
            _zip_entry(opened, entry, gathered)


def _zip_entry(opened: SafeZip, entry: Entry, gathered: Gathered) -> None:
    try:
        content = opened.read(entry)
    except Refused as refusal:
        gathered.skip(entry.name, refusal.reason, "" if refusal.detail == entry.name else refusal.detail)
    else:
        gathered.add(entry.name, content)


def _is_spent(meter: Meter) -> bool:
    """Whether the whole file has reached its limits; all further entries would be refused one by one."""
    return meter.inflated > meter.limits.max_inflated_bytes or meter.entries > meter.limits.max_entries


def _tar(source: _Stream, gathered: Gathered) -> None:
    limits = gathered.job.limits
    done = others = 0
    try:
        with tarfile.open(fileobj=cast("IO[bytes]", source), mode="r|", errors="replace", encoding="utf-8") as opened:
            for member in opened:
                if gathered.is_full or _is_spent(gathered.job.meter):
                    break
                done += 1
                if done > limits.max_entries:
                    gathered.note(f"cut at {limits.max_entries:,} entries")
                    break
                if not member.isreg():
                    others += not member.isdir()
                elif member.size > limits.max_inflated_bytes:
                    gathered.skip(member.name, "too large when unpacked", f"{member.size:,} bytes")
                elif (content := opened.extractfile(member)) is not None:
                    gathered.add(member.name, content.read())
    except Refused as refusal:
        gathered.note(f"cut: {refusal}")
    except _DAMAGE as error:
        if not done:
            raise Refused("damaged", str(error)) from error
        gathered.note(f"damaged after {done:,} entries: {error}")
    if others:
        gathered.note(f"{others:,} links or devices left out")


class _Stream:
    """The content of a file, unpacked if it is packed, that can only be read forward."""

    def __init__(self, data: Buffer, gathered: Gathered) -> None:
        self._pieces = _pieces(data, gathered)
        self._held = b""
        self._empty_reads = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes; fewer than asked for only at the end."""
        found = [self._held]
        have = len(self._held)
        while (size < 0 or have < size) and (piece := next(self._pieces, b"")):
            found.append(piece)
            have += len(piece)
        joined = b"".join(found)
        if not joined:
            # tarfile skips as many bytes as a header claims, even terabytes, in small reads, and ignores the end of the stream.
            self._empty_reads += 1
            if self._empty_reads > _MOST_EMPTY_READS:
                raise EOFError("cut short")
        end = have if size < 0 else size
        self._held = joined[end:]
        return joined[:end]


def _pieces(data: Buffer, gathered: Gathered) -> Iterator[bytes]:
    """Pieces of the content. A stream that breaks off gives what it held so far."""
    stream = _unpacking(data)
    if stream is None:
        yield from (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))
        return
    total = 0
    try:
        with stream:
            while piece := stream.read(_PIECE):
                total += len(piece)
                _meter(gathered.job, len(piece), total, len(data))
                yield piece
    except _DAMAGE as error:
        if not total:
            raise Refused("damaged", str(error)) from error
        gathered.note(f"damaged after {total:,} bytes: {error}")


def _unpacking(data: Buffer) -> IO[bytes] | None:
    head = data[:6]
    raw = cast("IO[bytes]", io.BytesIO(data) if isinstance(data, bytes) else data)
    raw.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if head.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(raw))
    if head.startswith(b"\xfd7zXZ\0"):
        return cast("IO[bytes]", lzma.LZMAFile(raw))
    return None


def _meter(job: Job, count: int, total: int, packed: int) -> None:
    job.meter.inflate(count)
    if total > _RATIO_FLOOR and total > packed * job.limits.max_inflate_ratio:
        raise Refused("too large when unpacked", f"inflates more than {job.limits.max_inflate_ratio}-fold")


def _inner_name(name: str) -> str:
    stem, extension = posixpath.splitext(posixpath.basename(name))
    if extension.lower() == ".tgz":
        return f"{stem}.tar"
    return stem if extension.lower() in _SUFFIXES and stem else "content"
