"""`--unredacted`: the owner at a terminal sees their own files, which is said and logged; nobody does over MCP."""

from __future__ import annotations

import json

import pytest

from server_client import SERVE, Peer

TEXT = "# Router\n\nThe router in the hall. Write to bob@example.org.\n\npassword = hunter2-Zebra-99\n"
SECRET = "hunter2-Zebra-99"


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unredacted") / "share"
    folder.mkdir()
    (folder / "router.md").write_text(TEXT, encoding="utf-8")
    return folder


@pytest.fixture
def at(run, share, tmp_path):
    at = ("--root", share, "--data-dir", tmp_path / "data")
    assert run("index", *at).returncode == 0
    return at


@pytest.mark.parametrize("command", [("search", "router", "hall"), ("open", "{}/router.md"), ("cat", "{}/router.md")])
def test_it_shows_everything_says_so_and_is_logged(run, share, at, tmp_path, command):
    args = [part.format(share) for part in command]
    assert SECRET not in run(*args, *at).stdout.decode()
    done = run(*args, "--unredacted", *at)
    assert done.returncode == 0
    assert SECRET in done.stdout.decode()
    assert "nothing is hidden here, for your own eyes; the audit log has a line about it\n" in done.stderr.decode()
    [line] = (tmp_path / "data/audit.jsonl").read_text(encoding="utf-8").splitlines()
    entry = json.loads(line)
    asked = "router hall" if args[0] == "search" else str(share / "router.md")
    assert (entry["tool"], entry["caller"], entry["query"]) == (f"{args[0]} --unredacted", "owner", asked)


@pytest.mark.parametrize("command", [("search", "router"), ("open", "{}/router.md")])
def test_what_cannot_be_logged_is_not_shown(run, share, at, tmp_path, command):
    (tmp_path / "data/audit.jsonl").mkdir()
    done = run(*[part.format(share) for part in command], "--unredacted", *at)
    assert (done.returncode, done.stdout) == (6, b"")


def test_a_search_finds_no_secret_by_its_value_even_so(run, at):
    assert run("search", SECRET, "--unredacted", "--json", *at).stdout.startswith(b'{"items": []')


def test_a_tool_knows_no_such_argument(share, at, tmp_path):
    calls = {"searchFiles": {"query": "router"}, "openFile": {"path": str(share / "router.md")}}
    with Peer([*SERVE, *map(str, at)], tmp_path) as peer:
        peer.initialize()
        for tool, arguments in calls.items():
            answer = peer.call(tool, {**arguments, "unredacted": True})
            assert answer["isError"]
            assert SECRET not in json.dumps(answer)
