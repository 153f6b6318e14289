"""Zip containers that lie."""

from __future__ import annotations

import io
import mmap
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from smart_context.data import replace
from smart_context.model import Limits
from smart_context.sources import sniff
from smart_context.sources.extract import Job, Meter, Refused, zipped

LIMITS = Limits(max_inflated_bytes=40_000_000, max_entries=5)


def job(limits: Limits = LIMITS) -> Job:
    return Job("a.zip", limits, Meter(limits))


def a_zip(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_entries_are_read_whole_whatever_their_compression(method: int) -> None:
    content = b"some words again and again. " * 50_000
    opened = zipped.open_zip(a_zip({"a/b.txt": content, "c": b""}, method), job())
    assert opened.names() == ("a/b.txt", "c")
    assert opened.read("a/b.txt") == content
    assert b"".join(opened.stream("/A\\B.txt")) == content
    assert opened.read(opened.entries[1]) == b""
    assert "c" in opened
    assert "d" not in opened


def test_a_zip_behind_other_bytes_and_from_a_map_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"#!/bin/sh\n" + a_zip({"a": b"hello"}))
    with (tmp_path / "a").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert zipped.open_zip(mapped, job()).read("a") == b"hello"


def test_wide_sizes_and_names_in_old_encodings_are_understood() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive, archive.open("a", "w", force_zip64=True) as entry:
        entry.write(b"hello")
    assert zipped.open_zip(made.getvalue(), job()).read("a") == b"hello"
    renamed = a_zip({"caf_": b"hello"}).replace(b"caf_", b"caf\x82")
    assert zipped.open_zip(renamed, job()).names() == ("café",)


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 2001])
def test_a_directory_that_told_the_kind_of_a_file_is_not_read_again(count: int) -> None:
    data = a_zip({str(n): b"" for n in range(count)})
    before, plain = replace(job(), opened=sniff.opened(data, "a.zip")[1]), zipped.open_zip(data, job())
    found = zipped.open_zip(data, before)
    assert (found.entries, found.cut) == (plain.entries, plain.cut)
    other = zipped.open_zip(a_zip({"other": b""}), before)
    assert other.names() == ("other",)


def test_more_entries_than_the_limit_are_cut_off() -> None:
    opened = zipped.open_zip(a_zip({str(n): b"" for n in range(9)}), job())
    assert (opened.names(), opened.cut) == (("0", "1", "2", "3", "4"), True)


def reason(data: bytes, name: str = "a") -> str:
    with pytest.raises(Refused) as caught:
        zipped.open_zip(data, job()).read(name)
    return caught.value.reason


def test_what_cannot_be_trusted_is_refused_with_its_reason() -> None:
    plain = a_zip({"a": b"hello world"}, zipfile.ZIP_STORED)
    packed = a_zip({"a": bytes(range(256)) * 400})
    encrypted = bytearray(plain)
    encrypted[plain.index(b"PK\1\2") + 8] |= 1
    strange = bytearray(plain)
    strange[plain.index(b"PK\1\2") + 10] = 99
    assert reason(plain, "b") == "damaged"
    assert reason(plain.replace(b"world", b"wurld")) == "damaged"
    assert reason(packed[:200] + bytes(50) + packed[250:]) == "damaged"
    assert reason(plain[:-10]) == "damaged"
    assert reason(plain[:20] + plain[plain.index(b"PK\5\6") :]) == "damaged"
    assert reason(b"PK\5\6") == "damaged"
    assert reason(bytes(encrypted)) == "encrypted"
    assert reason(bytes(strange)) == "unknown compression"


def test_entries_that_share_bytes_are_refused() -> None:
    packed = zlib.compress(b"a" * 1000, 9)[2:-4]
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, 0, len(packed), 1000, 1, 0) + b"a" + packed
    line = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 33, 0, len(packed), 1000, 1, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 2, 2, 2 * len(line), len(local), 0)
    assert reason(local + line + line + end) == "overlapping entries"


def test_a_bomb_stops_at_the_limits_however_small_it_says_it_is() -> None:
    assert reason(a_zip({"a": bytes(20_000_000)})) == "too large when unpacked"  # by its ratio
    two = zipped.open_zip(a_zip({"a": bytes(16_000_000), "b": bytes(16_000_000), "c": bytes(16_000_000)}), job())
    assert len(two.read("a")) + len(two.read("b")) == 32_000_000
    with pytest.raises(Refused, match="too large when unpacked"):
        two.read("c")
    liar = a_zip({"a": b"x" * 1000})
    at = liar.index(b"PK\1\2")
    assert len(zipped.open_zip(liar[: at + 24] + struct.pack("<L", 10) + liar[at + 28 :], job()).read("a")) == 1000
