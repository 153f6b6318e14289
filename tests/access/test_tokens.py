"""Tokens: each sees its roots and nothing of others, until it ends; nobody else on the machine sees anything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from test_http import ACCEPT, INITIALIZE, Served, called

import ready
from conftest import PATIENCE, clean_env
from server_client import SERVE, Peer, text_of
from unprivileged import needs_root


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A server over two folders, each with the same word in it, and with a cache of its own."""
    home = tmp_path_factory.mktemp("team")
    for name in ("sales", "staff"):
        (home / name / "deep").mkdir(parents=True)
        for number in range(5):
            (home / name / f"deep/{number}.md").write_text(f"harbour {name} {number}", encoding="utf-8")
    (home / "sales/link.md").symlink_to(home / "staff/deep/0.md")
    server = Served(home, "--root", str(home / "sales"), "--root", str(home / "staff"), config=UNLIMITED)
    for name in ("sales", "staff"):
        assert "error" not in answer(server, "indexFolder", {"root": str(home / name)})
    yield server
    assert server.end() == 0


UNLIMITED = "[rate_limits]\nsearchFiles = 0\nopenFile = 0\nsummarizeResults = 0\n"


def answer(server, tool, arguments, token=None):
    return json.loads(text_of(called(server, tool, arguments, token=token)))


def context(home, *args, status=0):
    command = [sys.executable, "-m", "smart_context", "token", *map(str, args), "--data-dir", str(home / "index")]
    done = ready.run(command, env=clean_env(home), capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


def added(server, name, *args):
    return context(server.home, "add", name, *args).strip()


def status_with(server, token):
    return server.ask("POST", "/mcp", INITIALIZE, {**ACCEPT, "Authorization": f"Bearer {token}"})


def test_a_token_sees_its_roots_and_nothing_of_others(team):
    home = team.home
    token = added(team, "ada", "--root", home / "sales")
    assert answer(team, "listRoots", {}, token)["roots"] == [str(home / "sales")]
    found = answer(team, "searchFiles", {"query": "harbour", "k": 100}, token)
    assert {item["path"].split("/")[-3] for item in found["items"]} == {"sales"}
    assert found["pagination"]["total_estimate"] == 5
    assert answer(team, "searchFiles", {"query": "harbour"})["pagination"]["total_estimate"] == 10
    own = str(home / "sales/deep/0.md")
    assert answer(team, "openFile", {"path": own}, token)["preview"] == "harbour sales 0"
    given = [{"path": own, "snippet": "harbour"}]
    assert "summary" in answer(team, "summarizeResults", {"query": "harbour", "results": given}, token)


@pytest.mark.parametrize(
    "path", ["staff/deep/0.md", "staff/absent.md", "staff", "sales/link.md", "sales/../staff/deep/0.md", "sales-x", ""]
)
def test_beyond_its_roots_everything_is_forbidden_in_the_same_words(team, path):
    token = added(team, f"bob{abs(hash(path))}", "--root", team.home / "sales")
    beyond = f"{team.home}/{path}"
    found = [
        answer(team, "openFile", {"path": beyond}, token),
        answer(team, "searchFiles", {"query": "x", "roots": [beyond]}, token),
        answer(team, "indexFolder", {"root": beyond}, token),
        answer(team, "summarizeResults", {"query": "x", "results": [{"path": beyond, "snippet": "y"}]}, token),
    ]
    assert {each["error"]["code"] for each in found} == {"FORBIDDEN"}
    assert {each["error"]["message"] for each in found} == {"the path is outside the allowed folders"}


def test_a_token_for_a_folder_inside_a_root_sees_that_folder(team):
    token = added(team, "deep", "--root", team.home / "sales/deep")
    assert answer(team, "listRoots", {}, token)["roots"] == [str(team.home / "sales/deep")]
    assert answer(team, "searchFiles", {"query": "harbour"}, token)["pagination"]["total_estimate"] == 5
    assert answer(team, "openFile", {"path": str(team.home / "sales/link.md")}, token)["error"]["code"] == "FORBIDDEN"


def test_a_folder_swapped_for_a_link_shows_nothing_beyond(team):
    folder = team.home / "sales/swapped"
    folder.mkdir()
    token = added(team, "swapped", "--root", folder)
    folder.rmdir()
    folder.symlink_to(team.home / "staff/deep")
    try:
        assert answer(team, "openFile", {"path": str(folder / "0.md")}, token)["error"]["code"] == "FORBIDDEN"
    finally:
        folder.unlink()


def test_readers_do_not_index_and_administrators_do(team):
    sales = {"root": str(team.home / "sales")}
    reader = added(team, "reader", "--root", team.home / "sales")
    admin = added(team, "admin", "--admin")
    confined = added(team, "confined", "--admin", "--root", team.home / "sales")
    assert answer(team, "indexFolder", sales, reader)["error"]["code"] == "FORBIDDEN"
    assert answer(team, "indexFolder", sales, admin)["skipped"] == 5
    assert answer(team, "indexFolder", sales, confined)["skipped"] == 5
    refused = answer(team, "indexFolder", {"root": str(team.home / "staff")}, confined)
    assert refused["error"]["code"] == "FORBIDDEN"


def test_counts_of_all_roots_are_for_those_who_see_all_roots(team):
    some = {"Authorization": f"Bearer {added(team, 'some', '--root', team.home / 'sales')}"}
    all_of_them = {"Authorization": f"Bearer {added(team, 'all', '--all-roots')}"}
    assert team.ask("GET", "/healthz", headers=some) == (200, b'{"live":true}\n')
    assert team.ask("GET", "/metrics", headers=some)[0] == 403
    assert b'"files": 10' in team.ask("GET", "/healthz", headers=all_of_them)[1]
    assert team.ask("GET", "/metrics", headers=all_of_them)[0] == 200
    assert team.ask("GET", "/healthz", headers={"Authorization": None}) == (200, b'{"live":true}\n')
    assert team.ask("GET", "/metrics", headers={"Authorization": None})[0] == 401


def test_caches_are_for_those_who_may_see_the_cache_root(tmp_path):
    for name in ("caches", "sales"):
        (tmp_path / name).mkdir()
    options = ["--root", tmp_path / "sales", "--cache-root", tmp_path / "caches"]
    server = Served(tmp_path, *map(str, options))
    some = added(server, "some", "--root", tmp_path / "sales")
    both = added(server, "both", "--root", tmp_path / "sales", "--root", tmp_path / "caches")
    assert answer(server, "context.list_caches", {}, some)["error"]["code"] == "cache_missing"
    assert answer(server, "context.list_caches", {}, both) == {"caches": []}
    assert server.end() == 0


def test_a_token_counts_at_once_and_ends_at_once_within_a_session_too(team):
    token = added(team, "brief", "--root", team.home / "sales")
    assert status_with(team, token)[0] == 200
    context(team.home, "revoke", "brief")
    assert status_with(team, token)[0] == 401
    ended = added(team, "ended", "--root", team.home / "sales", "--days", "1")
    assert status_with(team, ended)[0] == 200
    file = team.home / "index/tokens.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    next(each for each in kept["tokens"] if each["name"] == "ended")["ends"] = "2020-01-01T00:00:00Z"
    file.write_text(json.dumps(kept), encoding="utf-8")
    status, said = status_with(team, ended)
    assert (status, said) == (401, b"this token ended at 2020-01-01T00:00:00Z; ask for a new one\n")


def test_servers_survive_the_signal_that_asks_them_to_read_again(team, tmp_path):
    team.process.send_signal(signal.SIGHUP)
    assert team.ask("GET", "/healthz")[0] == 200
    with Peer([*SERVE, "--root", str(tmp_path), "--data-dir", str(tmp_path / "d")], tmp_path) as peer:
        peer.initialize()
        peer.process.send_signal(signal.SIGHUP)
        assert peer.call("listRoots")["isError"] is False
        peer.finish()
    assert peer.process.returncode == 0


def test_only_hashes_are_kept_in_a_file_for_the_owner_alone(team):
    token = added(team, "hashed", "--root", team.home / "sales", "--days", "30")
    for name in ("tokens.json", "http-token"):
        assert os.stat(team.home / "index" / name).st_mode & 0o777 == 0o600
    assert token not in (team.home / "index/tokens.json").read_text(encoding="utf-8")
    listed = {each["name"]: each for each in json.loads(context(team.home, "list", "--json"))}
    assert listed["hashed"]["roots"] == [str(team.home / "sales")]
    assert listed["hashed"]["ends"] > listed["hashed"]["made"]
    assert "hashed  reader  until " in context(team.home, "list")


def test_tokens_that_cannot_be_are_refused(tmp_path):
    for args in (["x"], ["owner", "--all-roots"], ["a b", "--all-roots"], ["x", "--all-roots", "--root", "/"]):
        context(tmp_path, "add", *args, status=1)
    context(tmp_path, "add", "x", "--all-roots")
    context(tmp_path, "add", "x", "--all-roots", status=1)
    context(tmp_path, "revoke", "y", status=4)
    os.chmod(tmp_path / "index/tokens.json", 0o644)
    context(tmp_path, "list", status=1)


def test_a_token_for_a_folder_in_which_it_sees_nothing_is_made_with_a_warning(run, tree, tmp_path):
    folder = tree({"sales/north/a.txt": "x", "staff/b.txt": "y"})

    def warnings(token, *names):
        given = [word for name in names for word in ("--root", os.path.normpath(folder / name))]
        env = {"SMART_CONTEXT_ROOTS": str(folder / "sales")}
        done = run("token", "add", token, "--data-dir", tmp_path / "index", *given, env=env)
        assert done.returncode == 0
        return [line for line in done.stderr.decode().splitlines() if line.startswith("warning: ")]

    sees_nothing = "is in no configured root: the token sees nothing there, unless the server is given it as --root"
    assert warnings("one", "sales", "sales/north", "..") == []  # a folder that holds roots stands for those
    assert warnings("two", "sales", "staff") == [f"warning: {folder}/staff {sees_nothing}"]
    assert warnings("three", "gone") == [
        f"warning: there is no folder {folder}/gone on this machine",
        f"warning: {folder}/gone {sees_nothing}",
    ]


def test_a_file_that_cannot_be_used_lets_nobody_in_and_is_told_of(tmp_path):
    server = Served(tmp_path)
    token = added(server, "x", "--all-roots")
    assert status_with(server, token)[0] == 200
    (tmp_path / "index/tokens.json").write_text("{", encoding="utf-8")
    assert status_with(server, token)[0] == 401
    server.process.terminate()
    assert b"is not a list of tokens" in server.process.communicate(timeout=PATIENCE)[1]


def test_without_tokens_callers_are_known_by_their_address(tmp_path):
    server = Served(tmp_path, "--no-token", "--root", str(tmp_path))
    server.token = {}
    assert "roots" in answer(server, "listRoots", {})
    assert server.end() == 0
    line = json.loads((tmp_path / "index/audit.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert line["caller"] == "127.0.0.1"


_AS_NOBODY = """
import http.client, json, os, sys
port, token = int(sys.argv[1]), sys.argv[2]
def ask(path):
    asked = http.client.HTTPConnection("127.0.0.1", port)
    asked.request("POST" if path == "/mcp" else "GET", path, "{}")
    got = asked.getresponse()
    return f"{got.status} {got.read().decode().strip()}"

ask("/healthz")  # imports what it needs while it may
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
try:
    sys.stdout.write(open(token).read())
except PermissionError:
    pass
for path in ("/mcp", "/metrics", "/healthz"):
    print(ask(path))
"""


@needs_root
def test_another_user_of_the_machine_gets_nothing(team):
    for outer in team.home.parents:
        if "pytest" in str(outer) and outer.stat().st_uid == os.geteuid():
            outer.chmod(0o711)
    team.home.chmod(0o711)
    command = [sys.executable, "-c", _AS_NOBODY, str(team.port), str(team.home / "index/http-token")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    needed = "401 a bearer token is needed"
    assert done.stdout.splitlines() == [needed, needed, '200 {"live":true}'], done.stderr


@needs_root
def test_root_is_told_that_the_server_of_another_user_cannot_read_its_tokens(run, tmp_path):
    (tmp_path / "index").mkdir(mode=0o700)
    command = ("token", "add", "--all-roots", "--data-dir", tmp_path / "index")
    assert b"warning" not in run(*command, "own").stderr
    os.chown(tmp_path / "index", 65534, 65534)
    done = run(*command, "ada")
    assert done.returncode == 0
    assert f"warning: {tmp_path / 'index'} belongs to nobody, and a server that" in done.stderr.decode()
    assert b"runuser -u nobody -- context token" in done.stderr


@needs_root
def test_tokens_of_another_user_are_refused_with_whom_to_be(run, tmp_path):
    command = ("token", "add", "--all-roots", "--data-dir", tmp_path / "index")
    assert run(*command, "own").returncode == 0
    os.chown(tmp_path / "index/tokens.json", 65534, 65534)
    done = run(*command, "ada")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().splitlines()[-2:] == [
        "reason: it belongs to another user",
        "hint: run the command as that user: runuser -u nobody -- context …",
    ]
