"""Write small OLE compound files: the container of DOC, PPT and MSG."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Union

Tree = Mapping[str, Union[bytes, "Tree"]]

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_STORAGE, _STREAM, _ROOT = 1, 2, 5


def compound(tree: Tree) -> bytes:
    """A compound file with these streams (bytes) and storages (mappings)."""
    entries: list[dict] = [{"name": "Root Entry", "kind": _ROOT, "child": _FREE, "next": _FREE, "data": b""}]
    _enter(entries, 0, tree)
    mini = bytearray()
    mini_fat: list[int] = []
    for entry in entries[1:]:
        entry["start"] = _END
        if entry["kind"] == _STREAM and 0 < len(entry["data"]) < _CUTOFF:
            entry["start"] = len(mini_fat)
            _chain(mini_fat, _count(entry["data"], _MINI))
            mini += _padded(entry["data"], _MINI)
    sectors: list[bytes] = []
    fat: list[int] = []

    def place(content: bytes) -> int:
        if not content:
            return _END
        start = len(fat)
        _chain(fat, _count(content, _SECTOR))
        padded = _padded(content, _SECTOR)
        sectors.extend(padded[at : at + _SECTOR] for at in range(0, len(padded), _SECTOR))
        return start

    entries[0]["data"] = bytes(mini)
    entries[0]["start"] = place(bytes(mini))
    for entry in entries[1:]:
        if entry["kind"] == _STREAM and len(entry["data"]) >= _CUTOFF:
            entry["start"] = place(entry["data"])
    directory = place(b"".join(map(_entry, entries)))
    mini_start = place(b"".join(struct.pack("<L", sector) for sector in mini_fat))
    tables = 1
    while tables * 128 < len(fat) + tables:
        tables += 1
    fat_at = len(fat)
    fat += [_FAT] * tables
    fat += [_FREE] * (tables * 128 - len(fat))
    sectors += [struct.pack("<128L", *fat[at : at + 128]) for at in range(0, len(fat), 128)]
    header = struct.pack(
        "<8s16s5H6s9L",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b""),
        *(0, tables, directory, 0, _CUTOFF, mini_start, _count(mini_fat, 128), _END, 0),
    )
    places = [fat_at + number for number in range(tables)]
    return header + struct.pack("<109L", *(places + [_FREE] * (109 - tables))) + b"".join(sectors)


def _enter(entries: list[dict], parent: int, tree: Tree) -> None:
    previous = None
    for name in sorted(tree, key=lambda name: (len(name), name.upper())):
        content = tree[name]
        is_stream = isinstance(content, bytes)
        entries.append(
            {
                "name": name,
                "kind": _STREAM if is_stream else _STORAGE,
                "child": _FREE,
                "next": _FREE,
                "data": content if is_stream else b"",
            }
        )
        number = len(entries) - 1
        if previous is None:
            entries[parent]["child"] = number
        else:
            entries[previous]["next"] = number
        previous = number
        if not is_stream:
            _enter(entries, number, content)


def _entry(entry: dict) -> bytes:
    name = entry["name"].encode("utf-16-le") + b"\0\0"
    links = struct.pack("<LLL", _FREE, entry["next"], entry["child"])
    tail = struct.pack("<16sLQQLQ", b"", 0, 0, 0, entry["start"], len(entry["data"]))
    return name.ljust(64, b"\0") + struct.pack("<HBB", len(name), entry["kind"], 1) + links + tail


def _chain(table: list[int], count: int) -> None:
    start = len(table)
    table += [start + step + 1 for step in range(count - 1)] + [_END] * (count > 0)


def _count(content, size: int) -> int:
    return -(-len(content) // size)


def _padded(content: bytes, size: int) -> bytes:
    return content + b"\0" * (-len(content) % size)
