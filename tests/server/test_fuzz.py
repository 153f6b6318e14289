"""Random and mutated requests at the real servers: whatever comes, the next good request is answered and nothing falls over.

Here the seeds and the number of requests are fixed, so that each run sends the same. `make fuzz` goes on for `FUZZ_SECONDS` from a new
seed, which it tells; `FUZZ_SEED` takes it again. What it found is kept below as it was sent.
"""

from __future__ import annotations

import json
import os
import random
import socket
import threading
import time

import pytest
from test_http import ACCEPT, INITIALIZE, Served

from conftest import PATIENCE
from server_client import SERVE, Peer

SEEDS = [int(os.environ["FUZZ_SEED"])] if "FUZZ_SEED" in os.environ else [1, 807422045, 1486618510]
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0")) / 2  # for each of the two servers
ROUNDS = 50
TOOLS = (
    "listRoots",
    "searchFiles",
    "openFile",
    "rewriteQuery",
    "summarizeResults",
    "context.resolve",
    "context_list_caches",
    "x",
)
METHODS = (
    "tools/call",
    "tools/list",
    "ping",
    "initialize",
    "server/discover",
    "notifications/cancelled",
    "resources/list",
    "",
)
ODD = (
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    1.5,
    1e308,
    "",
    "a",
    "\x00",
    "\ud800",
    "é" * 500,
    [],
    {},
    [[]] * 9,
    {"": {"": 1}},
    "../" * 50,
)
KEYS = (
    "query",
    "path",
    "pointer",
    "k",
    "offset",
    "exts",
    "years",
    "roots",
    "cache",
    "budget",
    "results",
    "style",
    "__proto__",
)


@pytest.fixture(params=SEEDS)
def rnd(request):
    print(f"FUZZ_SEED={request.param}")
    return random.Random(request.param)


def rounds():
    """Go round a fixed number of times, or for as long as was asked for."""
    until = time.monotonic() + SECONDS
    done = 0
    while time.monotonic() < until if SECONDS else done < ROUNDS:
        yield done
        done += 1


def message(rnd):
    """A message that is nearly right, or not at all."""
    params = {
        "name": rnd.choice(TOOLS),
        "arguments": {rnd.choice(KEYS): rnd.choice(ODD) for _ in range(rnd.randrange(4))},
        "_meta": rnd.choice((*ODD, {"progressToken": 1}, {"io.modelcontextprotocol/protocolVersion": "2026-07-28"})),
    }
    found = {
        "jsonrpc": "2.0",
        "id": rnd.choice((1, "a", rnd.randrange(10**6))),
        "method": rnd.choice(METHODS),
        "params": params,
    }
    for _ in range(rnd.randrange(3)):
        found[rnd.choice(("jsonrpc", "id", "method", "params", "result", "error", "extra"))] = rnd.choice(ODD)
    if rnd.random() < 0.1:
        found.pop("id", None)
    return found


def mutated(rnd, data):
    """Some bytes changed, taken out, doubled or put in."""
    found = bytearray(data)
    for _ in range(rnd.choice((0, 0, 1, 3, 20))):
        at = rnd.randrange(len(found) + 1)
        how = rnd.randrange(4)
        if how == 0:
            found[at : at + 1] = rnd.randbytes(1)
        elif how == 1:
            del found[at : at + rnd.randrange(30)]
        elif how == 2:
            found[at:at] = found[at : at + rnd.randrange(30)] * rnd.randrange(1, 4)
        else:
            found[at:at] = rnd.choice(
                (b"{", b"]", b'"', b"\\", b"\x00", b"\xff\xfe", b"\\ud83d", b"1e999", b"[" * 2000, b"\r")
            )
    return bytes(found)


def line(rnd):
    if rnd.random() < 0.1:
        return rnd.randbytes(rnd.randrange(300))
    return mutated(rnd, json.dumps(message(rnd)).encode())


def test_no_line_breaks_the_reader_of_standard_input(rnd, tmp_path):
    (tmp_path / "share").mkdir()
    (tmp_path / "share/a.md").write_text("The ferry.", encoding="utf-8")
    with Peer([*SERVE, "--root", str(tmp_path / "share"), "--data-dir", str(tmp_path / "data")], tmp_path) as peer:
        peer.initialize()
        for _ in rounds():
            burst = b"".join(line(rnd).replace(b"\n", b" ") + b"\n" for _ in range(50))
            check = f"check-{rnd.random()}"
            burst += json.dumps({"jsonrpc": "2.0", "id": check, "method": "ping"}).encode() + b"\n"
            writer = threading.Thread(
                target=lambda data=burst: (peer.process.stdin.write(data), peer.process.stdin.flush())
            )
            writer.start()
            while (frame := peer.read()).get("id") != check:
                pass
            assert frame["result"] is not None
            writer.join()
        assert peer.process.poll() is None
        assert "Traceback" not in peer.log
        assert "internal error" not in peer.log


def request(rnd, port):
    """An HTTP request that is nearly right, or not at all."""
    method = rnd.choice((b"POST", b"POST", b"POST", b"GET", b"DELETE", b"PUT", b"OPTIONS", b"PRI", b"\xff"))
    path = rnd.choice(
        (b"/mcp", b"/mcp", b"/mcp/", b"/healthz", b"/metrics", b"/", b"//mcp", b"/mcp?x=%00", b"/%2e%2e/mcp", b"*")
    )
    body = rnd.choice((line(rnd), json.dumps(INITIALIZE).encode(), b"", b"[" * 100))
    headers = {**ACCEPT, "Host": f"127.0.0.1:{port}", "Content-Length": str(len(body))}
    for _ in range(rnd.randrange(3)):
        name = rnd.choice(
            (*headers, "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Origin", "Transfer-Encoding", "Expect")
        )
        headers[name] = rnd.choice(
            ("", "x", "chunked", "100-continue", "-1", "99999999999", "2026-07-28", "null", "a" * 5000, "é")
        )
    head = b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
    whole = method + b" " + path + b" HTTP/1.1\r\n" + head + b"\r\n" + body
    return mutated(rnd, whole) if rnd.random() < 0.5 else whole


# A good head whose body is no HTTP: the application had an answer when the connection could take none.
FOUND = (
    b"POST /mcp/ HTTP/1.1\r\nHost: 127.0Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n[[[[ked\r\n\r\n[[[[",
    b"OPTIONS /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nOrigin: -1\r\n\r\n{: -1\r\n\r\n{",
)


@pytest.fixture
def server(tmp_path):
    (tmp_path / "share").mkdir()
    server = Served(tmp_path, "--root", str(tmp_path / "share"))
    try:
        yield server
    finally:
        server.process.terminate()
        said = server.process.communicate(timeout=PATIENCE)[1]
    assert server.process.returncode == 0
    assert b"Traceback" not in said


def throw(server, data, *, ends):
    """Send bytes, and read what comes back. ends: say that nothing follows; else the first piece of an answer is enough."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        try:
            connection.sendall(data)
            if ends:
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            else:
                connection.settimeout(0.1)  # it may wait for the rest, and so do we, for a moment
                connection.recv(65536)
        except OSError:
            pass  # it hung up first, or waits


def check(server):
    status, body = server.ask("GET", "/healthz")
    assert status in {200, 503}
    assert json.loads(body)["live"] is True
    assert server.ask("POST", "/mcp", INITIALIZE, ACCEPT)[0] == 200


def test_no_request_breaks_the_http_server(rnd, server):
    for _ in rounds():
        for _ in range(20):
            throw(server, request(rnd, server.port), ends=rnd.random() < 0.7)
        check(server)


def test_what_once_broke_the_http_server_does_so_no_more(server):
    for data in FOUND:
        throw(server, data, ends=True)
        throw(server, data, ends=False)
    check(server)
