"""What the commands say where the disk under the index is full, may only be read, or takes no large file: real mounts, real limits."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import clean_env

ELSEWHERE = "choose another data directory with --data-dir or SMART_CONTEXT_DATA_DIR"


@contextlib.contextmanager
def disk(place: Path, size: str) -> Iterator[Path]:
    if os.geteuid():
        pytest.skip("mounting a disk needs root")
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place]
    if subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def make_read_only(place: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)


def said(done: subprocess.CompletedProcess[bytes]) -> tuple[int, list[str]]:
    return done.returncode, done.stderr.decode().splitlines()


@pytest.mark.parametrize("state", ["no folder", "an empty folder", "an index"])
def test_a_read_only_disk_is_named_with_the_next_step(run, tree, tmp_path, state):
    root = tree({"a.md": "The gryphon sleeps."})
    with disk(tmp_path / "disk", "16m") as place:
        data = place / "data"
        if state == "an index":
            assert run("index", root, "--data-dir", data).returncode == 0
        elif state == "an empty folder":
            data.mkdir(mode=0o700)
        make_read_only(place)
        what = f"cannot make the data directory {data}" if state == "no folder" else f"cannot write in {data}"
        told = ["reason: Read-only file system", f"hint: mount it for writing, or {ELSEWHERE}"]
        assert said(run("index", root, "--data-dir", data)) == (6, [f"error: {what}", *told])
        found = json.loads(run("doctor", "--json", "--data-dir", data).stdout)
        [fix] = [each["fix"] for each in found if each["area"] == "data" and "cannot be" in each["what"]]
        above = place if state == "no folder" else data
        assert fix == f"{above} is on a read-only file system: mount it for writing, or choose another --data-dir"
        if state == "an index":
            what = f"error: the index {data}/record.sqlite cannot be written or read"
            assert said(run("search", "gryphon", "--root", root, "--data-dir", data)) == (6, [what, *told])


# no record, no log of it, no ranking, no part of it, no commit of it
@pytest.mark.parametrize("size", ["4k", "72k", "92k", "180k", "320k"])
def test_a_full_disk_is_named_with_the_next_step_whatever_was_being_written(run, tree, tmp_path, size):
    dice = random.Random(1)
    root = tree({f"{i}.txt": " ".join(dice.randbytes(4).hex() for _ in range(4000)) for i in range(3)})
    with disk(tmp_path / "disk", size) as place:
        status, lines = said(run("index", root, "--data-dir", place / "data"))
    assert status == 6
    assert lines[0].startswith(f"error: the disk under {tmp_path}/disk/data"), lines
    assert lines[0].endswith(" is full")
    assert lines[1:] == [f"hint: make room and index again, or {ELSEWHERE}"]


@pytest.mark.parametrize("blocks", [4, 100])  # the record, the ranking
def test_a_limit_on_the_size_of_files_is_not_taken_for_a_damaged_index(tree, tmp_path, blocks):
    dice = random.Random(1)
    root = tree({f"{i}.txt": " ".join(dice.randbytes(4).hex() for _ in range(6000)) for i in range(3)})
    limited = ["bash", "-c", f'ulimit -f {blocks} && exec "$@"', "bash"]
    command = [*limited, sys.executable, "-m", "smart_context", "index", root, "--data-dir", tmp_path / "data"]
    done = subprocess.run(command, env=clean_env(tmp_path), capture_output=True, check=False)
    status, lines = said(done)
    assert (status, len(lines)) == (6, 3), lines
    assert "cannot be written or read" in lines[0]
    assert "ulimit -f" in lines[2]
    assert lines[2].endswith(ELSEWHERE)
