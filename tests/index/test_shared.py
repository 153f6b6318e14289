"""Workers that read for a shared record: any number at once, killed or not."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import ready
from conftest import PATIENCE, clean_env
from machine import children
from postgres_server import Server
from smart_context import engine, errors, team
from smart_context.access.roots import Roots
from smart_context.api import App
from smart_context.data import replace
from smart_context.engine.model import Batch
from smart_context.engine.postgres.database import Database
from smart_context.index import indexer, shared
from smart_context.index.model import IndexReport
from smart_context.settings import config

KILLS = 3
FILES = {f"d{i % 5}/f{i}.md": f"# Head {i}\n\nword{i % 7} common text number {i}\n" for i in range(150)}


def app_of(root: Path, tmp_path: Path, name: str, address: str) -> App:
    flags = {"roots": [str(root)], "data_dir": str(tmp_path / name), "engine": address or None, "index.workers": 1}
    return App(config.load(flags, {"HOME": str(tmp_path)}))


def pages(app: App) -> list[object]:
    return [app.search_files(query, 20) for query in ("word1", "common text", "head 7", "number -word2", "f12.md")]


def test_a_batch_may_be_taken_twice_and_a_poisoned_one_ends_as_single_failures(
    postgres: Server, tree, tmp_path: Path
) -> None:
    root = tree({"a.txt": "rent", "b.txt": "wages"})
    address = postgres.new()
    place = engine.shared(tmp_path / "data", address)
    place.init()
    paths = tuple(str(root / name) for name in ("a.txt", "b.txt"))
    with App(config.load({"roots": [str(root)], "data_dir": str(tmp_path / "data"), "engine": address}, {})) as app:
        options, queue = indexer.Options(workers=1), place.queue()
        with place.beside() as index:
            first = shared.take(index, queue, app.roots, Batch(str(root), paths), options)
            again = shared.take(index, queue, app.roots, Batch(str(root), paths, 1), options)
            (root / "a.txt").unlink()
            gone = shared.take(index, queue, app.roots, Batch(str(root), paths, 1), options)
            assert (first.indexed, again.indexed, again.skipped, gone.removed) == (2, 0, 2, 1)
            assert shared.take(index, queue, app.roots, Batch(str(root), paths, 3), options) == IndexReport()
            assert queue.waiting() == 2
            assert shared.take(index, queue, app.roots, Batch(str(root), paths[1:], 3), options).failed == 1
            row = index.record.file(paths[1])
            assert row is not None
            assert (row.state, row.reason) == ("failed", "killed")


def test_there_is_no_queue_without_a_shared_record(tree, tmp_path: Path) -> None:
    with app_of(tree({"a": "b"}), tmp_path, "local", "") as app, pytest.raises(errors.ConfigError):
        team.enqueue(app, str(tmp_path))


def test_a_share_that_is_mounted_elsewhere_is_the_same_share(postgres: Server, tree, tmp_path: Path) -> None:
    root, address = tree({"a/rent.txt": "rent and wages", "b.txt": "income"}), postgres.new()
    here = tmp_path / "mounted"
    shutil.copytree(root, here)
    engine.shared(tmp_path / "one", address).init()
    flags = {"roots": [str(here)], "data_dir": str(tmp_path / "two"), "engine": address, "index.workers": 1}
    there = config.load({**flags, "engine_places": [f"{root}={here}"]}, {"HOME": str(tmp_path)})
    with app_of(root, tmp_path, "one", address) as one, App(there) as two:
        assert team.enqueue(one, str(root)) == 1
        done: list[IndexReport] = []
        team.work(two, done.append, wait=False)
        assert [report.indexed for report in done] == [2]
        assert one.index_here(str(root), full=False, on_progress=lambda _step: None).skipped == 2
        assert two.index_here(str(here), full=False, on_progress=lambda _step: None).skipped == 2
        answers = [app.search_files("wages")["items"] for app in (one, two)]
        assert [item["path"] for items in answers for item in items] == [
            str(root / "a/rent.txt"),
            str(here / "a/rent.txt"),
        ]
        assert two.open_file(str(here / "b.txt"))["preview"] == "income"
        assert [status.files for status in (*one.status().roots, *two.status().roots)] == [2, 2]
        assert team.enqueue(one, str(root), full=True) == 1
        team.work(two, done.append, wait=False)
        assert (done[-1].indexed, done[-1].moved) == (2, 0)  # unchanged, and read again


@pytest.mark.parametrize("pair", ["/a", "a=/b", "/a=b"])
def test_what_is_no_pair_of_folders_is_refused(tmp_path: Path, pair: str) -> None:
    with pytest.raises(errors.ConfigError):
        engine.at(tmp_path, "postgresql:///db", [pair]).open()


def started(root: Path, tmp_path: Path, name: str, address: str) -> subprocess.Popen[bytes]:
    env = {
        **clean_env(tmp_path),
        "SMART_CONTEXT_ENGINE": address,
        "SMART_CONTEXT_ROOTS": str(root),
        "SMART_CONTEXT_DATA_DIR": str(tmp_path / name),
        "SMART_CONTEXT_INDEX_WORKERS": "1",
    }
    with open(tmp_path / f"{name}.log", "wb") as log:
        return ready.Popen(
            [sys.executable, "-m", "smart_context", "worker"], env=env, cwd=tmp_path, stdout=log, stderr=log
        )


def until(is_so: Callable[[], bool]) -> None:
    late = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < late
        threading.Event().wait(0.05)


def test_a_batch_of_a_folder_that_is_no_root_any_more_is_left_to_others_and_removes_nothing(
    postgres: Server, tree, tmp_path: Path
) -> None:
    root, address = tree({"a.txt": "rent"}), postgres.new()
    place = engine.shared(tmp_path / "data", address)
    place.init()
    with app_of(root, tmp_path, "data", address) as app, place.beside() as index:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        batch = Batch(str(root), (str(root / "a.txt"),))
        for tries in (0, 3):
            with pytest.raises(errors.Forbidden):
                shared.take(index, place.queue(), Roots(["/elsewhere"]), replace(batch, tries=tries), indexer.Options())
        assert index.record.file(str(root / "a.txt")) is not None


def test_a_worker_takes_roots_that_are_added_to_its_configuration_file_and_leaves_those_that_are_removed(
    postgres: Server, tree, tmp_path: Path
) -> None:
    folders = tree({"a/one.txt": "rent", "b/two.txt": "wages"})
    address = postgres.new()
    place = engine.shared(tmp_path / "walker", address)
    place.init()
    file = tmp_path / "config.toml"
    common = f'engine = "{address}"\ndata_dir = "{tmp_path}/data"\n'
    file.write_text(common + f'roots = ["{folders}/a"]\n', encoding="utf-8")
    both = App(config.load({"config": str(file), "roots": [f"{folders}/a", f"{folders}/b"]}, {}))

    def files(name: str) -> int:
        return sum(tally.files for tally in place.record().tallies(f"{folders}/{name}"))

    command = [sys.executable, "-m", "smart_context", "worker", "--config", str(file)]
    with both, ready.Popen(command, env=clean_env(tmp_path), stderr=subprocess.PIPE, text=True) as worker:
        for name in ("a", "b"):
            assert team.enqueue(both, f"{folders}/{name}") == 1
        until(lambda: files("a") == 1)
        assert files("b") == 0
        file.write_text(common + f'roots = ["{folders}/a", "{folders}/b"]\n', encoding="utf-8")
        until(lambda: files("b") == 1)
        file.write_text(common + f'roots = ["{folders}/b"]\n', encoding="utf-8")
        while "no longer a root" not in (line := worker.stderr.readline()):
            assert line
        (folders / "b/three.txt").write_text("interest")
        (folders / "a/four.txt").write_text("interest")
        for name in ("a", "b"):
            assert team.enqueue(both, f"{folders}/{name}") == 1
        until(lambda: files("b") == 2)
        worker.terminate()
    assert (files("a"), place.queue().waiting()) == (1, 1)


def test_two_workers_of_which_one_is_killed_read_everything_once_and_answer_as_one_machine(
    postgres: Server, tree, tmp_path: Path
) -> None:
    root, address = tree(FILES), postgres.new()
    place = engine.shared(tmp_path / "walker", address)
    place.init()
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    with app_of(root, tmp_path, "walker", address) as app:
        assert team.enqueue(app, str(root)) == 3
        assert team.enqueue(app, str(root)) == 0  # they wait already
        # The first worker is stopped in the middle of a batch: somebody holds the table that it writes.
        with Database(address).connection() as db, db.transaction():
            db.execute("LOCK TABLE smart_context.segments IN SHARE MODE")
            victim = started(root, tmp_path, "victim", address)
            waits = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            until(lambda: postgres.sql(name, waits) == [(1,)])
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        worker = started(root, tmp_path, "worker", address)
        try:
            until(lambda: place.queue().waiting() == 0)
        finally:
            worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
        assert postgres.sql(name, "SELECT count(*), count(DISTINCT path) FROM smart_context.files") == [(150, 150)]
        dead = "SELECT count(*) FROM smart_context.segments WHERE dead IS NOT NULL"
        assert postgres.sql(name, dead) == [(0,)]  # no file was written twice
        with app_of(root, tmp_path, "local", "") as local:
            local.index_here(str(root), full=False, on_progress=lambda _step: None)
            assert pages(app) == pages(local)


def test_a_share_that_does_not_answer_holds_up_no_worker_of_another_one(postgres: Server, tmp_path: Path) -> None:
    address = postgres.new()
    place = engine.shared(tmp_path / "walker", address)
    place.init()
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    slow, other = tmp_path / "slow", tmp_path / "other"
    for root, files in ((slow, 640), (other, 70)):
        root.mkdir()
        for number in range(files):
            (root / f"{number}.txt").write_text(f"{root.name} {number}\n", encoding="utf-8")
        with app_of(root, tmp_path, "walker", address) as app:
            team.enqueue(app, str(root))
    doing = "SELECT count(*) FROM smart_context_queue.procrastinate_jobs WHERE status = 'doing'"
    read = "SELECT count(*) FROM smart_context.files WHERE convert_from(path, 'UTF8') LIKE '%/{}/%'"
    stuck = started(slow, tmp_path, "stuck", address)
    try:
        until(lambda: postgres.sql(name, doing) == [(1,)])
        stuck.send_signal(signal.SIGSTOP)  # as a process is that waits for a share
        worker = started(other, tmp_path, "worker", address)
        try:
            until(lambda: postgres.sql(name, read.format("other")) == [(70,)])
        finally:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(PATIENCE) == 0
        stuck.send_signal(signal.SIGCONT)
        until(lambda: postgres.sql(name, read.format("slow")) == [(640,)])
    finally:
        stuck.send_signal(signal.SIGCONT)
        stuck.send_signal(signal.SIGTERM)
        assert stuck.wait(PATIENCE) == 0


@pytest.mark.unmeasured
def test_two_workers_that_are_killed_again_and_again_read_everything_and_answer_as_one_machine(
    postgres: Server, tree, tmp_path: Path
) -> None:
    root, address, drawn = tree(FILES), postgres.new(), random.Random(15)
    place = engine.shared(tmp_path / "walker", address)
    place.init()
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    with app_of(root, tmp_path, "walker", address) as app:
        team.enqueue(app, str(root))
        running = [started(root, tmp_path, f"worker{number}", address) for number in range(2)]
        for number in range(KILLS):
            threading.Event().wait(drawn.uniform(0, 2))
            victim = running.pop(drawn.randrange(2))
            victim.kill()
            victim.wait()
            running.append(started(root, tmp_path, f"next{number}", address))
        try:
            until(lambda: place.queue().waiting() == 0)
        finally:
            for worker in running:  # the last may not have come so far as to end in order
                worker.send_signal(signal.SIGTERM)
                worker.wait(PATIENCE)
        query = "SELECT count(*), count(DISTINCT path), count(*) FILTER (WHERE state = 'ok') FROM smart_context.files"
        assert postgres.sql(name, query) == [(150, 150, 150)]
        # Nothing half-written is there: each file has its segments, each of these its text, and nothing belongs to no file.
        whole = """SELECT (SELECT count(*) FROM smart_context.files f WHERE f.segments <>
                (SELECT count(*) FROM smart_context.segments s WHERE s.file_id = f.file_id AND dead IS NULL)),
            (SELECT count(*) FROM smart_context.segments s WHERE dead IS NULL
                AND NOT EXISTS (SELECT FROM smart_context.blocks b WHERE b.block_id = s.block_id)),
            (SELECT count(*) FROM smart_context.segments s
                WHERE NOT EXISTS (SELECT FROM smart_context.files f WHERE f.file_id = s.file_id))"""
        assert postgres.sql(name, whole) == [(0, 0, 0)]
        with app_of(root, tmp_path, "local", "") as local:
            local.index_here(str(root), full=False, on_progress=lambda _step: None)
            assert pages(app) == pages(local)


def test_the_processes_that_read_are_kept_from_one_batch_to_the_next(postgres: Server, tree, tmp_path: Path) -> None:
    root = tree({"a.txt": "rent", "b.txt": "wages"})
    place = engine.shared(tmp_path / "data", postgres.new())
    place.init()
    options, queue, seen = indexer.Options(workers=1), place.queue(), []
    with indexer.readers(options) as readers, place.beside() as index:
        before = children(os.getpid())
        for name in ("a.txt", "b.txt"):
            batch = Batch(str(root), (str(root / name),))
            assert shared.take(index, queue, Roots([str(root)]), batch, options, readers).indexed == 1
            seen.append(children(os.getpid()) - before)
    assert seen[0] == seen[1] != set()


@pytest.mark.parametrize("others", [3, 70])  # of the same size: a few are looked up at once, many one by one
def test_a_worker_knows_contents_that_others_have_read(postgres: Server, tree, tmp_path: Path, others: int) -> None:
    root = tree({f"{i}.txt": f"rent {i:03}" for i in range(others)})
    place = engine.shared(tmp_path / "data", postgres.new())
    place.init()
    options, queue, roots = indexer.Options(workers=1), place.queue(), Roots([str(root)])
    paths = tuple(str(root / f"{i}.txt") for i in range(others))
    with indexer.readers(options) as readers:
        with place.beside() as index:
            first = shared.take(index, queue, roots, Batch(str(root), paths), options, readers)
        (root / "copy.txt").write_text("rent 002")
        (root / "new.txt").write_text("wage 002")
        both = tuple(str(root / name) for name in ("copy.txt", "new.txt"))
        with place.beside() as index:
            second = shared.take(index, queue, roots, Batch(str(root), both), options, readers)
            again = shared.take(index, queue, roots, Batch(str(root), (*paths, *both)), options, readers)
    assert (first.indexed, first.moved, second.indexed, second.moved) == (others, 0, 2, 1)
    assert (again.indexed, again.skipped) == (0, others + 2)
