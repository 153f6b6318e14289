"""A record in PostgreSQL: what it refuses, how it is prepared, and that its answers are those of a local index."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from postgres_server import Server
from smart_context import engine, errors, team
from smart_context.access.roots import Roots
from smart_context.api import App
from smart_context.engine.model import NewFile
from smart_context.engine.postgres import schema
from smart_context.engine.postgres.database import Database
from smart_context.index import indexer
from smart_context.model import Segment
from smart_context.settings import config

DRAFTS = {
    "notes/rent.md": "# Rent\n\nThe rent is due in March 2021. Call +1 202 555 0143 or mail ann@example.org.\n",
    "notes/wages.md": "# Löhne\n\nDie Lohnabrechnung steht im Ordner; die Mietverträge auch.\n",
    "a/report 2020.txt": "Income from rents and wages.\n" * 60,
    "a/empty.txt": "",
    "a/broken.pdf": b"%PDF-1.4 nothing",
    "b/copy.txt": "Income from rents and wages.\n" * 60,
}


def failing(address: str, folder: Path, **how: bool) -> errors.ContextError:
    with pytest.raises(errors.ContextError) as caught:
        engine.at(folder, address).open(**how)
    return caught.value


def test_an_address_where_nobody_listens_is_refused_without_another_index(tmp_path: Path) -> None:
    error = failing(f"postgresql://u:secret@/db?host={tmp_path}", tmp_path / "data", writable=True)
    assert isinstance(error, errors.Unreachable)
    assert "secret" not in error.in_one_line
    assert not (tmp_path / "data" / "record.sqlite").exists()


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    assert failing("postgresql://[", tmp_path).code in {"config", "INTERNAL_ERROR"}
    assert failing("postgresql:///db?colour=red", tmp_path).code == "config"


def test_who_is_not_let_in_is_told_why(postgres: Server, tmp_path: Path) -> None:
    address = postgres.new()
    postgres.sql("postgres", "DROP ROLE IF EXISTS careful", "CREATE ROLE careful LOGIN PASSWORD 'right'")
    wrong = failing(address.replace("tester@", "careful:wrong@"), tmp_path)
    absent = failing(address.replace("tester@", "absent@"), tmp_path)
    refused = failing(address.replace("tester@", "refused@"), tmp_path)
    assert [error.code for error in (wrong, absent, refused)] == ["config"] * 3
    assert "password" in wrong.message
    assert failing(address.replace("/test_", "/none_"), tmp_path).message.endswith("does not exist")


def test_a_schema_of_a_newer_program_is_refused_by_readers_and_writers_and_left_alone(
    postgres: Server, tmp_path: Path
) -> None:
    address = postgres.new()
    engine.at(tmp_path, address).open(writable=True).close()
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    postgres.sql(name, "UPDATE smart_context.meta SET value = '99' WHERE key = 'schema'")
    for how in ({"writable": True}, {}):
        error = failing(address, tmp_path, **how)
        assert isinstance(error, errors.SearchFailed)
        assert "newer" in error.message
    assert schema.version(Database(address)) == 99


def test_a_database_that_may_only_be_read_says_so(postgres: Server, tmp_path: Path) -> None:
    address = postgres.new()
    with engine.at(tmp_path, address).open(writable=True) as index:
        index.commit()
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    postgres.sql(name, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with engine.at(tmp_path, address).open(writable=True) as index, pytest.raises(errors.StorageFailed) as caught:
        index.record.restamp(1, 1)
    assert "may only be read" in caught.value.message


def test_a_user_without_a_role_is_told_to_get_one_and_with_it_can_index(postgres: Server, tmp_path: Path) -> None:
    address = postgres.new()
    place = engine.shared(tmp_path / "owner", address)
    assert "tables, format" in place.init()[0]
    assert place.init() == []
    postgres.sql("postgres", "DROP ROLE IF EXISTS plain", "CREATE ROLE plain LOGIN")
    as_plain = address.replace("tester@", "plain@")
    assert failing(as_plain, tmp_path / "plain", writable=True).code == "config"
    assert engine.shared(tmp_path / "plain", address).state().roles == ("owner",)
    postgres.sql("postgres", "GRANT smart_context_indexer TO plain")
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.txt").write_text("rent", encoding="utf-8")
    with engine.at(tmp_path / "plain", as_plain).open(writable=True) as index:
        assert indexer.run(index, Roots([str(root)]), str(root), indexer.Options(workers=1)).indexed == 1
    state = engine.shared(tmp_path / "plain", as_plain).state()
    assert (state.roles, state.files, state.missing) == (("smart_context_indexer", "smart_context_node")[:1], 1, ())
    with App(config.load({"roots": [str(root)], "data_dir": str(tmp_path / "plain"), "engine": as_plain}, {})) as app:
        assert [item["snippet"] for item in app.search_files("rent")["items"]] == ["rent"]


def test_two_programs_that_make_the_tables_at_once_make_them_once(postgres: Server) -> None:
    from concurrent.futures import ThreadPoolExecutor

    address = postgres.new()
    with ThreadPoolExecutor(4) as pool:
        steps = list(pool.map(lambda _: schema.migrate(Database(address)), range(4)))
    assert sorted(steps) == [0, 0, 0, schema.VERSION]


def test_a_long_name_and_bytes_that_are_no_text_are_kept_as_they_are(postgres: Server, tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    deep = folder / "/".join(["n" * 200] * 16)
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("rent", encoding="utf-8")
    place = engine.at(tmp_path / "data", postgres.new())
    with place.open(writable=True) as index:
        index.put(NewFile(str(deep), str(folder), "text", 5, 5, "ab", "ok"), [Segment(0, "", "", "wages")], (), "")
        index.commit()
        indexer.run(index, Roots([str(folder)]), str(folder), indexer.Options(workers=1))
        assert index.record.file(str(folder / os.fsdecode(b"caf\xe9.txt"))) is not None
        assert index.record.file(str(deep)) is None  # gone from the disk, so that the run removed it


def test_a_record_that_was_restored_from_another_server_is_followed_anew(postgres: Server, tmp_path: Path) -> None:
    address = postgres.new()
    place = engine.shared(tmp_path / "data", address)
    for number in (1, 2):
        with place.open(writable=True) as index:
            index.put(NewFile(f"/r/{number}", "/r", "text", 1, 1, "", "ok"), [Segment(0, "", "", "rent")], (), "")
            index.commit()
    with place.open() as node:
        node.refresh()
        assert node.both()[1].having("rent") == 2
    name = Database(address).rows("SELECT current_database()::text")[0][0]
    far = "(xid::text::bigint + 1000000)::text::xid8"
    postgres.sql(name, f"UPDATE smart_context.files SET xid = {far}", f"UPDATE smart_context.commits SET xid = {far}")
    postgres.sql(name, "DELETE FROM smart_context.files WHERE path = '/r/1'")
    assert "restored" in failing(address, tmp_path / "data").message
    assert place.migrate() > 0
    with place.open() as node:
        assert node.both()[1].having("rent") == 1


def answers(app: App, root: Path) -> list[object]:
    queries = (
        "rent",
        "income wages",
        "report",
        "Vertrag",
        "ann",
        "-rent",
        "2020",
        "rents OR lohn*",
        '"from rents"',
        "wagse",
    )
    found: list[object] = [app.search_files(query) for query in queries]
    return [
        *found,
        *(app.open_file(str(root / name)) for name in sorted(DRAFTS) if name not in {"a/empty.txt", "a/broken.pdf"}),
    ]


def test_both_engines_answer_the_same_bytes_over_the_same_files(postgres: Server, tree, tmp_path: Path) -> None:
    root = tree(DRAFTS)
    said = []
    for name, address in (("local", ""), ("shared", postgres.new())):
        flags = {"roots": [str(root)], "data_dir": str(tmp_path / name), "index.workers": 1}
        settings = config.load({**flags, "engine": address or None}, {"HOME": str(tmp_path)})
        with App(settings) as app:
            report = app.index_here(str(root), full=False, on_progress=lambda _step: None)
            counts = (report.indexed, report.failed, report.no_text)
            status = app.status()
            known = [
                (r.files, r.segments, r.chars, r.failed, r.no_text, r.kinds, r.troubles, r.changes)
                for r in status.roots
            ]
            said.append(json.dumps([counts, answers(app, root)]) + repr(known))
    assert said[0] == said[1]


def known(settings: config.Settings, root: Path) -> list[object]:
    """All that a record says of files and segments, but for what numbers and times the engine itself gives."""
    with App(settings) as app:
        record = app.index.record
        rows = [record.file(str(root / name)) for name in sorted(DRAFTS)]
        return [
            (
                replace(row, file_id=0, generation=0),
                [replace(s, segment_id=0, file_id=0) for s in record.segments_of(row.file_id)],
            )
            for row in rows
            if row
        ]


def test_an_index_is_taken_over_into_a_database_and_back_with_the_same_answers(
    postgres: Server, tree, tmp_path: Path
) -> None:
    root, address = tree(DRAFTS), postgres.new()
    flags = {"roots": [str(root)], "index.workers": 1}
    said = []

    def load(data: str, engine: str = "") -> config.Settings:
        return config.load(
            {**flags, "data_dir": str(tmp_path / data), "engine": engine or None}, {"HOME": str(tmp_path)}
        )

    def copy(data: str, *, back: bool) -> int:
        return team.copy(load(data), address, back=back, on_progress=lambda _step: None, stop=lambda: None)

    with App(load("first")) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        said.append(answers(app, root))
    assert (copy("first", back=False), copy("first", back=False), copy("second", back=True)) == (6, 0, 6)
    assert known(load("first"), root) == known(load("second"), root)
    for settings in (load("third", address), load("second")):
        with App(settings) as app:
            said.append(answers(app, root))
            assert app.status().roots[0].last_run
    assert said == [said[0]] * 3


def test_the_command_prepares_a_database_and_indexes_into_it(postgres: Server, tree, run, tmp_path: Path) -> None:
    root = tree({"a.txt": "rent and wages"})
    env = {"SMART_CONTEXT_ENGINE": postgres.new(), "SMART_CONTEXT_ROOTS": str(root)}
    assert b"tables" in run("engine", "init", env=env).stdout
    assert run("index", env=env).returncode == 0
    found = json.loads(run("search", "wages", "--json", env=env).stdout)
    assert [item["path"] for item in found["items"]] == [str(root / "a.txt")]
    assert run("forget", str(root), env=env).returncode == 0
    state = json.loads(run("engine", "status", "--json", env=env).stdout)
    assert (state["files"], state["behind"], state["schema"]) == (0, 0, state["known"])


def test_the_setting_must_name_a_database_of_this_kind(run) -> None:
    done = run("engine", "status", env={"SMART_CONTEXT_ENGINE": "mysql://x"})
    assert (done.returncode, done.stdout) == (1, b"")
