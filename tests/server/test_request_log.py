"""`serve --http` logs on standard error: its start, its end, and what it refuses; with the time, since a pipe is no terminal."""

from __future__ import annotations

import re
import signal

from test_http import Served

from conftest import PATIENCE

TIME = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ "


def test_a_log_has_a_line_for_the_start_the_end_and_each_kind_of_refusal(tmp_path):
    server = Served(tmp_path)
    try:
        assert server.ask("GET", "/healthz")[0] == 200
        assert server.ask("GET", "/metrics", headers={"Authorization": "Bearer of-nobody"})[0] == 401
        for number in range(3):
            assert server.ask("GET", f"/secret-{number}?q=hidden")[0] == 404
    finally:
        server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(PATIENCE) == 0
    lines = server.process.stderr.read().splitlines()
    server.process.stderr.close()
    assert re.fullmatch(TIME + rb"listening on http://127\.0\.0\.1:\d+/mcp with a bearer token\n", server.said)
    assert all(re.match(TIME, line) for line in lines)
    assert [line.split(b" ", 1)[1] for line in lines] == [
        b"401 GET /metrics from 127.0.0.1",
        b"404 GET another path from 127.0.0.1",
        b"the server has ended",
    ]
