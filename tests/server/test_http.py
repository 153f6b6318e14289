"""The HTTP server, as a process on a real port: both protocol eras, the gate, the operators' routes, the relay, the end."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import ready
from conftest import PATIENCE, clean_env
from machine import children, rest
from smart_context.server import frames as lines

ROOT = Path(__file__).parents[2]
CONTEXT = [sys.executable, "-m", "smart_context"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class Served:
    """A running server: its port, and how to ask it."""

    def __init__(self, home, *args, config="", port=0, under=()):
        """under: a command that starts the server's."""
        (home / "config/smart-context").mkdir(parents=True, exist_ok=True)
        (home / "config/smart-context/config.toml").write_text(config, encoding="utf-8")
        self.home = home
        self.process = ready.Popen(
            [*under, *CONTEXT, "serve", "--http", "--port", str(port), "--data-dir", str(home / "index"), *args],
            env=clean_env(home),
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        self.said = self.process.stderr.readline()
        while self.said and b" listening on " not in self.said:
            self.said = self.process.stderr.readline()
        self.port = int(re.search(rb":(\d+)/mcp", self.said)[1])
        own = home / "index/http-token"
        self.token = {"Authorization": f"Bearer {own.read_text().strip()}"} if own.exists() else {}

    def ask(self, method, path, body=None, headers=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host=True)
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        given = {"Host": host or f"127.0.0.1:{self.port}", **self.token, **(headers or {})}
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        found = answer.status, answer.read()
        connection.close()
        return found

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.process.stderr.close()
        return status


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home = tmp_path_factory.mktemp("http")
    root = home / "share"
    root.mkdir()
    (root / "notes.md").write_text("# Ships\nThe harbour master is Ada Quill.\n", encoding="utf-8")
    server = Served(home, "--root", str(root))
    called(server, "indexFolder", {"root": str(root)})
    yield server
    assert server.end() == 0


def called(server, tool, arguments, client="t", token=None, headers=None):
    """Call a tool as a client without a session does; gives its result."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    headers = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool, **(headers or {})}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    status, answer = server.ask("POST", "/mcp", body, {**ACCEPT, **headers})
    assert status == 200, answer
    return json.loads(answer[answer.index(b"{") :])["result"]


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_clients_of_both_eras_index_and_search(served, mode):
    import anyio
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def talk():
        async with httpx2.AsyncClient(headers=served.token, trust_env=False, timeout=PATIENCE) as over:
            transport = streamable_http_client(f"http://127.0.0.1:{served.port}/mcp", http_client=over)
            async with Client(transport, mode=mode) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                await client.call_tool("indexFolder", {"root": str(served.home / "share")})
                found = await client.call_tool("searchFiles", {"query": "harbour master"})
                return names, found.structured_content

    names, found = anyio.run(talk)
    assert len(names) == 10
    assert found["items"][0]["path"] == str(served.home / "share/notes.md")


@pytest.mark.parametrize(
    ("host", "headers", "status"),
    [
        ("evil.example", {}, 421),
        ("127.0.0.1.evil.example", {}, 421),
        ("localhost:99999", {}, 200),  # any port: a tunnel may have another
        ("LOCALHOST", {}, 200),
        ("[::1]:1", {}, 200),
        ("localhost@evil.example", {}, 421),
        ("", {}, 421),
        (None, {"Origin": "http://evil.example"}, 403),
        (None, {"Origin": "null"}, 403),
        (None, {"Origin": "http://127.0.0.1.evil.example"}, 403),
        (None, {"Origin": "http://localhost:3000"}, 200),
        (None, {"Origin": "file://"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/mcp", "/nothing"])
def test_every_route_refuses_strange_hosts_and_origins(served, host, headers, status, path):
    found, body = served.ask("GET", path, headers=headers, host=host or (None if host is None else " "))
    if status == 200:
        assert found not in {421, 403}
    else:
        assert found == status
        assert b"notes" not in body


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/mcp/../metrics",
        "//metrics",
        "/metrics/",
        "/%6detrics/x",
        "/mcp/x",
        "/..%2f..%2fetc/passwd",
        "/mcp%00",
    ],
)
def test_paths_that_are_no_route_find_nothing(served, path):
    assert served.ask("GET", path)[0] in {404, 405, 406, 400}


def test_health_and_metrics_tell_no_file_name(served):
    status, body = served.ask("GET", "/healthz")
    assert status == 200
    assert json.loads(body).items() >= {"live": True, "ready": True, "roots": 1, "roots_available": 1}.items()
    called(served, "searchFiles", {"query": "harbour"})
    status, page = served.ask("GET", "/metrics")
    assert b'smart_context_calls_total{tool="searchFiles",outcome="ok"}' in page
    assert b"smart_context_index_files 1\n" in page
    for told in (body, page):
        assert b"notes" not in told
        assert str(served.home).encode() not in told
    assert served.ask("POST", "/metrics", b"")[0] == 405
    assert served.ask("TRACE", "/metrics")[0] == 405
    assert served.ask("HEAD", "/healthz")[1] == b""


def test_a_body_over_the_limit_is_refused_and_the_server_goes_on(served):
    status, _ = served.ask("POST", "/mcp", b" " * 2_000_000, ACCEPT)
    assert status == 413
    assert served.ask("POST", "/mcp", INITIALIZE, ACCEPT)[0] == 200


def announced(served, length, more=""):
    """The head of a request with a body of some length."""
    known = served.token["Authorization"]
    return (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {known}\r\nContent-Length: {length}\r\n{more}\r\n"
    ).encode()


@pytest.mark.parametrize("length", ["1048577", "9" * 19])
@pytest.mark.parametrize("more", ["", "Expect: 100-continue\r\n"])
def test_a_body_that_is_announced_as_too_large_is_refused_before_any_of_it_comes(served, length, more):
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(announced(served, length, more))
        assert answers(connection.recv(4096)) == [b"413"]


def test_who_goes_on_sending_too_much_sees_the_answer(served):
    """Closed on unread bytes, a connection is reset, and what was answered is gone with it."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(announced(served, 20_000_000))
        for _ in range(200):
            connection.sendall(b" " * 100_000)
        assert answers(connection.recv(4096)) == [b"413"]


@pytest.mark.parametrize(
    ("body", "code", "request_id"),
    [
        (b"nonsense", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":["\\udead"]}}', -32700, None),
        (b"[" * 400_000, -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"id":"seven","method":"ping"}', -32600, "seven"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),  # a request, and no notification
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"listRoots"}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":8,"method":"ping","params":["ghp_q7Rk2ZpX9vLm"]}', -32600, 8),
    ],
)
def test_what_is_no_message_gets_the_error_that_it_gets_over_standard_input_and_is_not_repeated(
    served, body, code, request_id
):
    status, answer = served.ask("POST", "/mcp", body, ACCEPT)
    told = json.loads(answer)
    assert (status, told["id"], told["error"]["code"]) == (400, request_id, code)
    assert b"q7Rk2ZpX9vLm" not in answer
    assert answer == lines.encode(lines.decode(body).message()).rstrip()


def test_many_senders_that_never_finish_keep_nobody_waiting(served):
    held = []
    for head in (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", b"GET /mcp HTTP/1.1\r\nHo"):
        for _ in range(50):
            connection = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)
            connection.sendall(head)
            held.append(connection)
    assert served.ask("GET", "/healthz")[0] == 200
    assert served.ask("POST", "/mcp", INITIALIZE, ACCEPT)[0] in {200, 503}
    for connection in held:
        connection.close()


@pytest.mark.parametrize(
    "junk", [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"\x00" * 5000, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"]
)
def test_what_is_no_request_costs_its_own_connection(served, junk):
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(junk)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass
    assert served.ask("GET", "/healthz")[0] == 200


HEAD = b"POST /mcp HTTP/1.1\r\nHost: %b\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("host", [b"evil.example", b"127.0.0.1"])
def test_a_good_head_with_a_body_that_is_no_http_is_answered_once_and_is_no_error_of_ours(tmp_path, host):
    server = Served(tmp_path)
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(HEAD % host + b"no chunk\r\n")  # read at once, before the head gets its answer
            assert answers(everything(connection)) == [b"400"]
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(HEAD % b"evil.example")
            first = connection.recv(4096)
            connection.sendall(b"no chunk\r\n")
            assert answers(first + everything(connection)) == [b"421"]
        assert server.ask("GET", "/healthz")[0] == 200
    finally:
        server.process.terminate()
        said = server.process.communicate(timeout=PATIENCE)[1]
    assert b"error" not in said


@pytest.mark.parametrize(
    "both", [b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"transfer-encoding: chunked\r\nCONTENT-LENGTH: 0"]
)
def test_a_request_with_a_length_and_in_chunks_is_refused_and_nothing_after_it_is_a_request(served, both):
    """A proxy may go by the length where we go by the chunks, and take the rest for a request of its own (RFC 9112, 6.1)."""
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n%b\r\n\r\n0\r\n\r\n" % both
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(head + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answers(everything(connection)) == [b"400"]


def answers(said):
    return re.findall(rb"HTTP/1.1 (\d+)", said)


def everything(connection):
    said = b""
    try:
        while piece := connection.recv(4096):
            said += piece
    except ConnectionResetError:
        pass  # it hung up on what it had not read
    return said


TOKEN = "0123456789abcdef-token"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    home = tmp_path_factory.mktemp("guarded")
    (home / "token").write_text(TOKEN, encoding="ascii")
    os.chmod(home / "token", 0o600)
    config = f'[http]\ntoken_file = "{home / "token"}"\nallowed_hosts = ["share.example"]\n'
    server = Served(home, "--host", "0.0.0.0", config=config)
    yield server
    assert server.end() == 0


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (None, 401),
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer", 401),
        ("Bearer \xff", 401),
    ],
)
def test_off_loopback_the_token_is_needed(guarded, value, status):
    headers = {"Authorization": value.encode("latin-1")} if value else {}
    for path, fine in (("/metrics", 200), ("/mcp", 406)):
        found = guarded.ask("GET", path, headers=headers, host="share.example")[0]
        assert found == (fine if status == 200 else 401)


def test_off_loopback_health_needs_no_token_and_tells_only_that_it_lives(guarded):
    assert guarded.ask("GET", "/healthz", host="share.example")[1] == b'{"live":true}\n'
    assert guarded.ask("GET", "/healthz")[1] == b'{"live":true}\n'  # by loopback's own name, as a health check does
    for host in ("0.0.0.0", "[::]", "other.example"):
        assert guarded.ask("GET", "/healthz", host=host)[0] == 421


def test_a_token_is_made_for_the_owner_alone_and_kept(tmp_path):
    from smart_context.access import tokens
    from smart_context.errors import ConfigError

    made = tokens.own(tmp_path / "data", None)
    assert tokens.own(tmp_path / "data", None) == made
    file = tmp_path / "data/http-token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert made not in repr(tokens.Tokens(tmp_path / "data", None))
    file.chmod(0o644)
    with pytest.raises(ConfigError):
        tokens.own(tmp_path / "data", None)


def test_a_place_where_nobody_can_listen_is_an_error_that_says_why(served, run):
    done = run("serve", "--http", "--port", str(served.port), "--root", served.home / "share")
    assert (done.returncode, done.stdout) == (6, b"")
    said = b"error: cannot listen on 127.0.0.1:%d\nreason: Address already in use\nhint: " % served.port
    assert done.stderr.startswith(said)
    assert run("serve", "--http", "--host", "192.0.2.1", "--port", "0").returncode == 6


def test_no_answer_waits_for_its_head_to_be_confirmed():
    from smart_context.server import listen

    [listening] = listen.bind("127.0.0.1", 0)
    with listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_an_address_of_ipv6_is_told_as_clients_write_it(tmp_path):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine speaks no IPv6")
    server = Served(tmp_path, "--host", "::1")
    with socket.create_connection(("::1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: [::1]:%d\r\nConnection: close\r\n\r\n" % server.port)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    assert server.end() == 0
    assert b" listening on http://[::1]:" in server.said


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_more_connections_than_descriptors_are_turned_away_and_the_server_goes_on(tmp_path):
    server = Served(tmp_path, under=("sh", "-c", 'ulimit -n 64 && exec "$@"', "sh"))
    first = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    first.request("GET", "/healthz")
    assert first.getresponse().read()  # there is room for some
    held, left = [], set()
    while len(held) - len(left) < 60:  # as many as the system lets through: some may wait in its queue
        held.append(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
        left.add(held[-1])
        left.difference_update(select.select(list(left), [], [], 0.01)[0])  # nothing is said to them: they were closed
    for connection in (first, *held):
        connection.close()
    while len(os.listdir(f"/proc/{server.process.pid}/fd")) > 30:
        rest()
    assert server.ask("GET", "/healthz")[0] == 200
    server.process.terminate()
    assert server.process.communicate(timeout=PATIENCE)[1].endswith(b"Z the server has ended\n")


def test_options_that_do_not_go_together_are_refused(run):
    wide = ["--http", "--host", "0.0.0.0", "--no-token"]
    for args in (["--port", "1"], ["--no-token"], ["--http", "--ops-port", "5"], ["--connect", "ftp://x"], wide):
        assert run("serve", *args).returncode == 1


def test_settings_of_a_server_that_could_never_work_are_refused_with_what_to_write(run, tmp_path):
    (tmp_path / "token").write_bytes(b"caf\xc3\xa9 and many more letters")
    (tmp_path / "token").chmod(0o600)
    name = "hint: without https:// and without a port: context.example.com"
    made = (
        "hint: write one of at least 16 characters there, with mode 600; without `http.token_file` the server makes one"
    )
    for setting, told in (
        ('trusted_proxies = ["a.b"]', ["error: http.trusted_proxies: 'a.b' is not an address or a network"]),
        (
            'allowed_hosts = ["https://x.y"]',
            ["error: http.allowed_hosts: 'https://x.y' is not the name of a host", name],
        ),
        (
            'allowed_hosts = ["::1", "x.y:443"]',
            ["error: http.allowed_hosts: 'x.y:443' is not the name of a host", name],
        ),
        (
            'token_file = "token"',
            [f"error: the token in {tmp_path}/token is not ASCII text", "hint: write letters, digits and signs there"],
        ),
        (
            'token_file = "absent"',
            [f"error: cannot read the token in {tmp_path}/absent", "reason: No such file or directory", made],
        ),
    ):
        (tmp_path / "c.toml").write_text(f"[http]\nport = 0\n{setting}\n", encoding="utf-8")
        done = run("serve", "--http", "--root", tmp_path, "--config", tmp_path / "c.toml")
        assert (done.returncode != 0, done.stderr.decode().splitlines()) == (True, told)


def frames(*asked):
    return b"".join(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n" for frame in asked)


def test_a_client_on_standard_input_uses_the_shared_server(served, run):
    call = {"name": "searchFiles", "arguments": {"query": "harbour"}}
    asked = frames(
        {k: v for k, v in INITIALIZE.items() if k != "jsonrpc"},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": call},
    )
    done = run(
        "serve", "--connect", f"http://127.0.0.1:{served.port}/mcp", "--data-dir", served.home / "index", stdin=asked
    )
    assert done.returncode == 0, done.stderr
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines()) if "id" in answer}
    assert len(answers[2]["tools"]) == 10
    assert answers[3]["isError"] is False


def test_a_stdio_server_serves_the_operators_routes_beside(tmp_path, port):
    server = subprocess.Popen(
        [*CONTEXT, "serve", "--ops-port", str(port), "--root", str(tmp_path), "--data-dir", str(tmp_path / "d")],
        env=clean_env(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    server.stdin.write(frames({k: v for k, v in INITIALIZE.items() if k != "jsonrpc"}))
    server.stdin.flush()
    server.stdout.readline()
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", "/healthz")
            break
        except ConnectionRefusedError:
            assert server.poll() is None
        finally:
            if connection.sock is None:
                connection.close()
    assert json.loads(connection.getresponse().read())["live"] is True
    connection.close()
    server.communicate(timeout=PATIENCE)
    assert server.returncode == 0


def test_waiting_streams_take_no_turn_and_do_not_hold_up_the_end(tmp_path):
    server = Served(tmp_path, config="[http]\nmax_concurrency = 2\n")
    streams = []
    for _ in range(5):
        answer = post(server, INITIALIZE)
        session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("GET", "/mcp", headers={**ACCEPT, **session, **server.token})
        assert connection.getresponse().status == 200
        streams.append(connection)
    assert server.ask("POST", "/mcp", INITIALIZE, ACCEPT)[0] == 200
    server.process.send_signal(signal.SIGTERM)
    said = server.process.communicate(timeout=PATIENCE)[1]
    assert server.process.returncode == 0
    assert b"timeout" not in said  # as it says when calls were given all of their time
    for connection in streams:
        connection.close()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_end_stops_indexing_between_two_files_and_leaves_no_process(tmp_path):
    root = tmp_path / "share"
    root.mkdir()
    for number in range(3000):
        (root / f"{number}.html").write_text(f"<p>{number} {'text ' * 300}", encoding="utf-8")
    server = Served(tmp_path, "--root", str(root), "--watch")
    readers = set()
    while not readers:  # the watch reads everything first
        readers = children(server.process.pid)
    assert server.end() == 0
    assert [pid for pid in readers if os.path.exists(f"/proc/{pid}")] == []


def test_every_metric_that_the_guides_name_is_there(served):
    called(served, "listRoots", {})
    page = served.ask("GET", "/metrics")[1].decode()
    guides = "".join(guide.read_text(encoding="utf-8") for guide in (ROOT / "docs/guides").glob("*.md"))
    roles = {"smart_context_indexer", "smart_context_node", "smart_context_queue"}  # of a database
    named = set(re.findall(r"smart_context_\w+", guides)) - roles
    assert "smart_context_calls_total" in named
    assert named <= set(re.findall(r"^# TYPE (\w+) ", page, re.MULTILINE))


def test_health_says_when_the_index_cannot_be_read_and_still_counts_the_roots(tmp_path):
    (tmp_path / "index").mkdir(mode=0o700)
    (tmp_path / "index/record.sqlite").write_bytes(b"no database" * 1000)
    (tmp_path / "here").mkdir()
    server = Served(tmp_path, "--root", str(tmp_path / "here"), "--root", str(tmp_path / "away"))
    try:
        status, body = server.ask("GET", "/healthz")
        told = json.loads(body)
        assert (status, told["ready"], told["live"], told["is_sound"]) == (503, False, True, False)
        assert (told["roots"], told["roots_available"]) == (2, 1)
        assert b"smart_context_index_sound 0\n" in server.ask("GET", "/metrics")[1]
    finally:
        server.end()


def post(server, body):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", "/mcp", json.dumps(body), {**ACCEPT, **server.token})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer
