"""What is answered before the SDK is loaded has the SDK's bytes, and the session goes on as if nothing had been."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from conftest import PATIENCE, clean_env
from server_client import CONTEXT_SERVER, SERVE, Peer, call
from smart_context.server import early
from smart_context.server.early import VERSIONS
from smart_context.server.tools import Program
from smart_context.server.wire import Wire

STARTED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
# `_meta` is nothing unusual, but enough to leave a greeting to the SDK.
SLOWLY = {"_meta": {}}


PEER = {"name": "peer", "version": "1"}
SHOWN = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
# What clients say of themselves: one such for each version, so that each is tried once.
WHO = {
    "2024-11-05": ({}, PEER),
    "2025-03-26": ({"roots": {"listChanged": True}, "experimental": {"n": {"of": [-0.5, 1e3, None]}}}, PEER),
    "2025-06-18": (SHOWN, {**PEER, "title": 'caf\u00e9 "\U0001f375" \\ \u2028'}),
    "2025-11-25": ({"sampling": {}, "elicitation": {"form": {}}}, {"name": "", "version": ""}),
}
ODD_IDS = [0, -1, 2**53 + 1, -(2**70), "", " ", "0", "\u00e9\u4e2d\U0001f375", '"\\/\n\u0000\u2028', "x" * 2000]


def greeting(version, **more):
    offers, who = WHO[version]
    return {"protocolVersion": version, "capabilities": offers, "clientInfo": who, **more}


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
    pings = [request(odd, "ping") for odd in ODD_IDS]
    asked = [STARTED, *pings, request(2, "tools/list"), request(3, "tools/list", {}), request("a", "ping", {})]
    early = lines_of(argv, tmp_path, request(1, "initialize", greeting(version)), *asked)
    late = lines_of(argv, tmp_path, request(1, "initialize", greeting(version, **SLOWLY)), *asked)
    assert early == late
    assert len(early) == 4 + len(ODD_IDS)


def test_an_id_may_be_written_with_escapes(tmp_path):
    """As it is by every client whose language escapes what is not ASCII."""
    line = rb'{"jsonrpc":"2.0","id":"\u00e9\ud83c\udf75","method":"initialize","params":%s}'
    with Peer(CONTEXT_SERVER, tmp_path) as peer:
        peer.send_line(line % json.dumps(greeting("2025-11-25")).encode())
        assert peer.read()["id"] == "\u00e9\U0001f375"
        assert peer.finish() == []


def test_a_greeting_with_a_number_that_no_machine_holds_is_left_to_the_sdk(tmp_path):
    line = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",%s}}'
    params = b'"clientInfo":{"name":"peer","version":"1"},"capabilities":{"experimental":{"n":{"of":1e999}}}'
    with Peer(CONTEXT_SERVER, tmp_path) as peer:
        peer.send_line(line % params)
        assert peer.read()["result"]["protocolVersion"] == "2025-11-25"
        peer.send(STARTED)
        assert json.loads(peer.call("context.list_caches")["content"][0]["text"])


def test_the_session_goes_on_with_what_its_greeting_said_under_ids_used_before(tmp_path):
    data = ["--data-dir", str(tmp_path / "d")]
    with Peer([*SERVE, "--root", str(tmp_path), *data], tmp_path, start=subprocess.Popen) as peer:
        for message in (
            request(1, "initialize", greeting("2024-11-05")),
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
    b'[{"jsonrpc":"2.0","id":12,"method":"ping"}]',
    b"{",
    b"",
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":13,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":14,"method":"ping","params":{"n":NaN}}',
    b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"ping"}',
    b'{"jsonrpc":"2.0","id":11,"method":"initialize","params":{}}',
]


@pytest.mark.parametrize("is_greeted", [True, False])
@pytest.mark.parametrize("odd", ODD)
def test_what_is_unusual_is_left_as_it_came_with_all_that_follows(odd, is_greeted):
    first = json.dumps(request(1, "initialize", greeting("2025-06-18"))).encode()
    before = [first, json.dumps(STARTED).encode()] if is_greeted else []
    after = [odd, json.dumps(request(2, "ping")).encode(), b"the last line has no end"]
    (theirs, ours), (their_answers, our_answers) = os.pipe(), os.pipe()
    os.write(ours, b"\n".join([*before, *after]))
    os.close(ours)
    with open(their_answers, "rb") as answers, open(theirs, "rb"):
        wire = Wire(theirs, our_answers, os.getppid())
        left = early.serve(Program("p", "P", "how"), (), "dotted", wire, lambda: None)
        os.close(our_answers)
        assert [json.loads(line)["id"] for line in answers] == ([1] if is_greeted else [])
    assert left.is_greeted == is_greeted
    again = left.lines.split(b"\n")
    assert again[-3:] == after
    assert [json.loads(line)["method"] for line in again[:-3]] == [json.loads(line)["method"] for line in before]


def test_what_is_unusual_is_answered_as_if_nothing_had_been_answered_early(tmp_path):
    def answered(**more):
        with Peer(CONTEXT_SERVER, tmp_path) as peer:
            peer.send(request("greeting", "initialize", greeting("2025-11-25", **more)))
            peer.send(STARTED)
            for odd in ODD:
                peer.send_line(odd)
            return sorted(json.dumps(frame) for frame in peer.finish())

    found = answered()
    assert found == answered(**SLOWLY)
    assert len(found) >= len(ODD) - 2


@pytest.mark.parametrize(
    ("program", "version"), [*(("serve", version) for version in VERSIONS), ("mcp-context-server", VERSIONS[-2])]
)
def test_the_first_answers_need_no_sdk_and_nothing_else_that_is_heavy(tmp_path, program, version):
    """None of it can be imported here."""
    for name in ("mcp", "mcp_types", "pydantic", "anyio", "uvicorn", "tantivy", "numpy"):
        (tmp_path / "broken" / name).mkdir(parents=True)
        (tmp_path / "broken" / name / "__init__.py").write_text("raise ImportError", encoding="utf-8")
    with Peer(PROGRAMS[program], tmp_path, {"PYTHONPATH": str(tmp_path / "broken")}) as peer:
        assert peer.initialize(version)["result"]["protocolVersion"] == version
        assert peer.ask("ping")["result"] == {}
        assert len(peer.ask("tools/list")["result"]["tools"]) in {3, 10}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_that_has_only_greeted(tmp_path, number):
    with Peer(CONTEXT_SERVER, tmp_path, start=subprocess.Popen) as peer:
        peer.initialize()
        peer.process.send_signal(signal.SIGHUP)
        peer.ask("ping")
        peer.process.send_signal(number)
        assert peer.process.wait(PATIENCE) == 0


def test_who_looks_at_the_tools_and_leaves_loads_no_sdk(tmp_path):
    marker = tmp_path / "loaded"
    (tmp_path / "broken" / "mcp").mkdir(parents=True)
    told = f"open({str(marker)!r}, 'w')\nraise ImportError"
    (tmp_path / "broken" / "mcp" / "__init__.py").write_text(told, encoding="utf-8")
    asked = [request(1, "initialize", greeting("2025-06-18")), STARTED, request(2, "tools/list")]
    # A file, so that the end is there to be read as soon as the last line is.
    (tmp_path / "asked").write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
    env = {**clean_env(tmp_path), "PYTHONPATH": str(tmp_path / "broken")}
    with (tmp_path / "asked").open("rb") as lines:
        done = subprocess.run(CONTEXT_SERVER, stdin=lines, capture_output=True, env=env, cwd=tmp_path, check=True)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert not marker.exists()
