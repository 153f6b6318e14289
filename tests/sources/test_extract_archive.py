"""Archives: zip, tar and single compressed files, honest and hostile."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import mmap
import struct
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smart_context import pointer
from smart_context.model import Extracted, Limits, Skipped
from smart_context.sources.extract import extract


def read(data: bytes | mmap.mmap, name: str, limits: Limits | None = None) -> Extracted:
    found = extract(data, name, limits or Limits())
    assert isinstance(found, Extracted), found
    return found


def places(found: Extracted) -> list[tuple[str, str]]:
    return [(pointer.format(unit.pointer), unit.text) for unit in found.units]


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


FILES = {"b/z.txt": b"last", "a.html": b"<html><h1>Plan</h1>text", "b/a.txt": b"one\ntwo\n"}
EXPECTED = [
    ("entry 'a.html' section 'Plan'", "Plan\ntext"),
    ("entry 'b/a.txt'", "one\ntwo\n"),
    ("entry 'b/z.txt'", "last"),
]


@pytest.mark.parametrize(
    ("name", "kind", "data"),
    [
        ("a.zip", "zip", zipped(FILES)),
        ("a.zip", "zip", zipped(FILES, zipfile.ZIP_STORED)),
        ("a.zip", "zip", zipped(FILES, zipfile.ZIP_BZIP2)),
        ("a.tar", "tar", tarred(FILES)),
        ("a.tgz", "tar", gzip.compress(tarred(FILES), mtime=0)),
        ("a.tar.bz2", "tar", bz2.compress(tarred(FILES))),
        ("a.tar.xz", "tar", lzma.compress(tarred(FILES))),
    ],
    ids=["deflated", "stored", "bzipped", "tar", "tgz", "tar.bz2", "tar.xz"],
)
def test_an_archive_is_its_entries_by_name(name, kind, data):
    found = read(data, name)
    assert (found.kind, places(found), found.notes) == (kind, EXPECTED, ())


@pytest.mark.parametrize(
    ("name", "kind", "pack"),
    [("n.txt.gz", "gzip", gzip.compress), ("n.txt.bz2", "bzip2", bz2.compress), ("n.txt.xz", "xz", lzma.compress)],
)
def test_a_single_compressed_file_is_one_entry(name, kind, pack):
    found = read(pack(b"some words"), name)
    assert (found.kind, places(found)) == (kind, [("entry 'n.txt'", "some words")])


def test_a_mapped_archive_stays_open(tmp_path):
    for name, data in (("a.tar", tarred(FILES)), ("a.tgz", gzip.compress(tarred(FILES))), ("a.zip", zipped(FILES))):
        (tmp_path / name).write_bytes(data)
        with open(tmp_path / name, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            assert places(read(mapped, name)) == EXPECTED
            assert mapped[:1] == data[:1]


def test_archives_nest_to_a_depth():
    data, name = b"core", "core.txt"
    for level in range(4):
        data, name = zipped({name: data}), f"l{level}.zip"
    found = read(zipped({"x.txt": b"outer", name: data}), "a.zip")
    assert places(found) == [("entry 'x.txt'", "outer")]
    assert found.notes == (
        "entry 'l3.zip': entry 'l2.zip': entry 'l1.zip' skipped: nested too deep (more than 3 levels)",
    )
    assert places(read(data, "l3.zip", Limits(max_depth=9)))[0][0].count("entry") == 4


def test_names_are_only_names():
    names = ["../../etc/passwd", "/abs.txt", "C:\\x.txt", "a\nb.txt", "it's.txt"]
    found = read(zipped(dict.fromkeys(names, b"text")), "a.zip")
    assert sorted(unit.pointer[0].name for unit in found.units) == sorted(names)
    assert all(pointer.parse(pointer.format(unit.pointer)) == unit.pointer for unit in found.units)


def test_a_refused_entry_costs_a_note():
    found = read(
        zipped({"a.txt": b"good", "b.bin": bytes(range(256)) * 40, "c.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}),
        "a.zip",
    )
    assert places(found) == [("entry 'a.txt'", "good")]
    assert [note.partition(":")[0] for note in found.notes] == ["entry 'b.bin' skipped", "entry 'c.doc' skipped"]


def test_the_second_entry_of_a_name_is_told_apart():
    data = tarred({"a.txt": b"first"})[:1024] + tarred({"a.txt": b"second"})
    assert places(read(data, "a.tar")) == [("entry 'a.txt'", "first"), ("entry 'a.txt' (2)", "second")]


def test_links_and_devices_are_left_out():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (
            ("link", tarfile.SYMTYPE),
            ("hard", tarfile.LNKTYPE),
            ("dev", tarfile.CHRTYPE),
            ("dir", tarfile.DIRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    found = read(out.getvalue(), "a.tar")
    assert (found.units, found.notes) == ((), ("3 links or devices left out",))


def test_a_cut_archive_gives_what_came_before_the_cut():
    whole = tarred({f"{n}.txt": b"x" * 3000 for n in range(9)})
    found = read(whole[:10_000], "a.tar")
    assert [unit.pointer[0].name for unit in found.units] == ["0.txt", "1.txt"]
    assert len(found.notes) == 1


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb_is_stopped_by_the_meter(packed):
    limits = Limits(max_inflated_bytes=1_000_000)
    found = extract(packed(b"\0" * 5_000_000), "a.txt.gz", limits)
    assert isinstance(found, Skipped)
    assert found.reason == "too large when unpacked"
    bombs = zipped({f"{n}.txt": b"x" * 400_000 for n in range(9)})
    found = read(bombs, "a.zip", limits)
    assert [unit.pointer[0].name for unit in found.units] == ["0.txt", "1.txt"]
    assert found.notes == ("entry '2.txt' skipped: too large when unpacked (more than 1,000,000 bytes)",)


def test_a_bomb_in_an_archive_is_counted_with_all_the_others():
    inner = zipped({"x.txt": b"x" * 400_000})
    found = read(zipped({f"{n}.zip": inner for n in range(9)}), "a.zip", Limits(max_inflated_bytes=1_000_000))
    assert len(found.units) == 2


def test_a_tar_in_gzip_that_swells_is_cut():
    data = gzip.compress(tarred({"a.txt": b"good", "b.txt": b"\0" * 5_000_000}))
    found = read(data, "a.tgz", Limits(max_inflated_bytes=1_000_000))
    assert places(found) == [("entry 'a.txt'", "good")]
    assert found.notes[0] == "entry 'b.txt' skipped: too large when unpacked (5,000,000 bytes)"


def test_a_size_that_lies_costs_nothing():
    member = tarfile.TarInfo("s.txt")
    member.size = 1 << 40
    found = read(tarred({"a.txt": b"good"})[:1024] + member.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024, "a.tar")
    assert places(found) == [("entry 'a.txt'", "good")]


def test_only_so_many_entries_are_read():
    files = {f"{n}.txt": b"x" for n in range(20)}
    for name, data in (("a.zip", zipped(files)), ("a.tar", tarred(files))):
        found = read(data, name, Limits(max_entries=5))
        assert len(found.units) == 5
        assert "cut at 5 entries" in found.notes


def test_the_text_of_all_entries_together_is_limited():
    found = read(zipped({f"{n}.txt": b"x" * 100 for n in range(9)}), "a.zip", Limits(max_text_chars=250))
    assert len(found.units) == 2
    assert found.notes == ("cut: more text inside than one file may hold",)


def test_encrypted_entries_are_noted():
    data = bytearray(zipped({"a.txt": b"secret"}, zipfile.ZIP_STORED))
    data[6] |= 1
    data[data.find(b"PK\1\2") + 8] |= 1
    found = read(bytes(data), "a.zip")
    assert (found.units, found.notes) == ((), ("entry 'a.txt' skipped: encrypted",))


def test_a_directory_of_more_entries_than_the_old_header_can_count_is_found():
    data = zipped(FILES)
    at = data.find(b"PK\5\6")
    count, size, offset = struct.unpack_from("<HLL", data, at + 10)
    wide = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
    wide += struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end = struct.pack("<4s4HLLH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, size, offset, 0)
    assert places(read(data[:at] + wide + end, "a.zip")) == EXPECTED


@pytest.mark.parametrize("data", [b"PK\5\6", b"\x1f\x8b\x08\0broken", b"BZh9broken", b"\xfd7zXZ\0broken"])
def test_what_cannot_be_unpacked_is_refused(data):
    found = extract(data, "a", Limits())
    assert isinstance(found, Skipped)
    assert found.reason == "damaged"


VALID = (
    zipped(FILES),
    tarred({"a.txt": b"x"}),
    gzip.compress(tarred(FILES), mtime=0),
    bz2.compress(b"words " * 50),
    lzma.compress(b"words " * 50),
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_archive_readers_refuse_or_read_whatever_comes(data):
    raw = bytearray(data.draw(st.sampled_from(VALID)))
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    found = extract(bytes(raw[: data.draw(st.integers(1, len(raw)))]), "a", Limits())
    assert isinstance(found, (Extracted, Skipped))
