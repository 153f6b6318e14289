"""Read untrusted zip containers.

In: the bytes of a zip, in memory or mapped.  Out: its directory, and entries inflated piece by piece.
Always: nothing is written anywhere; `job.meter` counts a byte before the caller gets it; sizes in headers
are never trusted; overlapping entries are refused, because with them a small file can unpack to petabytes.
"""

from __future__ import annotations

import bz2
import struct
import zlib
from collections.abc import Iterator

from smart_context.data import dataclass
from smart_context.sources.extract import Buffer, Job, Refused

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_PIECE = 256 * 1024
# Below this many bytes the compression ratio does not matter: a page of spaces is not a decompression bomb.
_RATIO_FLOOR = 16 * 1024 * 1024
STORED, DEFLATED, BZIP2 = 0, 8, 12


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the directory. `size` is what it claims to inflate to; only ever a hint."""

    name: str
    method: int
    packed: int
    size: int
    crc: int
    offset: int
    encrypted: bool

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder's own entry, without content."""
        return self.name.endswith("/")


@dataclass(frozen=True, slots=True)
class Directory:
    """The whole directory of a zip."""

    data: Buffer
    entries: tuple[Entry, ...]


def open_zip(data: Buffer, job: Job) -> SafeZip:
    """Read the directory, unless it was read to tell the kind of the file.

    Raises:
        Refused: no directory, a damaged one, or entries that overlap.
    """
    known, most = job.opened, job.limits.max_entries
    if isinstance(known, Directory) and known.data is data and len(known.entries) < most:
        entries, cut = known.entries, False
    else:
        entries, cut = directory(data, most)
    _refuse_overlaps(entries)
    return SafeZip(data, job, entries, cut)


class SafeZip:
    """A zip's directory and its entries' bytes. `cut`: the directory holds more entries than the limit allows."""

    def __init__(self, data: Buffer, job: Job, entries: tuple[Entry, ...], cut: bool) -> None:
        self._data = data
        self._job = job
        self.entries = entries
        self.cut = cut
        # The last entry of a name wins, as in Office programs; some writers put a leading slash or backslashes in names.
        self._by_name = {_key(entry.name): entry for entry in entries}

    def names(self) -> tuple[str, ...]:
        """All names in directory order, folders and duplicates included."""
        return tuple(entry.name for entry in self.entries)

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._by_name

    def packed_size(self, name: str) -> int:
        """How many bytes an entry takes inside the file."""
        return self._entry(name).packed

    def read(self, name: str | Entry) -> bytes:
        """All of one entry.

        Raises:
            Refused: absent, encrypted, damaged, or over a limit.
        """
        return b"".join(self.stream(name))

    def stream(self, name: str | Entry, *, again: bool = False) -> Iterator[bytes]:
        """One entry, piece by piece; its checksum is verified at the end. `again`: the meter has counted it before."""
        entry = name if isinstance(name, Entry) else self._entry(name)
        if entry.encrypted:
            raise Refused("encrypted", entry.name)
        start = _content_start(self._data, entry)
        total = checksum = 0
        for piece in _inflate(self._data, entry, start):
            total += len(piece)
            self._job.meter.inflate(0 if again else len(piece))
            if total > _RATIO_FLOOR and total > entry.packed * self._job.limits.max_inflate_ratio:
                raise Refused(
                    "too large when unpacked", f"{entry.name} inflates more than {total // entry.packed}-fold"
                )
            checksum = zlib.crc32(piece, checksum)
            yield piece
        if checksum != entry.crc:
            raise Refused("damaged", f"{entry.name} fails its checksum")

    def _entry(self, name: str) -> Entry:
        entry = self._by_name.get(_key(name))
        if entry is None:
            raise Refused("damaged", f"{name} is missing")
        return entry


def peek(data: Buffer, entry: Entry, count: int) -> bytes:
    """The first bytes of an entry, to detect its format; b"" where it cannot be read. Inflates at most `count` bytes."""
    if entry.encrypted:
        return b""
    found = b""
    try:
        for piece in _inflate(data, entry, _content_start(data, entry), count):
            found += piece
            if len(found) >= count:
                break
    except Refused:
        pass
    return found[:count]


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def directory(data: Buffer, most: int) -> tuple[tuple[Entry, ...], bool]:
    """The first `most` entries, and whether there are more."""
    start, size, shift = _find_directory(data)
    entries: list[Entry] = []
    at, end = start, start + size
    while at + _ENTRY.size <= end:
        if len(entries) == most:
            return tuple(entries), True
        fields = _ENTRY.unpack_from(data, at)
        if fields[0] != b"PK\1\2":
            break
        name_at = at + _ENTRY.size
        name_len, extra_len, comment_len = fields[10:13]
        if name_at + name_len + extra_len > end:
            break
        name = data[name_at : name_at + name_len]
        extra = data[name_at + name_len : name_at + name_len + extra_len]
        entries.append(_entry(fields, name, extra, shift))
        at = name_at + name_len + extra_len + comment_len
    if size and not entries:
        raise Refused("damaged", "the zip directory cannot be read")
    return tuple(entries), False


def _find_directory(data: Buffer) -> tuple[int, int, int]:
    """Where the directory starts, its size, and by how much offsets are off (bytes put before the zip)."""
    tail_at = max(0, len(data) - _END.size - 0xFFFF)
    tail = data[tail_at:]
    found = tail.rfind(b"PK\5\6")
    if found < 0 or len(tail) - found < _END.size:
        raise Refused("damaged", "no zip directory; cut short?")
    end_at = tail_at + found
    count, size, offset = _END.unpack(tail[found : found + _END.size])[4:7]
    locator_at = end_at - _END64_LOCATOR.size
    # A count of 0xFFFF can be a real count; sizes of 0xFFFFFFFF cannot be real.
    has_wide = count == 0xFFFF and locator_at >= 0 and data[locator_at : locator_at + 4] == b"PK\6\7"
    if has_wide or 0xFFFFFFFF in (size, offset):
        locator = _unpack(_END64_LOCATOR, data, locator_at, b"PK\6\7")
        end64 = _unpack(_END64, data, locator[2], b"PK\6\6")
        size, offset, end_at = end64[8], end64[9], locator[2]
    start = end_at - size
    if start < 0 or start < offset:
        raise Refused("damaged", "the zip directory lies outside the file")
    return start, size, start - offset


def _unpack(form: struct.Struct, data: Buffer, at: int, magic: bytes) -> tuple[int, ...]:
    raw = data[at : at + form.size] if at >= 0 else b""
    if len(raw) < form.size or raw[:4] != magic:
        raise Refused("damaged", "a zip header is not where it should be")
    return form.unpack(raw)


def _entry(fields: tuple[int, ...], raw_name: bytes, extra: bytes, shift: int) -> Entry:
    flags, method, crc, packed, size, offset = fields[3], fields[4], fields[7], fields[8], fields[9], fields[16]
    if 0xFFFFFFFF in (packed, size, offset):
        packed, size, offset = _wide(extra, packed, size, offset)
    try:
        name = raw_name.decode("utf-8")  # without the flag too: most writers that forget it mean UTF-8
    except UnicodeDecodeError:
        name = raw_name.decode("cp437")
    return Entry(name, method, packed, size, crc, offset + shift, bool(flags & 1))


def _wide(extra: bytes, packed: int, size: int, offset: int) -> tuple[int, int, int]:
    """The 64-bit sizes of an entry (zip64), which are in its extra field in a fixed order, only where needed."""
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<HH", extra, at)
        if tag == 1:
            values = iter(struct.unpack_from(f"<{min(length, len(extra) - at - 4) // 8}Q", extra, at + 4))
            size = next(values, size) if size == 0xFFFFFFFF else size
            packed = next(values, packed) if packed == 0xFFFFFFFF else packed
            offset = next(values, offset) if offset == 0xFFFFFFFF else offset
            break
        at += 4 + length
    return packed, size, offset


def _refuse_overlaps(entries: tuple[Entry, ...]) -> None:
    end = 0
    for entry in sorted(entries, key=lambda e: e.offset):
        if entry.offset < end:
            raise Refused("overlapping entries", entry.name)
        end = entry.offset + _LOCAL.size + entry.packed


def _content_start(data: Buffer, entry: Entry) -> int:
    fields = _unpack(_LOCAL, data, entry.offset, b"PK\3\4")
    return entry.offset + _LOCAL.size + fields[9] + fields[10]


def _inflate(data: Buffer, entry: Entry, start: int, piece: int = _PIECE) -> Iterator[bytes]:
    end = min(start + entry.packed, len(data))
    if entry.method == STORED:
        for at in range(start, end, piece):
            yield data[at : min(at + piece, end)]
        return
    if entry.method == DEFLATED:
        yield from _deflated(data, entry, start, end, piece)
    elif entry.method == BZIP2:
        yield from _bzipped(data, entry, start, end, piece)
    else:
        raise Refused("unknown compression", f"{entry.name}: method {entry.method}")


def _deflated(data: Buffer, entry: Entry, start: int, end: int, piece: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    at, waiting = start, b""
    while not inflater.eof:
        if not waiting:
            waiting = data[at : min(at + piece, end)]
            at += len(waiting)
        try:
            found = inflater.decompress(waiting, piece)
        except zlib.error as error:
            raise Refused("damaged", f"{entry.name}: {error}") from error
        if not found and not waiting:
            raise Refused("damaged", f"{entry.name} is cut short")
        waiting = inflater.unconsumed_tail
        if found:
            yield found


def _bzipped(data: Buffer, entry: Entry, start: int, end: int, piece: int) -> Iterator[bytes]:
    inflater = bz2.BZ2Decompressor()
    at = start
    while not inflater.eof:
        more = b""
        if inflater.needs_input:
            more = data[at : min(at + piece, end)]
            at += len(more)
            if not more:
                raise Refused("damaged", f"{entry.name} is cut short")
        try:
            found = inflater.decompress(more, piece)
        except OSError as error:
            raise Refused("damaged", f"{entry.name}: {error}") from error
        if found:
            yield found
