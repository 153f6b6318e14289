"""Watching: real file events lead to the folders they touched, a burst is one batch, nothing due is forgotten."""

from __future__ import annotations

import os
import queue
import time

import pytest

from server_client import SERVE, Peer
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
    for number in range(10_000):
        (root / f"{number}.txt").write_bytes(b"x")
    assert asked.get(timeout=60) == str(root)
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


def test_so_many_changes_that_some_may_be_lost_lead_to_the_whole_root(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    assert folders((f"{tmp_path}/a/b/{n}" for n in range(6000)), [str(tmp_path)]) == [str(tmp_path)]


def test_a_change_is_found_by_a_search_without_anybody_asking_for_it(tree, tmp_path):
    """`serve --watch`, as a client sees it: real files, a real process."""
    root = tree({"old.md": "The lighthouse is white."})
    config = tmp_path / "config.toml"
    config.write_text("[rate_limits]\nsearchFiles = 0\n", encoding="utf-8")
    argv = [*SERVE, "--watch", "--root", str(root), "--data-dir", str(tmp_path / "data"), "--config", str(config)]

    def search(peer, query, expected):
        until = time.monotonic() + 60
        while (
            found := [i["path"] for i in peer.call("searchFiles", {"query": query})["structuredContent"]["items"]]
        ) != expected:
            assert time.monotonic() < until, found

    with Peer(argv, tmp_path) as peer:
        peer.initialize()
        search(peer, "lighthouse", [str(root / "old.md")])
        (root / "new").mkdir()
        (root / "new/ship.md").write_text("The trawler is red.", encoding="utf-8")
        search(peer, "trawler", [str(root / "new/ship.md")])
        (root / "new/ship.md").write_text("The trawler is a schooner now.", encoding="utf-8")
        search(peer, "schooner", [str(root / "new/ship.md")])
        (root / "new/ship.md").rename(root / "boat.md")
        search(peer, "schooner", [str(root / "boat.md")])
        (root / "boat.md").unlink()
        search(peer, "schooner", [])


def test_an_ordinary_folder_is_not_remote(tmp_path):
    assert is_remote(str(tmp_path)) is False
