"""Calls that wait for their turn: how they are logged, and what becomes of those that nobody waits for any more."""

from __future__ import annotations

import json
import time

from smart_context.server.calls import Stopper
from smart_context.server.guards import Guards
from smart_context.server.metrics import Metrics
from smart_context.server.tools import Call, Reply, Tool, Work, perform
from smart_context.settings import config

HOUR = 3600.0


def outcome(tmp_path, stop, waited=0.0):
    """The code of a call's reply, whether its work was done, and its line of the log."""
    settings = config.load({"data_dir": str(tmp_path / "data")})
    done = []

    def run(arguments, work):
        done.append(arguments)
        return Reply("{}", {})

    tool = Tool("searchFiles", "", "", {}, run, lambda error: Reply("", code=error.code))
    call = Call(tool, {"query": "q"}, came=time.monotonic() - waited)
    reply = perform(call, Work(stop, lambda _step: None), Guards(settings, lambda text: text, Metrics()))
    (line,) = (tmp_path / "data/audit.jsonl").read_text(encoding="utf-8").splitlines()
    return reply.code, bool(done), json.loads(line)


def test_a_call_that_is_cancelled_before_it_begins_is_logged_and_not_begun(tmp_path):
    stop = Stopper(HOUR)
    stop.abandon()
    code, is_done, line = outcome(tmp_path, stop)
    assert (code, is_done, line["outcome"], "error" in line) == ("cancelled", False, "cancelled", False)


def test_a_call_whose_time_is_up_before_it_begins_is_logged_and_not_begun(tmp_path):
    code, is_done, line = outcome(tmp_path, Stopper(0.0))
    assert (code, is_done, line["outcome"], line["error"]) == ("internal_error", False, "error", "internal_error")


def test_what_a_call_took_has_the_time_that_it_waited(tmp_path):
    code, is_done, line = outcome(tmp_path, Stopper(HOUR), waited=HOUR)
    assert (code, is_done, line["outcome"]) == ("", True, "ok")
    assert line["latency_ms"] >= HOUR * 1000
