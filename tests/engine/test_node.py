"""A machine that searches a shared record: it follows whoever writes, and goes on when the database does not answer."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from conftest import PATIENCE
from postgres_server import Server, caught_up
from smart_context import engine, errors
from smart_context.api import App
from smart_context.engine.model import Following, NewFile
from smart_context.engine.port import Index
from smart_context.engine.postgres import follower
from smart_context.engine.postgres.database import Database
from smart_context.engine.postgres.follower import Follower
from smart_context.engine.postgres.writer import Writer
from smart_context.find import search
from smart_context.model import Segment
from smart_context.settings import config


def put(writer: Writer | Index, path: str, text: str, judged: str = "") -> None:
    new = NewFile(path, "/r", "text", len(text), 5, "ab", "ok", judged=judged)
    segments = [Segment(0, "lines 1-1", "", text)]
    if isinstance(writer, Writer):
        writer.put(new, segments, (), "2024-05-06T07:08:09Z", ())
    else:
        writer.put(new, segments, (), "2024-05-06T07:08:09Z")


def having(index: Index, word: str) -> int:
    index.refresh()
    if index._follower:
        caught_up(index)
    return index.both()[1].having(word)


def until(is_so: Callable[[], bool]) -> None:
    """Wait for another thread to get somewhere."""
    import threading
    import time

    late = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < late
        threading.Event().wait(0.01)


@pytest.fixture
def address(postgres: Server, tmp_path: Path) -> str:
    made = postgres.new()
    with engine.at(tmp_path / "first", made).open(writable=True) as index:
        put(index, "/r/first.txt", "rent")
        index.commit()
    return made


@pytest.mark.parametrize("follow", [False, True])
def test_a_transaction_that_began_first_and_commits_last_is_not_missed(
    address: str, tmp_path: Path, follow: bool
) -> None:
    with (
        closing(Writer(Database(address), "one")) as early,
        closing(Writer(Database(address), "two")) as late,
        engine.at(tmp_path / "node", address).open(follow=follow) as node,
    ):
        put(early, "/r/early.txt", "rent early")
        assert early.file("/r/early.txt") is not None  # it is sent: the transaction has its number
        for number in range(3):
            put(late, f"/r/late {number}.txt", "rent late")
            late.commit()
            assert having(node, "rent") == 2 + number
        early.commit()
        assert having(node, "rent") == 5
        row = late.file("/r/early.txt")
        assert row is not None
        late.remove([row.file_id])
        late.commit()
        assert (having(node, "rent"), having(node, "earli~en")) == (4, 0)


def test_two_writers_of_the_same_file_leave_one_of_them_whole(address: str, tmp_path: Path) -> None:
    with closing(Writer(Database(address), "one")) as one, closing(Writer(Database(address), "two")) as two:
        for number in range(3):
            put(one, "/r/same.txt", f"rent one {number}")
            one.commit()
            put(two, "/r/same.txt", f"rent two {number}")
            two.commit()
        row = one.file("/r/same.txt")
        assert row is not None
        assert list(one.texts(s.segment_id for s in one.segments_of(row.file_id)).values()) == ["rent two 2"]
    with engine.at(tmp_path / "node", address).open() as node:
        assert having(node, "rent") == 2


def test_a_node_hears_of_a_commit_without_being_asked(address: str, tmp_path: Path) -> None:
    with (
        engine.at(tmp_path / "node", address).open(follow=True) as node,
        engine.at(tmp_path / "first", address).open(writable=True) as writer,
    ):
        put(writer, "/r/new.txt", "wages")
        made = writer.commit()
        until(lambda: node.generation == made)


def test_a_search_that_waits_in_vain_for_a_commit_says_so(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(address)
    with engine.at(tmp_path / "node", address).open(follow=True) as node:
        waiting = Follower(node._node, database)  # nobody takes anything in for it before it is started
        with closing(Writer(database, "one")) as writer:
            node._follower.close()
            put(writer, "/r/second.txt", "rent second")
            writer.commit()
        monkeypatch.setattr(follower, "_PATIENCE", 0.01)
        waiting.catch_up()
        assert [*search.lag(waiting.state(), is_confined=False)] == [
            "this machine is still taking in the shared record"
        ]
        waiting.start()
        until(lambda: waiting.state() == Following())
        waiting.close()
        node._node.reload()
        assert node.both()[1].having("rent") == 2


def test_a_node_goes_on_from_where_it_was_and_takes_in_only_what_is_new(address: str, tmp_path: Path) -> None:
    place = engine.at(tmp_path / "node", address)
    with place.open() as node:
        assert having(node, "rent") == 1
        first = node.both()[1]
    with engine.at(tmp_path / "first", address).open(writable=True) as writer:
        put(writer, "/r/new.txt", "rent")
        writer.commit()
    seen: list[str] = []
    with place.open(on_progress=lambda step: seen.append(step.what)) as node:
        assert (having(node, "rent"), first.having("rent")) == (2, 1)
    assert seen == ["/r/new.txt"]


def test_what_a_node_keeps_is_for_its_owner_alone(address: str, tmp_path: Path) -> None:
    engine.at(tmp_path / "node", address).open().close()
    for folder in (tmp_path / "node", tmp_path / "node" / "node"):
        assert folder.stat().st_mode & 0o077 == 0


def test_a_copy_of_a_nodes_folder_is_a_node(address: str, tmp_path: Path) -> None:
    import shutil

    with engine.at(tmp_path / "node", address).open() as node:
        node.refresh()
    shutil.copytree(tmp_path / "node", tmp_path / "copy")
    seen: list[str] = []
    with engine.at(tmp_path / "copy", address).open(on_progress=lambda step: seen.append(step.what)) as node:
        assert having(node, "rent") == 1
    assert seen == []


def test_what_another_analysis_made_is_analysed_by_the_node(postgres: Server, address: str, tmp_path: Path) -> None:
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    postgres.sql(name, "UPDATE smart_context.files SET analysis = 0", "DELETE FROM smart_context.terms")
    with engine.at(tmp_path / "node", address).open() as node:
        assert having(node, "rent") == 1


@pytest.fixture
def app(postgres: Server, tree, tmp_path: Path) -> Iterator[App]:
    """A server's application over a shared record with two files."""
    root = tree({"a.txt": "rent and wages", "b.txt": "income"})
    flags = {"roots": [str(root)], "data_dir": str(tmp_path / "data"), "engine": postgres.new(), "index.workers": 1}
    with App(config.load(flags, {"HOME": str(tmp_path)})) as app:
        with app.engine.open(writable=True) as index:
            for file in sorted(root.iterdir()):
                put(index, str(file), file.read_text(encoding="utf-8"), app.redactor.identity())
            index.commit()
        app.follows = True
        caught_up(app.index)
        yield app


def away(server: Server, how: str) -> None:
    if how == "stopped":
        server.stop(signal.SIGQUIT)
    else:
        server.pause()


def back(server: Server, how: str) -> None:
    if how == "stopped":
        server.start()
    else:
        server.resume()


@pytest.mark.parametrize("how", ["stopped", "paused"])
def test_a_search_goes_on_from_the_last_state_when_the_database_is_gone_and_recovers(
    postgres: Server, app: App, how: str
) -> None:
    before = app.search_files("wages")
    away(postgres, how)
    try:
        after = app.search_files("wages")
        assert after["items"] == before["items"]
        assert after["notes"] == ["the shared record does not answer; this is what was known of it before"]
        with pytest.raises(errors.Unreachable):
            app.search_files("income")
        assert app.index.following().is_away
    finally:
        back(postgres, how)
    until(lambda: not app.index.following().is_away)
    assert app.search_files("wages") == before
    assert app.search_files("income")["pagination"]["returned"] == 1


def test_health_says_that_the_record_is_away_and_that_searches_go_on(postgres: Server, app: App) -> None:
    from smart_context.index import health

    app.search_files("wages")
    assert health.of(app).is_ready
    away(postgres, "stopped")
    try:
        told = health.of(app)
        path = str(Path(app.settings.roots[0]) / "a.txt")
        assert app.open_file(path)["preview"] == "rent and wages"  # from the file itself
    finally:
        back(postgres, "stopped")
    assert (told.is_ready, told.record_away) == (True, True)


def test_a_server_starts_from_its_last_state_without_the_database(postgres: Server, app: App, tmp_path: Path) -> None:
    app.search_files("wages")
    app.close()
    away(postgres, "stopped")
    try:
        with pytest.raises(errors.Unreachable):
            engine.at(tmp_path / "nothing", app.settings.engine).open(follow=True)
        with engine.at(app.settings.data_dir, app.settings.engine).open(follow=True) as node:
            node.refresh()
            assert node.both()[1].having("rent") == 1
            assert node.following().is_away
    finally:
        back(postgres, "stopped")


def test_a_search_does_not_wait_for_a_commit_where_others_wait_already(
    postgres: Server, address: str, tmp_path: Path
) -> None:
    import threading

    name = Database(address).rows("SELECT current_database()::text")[0][0]
    with engine.at(tmp_path / "node", address).open(follow=True) as node, Database(address).connection() as db:
        follower = node._follower

        def goes_ahead() -> bool:
            others = [threading.Thread(target=node.refresh) for _ in range(2)]
            for other in others:
                other.start()
            until(lambda: follower._waiting == 2 or not any(other.is_alive() for other in others))
            node.refresh()
            were_waiting = follower._waiting == 2
            for other in others:
                other.join()
            return were_waiting

        with db.transaction():  # nobody can take in what is committed now
            db.execute("LOCK TABLE smart_context.terms")
            postgres.sql(name, "INSERT INTO smart_context.commits (machine) VALUES ('other')")
            until(goes_ahead)


@contextmanager
def failed_over(postgres: Server, replica: Server, both: str) -> Iterator[int]:
    """Lose the server and promote its replica; the generation of a commit after that."""
    postgres.stop(signal.SIGQUIT)
    try:
        replica.start()
        replica.sql("postgres", "SELECT pg_promote()")
        with closing(Writer(Database(both), "two")) as writer:
            put(writer, "/r/after.txt", "wages after")
            made = writer.commit()
        yield made
    finally:
        postgres.start()


def test_a_node_keeps_its_ranking_over_a_failover_that_lost_nothing(
    postgres: Server, address: str, tmp_path: Path
) -> None:
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    if not (postgres.bin / "pg_basebackup").exists():
        pytest.skip("pg_basebackup is not installed")
    with closing(Writer(Database(address), "one")) as writer:
        put(writer, "/r/kept.txt", "rent kept")
        writer.commit()
    with postgres.replica() as replica:
        both = f"postgresql://tester@/{name}?host={postgres.home},{replica.home}&target_session_attrs=read-write"
        with engine.at(tmp_path / "node", both).open(follow=True) as node:
            assert having(node, "kept") == 1
            # Numbers that the replica will give again: these transactions change nothing that is replicated.
            for _ in range(5):
                postgres.sql(name, "SELECT pg_current_xact_id()")
            postgres.sql(name, "CHECKPOINT")
            node.refresh()
            mark = tmp_path / "node" / "node" / "ranking" / "same folder"
            mark.touch()
            with failed_over(postgres, replica, both) as made:
                until(lambda: node.generation == made and not node.following().is_away)
                assert (having(node, "kept"), having(node, "after")) == (1, 1)
                assert mark.exists()


def test_a_node_follows_a_failover_and_forgets_what_was_lost_in_it(
    postgres: Server, address: str, tmp_path: Path
) -> None:
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    if not (postgres.bin / "pg_basebackup").exists():
        pytest.skip("pg_basebackup is not installed")
    with postgres.replica() as replica:
        both = f"postgresql://tester@/{name}?host={postgres.home},{replica.home}&target_session_attrs=read-write"
        with engine.at(tmp_path / "node", both).open(follow=True) as node:
            with closing(Writer(Database(both), "one")) as writer:
                put(writer, "/r/lost.txt", "rent lost")
                writer.commit()
            assert having(node, "rent") == 2  # taken in, and not copied to the replica, which has not been started
            with failed_over(postgres, replica, both) as made:
                until(lambda: node.generation == made and not node.following().is_away)
                assert (having(node, "rent"), having(node, "wage"), having(node, "lost")) == (1, 1, 0)
