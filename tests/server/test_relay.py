"""`context serve --connect`: a client on standard input and output at a server that many share, also when that one fails."""

from __future__ import annotations

import json
import socket
import subprocess

import pytest
from test_http import Served

from server_client import SERVE, Peer


@pytest.fixture
def shared(tmp_path):
    (tmp_path / "share").mkdir()
    (tmp_path / "share/a.md").write_text("The harbour master is Ada Quill.", encoding="utf-8")
    server = Served(tmp_path, "--root", str(tmp_path / "share"))
    yield server
    server.end()


def relay(server_or_port, home, *args):
    port = getattr(server_or_port, "port", server_or_port)
    argv = [*SERVE, "--connect", f"http://127.0.0.1:{port}/mcp", "--data-dir", str(home / "index"), *args]
    return Peer(argv, home)


def test_pipelined_messages_reach_the_session_they_open(shared, tmp_path):
    with relay(shared, tmp_path) as peer:
        peer.send(
            {
                "jsonrpc": "2.0",
                "id": "a",
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "t", "version": "1"},
                },
            }
        )
        peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        peer.send({"jsonrpc": "2.0", "id": "b", "method": "tools/list"})
        answers = {frame["id"]: frame["result"] for frame in (*(peer.read() for _ in range(2)), *peer.finish())}
        assert len(answers["b"]["tools"]) == 10
        assert peer.process.returncode == 0
        assert peer.log == ""


def test_progress_passes(shared, tmp_path):
    with relay(shared, tmp_path) as peer:
        peer.initialize()
        params = {
            "name": "indexFolder",
            "arguments": {"root": str(tmp_path / "share")},
            "_meta": {"progressToken": "p"},
        }
        peer.send({"jsonrpc": "2.0", "id": "i", "method": "tools/call", "params": params})
        frames = [peer.read()]
        while "id" not in frames[-1]:
            frames.append(peer.read())
        assert frames[-1]["result"]["isError"] is False
        assert {frame["method"] for frame in frames[:-1]} == {"notifications/progress"}
        assert {frame["params"]["progressToken"] for frame in frames[:-1]} == {"p"}


def test_a_server_that_is_not_there_is_an_error_for_each_request(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with relay(free.getsockname()[1], tmp_path) as peer:
            for method in ("initialize", "tools/list", "ping"):
                assert peer.ask(method, {})["error"]["code"] == -32603
            peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            assert peer.ask("ping")["error"]["code"] == -32603
            assert peer.finish() == []
            assert peer.process.returncode == 0
            assert "Traceback" not in peer.log


def test_a_server_that_was_started_again_is_greeted_anew(tmp_path, port):
    (tmp_path / "share").mkdir()
    first = Served(tmp_path, "--root", str(tmp_path / "share"), port=port)
    with relay(first, tmp_path) as peer:
        peer.initialize()
        assert len(peer.ask("tools/list")["result"]["tools"]) == 10
        first.end()
        assert peer.ask("tools/list")["error"]["code"] == -32603
        second = Served(tmp_path, "--root", str(tmp_path / "share"), port=port)
        try:
            assert len(peer.ask("tools/list")["result"]["tools"]) == 10
            assert peer.call("listRoots")["isError"] is False
        finally:
            second.end()


def test_a_server_that_ends_in_the_middle_of_a_call_is_an_error(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening, relay(listening.getsockname()[1], tmp_path) as peer:
        asked = peer.post("ping")
        connection, _ = listening.accept()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.recv(10_000)
        connection.sendall(head + b"3\r\n: x\r\n")
        connection.close()
        answer = peer.read()
        assert (answer["id"], answer["error"]["code"]) == (asked, -32603)


@pytest.mark.parametrize("said", [b"<html>", b"{", b"[]", b"null"])
def test_what_is_no_answer_is_an_error(tmp_path, said):
    with socket.create_server(("127.0.0.1", 0)) as listening, relay(listening.getsockname()[1], tmp_path) as peer:
        asked = peer.post("ping")
        connection, _ = listening.accept()
        connection.recv(10_000)
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(said)}\r\n\r\n"
        connection.sendall(head.encode() + said)
        answer = peer.read()
        connection.close()
        assert (answer["id"], answer["error"]["code"]) == (asked, -32603)


def test_a_missing_token_is_told_to_the_client(tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef-token", encoding="ascii")
    token.chmod(0o600)
    server = Served(tmp_path, config=f'[http]\ntoken_file = "{token}"\n')
    try:
        own = tmp_path / "own.toml"
        own.write_text("", encoding="utf-8")
        with relay(server, tmp_path, "--config", str(own)) as peer:
            assert "401" in peer.ask("initialize", {})["error"]["message"]
        with relay(server, tmp_path) as peer:
            assert peer.initialize()["result"]["serverInfo"]["name"] == "smart-context"
    finally:
        server.end()


def test_a_shared_server_logs_the_client_behind_the_relay(shared, tmp_path):
    with relay(shared, tmp_path) as peer:
        peer.initialize()
        peer.call("listRoots")
    log = (tmp_path / "index/audit.jsonl").read_text(encoding="utf-8")
    line = json.loads(log.splitlines()[-1])
    assert (line["caller"], line["client"], line["address"]) == ("owner", "peer", "127.0.0.1")


def test_an_address_that_is_none_is_refused_at_once(tmp_path):
    done = subprocess.run([*SERVE, "--connect", "ftp://x"], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1
