"""Audit lines of several machines in a shared record: one chain each, delivered when the database is there, changed by nobody."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from postgres_server import Server
from server_client import SERVE, Peer
from smart_context import engine, errors
from smart_context.access import ledger
from smart_context.access.audit import AuditLog, LoggedCall
from smart_context.access.audit_check import EntryFilters
from smart_context.access.ledger import Courier


class Machine:
    """A machine with a log, that delivers into a database as one of its users."""

    def __init__(self, name: str, folder: Path, address: str, **how: int) -> None:
        self.path = str(folder / name / "audit.jsonl")
        self.log = AuditLog(self.path, clean=str, **how)
        self.name, self.folder, self.address = name, folder, address
        self.warned: list[str] = []
        self.restart()

    def restart(self) -> None:
        self.courier = Courier(
            self.path, engine.shared(self.folder, self.address).ledger(), self.name, self.warned.append
        )

    def call(self, *queries: str) -> None:
        for query in queries:
            self.log.write(LoggedCall("searchFiles", "ada", 1.0, query=query))


@pytest.fixture
def address(postgres: Server, tmp_path: Path) -> Iterator[str]:
    made = postgres.new()
    engine.shared(tmp_path / "owner", made).init()
    for role in ("node1", "node2"):
        postgres.sql(
            "postgres",
            f"DROP ROLE IF EXISTS {role}",
            f"CREATE ROLE {role} LOGIN",
            f"GRANT smart_context_node TO {role}",
        )
    yield made
    postgres.sql("postgres", "DROP ROLE node1", "DROP ROLE node2")


def machines(folder: Path, address: str, **how: int) -> list[Machine]:
    return [Machine(name, folder, address.replace("tester@", f"{name}@"), **how) for name in ("node1", "node2")]


def told(folder: Path, address: str) -> dict[str, list[str]]:
    """The queries of each chain, by the machine that it is of."""
    out: dict[str, list[str]] = {}
    for entry in ledger.read(engine.shared(folder / "owner", address).ledger(), EntryFilters()):
        out.setdefault(str(entry["node"]).partition("/")[0], []).append(str(entry["query"]))
    return out


def verdicts(folder: Path, address: str) -> list[tuple[str, int, bool]]:
    kept = engine.shared(folder / "owner", address).ledger()
    found = [(chain.partition("/")[0], ledger.verify(kept, chain)) for chain in kept.chains()]
    return [(name, verdict.lines, verdict.is_intact) for name, verdict in found]


def test_the_lines_of_two_machines_arrive_once_each_in_a_chain_of_its_own(tmp_path: Path, address: str) -> None:
    one, two = machines(tmp_path, address)
    one.call("a", "b")
    two.call("x")
    assert (one.courier.deliver(), two.courier.deliver(), one.courier.deliver()) == (2, 1, 0)
    one.call("c")
    one.restart()
    assert one.courier.deliver() == 1
    assert told(tmp_path, address) == {"node1": ["a", "b", "c"], "node2": ["x"]}
    assert verdicts(tmp_path, address) == [("node1", 3, True), ("node2", 1, True)]


def test_lines_written_while_the_database_is_away_are_delivered_later(
    tmp_path: Path, address: str, postgres: Server
) -> None:
    one, _ = machines(tmp_path, address, max_bytes=1000, keep=20)  # with a new file every few lines
    one.call("a")
    assert one.courier.deliver() == 1
    postgres.stop(signal.SIGQUIT)
    try:
        one.call(*"bcdefgh")
        with pytest.raises(errors.Unreachable):
            one.courier.deliver()
    finally:
        postgres.start()
    one.call("i")
    assert one.courier.deliver() == 8
    assert told(tmp_path, address) == {"node1": list("abcdefghi")}
    assert verdicts(tmp_path, address) == [("node1", 9, True)]


def test_a_line_that_is_changed_or_taken_out_in_the_database_is_found(
    tmp_path: Path, address: str, postgres: Server
) -> None:
    one, two = machines(tmp_path, address)
    for machine in (one, two):
        machine.call("a", "b", "c")
        machine.courier.deliver()
    name = address.partition("?")[0].rpartition("/")[2]
    changed = "UPDATE smart_context.audit SET line = replace(encode(line, 'escape'), '\"b\"', '\"z\"')::bytea"
    postgres.sql(name, f"{changed} WHERE seq = 2 AND who = 'node1'")
    postgres.sql(name, "DELETE FROM smart_context.audit WHERE seq = 2 AND who = 'node2'")
    assert verdicts(tmp_path, address) == [("node1", 3, False), ("node2", 2, False)]


def test_a_search_node_neither_reads_nor_changes_lines_and_adds_to_no_chain_of_another(
    tmp_path: Path, address: str
) -> None:
    one, two = machines(tmp_path, address)
    one.call("a")
    one.courier.deliver()
    [chain] = engine.shared(tmp_path / "owner", address).ledger().chains()
    for statement in (
        "SELECT * FROM smart_context.audit",
        "DELETE FROM smart_context.audit",
        "INSERT INTO smart_context.audit VALUES ('x', 1, '', 'node1')",
    ):
        with (
            psycopg.connect(two.address, autocommit=True) as db,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            db.execute(statement)  # type: ignore[call-overload]
    other = engine.shared(tmp_path, two.address).ledger()
    assert other.last(chain) is None
    assert other.add(chain, [ledger.Line(2, b"forged\n")]) == 0
    assert other.add(chain, [ledger.Line(1, b"forged\n")]) == 0
    assert verdicts(tmp_path, address) == [("node1", 1, True)]


def test_a_log_that_was_written_anew_begins_a_chain_beside_the_old_one(tmp_path: Path, address: str) -> None:
    one, _ = machines(tmp_path, address)
    one.call("a", "b")
    one.courier.deliver()
    for path in (one.path, f"{one.path}.state"):
        Path(path).unlink()
    one.call("c")
    one.restart()
    assert one.courier.deliver() == 1
    assert sorted(verdicts(tmp_path, address)) == [("node1", 1, True), ("node1", 2, True)]


def test_a_server_delivers_what_it_was_asked_at_the_latest_when_it_ends(tmp_path: Path, address: str) -> None:
    env = {"SMART_CONTEXT_ENGINE": address, "SMART_CONTEXT_DATA_DIR": str(tmp_path / "node")}
    with Peer([*SERVE, "--root", str(tmp_path)], tmp_path, env) as peer:
        peer.initialize()
        peer.call("searchFiles", {"query": "harbour"})
        peer.finish()
    assert list(told(tmp_path, address).values()) == [["harbour"]]
    assert [verdict[1:] for verdict in verdicts(tmp_path, address)] == [(1, True)]


def test_the_command_shows_and_verifies_the_lines_of_every_machine(
    tmp_path: Path, address: str, postgres: Server, run
) -> None:
    one, _ = machines(tmp_path, address)
    one.call("harbour")
    one.courier.deliver()
    env = {"SMART_CONTEXT_ENGINE": address, "SMART_CONTEXT_DATA_DIR": str(tmp_path / "owner")}
    shown = run("audit", "--all-nodes", "--json", env=env)
    assert json.loads(shown.stdout)["query"] == "harbour"
    assert run("audit", "verify", "--all-nodes", env=env).returncode == 0
    name = address.partition("?")[0].rpartition("/")[2]
    postgres.sql(name, "UPDATE smart_context.audit SET line = 'x'")
    assert run("audit", "verify", "--all-nodes", env=env).returncode == 5
    postgres.sql(name, "DELETE FROM smart_context.audit")
    for command in (("audit", "verify"), ("audit",)):
        done = run(*command, "--all-nodes", env=env)
        assert (done.returncode, done.stderr.splitlines()[0]) == (4, b"error: the shared record has no audit lines")
    assert run("audit", "verify", "--all-nodes", env={"SMART_CONTEXT_DATA_DIR": str(tmp_path)}).returncode != 0
