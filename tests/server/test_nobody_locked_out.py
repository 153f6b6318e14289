"""Nobody is locked out: every listener bounds heads, connections and sessions, and a line that repeats is written once."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from test_http import ACCEPT, INITIALIZE, Served, called, post

import ready
from conftest import PATIENCE, clean_env
from server_client import SERVE, Peer, text_of
from smart_context.talk import Repeats

# Opens as many connections as asked for, sends the same on each, says so, and holds them until its input ends.
_HALF = """
import resource, socket, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
held = []
for _ in range(int(sys.argv[2])):
    one = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=300)
    try:
        one.sendall(sys.argv[3].encode())
    except OSError:
        pass
    held.append(one)
for one in held if sys.argv[4:] else ():
    try:
        one.recv(1)  # the server has read what was sent
    except OSError:
        pass
print("held", flush=True)
sys.stdin.read()
"""


class Holding:
    """Another process that holds half requests open at a port, or others."""

    def __init__(self, port, count, *sent):
        """sent: on each connection, and answered; otherwise half of a head, which is not."""
        given = [*sent, "answered"] if sent else ["GET /healthz HTTP/1.1\r\nHo"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HALF, str(port), str(count), *given], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout.readline() == b"held\n"

    def end(self):
        self._process.communicate(timeout=PATIENCE)


@pytest.fixture
def beside(tmp_path):
    """A stdio server with the operators' port, its port, and the owner's token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--ops-port", str(port), "--root", str(tmp_path), "--data-dir", str(tmp_path / "d")]
    with Peer([*SERVE, *options], tmp_path) as peer:
        peer.initialize()
        yield peer, port, (tmp_path / "d/http-token").read_text().strip()


def asked(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_half_requests_at_the_operators_port_stop_neither_tools_nor_operators(beside):
    peer, port, token = beside
    holding = Holding(port, 1500)
    found = json.loads(text_of(peer.call("searchFiles", {"query": "x"})))
    assert "items" in found
    assert asked(port, "/healthz") == (200, b'{"live":true}\n')
    holding.end()
    assert json.loads(asked(port, "/healthz", Authorization=f"Bearer {token}")[1])["live"] is True
    assert len(peer.log) < 2000


def test_the_operators_port_needs_the_token_for_what_it_counts(beside):
    _, port, token = beside
    assert asked(port, "/metrics")[0] == 401
    assert asked(port, "/healthz") == (200, b'{"live":true}\n')
    assert b"smart_context_roots 1" in asked(port, "/metrics", Authorization=f"Bearer {token}")[1]
    assert asked(port, "/metrics", Host="evil.example")[0] == 421


def test_half_requests_at_the_http_server_lock_nobody_out(tmp_path):
    server = Served(tmp_path, "--root", str(tmp_path), under=("sh", "-c", 'ulimit -n 256 && exec "$@"', "sh"))
    holding = Holding(server.port, 1500)
    assert "roots" in called(server, "listRoots", {})["structuredContent"]
    holding.end()
    server.process.terminate()
    assert (
        server.process.communicate(timeout=PATIENCE)[1].split(b" ", 1)[1] == b"the server has ended\n"
    )  # and nothing else


def test_neither_half_a_body_nor_a_connection_that_stays_open_locks_anybody_out(tmp_path):
    """Without a token: for each of these, somebody who only connects gets an answer or has the server wait."""
    server = Served(tmp_path, "--root", str(tmp_path), under=("sh", "-c", 'ulimit -n 256 && exec "$@"', "sh"))
    with ThreadPoolExecutor(1) as reading:
        said = reading.submit(server.process.stderr.read)  # what it says of refusals must not fill the pipe
        host = f"Host: 127.0.0.1:{server.port}\r\n"
        form = f"{host}Origin: http://127.0.0.1:{server.port}\r\n"
        try:
            for sent in (
                f"POST /mcp HTTP/1.1\r\n{host}Content-Length: 100\r\n\r\n{{",
                f"POST /enter HTTP/1.1\r\n{form}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n",
                f"GET /healthz HTTP/1.1\r\n{host}\r\n",
            ):
                holding = Holding(server.port, 127, sent)  # half of 256, but for one
                assert "roots" in called(server, "listRoots", {})["structuredContent"], sent
                holding.end()
        finally:
            server.process.terminate()
        assert b"the server has ended" in said.result(PATIENCE)
    assert server.end() == 0


def session_of(answer):
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}


def token_of(server, name):
    command = [sys.executable, "-m", "smart_context", "token", "add", name, "--all-roots"]
    done = ready.run(
        [*command, "--data-dir", str(server.home / "index")],
        env=clean_env(server.home),
        capture_output=True,
        check=True,
    )
    return {"Authorization": f"Bearer {done.stdout.decode().strip()}"}


PING = {"jsonrpc": "2.0", "id": 5, "method": "ping"}


def test_nobody_uses_or_ends_the_session_of_another(tmp_path):
    server = Served(tmp_path)
    session = session_of(post(server, INITIALIZE))
    other = token_of(server, "other")
    assert server.ask("DELETE", "/mcp", headers={**ACCEPT, **session, **other})[0] == 404
    assert server.ask("POST", "/mcp", PING, {**ACCEPT, **session, **other})[0] == 404
    assert server.ask("POST", "/mcp", PING, {**ACCEPT, **session})[0] == 200
    assert server.ask("DELETE", "/mcp", headers={**ACCEPT, **session})[0] == 200
    assert server.ask("POST", "/mcp", PING, {**ACCEPT, **session})[0] == 404
    assert server.end() == 0


def test_a_session_that_is_idle_ends(tmp_path):
    server = Served(tmp_path, config="[http]\nsession_seconds = 1.0\n")
    idle = session_of(post(server, INITIALIZE))
    for waited in (2, 4, 8, 16):  # a server that gets no time may be late: asking renews a session that is still there
        time.sleep(waited)
        if server.ask("POST", "/mcp", PING, {**ACCEPT, **idle})[0] == 404:
            break
    else:
        pytest.fail("the session never ended")
    assert server.end() == 0


def test_a_caller_that_opens_sessions_without_end_ends_its_own_and_nobody_elses(tmp_path):
    server = Served(tmp_path)
    mine = session_of(post(server, INITIALIZE))
    greedy = token_of(server, "greedy")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    opened = []
    for _ in range(520):
        connection.request("POST", "/mcp", json.dumps(INITIALIZE), {**ACCEPT, **greedy})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200
        opened.append(session_of(answer))
    connection.close()
    found = [server.ask("POST", "/mcp", PING, {**ACCEPT, **each, **greedy})[0] for each in (opened[0], opened[-1])]
    assert found == [404, 200]
    assert server.ask("POST", "/mcp", PING, {**ACCEPT, **mine})[0] == 200
    assert server.end() == 0


def test_an_origin_that_is_no_address_is_refused(tmp_path):
    server = Served(tmp_path)
    assert server.ask("GET", "/metrics", headers={"Origin": "http://[x"})[0] == 403
    assert server.end() == 0


@pytest.mark.parametrize(("trusted", "address"), [("", "127.0.0.1"), ('"127.0.0.1"', "10.9.8.7")])
def test_only_a_proxy_that_is_named_tells_for_whom_it_asks(tmp_path, trusted, address):
    server = Served(tmp_path, "--root", str(tmp_path), config=f"[http]\ntrusted_proxies = [{trusted}]\n")
    called(server, "listRoots", {}, headers={"X-Forwarded-For": "10.9.8.7"})
    assert server.end() == 0
    line = json.loads((tmp_path / "index/audit.jsonl").read_text(encoding="utf-8"))
    assert (line["caller"], line["address"]) == ("owner", address)


def test_a_line_that_repeats_is_written_once_a_minute_and_counted():
    log = Repeats()
    written = [
        log.admit(text, now) for now, text in ((0, "a\n"), (1, "a\n"), (2, "b\n"), (3, "a\n"), (61, "a\n"), (62, "a\n"))
    ]
    assert written == ["a\n", "", "b\n", "", "a\nthe line above came 2 more times\n", ""]
