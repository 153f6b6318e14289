"""Watching: real file events lead to the folders they touched, a burst is one batch, nothing due is forgotten."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest

import ready
from conftest import PATIENCE, clean_env
from machine import rest
from server_client import SERVE, Peer
from smart_context.api import App
from smart_context.errors import Conflict, NotFound
from smart_context.find.model import SearchRequest
from smart_context.index.watch import QUIET_MS, Pace, Watcher, folders, is_remote
from smart_context.settings import config


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
    assert asked.get(timeout=PATIENCE) == str(root)
    (root / "sub").mkdir()
    (root / "sub/a.txt").write_bytes(b"x")
    assert asked.get(timeout=PATIENCE) == str(root)  # the new folder is a change of its parent
    (root / "sub/a.txt").write_bytes(b"y")
    assert asked.get(timeout=PATIENCE) == str(root / "sub")


def test_a_burst_is_one_batch(watch):
    root, asked, _, _ = watch()
    asked.get(timeout=PATIENCE)
    began = time.monotonic()
    for number in range(10_000):
        (root / f"{number}.txt").write_bytes(b"x")
    looks = []
    with contextlib.suppress(queue.Empty):
        while True:
            assert asked.get(timeout=2 if looks else PATIENCE) == str(root)
            looks.append(time.monotonic() - began)
    # Each look waits for quiet. More than one comes only where the machine paused for so long in the middle of the burst.
    assert 1 <= len(looks) <= looks[-1] * 1000 / QUIET_MS


def test_a_folder_that_somebody_else_is_writing_stays_due(watch):
    root, asked, errors, _ = watch()
    asked.get(timeout=PATIENCE)
    errors += [Conflict("busy"), Conflict("busy")]
    (root / "a.txt").write_bytes(b"x")
    assert asked.get(timeout=PATIENCE) == str(root)


def test_a_root_that_goes_away_is_told_of_and_found_again(watch, tmp_path):
    root, asked, errors, said = watch(Pace(poll=0.05, sweep=0.05))
    asked.get(timeout=PATIENCE)
    os.rename(root, tmp_path / "away")
    errors.append(NotFound("gone"))
    while not said:
        asked.get(timeout=PATIENCE)
    os.rename(tmp_path / "away", root)
    while not asked.empty():
        asked.get()
    (root / "b.txt").write_bytes(b"x")
    assert asked.get(timeout=PATIENCE) == str(root)


def test_a_root_that_was_replaced_is_looked_at_and_watched_anew(watch, tmp_path):
    """Nothing rests on the next sweep, which is an hour away."""
    root, asked, _, _ = watch()
    asked.get(timeout=PATIENCE)
    (tmp_path / "new").mkdir()
    (tmp_path / "new/a.txt").write_bytes(b"x")
    os.rename(root, tmp_path / "away")
    os.rename(tmp_path / "new", root)
    assert asked.get(timeout=PATIENCE) == str(root)
    for name in ("b.txt", "c.txt"):  # the first may be seen by the look that follows the watch
        while not asked.empty():
            asked.get()
        (root / name).write_bytes(b"x")
        assert asked.get(timeout=PATIENCE) == str(root)


def test_a_root_that_stays_away_is_told_of_once(watch, tmp_path):
    root, asked, errors, said = watch(Pace(poll=0.05, sweep=0.05))
    asked.get(timeout=PATIENCE)
    os.rename(root, tmp_path / "away")
    errors += [NotFound("gone")] * 5
    while errors:
        pass
    os.rename(tmp_path / "away", root)
    asked.get(timeout=PATIENCE)
    assert said == [f"{root} is not there; its last index stays"]


@pytest.fixture
def searched(tree, tmp_path):
    """Watch two folders and index what changes; gives a start (which waits for the first look), the folders indexed, and a search."""
    root = tree({"a/ship.md": "The trawler is red.", "b/house.md": "The lighthouse is white."})
    asked = queue.Queue()
    with contextlib.ExitStack() as ending:
        home = {"HOME": str(tmp_path)}
        app = ending.enter_context(App(config.load({"roots": (str(root),), "data_dir": str(tmp_path / "data")}, home)))

        def index(folder):
            app.index_here(folder, full=False, on_progress=lambda _step: None)
            asked.put(folder)

        def start(pace):
            watcher = Watcher(app.roots.names, index, pace, print)
            ending.callback(watcher.close)
            watcher.start()
            asked.get(timeout=PATIENCE)
            return root

        def found(word):
            return [os.path.relpath(item.path, root) for item in app.find(SearchRequest(word)).items]

        yield start, asked, found


def test_a_change_through_a_name_outside_of_the_root_raises_no_event(searched, tmp_path):
    start, asked, found = searched
    os.link(tmp_path / "tree/a/ship.md", tmp_path / "elsewhere.md")
    root = start(Pace())
    (tmp_path / "elsewhere.md").write_text("The schooner is red.", encoding="utf-8")
    (root / "b/house.md").write_text("The windmill is white.", encoding="utf-8")
    assert asked.get(timeout=PATIENCE) == str(root / "b")
    assert (found("windmill"), found("schooner")) == (["b/house.md"], [])


def test_a_change_that_no_event_told_of_is_searchable_after_the_sweep(searched, tmp_path):
    start, asked, found = searched
    os.link(tmp_path / "tree/a/ship.md", tmp_path / "elsewhere.md")
    start(Pace(sweep=0.2))
    (tmp_path / "elsewhere.md").write_text("The schooner is red.", encoding="utf-8")
    while found("schooner") != ["a/ship.md"]:
        asked.get(timeout=PATIENCE)
    assert found("trawler") == []


@pytest.mark.parametrize("year", [1971, 2100])
def test_what_is_written_while_the_clock_is_wrong_is_searchable_all_the_same(searched, year):
    """Set back or ahead: files are compared by whether their time differs, not by which is later."""
    start, asked, found = searched
    root = start(Pace())
    (root / "a/ship.md").write_text("The schooner is red.", encoding="utf-8")
    stamp = datetime(year, 1, 1, tzinfo=UTC).timestamp()
    os.utime(root / "a/ship.md", (stamp, stamp))
    while found("schooner") != ["a/ship.md"]:
        assert asked.get(timeout=PATIENCE) == str(root / "a")
    assert found("trawler") == []


def test_a_renamed_folder_is_watched_under_its_new_name(watch, tmp_path):
    (tmp_path / "root/old/deep").mkdir(parents=True)
    root, asked, _, _ = watch()
    asked.get(timeout=PATIENCE)
    os.rename(root / "old", root / "new")
    assert asked.get(timeout=PATIENCE) == str(root)
    (root / "new/deep/a.txt").write_bytes(b"x")
    assert asked.get(timeout=PATIENCE) == str(root / "new/deep")


FEW_WATCHES = 'echo 2 > /proc/sys/user/max_inotify_watches && exec "$@"'


def test_where_the_kernel_has_too_few_watches_the_roots_are_looked_at_instead(tree, tmp_path):
    """A real limit, in a user namespace of its own: `context watch` says so once and finds the change."""
    under = ["unshare", "--user", "--map-root-user", "sh", "-c", FEW_WATCHES, "sh"]
    if not shutil.which("unshare") or subprocess.run([*under, "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs user namespaces")
    root = tree({f"{n}/a.md": "The lighthouse is white." for n in range(5)})
    config = tmp_path / "config.toml"
    config.write_text("[watch]\npoll_seconds = 1\n", encoding="utf-8")
    places = ["--root", str(root), "--data-dir", str(tmp_path / "data"), "--config", str(config)]
    watching = subprocess.Popen(
        [*under, sys.executable, "-m", "smart_context", "watch", *places],
        env=clean_env(tmp_path),
        stderr=subprocess.PIPE,
    )
    try:
        while not (said := watching.stderr.readline()).startswith(b"no file events"):
            assert said
        (root / "3/new.md").write_text("The trawler is red.", encoding="utf-8")
        search = [sys.executable, "-m", "smart_context", "search", "trawler", "--json", *places]
        while (
            str(root / "3/new.md").encode()
            not in ready.run(search, env=clean_env(tmp_path), capture_output=True, check=False).stdout
        ):
            assert watching.poll() is None
    finally:
        watching.terminate()
        rest = watching.communicate(timeout=PATIENCE)[1]
    assert b"no file events" not in rest


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
        found = None
        while found != expected:
            items = peer.call("searchFiles", {"query": query})["structuredContent"]["items"]
            found = [item["path"] for item in items]
            rest()

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
