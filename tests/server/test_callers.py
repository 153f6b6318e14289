"""Who calls is known by a token or by what started us, never by what a client says of itself."""

from __future__ import annotations

import json
import os
import pwd
import sys
from pathlib import Path

import pytest
from test_http import Served, called

from server_client import SERVE, Peer, text_of

LIMITED = "[rate_limits]\nlistRoots = 30\n"


def outcomes(results):
    return [json.loads(text_of(result)).get("error", {}).get("code", "ok") for result in results]


def lines(home):
    return [json.loads(line) for line in (home / "index/audit.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_hundred_calls_over_http_under_changing_names_are_one_callers(tmp_path):
    server = Served(tmp_path, "--root", str(tmp_path), config=LIMITED)
    found = outcomes(called(server, "listRoots", {}, client=f"client {n}") for n in range(100))
    assert server.end() == 0
    assert found == ["ok"] * 30 + ["RATE_LIMITED"] * 70
    assert [line["client"] for line in lines(tmp_path)] == [f"client {n}" for n in range(100)]
    assert len({line["caller"] for line in lines(tmp_path)}) == 1
    assert {line["address"] for line in lines(tmp_path)} == {"127.0.0.1"}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_servers_on_standard_input_under_changing_names_are_one_callers(tmp_path):
    (tmp_path / "config.toml").write_text("[rate_limits]\nlistRoots = 2\n", encoding="utf-8")
    options = ["--config", tmp_path / "config.toml", "--root", tmp_path, "--data-dir", tmp_path / "index"]
    found = []
    for name in ("a", "b", "c"):
        with Peer([*SERVE, *map(str, options)], tmp_path, {"USER": name, "LOGNAME": name}) as peer:
            peer.ask("initialize", greeting(name))
            found += outcomes([peer.call("listRoots")])
            peer.finish()
    assert found == ["ok", "ok", "RATE_LIMITED"]
    us = f"{pwd.getpwuid(os.getuid()).pw_name}/{Path(sys.executable).resolve().name}"
    assert [(line["caller"], line["client"]) for line in lines(tmp_path)] == [(us, "a"), (us, "b"), (us, "c")]


def greeting(name):
    return {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
