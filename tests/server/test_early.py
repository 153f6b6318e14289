"""What is answered before the SDK is loaded has the SDK's bytes, and the session goes on as if nothing had been."""

from __future__ import annotations

import json
import signal

import pytest

from server_client import CONTEXT_SERVER, SERVE, Peer, call
from smart_context.server.early import VERSIONS

STARTED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
# `_meta` is nothing unusual, but enough to leave a greeting to the SDK.
SLOWLY = {"_meta": {}}


def greeting(version, **more):
    who = {"name": "peer", "version": "1"}
    return {"protocolVersion": version, "capabilities": {"sampling": {}}, "clientInfo": who, **more}


def request(number, method, params=None):
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params is not None else {})}


def lines_of(argv, home, *messages):
    with Peer(argv, home) as peer:
        found = []
        for message in messages:
            peer.send(message)
            found += [peer.process.stdout.readline()] if "id" in message else []
        assert peer.finish() == []
        return found


PROGRAMS = {
    "serve": [*SERVE, "--root", "."],
    "underscore": [*SERVE, "--root", ".", "--tool-names", "underscore"],
    "mcp-context-server": list(CONTEXT_SERVER),
}


@pytest.mark.parametrize(
    ("program", "version"),
    [*(("serve", version) for version in VERSIONS), ("underscore", VERSIONS[-1]), ("mcp-context-server", VERSIONS[-1])],
)
def test_the_first_answers_have_the_bytes_that_the_sdk_gives(tmp_path, program, version):
    argv = PROGRAMS[program]
    asked = [STARTED, request("a", "ping"), request(2, "tools/list"), request(3, "tools/list", {})]
    early = lines_of(argv, tmp_path, request(1, "initialize", greeting(version)), *asked)
    late = lines_of(argv, tmp_path, request(1, "initialize", greeting(version, **SLOWLY)), *asked)
    assert early == late
    assert len(early) == 4


def test_the_session_goes_on_with_what_its_greeting_said_under_ids_used_before(tmp_path):
    data = ["--data-dir", str(tmp_path / "d")]
    with Peer([*SERVE, "--root", str(tmp_path), *data], tmp_path) as peer:
        for message in (
            request(1, "initialize", greeting("2025-06-18")),
            STARTED,
            request(1, "tools/call", call("listRoots")),
        ):
            peer.send(message)
        frames = [peer.read(), peer.read()]
        assert [frame["id"] for frame in frames] == [1, 1]
        assert frames[1]["result"]["isError"] is False
        assert peer.ask("ping")["result"] == {}
        assert peer.finish() == []
    line = json.loads((tmp_path / "d/audit.jsonl").read_text(encoding="utf-8"))
    assert line["client"] == "peer"


ODD = [
    b'{"jsonrpc":"2.0","id":-0,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":7,"method":"ping","extra":1}',
    b'{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"x"}}',
    b'{"jsonrpc":"2.0","id":9,"method":"nothing/such"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    b'{"jsonrpc":"1.0","id":10,"method":"ping"}',
    b"[]",
    b"{",
    b'{"jsonrpc":"2.0","id":11,"method":"initialize","params":{}}',
]


@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_unusual_is_left_to_the_sdk(tmp_path, is_first):
    """Each line is sent to a server of its own, and then all of them to one that has given up on answering early."""

    def answered(*lines, **more):
        with Peer(CONTEXT_SERVER, tmp_path) as peer:
            if not is_first:
                peer.send(request("greeting", "initialize", greeting("2025-11-25", **more)))
                peer.send(STARTED)
            for line in lines:
                peer.send_line(line)
            found = peer.finish()
        return [json.dumps(frame) for frame in found if frame.get("id") not in {"greeting", "left"}]

    one_by_one = [frame for odd in ODD for frame in answered(odd)]
    left = json.dumps(request("left", "ping", SLOWLY)).encode()
    assert sorted(one_by_one) == sorted(answered(left, *ODD, **SLOWLY))
    assert len(one_by_one) >= len(ODD) - 2


@pytest.mark.parametrize(
    "argv", [PROGRAMS["serve"], PROGRAMS["mcp-context-server"]], ids=["serve", "mcp-context-server"]
)
def test_the_first_answers_need_no_sdk_and_nothing_else_that_is_heavy(tmp_path, argv):
    """None of it can be imported here."""
    for name in ("mcp", "mcp_types", "pydantic", "anyio", "uvicorn", "tantivy", "numpy"):
        (tmp_path / "broken" / name).mkdir(parents=True)
        (tmp_path / "broken" / name / "__init__.py").write_text("raise ImportError", encoding="utf-8")
    with Peer(argv, tmp_path, {"PYTHONPATH": str(tmp_path / "broken")}) as peer:
        assert peer.initialize()["result"]["protocolVersion"] == "2025-11-25"
        assert peer.ask("ping")["result"] == {}
        assert len(peer.ask("tools/list")["result"]["tools"]) in {3, 10}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_that_has_only_greeted(tmp_path, number):
    with Peer(CONTEXT_SERVER, tmp_path) as peer:
        peer.initialize()
        peer.process.send_signal(signal.SIGHUP)
        peer.ask("ping")
        peer.process.send_signal(number)
        assert peer.process.wait(30) == 0
