"""Random and mutated requests at the real servers: whatever comes, the next good request is answered and nothing falls over.

Together the two take `FUZZ_SECONDS`, a minute. On CI the seed is always the same; elsewhere it is a new one. A failure tells it, and
`FUZZ_SEED` takes it again.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import socket
import threading
import time

import pytest
from test_http import ACCEPT, INITIALIZE, Served

from server_client import SERVE, Peer

SECONDS = float(os.environ.get("FUZZ_SECONDS", "60")) / 2
SEED = int(os.environ.get("FUZZ_SEED") or (1 if os.environ.get("CI") else secrets.randbits(32)))
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


@pytest.fixture
def rnd():
    print(f"FUZZ_SEED={SEED}")
    return random.Random(SEED)


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
    until = time.monotonic() + SECONDS
    with Peer([*SERVE, "--root", str(tmp_path / "share"), "--data-dir", str(tmp_path / "data")], tmp_path) as peer:
        peer.initialize()
        while time.monotonic() < until:
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


def test_no_request_breaks_the_http_server(rnd, tmp_path):
    (tmp_path / "share").mkdir()
    server = Served(tmp_path, "--root", str(tmp_path / "share"))
    until = time.monotonic() + SECONDS
    try:
        while time.monotonic() < until:
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", server.port), timeout=0.2) as connection:
                    try:
                        connection.sendall(request(rnd, server.port))
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(65536):
                            pass
                    except OSError:
                        continue  # it hung up first, or keeps a stream open
            status, body = server.ask("GET", "/healthz")
            assert status in {200, 503}
            assert json.loads(body)["live"] is True
            assert server.ask("POST", "/mcp", INITIALIZE, ACCEPT)[0] == 200
    finally:
        server.process.terminate()
        said = server.process.communicate(timeout=60)[1]
    assert server.process.returncode == 0
    assert b"Traceback" not in said
