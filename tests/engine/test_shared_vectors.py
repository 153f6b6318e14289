"""Vectors of a shared record: made once, by a machine that reads texts, and copied to those that only answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the extra [semantic] is not installed")

import numpy as np

import tiny_encoder
from conftest import PATIENCE
from machine import rest
from postgres_server import Server, caught_up
from smart_context import engine, errors
from smart_context.access import tokens
from smart_context.api import App
from smart_context.engine.postgres.database import Database
from smart_context.engine.postgres.vectors import turn
from smart_context.model import Caller
from smart_context.settings import config

FILES = {"pets.txt": "the kitten sleeps", "road.txt": "an automobile waits", "bank.txt": "the budget is finance"}


class Team:
    """A record with an indexer and a machine that connects as a search node, each with the model."""

    def __init__(self, postgres: Server, base: Path, root: Path) -> None:
        self.address, self.base, self.root = postgres.new(), base, root
        self.model = tiny_encoder.write(base / "model")
        engine.shared(base / "owner", self.address).init()
        postgres.sql("postgres", "DROP ROLE IF EXISTS asked", "CREATE ROLE asked LOGIN")
        postgres.sql("postgres", "GRANT smart_context_node TO asked")

    def app(self, name: str, user: str = "tester") -> App:
        flags = {
            "roots": [str(self.root)],
            "data_dir": str(self.base / name),
            "engine": self.address.replace("tester@", f"{user}@"),
            "semantic.model_dir": str(self.model),
            "index.workers": 1,
        }
        return App(config.load(flags, {"HOME": str(self.base)}))

    def caller(self) -> Caller:
        kept = engine.shared(self.base / "owner", self.address).tokens()
        key = tokens.add(self.base, "ada", None, is_admin=False, made="", ends="", shared=kept)
        return Caller("ada", None, is_owner=False, key=key)

    def shared(self) -> list[int]:
        rows = Database(self.address).rows("SELECT segment_id FROM smart_context.vectors ORDER BY segment_id")
        return [row[0] for row in rows]

    def living(self) -> list[int]:
        return engine.at(self.base / "owner", self.address).record().living()


@pytest.fixture
def team(postgres: Server, tmp_path: Path, tree) -> Iterator[Team]:
    made = Team(postgres, tmp_path, tree(FILES))
    with made.app("indexer") as app:
        app.index_here(str(made.root), full=False, on_progress=lambda _step: None)
        assert app.embed() == 3
    yield made
    postgres.sql(made.address.partition("?")[0].rpartition("/")[2], "DROP OWNED BY asked")
    postgres.sql("postgres", "DROP ROLE asked")


def test_a_search_node_ranks_by_vectors_that_another_machine_made(team: Team) -> None:
    ada = team.caller()
    with team.app("node", "asked") as node:
        node.follows = True
        caught_up(node.index)
        late = time.monotonic() + PATIENCE
        while not (found := node.search_files("feline", caller=ada)["items"]):
            assert time.monotonic() < late
            rest()
        assert [Path(item["path"]).name for item in found] == ["pets.txt"]
        with team.app("indexer") as other:
            assert other.search_files("feline")["items"] == found


def test_vectors_are_made_once_and_copied_as_they_are(team: Team) -> None:
    with team.app("second") as app:
        assert app.embed() == 0
    files = [sorted((team.base / name / "node").glob("vectors*")) for name in ("indexer", "second")]
    kept = [np.sort(np.frombuffer(found[0].read_bytes()[16:], np.uint8).reshape(3, -1), axis=0) for found in files]
    assert np.array_equal(*kept)


def test_the_vectors_of_what_is_changed_or_removed_leave_with_it(team: Team) -> None:
    assert team.shared() == team.living()
    (team.root / "pets.txt").write_text("the sea and the ocean", encoding="utf-8")
    (team.root / "bank.txt").unlink()
    with team.app("indexer") as app:
        app.index_here(str(team.root), full=False, on_progress=lambda _step: None)
        assert len(team.shared()) == 1
        assert app.embed() == 1
        assert team.shared() == team.living()
        assert [Path(item["path"]).name for item in app.search_files("ocean")["items"]] == ["pets.txt"]


def test_one_machine_embeds_at_a_time(team: Team) -> None:
    (team.root / "new.txt").write_text("a physician", encoding="utf-8")
    with team.app("indexer") as app:
        app.index_here(str(team.root), full=False, on_progress=lambda _step: None)
        with turn(Database(team.address)), pytest.raises(errors.Conflict):
            app.embed()
        assert app.embed() == 1
