"""Who may see which texts of a shared record is decided by the database, whatever a search node asks for."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import PATIENCE
from postgres_server import Server, caught_up
from smart_context import engine, errors
from smart_context.access import tokens
from smart_context.access.tokens import Tokens
from smart_context.api import App
from smart_context.engine.model import NewFile
from smart_context.engine.postgres.database import Database
from smart_context.model import OWNER, Caller, Segment
from smart_context.redact import Redactor
from smart_context.settings import config

FOLDERS = ("sales", "staff", "staff2", "legal")
ENDED = "2020-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def team(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A record of four folders, and a machine that connects as a search node."""
    base = tmp_path_factory.mktemp("team")
    address = postgres.new()
    place = engine.shared(base / "indexer", address)
    place.init()
    postgres.sql(
        "postgres", "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN", "GRANT smart_context_node TO reader"
    )
    rules = Redactor().identity()
    with place.open(writable=True) as index:
        for folder in FOLDERS:
            path = base / "tree" / folder / "plan.txt"
            path.parent.mkdir(parents=True)
            path.write_text(f"the plan of {folder}", encoding="utf-8")
            stamp = path.stat()
            new = NewFile(
                str(path), str(path.parent), "text", stamp.st_size, stamp.st_mtime_ns, "ab", "ok", judged=rules
            )
            index.put(new, [Segment(0, "lines 1-1", "", f"the plan of {folder}")], (), "")
        index.commit()
    flags = {
        "roots": [str(base / "tree" / folder) for folder in FOLDERS],
        "data_dir": str(base / "node"),
        "engine": address.replace("tester@", "reader@"),
    }
    with App(config.load(flags, {"HOME": str(base)})) as app:
        app.follows = True
        caught_up(app.index)
        yield Team(app, base, address)


class Team:
    def __init__(self, app: App, base: Path, address: str) -> None:
        self.app, self.base, self.address = app, base, address
        self.kept = engine.shared(base / "indexer", address).tokens()

    def folder(self, name: str) -> str:
        return str(self.base / "tree" / name)

    def token(self, name: str, folders: tuple[str, ...] | None, ends: str = "") -> Caller:
        """A caller as the server knows it by a new token."""
        roots = None if folders is None else tuple(map(self.folder, folders))
        key = tokens.add(self.base, name, roots, is_admin=False, made="", ends=ends, shared=self.kept)
        return Caller(name, roots, is_owner=False, key=key)

    def texts(self, key: str) -> list[str]:
        """Every text that the database itself shows to a token."""
        rows = Database(self.app.settings.engine).rows(
            """SELECT f.path FROM smart_context.blocks JOIN smart_context.files f USING (file_id)
            JOIN smart_context.segments s USING (block_id) ORDER BY f.path""",
            key=key,
        )
        return [Path(os.fsdecode(row[0])).parent.name for row in rows]


def found(app: App, caller: Caller) -> list[str]:
    return [Path(item["path"]).parent.name for item in app.search_files("plan", caller=caller)["items"]]


def test_a_caller_sees_the_texts_of_its_folders_and_nobody_sees_any_without_a_token(team: Team) -> None:
    ada = team.token("ada", ("sales", "legal"))
    assert sorted(found(team.app, ada)) == ["legal", "sales"]
    assert team.app.open_file(team.folder("sales") + "/plan.txt", caller=ada)["preview"] == "the plan of sales"
    assert (team.texts(ada.key), team.texts(""), team.texts("sct_wrong")) == (["legal", "sales"], [], [])
    for nobody in (OWNER, Caller("eve", (team.folder("staff"),), is_owner=False)):
        with pytest.raises(errors.Forbidden):
            team.app.search_files("plan", caller=nobody)


def test_a_node_that_mixes_callers_up_shows_nothing_of_another(team: Team) -> None:
    bob = team.token("bob", ("staff",))
    fault = replace(bob, roots=tuple(map(team.folder, FOLDERS)))  # what a fault in the node would make of bob
    assert found(team.app, fault) == ["staff"]
    with pytest.raises(errors.Forbidden):
        team.app.open_file(team.folder("legal") + "/plan.txt", caller=bob)


def test_while_the_database_is_away_a_node_shows_to_a_token_what_it_showed_it_before_and_nothing_of_another(
    postgres: Server, team: Team
) -> None:
    fay, gus = team.token("fay", None), team.token("gus", ("staff",))
    assert sorted(found(team.app, fay)) == sorted(FOLDERS)
    assert found(team.app, gus) == ["staff"]
    postgres.stop(signal.SIGQUIT)
    try:
        assert sorted(found(team.app, fay)) == sorted(FOLDERS)
        assert found(team.app, gus) == ["staff"]
        with pytest.raises(errors.Unreachable):  # what a fault in the node would make of gus
            team.app.search_files("plan", caller=replace(gus, roots=None))
    finally:
        postgres.start()
    late = time.monotonic() + PATIENCE
    while team.app.index.following().is_away:
        assert time.monotonic() < late
        threading.Event().wait(0.01)


def test_a_folder_whose_name_begins_alike_is_another_and_an_end_is_an_end(team: Team) -> None:
    assert team.texts(team.token("cyd", ("staff",)).key) == ["staff"]
    assert team.texts(team.token("dan", None).key) == sorted(FOLDERS)
    assert team.texts(team.token("eli", None, ENDED).key) == []


def test_random_permissions_show_what_a_slow_check_allows(team: Team) -> None:
    drawn = random.Random(15)
    for number in range(25):
        held = tuple(folder for folder in FOLDERS if drawn.random() < 0.5)
        caller = team.token(f"r{number}", held)
        assert team.texts(caller.key) == sorted(held)
        if held:
            assert sorted(found(team.app, caller)) == sorted(held)


def test_a_shared_token_is_known_to_every_machine_and_its_end_is_too(team: Team, tmp_path: Path) -> None:
    ann = team.token("ann", ("sales",))
    seen = Tokens(tmp_path, None, shared=team.kept)
    assert seen.caller(ann.key.encode()) == ann
    with pytest.raises(errors.UsageError):
        team.token("ann", None)
    tokens.revoke(tmp_path, "ann", team.kept)
    with pytest.raises(errors.NotFound):
        tokens.revoke(tmp_path, "ann", team.kept)
    seen.read_again()
    assert isinstance(seen.caller(ann.key.encode()), str)
    assert team.texts(ann.key) == []


def test_what_is_known_of_files_is_shown_by_token_too_and_to_a_machines_own_work(team: Team) -> None:
    def shown(key: str) -> list[str]:
        rows = Database(team.app.settings.engine).rows("SELECT path FROM smart_context.files ORDER BY path", key=key)
        return [Path(os.fsdecode(row[0])).parent.name for row in rows]

    held = team.token("hal", ("sales", "staff")).key
    assert shown(held) == ["sales", "staff"]
    assert shown(team.token("ida", None).key) == shown("") == sorted(FOLDERS)
    assert shown("sct_wrong") == shown(team.token("joe", None, ENDED).key) == shown(team.token("kim", ()).key) == []


@pytest.mark.parametrize(
    ("where", "index"),
    [
        ("sha256(path) = sha256('/a'::bytea)", "files_by_path"),
        ("head >= '/a'::bytea AND head <= '/b'::bytea AND path >= '/a' AND path < '/b'", "files_in_order"),
        ("file_id = ANY('{1,2}')", "files_pkey"),
        ("xid >= '7'::xid8", "files_by_xid"),
    ],
)
def test_row_level_security_leaves_the_indexes_of_files_in_use(team: Team, where: str, index: str) -> None:
    with Database(team.app.settings.engine).connection() as db, db.transaction():
        db.execute("SET LOCAL enable_seqscan = off")
        plan = db.execute(f"EXPLAIN SELECT file_id FROM smart_context.files WHERE {where}").fetchall()
    assert index in str(plan)


def test_a_search_node_may_write_nothing(team: Team) -> None:
    node = engine.shared(team.base / "node", team.app.settings.engine)
    with node.open(writable=True) as index, pytest.raises(errors.ConfigError):
        index.record.restamp(1, 1)
    assert node.state().roles == ("smart_context_node",)
