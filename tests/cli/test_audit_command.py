"""`context audit`, black box: calls over a real pipe are in the log, and every way to disturb it is found."""

from __future__ import annotations

import json

import pytest

from server_client import SERVE, Peer


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """The log of a session of six calls, two of them refused."""
    home = tmp_path_factory.mktemp("audit")
    (home / "share").mkdir()
    (home / "share/a.md").write_text("The ferry.", encoding="utf-8")
    with Peer([*SERVE, "--root", str(home / "share"), "--data-dir", str(home / "index")], home) as peer:
        peer.initialize()
        peer.call("listRoots")
        peer.call("searchFiles", {"query": "ferry alice@example.com"})
        peer.call("openFile", {"path": str(home / "share/a.md")})
        peer.call("openFile", {"path": "/etc/passwd"})
        peer.call("searchFiles", {"query": ""})
        peer.call("rewriteQuery", {"query": "ferry"})
        peer.finish()
    return {path.name: path.read_bytes() for path in (home / "index").glob("audit.jsonl*")}


@pytest.fixture
def audit(run, log, tmp_path):
    """A copy of the log to disturb, and the command."""
    folder = tmp_path / "index"
    folder.mkdir(mode=0o700)
    for name, data in log.items():
        (folder / name).write_bytes(data)
    return folder / "audit.jsonl", lambda *args: run("audit", *args, "--data-dir", str(folder))


def test_every_call_is_shown_and_filters_choose(audit):
    _, command = audit
    shown = [json.loads(line) for line in command("--json").stdout.splitlines()]
    assert [(entry["tool"], entry["outcome"]) for entry in shown] == [
        ("listRoots", "ok"),
        ("searchFiles", "ok"),
        ("openFile", "ok"),
        ("openFile", "error"),
        ("searchFiles", "error"),
        ("rewriteQuery", "ok"),
    ]
    assert {entry["client"] for entry in shown} == {"peer"}
    assert shown[1]["query"] == "ferry [redacted:email]"
    errors = command("--json", "--outcome", "error", "--tool", "openFile").stdout.splitlines()
    assert [json.loads(line)["error"] for line in errors] == ["FORBIDDEN"]
    assert command("--since", "2999-01-01").stdout == b""
    assert len(command().stdout.splitlines()) == 6
    assert command("--since", "notatime").returncode == 1
    anchor = command("anchor").stdout.decode().strip()
    assert command("verify", "--anchor", anchor).returncode == 0
    assert command("verify", "--anchor", "6-" + "0" * 64).returncode == 5
    assert command("--anchor", anchor).returncode == 1


DISTURBANCES = {
    "edited": lambda lines: [*lines[:2], lines[2].replace(b"openFile", b"listRoots"), *lines[3:]],
    "deleted": lambda lines: lines[:2] + lines[3:],
    "first deleted": lambda lines: lines[1:],
    "last deleted": lambda lines: lines[:-1],
    "swapped": lambda lines: [lines[1], lines[0], *lines[2:]],
    "doubled": lambda lines: [*lines, lines[-1]],
    "cut short": lambda lines: [*lines[:-1], lines[-1][:40]],
    "put in": lambda lines: [*lines[:3], b"{}\n", *lines[3:]],
    "emptied": lambda lines: [],
}


@pytest.mark.parametrize("how", DISTURBANCES)
def test_every_disturbance_is_found(audit, how):
    path, command = audit
    path.write_bytes(b"".join(DISTURBANCES[how](path.read_bytes().splitlines(keepends=True))))
    done = command("verify", "--json")
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["intact"], bool(verdict["problems"])) == (5, False, True)


def test_an_undisturbed_log_is_intact(audit):
    _, command = audit
    done = command("verify", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"intact": True, "lines": 6, "lost": 0, "problems": []})


@pytest.mark.parametrize("action", ["show", "verify"])
def test_a_missing_log_is_told(audit, action):
    path, command = audit
    path.unlink()
    (path.parent / "audit.jsonl.state").unlink()
    done = command(action)
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"there is no audit log" in done.stderr


def test_a_call_that_its_client_cancelled_is_logged_as_cancelled(run, tree, tmp_path):
    share, data = tree({f"{n}.txt": "text" for n in range(50)}), tmp_path / "index"
    log = data / "audit.jsonl"
    with Peer([*SERVE, "--root", str(share), "--data-dir", str(data)], tmp_path) as peer:
        peer.initialize()
        call = {"name": "indexFolder", "arguments": {"root": str(share)}, "_meta": {"progressToken": "t"}}
        indexing = peer.post("tools/call", call)
        peer.read()  # that it waits its turn
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": indexing}})
        while not (log.exists() and log.read_bytes().endswith(b"\n")):
            peer.ask("ping")
    [entry] = map(json.loads, run("audit", "--json", "--outcome", "cancelled", "--data-dir", data).stdout.splitlines())
    assert (entry["tool"], entry["outcome"], "error" in entry) == ("indexFolder", "cancelled", False)
