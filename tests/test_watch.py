"""Watching: real file events lead to the folders they touched, a burst is one batch, nothing due is forgotten."""

from __future__ import annotations

import os
import queue

import pytest

from smart_context.errors import Conflict, NotFound
from smart_context.search.watch import Pace, Watcher, folders, is_remote


@pytest.fixture
def watch(tmp_path):
    """Watch a folder; gives it, a queue of the folders that were indexed, and a list of errors to raise first."""
    started = []

    def begin(pace=None, **more):
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        asked, errors, said = queue.Queue(), [], []

        def index(folder):
            if errors:
                raise errors.pop(0)
            asked.put(folder)

        watcher = Watcher([str(root)], index, pace or Pace(), said.append, **more)
        started.append(watcher)
        watcher.start()
        return root, asked, errors, said

    yield begin
    for watcher in started:
        watcher.close()


def test_everything_is_looked_at_once_and_then_what_changes(watch):
    root, asked, _, _ = watch()
    assert asked.get(timeout=20) == str(root)
    (root / "sub").mkdir()
    (root / "sub/a.txt").write_bytes(b"x")
    assert asked.get(timeout=20) == str(root)  # the new folder is a change of its parent
    (root / "sub/a.txt").write_bytes(b"y")
    assert asked.get(timeout=20) == str(root / "sub")


def test_a_burst_is_one_batch(watch):
    root, asked, _, _ = watch()
    asked.get(timeout=20)
    for number in range(2000):
        (root / f"{number}.txt").write_bytes(b"x")
    assert asked.get(timeout=30) == str(root)
    with pytest.raises(queue.Empty):
        asked.get(timeout=2)


def test_a_folder_that_somebody_else_is_writing_stays_due(watch):
    root, asked, errors, _ = watch()
    asked.get(timeout=20)
    errors += [Conflict("busy"), Conflict("busy")]
    (root / "a.txt").write_bytes(b"x")
    assert asked.get(timeout=20) == str(root)


def test_a_root_that_goes_away_is_told_of_and_found_again(watch, tmp_path):
    root, asked, errors, said = watch(Pace(poll=0.05, sweep=0.05))
    asked.get(timeout=20)
    os.rename(root, tmp_path / "away")
    errors.append(NotFound("gone"))
    while not said:
        asked.get(timeout=20)
    os.rename(tmp_path / "away", root)
    while not asked.empty():
        asked.get()
    (root / "b.txt").write_bytes(b"x")
    assert asked.get(timeout=20) == str(root)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["/r/a/x.txt", "/r/a/y.txt"], ["/r"]),  # /r/a is not there: the nearest that is
        (["/elsewhere/x"], []),
        (["/r-sibling/x"], []),
        (["/r/data/x"], []),  # left out
        ([], []),
    ],
)
def test_changes_lead_to_folders_inside_the_roots(changed, expected):
    assert folders(changed, ["/r"], ["/r/data"]) == expected


def test_many_folders_become_their_common_parent_and_none_is_below_another(tmp_path):
    for number in range(50):
        (tmp_path / f"a/{number}").mkdir(parents=True)
    root = str(tmp_path)
    few = [f"{root}/a/1/x", f"{root}/a/1/y", f"{root}/a/2/x"]
    assert folders(few, [root]) == [f"{root}/a/1", f"{root}/a/2"]
    assert folders([*few, f"{root}/a/x"], [root]) == [f"{root}/a"]
    assert folders([f"{root}/a/{n}/x" for n in range(50)], [root]) == [f"{root}/a"]


def test_an_ordinary_folder_is_not_remote(tmp_path):
    assert is_remote(str(tmp_path)) is False
