"""Steps below an open folder: none follows a link, whatever it leads to, and none leaves a descriptor behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine import held
from smart_context.access import confined

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths and links")


# A link where a folder is wanted, one where a file is wanted, a file, nothing.
REFUSED = "Not a directory|symbolic links|No such file"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    """`in/a/b/c.txt`; `in/out` and `in/a/back` are links, out of `in` and to `in/a/b`."""
    (tmp_path / "in/a/b").mkdir(parents=True)
    (tmp_path / "in/a/b/c.txt").write_text("inside")
    (tmp_path / "away/b").mkdir(parents=True)
    (tmp_path / "away/b/c.txt").write_text("outside")
    (tmp_path / "in/out").symlink_to(tmp_path / "away")
    (tmp_path / "in/a/back").symlink_to("b")
    (tmp_path / "in/a/b/link.txt").symlink_to("c.txt")
    (tmp_path / "in/loop").symlink_to("loop")
    descriptor = confined.top(str(tmp_path / "in"))
    before = held(str(tmp_path))
    yield descriptor
    assert held(str(tmp_path)) == before
    os.close(descriptor)


@pytest.mark.parametrize("on_the_way", [confined.LIST, confined.PASS])
def test_a_folder_is_reached_by_its_steps_and_a_file_in_it_is_read(root: int, on_the_way: int) -> None:
    folder = confined.below(root, "a/b", on_the_way=on_the_way)
    try:
        assert sorted(os.listdir(folder)) == ["c.txt", "link.txt"]
        with os.fdopen(confined.file("c.txt", folder)) as file:
            assert file.read() == "inside"
    finally:
        os.close(folder)


def test_no_steps_lead_to_the_folder_itself(root: int) -> None:
    folder = confined.below(root, "")
    try:
        assert os.path.samestat(os.fstat(folder), os.fstat(root))
    finally:
        os.close(folder)


@pytest.mark.parametrize("path", ["out", "out/b", "a/back", "loop", "a/b/c.txt", "a/none/b", "a//b"])
@pytest.mark.parametrize("on_the_way", [confined.LIST, confined.PASS])
def test_a_link_a_file_and_nothing_end_the_walk_at_any_step(root: int, path: str, on_the_way: int) -> None:
    with pytest.raises(OSError, match=REFUSED):
        confined.below(root, path, on_the_way=on_the_way)


def test_a_file_is_not_opened_through_a_link(root: int) -> None:
    folder = confined.below(root, "a/b")
    try:
        with pytest.raises(OSError, match=REFUSED):
            confined.file("link.txt", folder)
    finally:
        os.close(folder)


def test_a_pipe_is_not_waited_for(root: int, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in/pipe")
    os.close(confined.file("pipe", root))


def test_links_are_resolved_to_where_they_lead_or_to_nothing(tmp_path: Path, root: int) -> None:
    inside = os.path.realpath(tmp_path / "in")
    led = {path: confined.leads(inside, path) for path in ("a/back/c.txt", "a/..", "out/b", "..", "a/none", "../in2")}
    assert led == {
        "a/back/c.txt": "a/b/c.txt",
        "a/..": "",
        "out/b": None,
        "..": None,
        "a/none": "a/none",
        "../in2": None,
    }
