"""An issuer's tokens on a search node that sees no text by itself: the database decides by its own rules, from what the node vouches for."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from test_http import ACCEPT, INITIALIZE, Served, called

import ready
from conftest import PATIENCE, clean_env
from issuer_server import RESOURCE, Issuer, issuing
from postgres_server import Server, taken_in
from smart_context import engine
from smart_context.access.tokens import ClaimRule
from smart_context.engine.postgres.database import Database
from smart_context.errors import ConfigError

FOLDERS = ("sales", "staff", "legal")


class Team:
    """A record of three folders, a node that connects as `reader`, and what the database itself shows."""

    def __init__(self, home, served: Served, address: str) -> None:
        self.home, self.served, self.address = home, served, address
        self.node = address.replace("tester@", "reader@")
        self.kept = engine.shared(home / "owner", address).tokens()

    def rule(self, claim: str, folder: str) -> ClaimRule:
        return ClaimRule(claim, str(self.home / folder) if folder else "")

    def shown(self, key: str, address: str = "") -> list[str]:
        """The folders whose texts the database shows to a key."""
        rows = Database(address or self.node).rows(
            """SELECT DISTINCT convert_from(f.path, 'UTF8') FROM smart_context.blocks JOIN smart_context.files f USING (file_id)
            JOIN smart_context.segments s USING (block_id) ORDER BY 1""",
            key=key,
        )
        return [row[0].split("/")[-2] for row in rows]

    def ask(self, token: str) -> tuple[int, str]:
        status, said = self.served.ask("POST", "/mcp", INITIALIZE, {**ACCEPT, "Authorization": f"Bearer {token}"})
        return status, said.decode()

    def found(self, token: str) -> list[str]:
        answer = called(self.served, "searchFiles", {"query": "harbour"}, token=token)
        assert not answer.get("isError"), answer
        return sorted(item["path"].split("/")[-2] for item in answer["structuredContent"]["items"])


def commanded(home, *args: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "smart_context", *args]
    done = ready.run(
        command, env=clean_env(home), cwd=home, input=b"", capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as found:
        yield found


@pytest.fixture(scope="module")
def team(postgres: Server, tmp_path_factory, issuer) -> Iterator[Team]:
    home = tmp_path_factory.mktemp("team")
    address = postgres.new()
    for user in ("reader", "reader2"):
        postgres.sql("postgres", f"DROP ROLE IF EXISTS {user}", f"CREATE ROLE {user} LOGIN")
    for name in FOLDERS:
        (home / name).mkdir()
        (home / name / "notes.md").write_text(f"# Ships\nThe harbour of {name}.\n", encoding="utf-8")
    rules = [f"groups=sales:{home}/sales", f"realm.roles=staff:{home}/staff", "groups=everyone:*"]
    rules += [f"groups=lost:{home}/legal"]
    oauth = f'[oauth]\nissuer = "{issuer.url}"\nresource = "{RESOURCE}"\nroots = '
    (home / "owner.toml").write_text(f'engine = "{address}"\n{oauth}{json.dumps(rules[:-1])}\n', encoding="utf-8")
    roots = [word for name in FOLDERS for word in ("--root", str(home / name))]
    owner = ["--config", str(home / "owner.toml"), "--data-dir", str(home / "owner")]
    assert b"rules for the tokens of the issuer" in commanded(home, "engine", "init", *owner).stdout
    for name in FOLDERS:
        commanded(home, "index", *owner, *roots, str(home / name))
    for user in ("reader", "reader2"):
        postgres.sql("postgres", f"GRANT smart_context_node TO {user}")
    node = address.replace("tester@", "reader@")
    served = Served(home, *roots, config=f'engine = "{node}"\n{oauth}{json.dumps(rules)}\n')
    taken_in(home / "index", address, lambda: json.loads(served.ask("GET", "/healthz")[1]))
    yield Team(home, served, address)
    assert served.end() == 0


def test_what_a_token_claims_decides_which_texts_the_database_shows_it(team: Team, issuer: Issuer) -> None:
    assert team.found(issuer.token()) == ["sales"]
    assert team.found(issuer.token(realm={"roles": ["staff"]})) == ["sales", "staff"]
    assert team.found(issuer.token(groups="everyone")) == ["legal", "sales", "staff"]
    path = str(team.home / "sales/notes.md")
    assert "harbour of sales" in str(called(team.served, "openFile", {"path": path}, token=issuer.token()))
    other = called(team.served, "openFile", {"path": str(team.home / "staff/notes.md")}, token=issuer.token())
    assert "FORBIDDEN" in str(other)


def test_a_rule_that_only_the_node_has_shows_nothing(team: Team, issuer: Issuer) -> None:
    status, said = team.ask(issuer.token(groups=["lost"]))
    assert (status, "no rule of the shared record" in said) == (403, True)
    assert team.found(issuer.token(groups=["lost", "sales"])) == ["sales"]


def test_rules_that_change_hold_at_once_for_tokens_that_are_out(team: Team, issuer: Issuer) -> None:
    token, before = issuer.token(sub="grace"), team.kept.rules()
    assert team.found(token) == ["sales"]
    assert team.kept.keep_rules([rule for rule in before if rule.claim != "groups=sales"])
    assert team.found(token) == []
    assert team.kept.keep_rules(before)
    assert not team.kept.keep_rules(before)
    assert team.found(token) == ["sales"]


def test_a_ticket_is_good_for_the_user_it_was_made_for_until_its_end_and_cannot_be_changed(team: Team) -> None:
    node = engine.shared(team.home / "x", team.node).tokens()
    ticket = node.ticket(["groups=sales"], time.time() + 600)
    assert ticket
    assert team.shown(ticket) == ["sales"]
    assert team.shown(ticket, team.node.replace("reader@", "reader2@")) == []
    assert team.shown(ticket.replace("groups=sales", "groups=everyone")) == []
    assert [team.shown(wrong) for wrong in (ticket[64:], "0" * 64 + ticket[64:], ticket[:-1], "0" * 64 + "{")] == [
        []
    ] * 4
    ended = node.ticket(["groups=sales"], time.time() - 1)
    assert ended
    assert team.shown(ended) == []
    assert node.ticket(["groups=nobody"], time.time() + 600) is None
    assert node.ticket([], time.time() + 600) is None


def test_a_node_neither_reads_the_key_of_tickets_nor_signs_nor_makes_rules(team: Team) -> None:
    for query in (
        "SELECT * FROM smart_context.ticket_key",
        "SELECT smart_context.signed('{}')",
        "INSERT INTO smart_context.issuer_rules VALUES ('groups=sales', NULL)",
    ):
        with pytest.raises(ConfigError, match="does not allow this"):
            Database(team.node).rows(query)


def test_who_sees_all_texts_needs_no_ticket(team: Team) -> None:
    assert team.kept.ticket(["groups=sales"], time.time() + 600) == ""


def test_the_command_says_whether_the_database_has_the_rules_of_this_machine(team: Team) -> None:
    status = ["engine", "status", "--data-dir", str(team.home / "owner"), "--config"]
    assert b"issuer: as configured here" in commanded(team.home, *status, str(team.home / "owner.toml")).stdout
    node = team.home / "config/smart-context/config.toml"
    assert b"issuer: other than configured here" in commanded(team.home, *status, str(node)).stdout


def test_while_the_database_is_away_a_known_token_goes_on_and_a_new_one_is_told_why(
    postgres: Server, team: Team, issuer: Issuer
) -> None:
    known = issuer.token(sub="hal", exp=time.time() + 900)
    assert team.found(known) == ["sales"]
    new = issuer.token(sub="ida", exp=time.time() + 901)
    postgres.stop(signal.SIGQUIT)
    try:
        assert team.found(known) == ["sales"]
        status, said = team.ask(new)
        assert (status, "does not answer" in said) == (503, True)
    finally:
        postgres.start()
    late = time.monotonic() + PATIENCE
    while b'"record_away": true' in team.served.ask("GET", "/healthz")[1]:
        assert time.monotonic() < late
        threading.Event().wait(0.05)
    assert team.found(new) == ["sales"]
