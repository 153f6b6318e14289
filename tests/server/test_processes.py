"""`context serve --http --processes 2`: two processes answer calls, and clients notice nothing but the pace."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from urllib.parse import urlencode

import pytest
from test_http import ACCEPT, CONTEXT, INITIALIZE, Served, called

import ready
from conftest import PATIENCE, clean_env
from machine import children, rest
from smart_context.page import sessions
from smart_context.settings import config

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SEARCH = {"query": "harbour master"}
UNLIMITED = "[rate_limits]\nsearchFiles = 0\n"


def answering(server, count=2):
    """The processes that answer calls, once all of them do."""
    while metric(server, "smart_context_processes") < count:
        rest()
    found = []
    for pid in sorted(children(server.process.pid)):
        with open(f"/proc/{pid}/cmdline", "rb") as told:
            found += [pid] if b"call_child" in told.read() else []
    return found


@contextmanager
def held(pids):
    """Some processes stopped: calls that they are given wait."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    while not all(map(is_stopped, pids)):  # it is told to one thread, which tells the others
        pass
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def is_stopped(pid):
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat", "rb") as stat:
            if stat.read().rpartition(b")")[2].split()[0] != b"T":
                return False
    return True


@contextmanager
def begun(ask, *given):
    """A call in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(ask, *given)


def until_given(server, call):
    """Wait until a call is at work somewhere, or answered."""
    while not call.done() and not running(server):
        rest()


def answers_of_each(server, ask):
    """Two answers for each process, of which at least one came while the other process was held."""
    found = []
    for busy in answering(server):
        with held([busy]), ThreadPoolExecutor(2) as pool:
            calls = [pool.submit(ask) for _ in range(2)]  # one for each process, or two for the one that can answer
            wait(calls, return_when=FIRST_COMPLETED)
            os.kill(busy, signal.SIGCONT)
            found += [call.result() for call in calls]
    return found


def running(server):
    """How many calls are at work."""
    page = server.ask("GET", "/metrics")[1].decode()
    return int(page.partition("\nsmart_context_calls_running ")[2].partition("\n")[0])


def metric(server, name):
    page = server.ask("GET", "/metrics")[1].decode()
    return float(page.partition(f"\n{name} ")[2].partition("\n")[0])


def audited(server):
    return [json.loads(line) for line in (server.home / "index/audit.jsonl").read_bytes().splitlines()]


class Session:
    """A session of a client; each request has a connection of its own."""

    def __init__(self, server):
        self._server = server
        status, headers, _ = self._send("POST", INITIALIZE, {})
        assert status == 200
        self._headers = {"Mcp-Session-Id": headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
        self.tell("notifications/initialized", {})

    def _send(self, method, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=PATIENCE)
        connection.request(method, "/mcp", json.dumps(body), {**ACCEPT, **self._server.token, **headers})
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def tell(self, method, params):
        return self._send("POST", {"jsonrpc": "2.0", "method": method, "params": params}, self._headers)

    def call(self, tool, arguments, number=1):
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return self._send("POST", body, self._headers)[::2]

    def end(self):
        return self._send("DELETE", {}, self._headers)[0]

    def stream(self):
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=PATIENCE)
        connection.request("GET", "/mcp", headers={**ACCEPT, **self._server.token, **self._headers})
        return connection, connection.getresponse()


def started(home, *args, config=""):
    for folder, word in (("a", "Ada Quill"), ("b", "Bo Reed")):
        (home / "share" / folder).mkdir(parents=True, exist_ok=True)
        (home / "share" / folder / "notes.md").write_text(f"# Ships\nThe harbour master is {word}.\n", encoding="utf-8")
    caches = home / "caches"
    caches.mkdir(exist_ok=True)
    settings = f'cache_root = "{caches}"\n{config}'
    return Served(home, "--root", str(home / "share"), *args, config=settings)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home = tmp_path_factory.mktemp("processes")
    server = started(home, "--processes", "2", config=UNLIMITED)
    called(server, "indexFolder", {"root": str(home / "share")})
    yield server
    assert server.end() == 0


def test_while_one_process_is_busy_another_answers(served):
    assert len(answering(served)) == 2
    found = answers_of_each(served, lambda: called(served, "searchFiles", SEARCH))
    assert [len(one["structuredContent"]["items"]) for one in found] == [2] * 4


def test_a_session_is_the_same_in_every_process(served):
    session = Session(served)
    held_open, stream = session.stream()
    assert stream.status == 200
    assert session.call("searchFiles", SEARCH)[0] == 200
    numbers = itertools.count(2)
    found = answers_of_each(served, lambda: session.call("searchFiles", SEARCH, next(numbers)))
    assert [(status, b'"isError":false' in body) for status, body in found] == [(200, True)] * 4
    assert session.end() == 200
    assert session.call("searchFiles", SEARCH)[0] == 404
    held_open.close()


def test_what_is_indexed_is_found_by_every_process_at_once(served):
    new = served.home / "share/new.md"
    new.write_text("Something about beacons.\n", encoding="utf-8")
    called(served, "indexFolder", {"root": str(served.home / "share")})
    found = answers_of_each(served, lambda: called(served, "searchFiles", {"query": "beacons"}))
    assert [[item["path"] for item in one["structuredContent"]["items"]] for one in found] == [[str(new)]] * 4


def test_answers_are_those_of_a_server_with_one_process(served):
    alone = started(served.home, config=UNLIMITED)
    notes = str(served.home / "share/a/notes.md")
    asked = [
        ("listRoots", {}),
        ("searchFiles", {"query": "harbour", "k": 1}),
        ("searchFiles", {"query": "harbour", "k": 5.0}),
        ("searchFiles", {"query": ""}),
        ("searchFiles", {"query": "caf\u00e9 \U0001f375 \u2028"}),
        ("searchFiles", {"nothing": 1}),
        ("openFile", {"path": notes}),
        ("openFile", {"path": "/etc/passwd"}),
        ("context.list_caches", {}),
        ("context.resolve", {"cache": "none", "query": "x", "budget": 1.0}),
        ("context.resolve", {"cache": "none", "query": "x", "budget": 10}),
        ("context_resolve", {"cache": "none", "query": "x", "budget": 10}),
    ]
    one, two = Session(alone), Session(served)
    for number in range(3):  # by the SDK, then without it
        for tool, arguments in asked:
            assert one.call(tool, arguments, number) == two.call(tool, arguments, number)
    assert alone.end() == 0


def test_who_waits_for_a_process_that_is_killed_is_told_so(served):
    died = metric(served, "smart_context_processes_died_total")
    before = answering(served)
    failed = []
    with held(before), begun(called, served, "searchFiles", {"query": "killed"}) as result:
        until_given(served, result)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        failed.append(result.result())
    assert failed[0]["isError"]
    error = failed[0]["structuredContent"]["error"]
    assert (error["code"], error["message"]) == (
        "INTERNAL_ERROR",
        "the process that worked on this call ended unexpectedly (signal 9)",
    )
    assert called(served, "searchFiles", SEARCH)["structuredContent"]["items"]
    assert not set(answering(served)) & set(before)
    assert metric(served, "smart_context_processes_died_total") == died + 2
    logged = [line for line in audited(served) if line.get("query") == "killed"]
    assert [line["error"] for line in logged] == ["INTERNAL_ERROR"]
    said = served.process.stderr.readline()
    while b"ended unexpectedly (signal 9); another takes its place" not in said:
        said = served.process.stderr.readline()
        assert said


def test_a_call_that_is_cancelled_is_not_answered_and_holds_nobody_up(served):
    session = Session(served)
    session.call("searchFiles", SEARCH)
    with held(answering(served)), begun(session.call, "searchFiles", {"query": "cancelled"}, 9) as result:
        until_given(served, result)
        session.tell("notifications/cancelled", {"requestId": 9})
        assert result.result() == (200, b"")
    while running(served):  # what was stopped is over as soon as its process can tell
        pass
    assert session.call("searchFiles", SEARCH)[0] == 200


def test_many_calls_at_once_are_all_answered_counted_and_logged(served):
    counted = 'smart_context_calls_total{tool="openFile",outcome="RATE_LIMITED"}'
    before = len(audited(served))
    sessions = [Session(served) for _ in range(4)]
    notes = str(served.home / "share/b/notes.md")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: sessions[n % 4].call("openFile", {"path": notes}, n)[1], range(45)))
    # Thirty a minute are allowed, however many processes count them; another test asked for a few.
    limited = [body for body in found if b"RATE_LIMITED" in body]
    answered = [body for body in found if b"Bo Reed" in body]
    assert len(limited) + len(answered) == 45
    assert metric(served, counted) == len(limited)
    lines = audited(served)
    assert len(lines) == before + 45
    opened = [line for line in lines if line["tool"] == "openFile" and line["outcome"] == "ok"]
    assert len(opened) <= 30
    assert limited
    check = ready.run(
        [*CONTEXT, "audit", "verify", "--data-dir", str(served.home / "index")],
        env=clean_env(served.home),
        capture_output=True,
    )
    assert check.returncode == 0, check.stderr


def test_a_token_of_one_folder_sees_that_folder_alone(served):
    made = ready.run(
        [
            *CONTEXT,
            "token",
            "add",
            "bo",
            "--root",
            str(served.home / "share/b"),
            "--data-dir",
            str(served.home / "index"),
        ],
        env=clean_env(served.home),
        capture_output=True,
    )
    token = made.stdout.decode().split()[-1]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: called(served, "searchFiles", {"query": "harbour"}, token=token), range(6)))
    paths = {item["path"] for one in found for item in one["structuredContent"]["items"]}
    assert paths == {str(served.home / "share/b/notes.md")}


def test_health_and_memory_are_those_of_all_processes(served):
    answering(served)
    status, body = served.ask("GET", "/healthz")
    assert (status, json.loads(body)["processes"]) == (200, 2)
    assert metric(served, "smart_context_processes") == 2
    with open(f"/proc/{served.process.pid}/statm", "rb") as statm:
        own = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert metric(served, "smart_context_memory_bytes") > own * 1.5


def test_the_page_answers_too(served):
    status, body = served.ask("GET", "/?q=harbour")
    assert status == 200
    assert b"notes.md" in body


def test_a_server_that_is_asked_to_end_lets_calls_be_answered_first_and_leaves_no_process(tmp_path):
    server = started(tmp_path, "--processes", "2")
    pids = answering(server)
    with held(pids), begun(called, server, "listRoots", {}) as result:
        until_given(server, result)
        # As a service manager does, which knows no difference between them.
        for pid in (*pids, server.process.pid):
            os.kill(pid, signal.SIGTERM)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        assert result.result()["structuredContent"]["roots"]
    assert server.process.wait(PATIENCE) == 0
    server.process.stderr.close()
    assert [pid for pid in pids if os.path.exists(f"/proc/{pid}")] == []


def test_no_process_outlives_a_server_that_is_killed(tmp_path):
    server = started(tmp_path, "--processes", "3")
    called(server, "listRoots", {})
    pids = answering(server, 3)
    assert len(pids) == 3
    server.process.kill()
    server.process.wait(PATIENCE)
    server.process.stderr.close()
    while any(is_alive(pid) for pid in pids):
        rest()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def test_a_process_that_cannot_be_started_for_lack_of_descriptors_is_told_of(tmp_path):
    """It is tried again later, as after any other reason: the message says so by coming."""
    server = started(tmp_path, "--processes", "2")
    try:
        first, _ = answering(server)
        most = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (0, most[1]))
        os.kill(first, signal.SIGKILL)
        said = server.process.stderr.readline()
        while said and b"cannot start a process" not in said:
            said = server.process.stderr.readline()
        assert b"Too many open files; the server answers by itself" in said
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, most)
        assert called(server, "listRoots", {})
    finally:
        assert server.end() == 0


def test_one_process_is_the_server_itself(tmp_path):
    server = started(tmp_path, "--processes", "1")
    called(server, "listRoots", {})
    assert children(server.process.pid) == set()
    assert "processes" not in json.loads(server.ask("GET", "/healthz")[1])
    assert server.end() == 0


def test_a_first_search_waits_for_the_first_files(tmp_path):
    server = started(tmp_path, "--processes", "2", config="[index]\nat_start = true\n")
    while not called(server, "searchFiles", SEARCH)["structuredContent"]["items"]:
        rest()  # a search waits for ten seconds, which a busy machine may need more than once
    assert server.end() == 0


@pytest.mark.parametrize(
    ("args", "file", "said"),
    [
        (["--http", "--processes", "0"], "", b"0 is not in the range 1<=x<=64"),
        (["--http", "--processes", "two"], "", b"'two' is not a valid integer"),
        (["--processes", "2"], "", b"--processes goes with --http"),
        (["--http"], "[http]\nprocesses = 0\n", b"http.processes"),
    ],
)
def test_a_number_of_processes_that_cannot_be_is_refused(tmp_path, args, file, said):
    (tmp_path / "c.toml").write_text(file, encoding="utf-8")
    told = ready.run(
        [*CONTEXT, "serve", *args, "--config", str(tmp_path / "c.toml")],
        env=clean_env(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert told.returncode == 1
    assert said in told.stderr


def test_settings_reach_another_process_as_they_are(tmp_path):
    (tmp_path / "c.toml").write_text(
        'roots = ["/srv/a", "/srv/b"]\n[rate_limits]\nsearchFiles = 7\n[timeouts]\nopenFile = 2.5\n'
        '[index]\nnever_show = ["*.key"]\n[limits]\nmax_file_bytes = 1000\n[redaction]\npatterns = ["KEY-[0-9]+"]\n',
        encoding="utf-8",
    )
    given = config.load({"config": str(tmp_path / "c.toml")}, {"HOME": str(tmp_path)})
    told = json.loads(json.dumps(config.to_dict(given)))
    assert config.from_dict(told) == given


def test_a_root_that_is_added_is_searched_by_every_process(served, tmp_path):
    (tmp_path / "more.md").write_text("The lighthouse keeper.\n", encoding="utf-8")
    own = served.token["Authorization"].partition(" ")[2]
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    connection.request("GET", f"/enter?ticket={sessions.ticket(own, time.time())}")
    entered = connection.getresponse()
    entered.read()
    cookie = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
    connection.request("GET", "/index", headers=cookie)
    form = re.search(r'name="form" value="([^"]+)"', connection.getresponse().read().decode())[1]
    sent = urlencode({"root": str(tmp_path), "form": form, "what": "add"})
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{served.port}"}
    connection.request("POST", "/index", sent, {**cookie, **kind})
    assert connection.getresponse().headers["location"].startswith("/index?told=added")
    connection.close()
    found = answers_of_each(served, lambda: called(served, "listRoots", {}))
    assert all(str(tmp_path) in one["structuredContent"]["roots"] for one in found)
