"""The ranking's files do not stay in the memory of the process that writes them."""

from __future__ import annotations

import mmap
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from compiled import in_python
from smart_context import heap
from smart_context.engine.local import paging

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

SIZE = 1 << 20


def resident(path: Path) -> int:
    """Bytes of a mapped file in memory."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    assert any(line.endswith(str(path)) for line in lines)
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))


@pytest.fixture
def file(tmp_path: Path) -> Iterator[tuple[Path, mmap.mmap]]:
    """A mapped file, whole in memory, on a file system that can read it again."""
    (tmp_path / "ranking").mkdir()
    path = tmp_path / "ranking/a.pos"
    path.write_bytes(os.urandom(SIZE))
    with path.open("rb") as opened:
        os.fsync(opened.fileno())
        with mmap.mmap(opened.fileno(), SIZE, access=mmap.ACCESS_READ) as held:
            assert held[:] == path.read_bytes()
            assert resident(path) == SIZE
            heap.page_out(os.fsencode(path.parent))
            if resident(path) == SIZE:
                pytest.skip("this system keeps it in memory")
            assert held[:] == path.read_bytes()
            yield path, held


@pytest.mark.parametrize("how", [in_python, nullcontext])
def test_mapped_files_of_a_folder_leave_memory_and_are_the_same(file, how):
    path, held = file
    with how(heap):
        heap.page_out(os.fsencode(path.parent.parent / "rank"))
        assert resident(path) == SIZE
        heap.page_out(os.fsencode(path.parent))
        assert resident(path) < SIZE
    assert held[:] == path.read_bytes()


def test_a_thread_does_it_until_it_is_closed(file, monkeypatch):
    path, held = file
    monkeypatch.setattr(paging, "_EVERY", 0.001)
    monkeypatch.setattr(paging, "_MOST", -(1 << 40))
    with paging.Paging(path.parent):
        while resident(path) == SIZE:
            pass
    assert held[:] == path.read_bytes()
    assert "paging" not in {thread.name for thread in threading.enumerate()}
