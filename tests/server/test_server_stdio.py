"""The wire, black box over a real pipe: faulty lines, the end of a client, slow and misbehaving tools."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import clean_env
from server_client import CONTEXT_SERVER, TOY, Peer, call, text_of


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """A server for the tests that leave it as they found it."""
    with Peer(TOY, tmp_path_factory.mktemp("home")) as peer:
        peer.initialize()
        yield peer


def test_each_faulty_line_gets_its_error_and_the_next_line_is_served(toy: Peer) -> None:
    for line, code, request_id in [
        (b"nonsense", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
        (rb'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":["\udead"]}}', -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"id":"seven","method":"ping"}', -32600, "seven"),
        (b'{"jsonrpc":"2.0","id":"x","method":"ping","pad":"' + b"x" * 1024 * 1024 + b'"}', -32600, None),
        (b"[" * 1024 * 1024, -32700, None),
        (b'{"jsonrpc":"2.0","id":2,"method":"no/such"}', -32601, 2),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"no.such"}}', -32602, 3),
        (b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":[1]}}', -32602, 4),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"x":1}}}', -32602, 5),
        (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"arguments":{}}}', -32602, 6),
    ]:
        toy.send_line(line)
        answer = toy.read()
        assert (answer["error"]["code"], answer["id"]) == (code, request_id), line[:80]
        assert toy.ask("ping")["result"] == {}


def test_blank_lines_and_carriage_returns_are_no_messages(toy: Peer) -> None:
    for line in (b"", b" \t ", b"\r"):
        toy.send_line(line)
    toy.send_line(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r')
    assert toy.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_line_of_exactly_one_mebibyte_is_served(toy: Peer) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    toy.send_line(line + b" " * (1024 * 1024 - len(line)))
    assert toy.read()["result"] == {}


def test_a_line_without_end_is_thrown_away_in_bounded_memory(toy: Peer) -> None:
    before = peak_kib(toy.process.pid)
    assert toy.process.stdin
    for _ in range(200):
        toy.process.stdin.write(b"[" * 1024 * 1024)
    toy.send_line(b"")
    assert toy.read()["error"]["code"] == -32600
    assert peak_kib(toy.process.pid) - before < 16 * 1024


def peak_kib(pid: int) -> int:
    if sys.platform != "linux":
        pytest.skip("needs /proc")
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0])


FIELDS = [
    *(b'"jsonrpc":"2.0"', b'"jsonrpc":"2.0"', b'"jsonrpc":2', b'"id":1', b'"id":"x"', b'"id":{}', b'"id":1e999', b'"id":-0'),
    *(b'"method":"ping"', b'"method":"tools/call"', b'"method":"initialize"', b'"method":[]', b'"method":"\\ud800"'),
    *(b'"method":"notifications/cancelled"', b'"params":{"requestId":1}', b'"params":{"name":"echo"}', b'"params":[]'),
    *(b'"params":{"_meta":{"progressToken":true}}', b'"result":{}', b'"error":{}', b'"\xff":0', b'"a":' + b"[" * 900 + b"]" * 900),
]  # fmt: skip


def test_whatever_is_sent_a_ping_is_answered_afterwards(tmp_path: Path) -> None:
    chance = random.Random(20)

    def line() -> bytes:
        made = b"{" + b",".join(chance.sample(FIELDS, chance.randrange(6))) + b"}"
        if chance.random() < 0.3:
            at = chance.randrange(len(made))
            made = made[:at] + chance.randbytes(3) + made[at + chance.randrange(3) :]
        return chance.choice([made, made, made, b"[" + made + b"]", chance.randbytes(chance.randrange(60))])

    with Peer(TOY, tmp_path) as peer:
        for n in range(40):
            for _ in range(25):
                peer.send_line(line())
            peer.send({"jsonrpc": "2.0", "id": f"after {n}", "method": "ping"})
            while (answer := peer.read())["id"] != f"after {n}":
                assert ("error" in answer) != ("result" in answer)
            assert answer["result"] == {}
        assert peer.log == ""


def test_what_was_asked_before_the_end_of_input_is_answered_and_then_the_process_ends(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        asked = {peer.post("tools/call", call("waits")) for _ in range(3)}
        asked.add(peer.post("tools/call", call("release")))
        assert {frame["id"] for frame in peer.finish() if "result" in frame} == asked
        assert peer.process.returncode == 0


def test_the_end_of_input_does_not_wait_longer_than_a_call_may_take(tmp_path: Path) -> None:
    with Peer((*TOY, "0.2"), tmp_path) as peer:
        peer.initialize()
        peer.post("tools/call", call("for.ever"))
        peer.finish()
        assert peer.process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_even_with_work_that_cannot_be_stopped(tmp_path: Path, number: signal.Signals) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        peer.post("tools/call", call("deaf"))
        peer.ask("ping")
        peer.process.send_signal(number)
        peer.rest()
        assert (peer.process.returncode, peer.log) == (0, "")


def test_a_client_that_stops_reading_ends_it_quietly(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        assert peer.process.stdout
        peer.process.stdout.close()
        peer.post("ping")
        assert (peer.process.wait(), peer.log) == (0, "")


def test_a_signal_ends_it_although_nobody_reads_its_answers(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        for _ in range(40):  # more than a pipe holds
            peer.post("tools/call", call("echo", {"n": "x" * 10_000}))
        peer.process.send_signal(signal.SIGTERM)
        assert peer.process.wait() == 0


def test_it_ends_when_its_parent_is_gone_although_its_input_stays_open(tmp_path: Path) -> None:
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    start = f"""
import subprocess, sys
server = subprocess.Popen({list(TOY)!r}, stdin={theirs_in}, stdout={theirs_out})
sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", start],
        stdin=subprocess.PIPE,
        pass_fds=(theirs_in, theirs_out),
        env=clean_env(tmp_path),
    )
    os.close(theirs_in)
    os.close(theirs_out)
    with parent, os.fdopen(ours_in, "rb") as answers, os.fdopen(ours_out, "wb", buffering=0) as requests:
        requests.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert json.loads(answers.readline())["result"] == {}
        parent.kill()
        assert answers.read() == b""  # the end of its output: it is gone


@pytest.mark.parametrize(("closed", "status"), [("<&-", 6), (">&-", 6), ("2>&-", 0)])
def test_without_standard_input_or_output_it_says_so_and_without_standard_error_it_serves(
    tmp_path: Path, closed: str, status: int
) -> None:
    command = " ".join(shlex.quote(word) for word in CONTEXT_SERVER)
    done = subprocess.run(
        ["sh", "-c", f"echo | {{ {command} {closed}; }}"], env=clean_env(tmp_path), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (status, b"")
    assert (b"error: standard input or output is closed\n" in done.stderr) is (status == 6)


def test_nothing_but_frames_reaches_standard_output(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        assert text_of(peer.call("noisy")) == "quiet"
        assert peer.finish() == []
        assert peer.log.splitlines() == ["print", "descriptor", "child ''"]


def test_an_exception_nobody_foresaw_shows_a_number_that_the_log_repeats(toy: Peer) -> None:
    result = toy.call("breaks")
    assert result["isError"] is True
    number = text_of(result).removeprefix("internal_error: internal error ")
    (line,) = [line for line in toy.log.splitlines() if number in line]
    assert line.startswith(f"internal error {number} in breaks: RuntimeError: the secret is 1234 (")
    assert "1234" not in text_of(result)


def test_a_call_out_of_time_is_answered_and_stops_working(tmp_path: Path) -> None:
    for seconds in ("0.2", "2", "20"):  # a server that gets no time may not begin the work before that is over
        with Peer((*TOY, seconds), tmp_path) as peer:
            peer.initialize()
            for name in ("waits", "deaf"):
                result = peer.call(name)
                assert (result["isError"], text_of(result).split(":")[0]) == (True, "internal_error")
            peer.finish()
            log = peer.log
        if log:
            break
    assert log == "stopped\n"


def test_slow_calls_hold_up_neither_pings_nor_other_calls(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        slow = {peer.post("tools/call", call("waits")) for _ in range(8)}
        assert peer.ask("ping")["result"] == {}
        assert text_of(peer.call("echo", {"n": 1})) == "{'n': 1}"
        released = peer.post("tools/call", call("release"))
        assert {peer.read()["id"] for _ in range(9)} == {*slow, released}


def test_hundreds_of_calls_sent_at_once_are_all_answered(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        asked = {peer.post("tools/call", call("echo", {"n": n})) for n in range(300)}
        assert {frame["id"] for frame in peer.finish()} == asked


def test_an_id_that_is_in_flight_is_refused_and_free_again_after_its_answer(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        slow = {"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": call("waits")}
        peer.send(slow)
        peer.send({**slow, "method": "ping"})
        refused = peer.read()
        assert (refused["id"], refused["error"]["code"]) == ("same", -32600)
        released = peer.post("tools/call", call("release"))
        assert {peer.read()["id"], peer.read()["id"]} == {"same", released}
        peer.send({**slow, "method": "ping"})
        assert peer.read() == {"jsonrpc": "2.0", "id": "same", "result": {}}


def test_an_id_is_free_as_soon_as_its_answer_was_read(toy: Peer) -> None:
    # The client may be faster than our own note that the answer was written.
    for _ in range(200):
        toy.send({"jsonrpc": "2.0", "id": "again", "method": "ping"})
        assert toy.read() == {"jsonrpc": "2.0", "id": "again", "result": {}}


def test_a_refused_line_does_not_settle_the_request_that_has_its_id(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        slow = peer.post("tools/call", call("waits"))
        peer.send({"jsonrpc": "2.0", "id": slow, "method": "ping"})
        assert peer.read()["error"]["code"] == -32600
        peer.post("tools/call", call("release"))
        answers = {frame["id"]: text_of(frame["result"]) for frame in peer.finish()}
        assert answers == {slow: "released", slow + 1: ""}


def test_a_cancelled_call_is_not_answered_and_stops_working(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        slow = peer.post("tools/call", call("waits"))
        peer.call("echo")  # what came later is answered: it has begun
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
        while "stopped" not in peer.log:
            assert peer.ask("ping")["result"] == {}
        assert peer.finish() == []


def test_a_call_without_a_limit_reports_progress_and_is_told_when_it_is_cancelled(tmp_path: Path) -> None:
    with Peer((*TOY, "0.2"), tmp_path) as peer:
        peer.initialize()
        endless = peer.post("tools/call", {**call("for_ever"), "_meta": {"progressToken": "t"}})
        params = peer.read()["params"]
        assert params == {"progressToken": "t", "progress": 0, "total": 3, "message": "file 0"}
        assert text_of(peer.call("deaf")).startswith("internal_error")  # longer than any other call may take
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": endless}})
        while "stopped" not in peer.log:
            assert peer.ask("ping")["result"] == {}


def test_the_last_progress_reaches_the_total_before_the_answer(tmp_path: Path) -> None:
    with Peer(TOY, tmp_path) as peer:
        peer.initialize()
        peer.post("tools/call", {**call("steps"), "_meta": {"progressToken": "t"}})
        *notices, answer = peer.finish()
        assert text_of(answer["result"]) == "done"
        assert notices[0]["params"]["progress"] == 1
        assert notices[-1]["params"] == {"progressToken": "t", "progress": 100, "total": 100, "message": "file 99"}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])  # the latest: every other test
def test_each_handshake_version_is_spoken(tmp_path: Path, version: str) -> None:
    with Peer(TOY, tmp_path) as peer:
        assert peer.initialize(version)["result"]["protocolVersion"] == version
        assert text_of(peer.call("echo")) == "{}"


def test_the_stateless_version_is_spoken_without_a_handshake(tmp_path: Path) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    with Peer(TOY, tmp_path) as peer:
        discovered = peer.ask("server/discover", {"_meta": meta})["result"]
        assert discovered["supportedVersions"] == ["2026-07-28"]
        assert discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "toy"
        assert text_of(peer.ask("tools/call", {**call("echo", {"n": 1}), "_meta": meta})["result"]) == "{'n': 1}"
        assert peer.ask("tools/call", {**call("none"), "_meta": meta})["error"]["code"] == -32602
        assert peer.ask("no/such", {"_meta": meta})["error"]["code"] == -32601
        peer.send_line(b"nonsense")
        assert peer.read()["error"]["code"] == -32700
