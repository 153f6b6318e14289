"""The files of `examples/team/`, started as they are written: every service and every unit as a process with its own command and environment.

What is changed of them: where the database, the share and the data folders are, and the ports, because everything runs on one machine here.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE, clean_env
from machine import kept_port, rest
from postgres_server import Server, taken_in

yaml = pytest.importorskip("yaml")

TEAM = Path(__file__).parent.parent / "examples" / "team"
PROGRAM = "/opt/smart-context/bin/context"
NAME = "context.example.org"
FILES = 70  # of a folder: more than one batch
TOOLS = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin") for name in ("nginx", "openssl")]
ENTRY = re.search(r"^ENTRYPOINT (\[.*\])$", (TEAM / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE)


class Machines:
    """Processes on one machine that take each other for a team."""

    def __init__(self, home: Path, postgres: Server, ends: ExitStack) -> None:
        self.home, self.ends = home, ends
        self.ports: dict[str, int] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        (home / "database").mkdir()
        address = postgres.new()
        name = address.partition("@/")[2].partition("?")[0]
        if not postgres.sql("postgres", "SELECT 1 FROM pg_roles WHERE rolname = 'context'"):
            postgres.sql("postgres", "CREATE ROLE context LOGIN SUPERUSER")  # as the image of PostgreSQL makes it
        self.address = f"postgresql://context@/{name}?host={postgres.home}"
        for folder in ("sales", "staff"):
            (home / "share" / folder).mkdir(parents=True)
            for number in range(FILES):
                text = f"The harbour of {folder} has berth {number}."
                (home / "share" / folder / f"{number}.txt").write_text(text, encoding="utf-8")

    def placed(self, text: str, name: str) -> str:
        """A text of the files with the places of this machine."""
        for host in ("database.example.org", "database"):
            text = text.replace(f"postgresql://context@{host}/context", self.address)
        text = text.replace("/srv/share", str(self.home / "share"))
        text = str(self.home / "data" / name) if text == "/data" else text
        return text.replace("/var/lib/smart-context", str(self.home / "lib" / name))

    def start(self, name: str, words: list[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start what a service or unit does; a server gets a port of its own."""
        words = [self.placed(word, name) for word in words]
        if words[1:2] == ["serve"]:
            self.ports[name] = self.ends.enter_context(kept_port())
            words += ["--port", str(self.ports[name])]
        ours = [sys.executable, "-m", "smart_context"]
        words = (
            [*ours, *words[1:]] if words[0] == PROGRAM else [word.replace(PROGRAM, shlex.join(ours)) for word in words]
        )
        given = {key: self.placed(str(value), name) for key, value in env.items()}
        with open(self.home / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                words, env={**clean_env(self.home), **given}, stdout=log, stderr=log, start_new_session=True
            )
        self.running[name] = process
        self.ends.callback(self.stop, name)
        return process

    def stop(self, name: str) -> int:
        """End it as `docker stop` and systemd do; what it ended with."""
        process = self.running.pop(name, None)
        if process is None:
            return 0
        os.killpg(process.pid, signal.SIGTERM)
        return process.wait(PATIENCE)

    def said(self, name: str) -> str:
        return (self.home / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def token(self, name: str, env: Mapping[str, str]) -> str:
        """Make a token for somebody who sees the folder `sales`, as an operator does."""
        root = str(self.home / "share" / "sales")
        given = {key: self.placed(str(value), "owner") for key, value in env.items()}
        done = subprocess.run(
            [sys.executable, "-m", "smart_context", "token", "add", name, "--root", root],
            env={**clean_env(self.home), **given},
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        return done.stdout.split()[-1]


def asked(connection: http.client.HTTPConnection, token: str, query: str, host: str = NAME) -> Any:
    """The status, and what a search gives."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "searchFiles", "arguments": {"query": query, "k": 50}, "_meta": meta}
    headers = {
        "Host": host,
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Mcp-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "searchFiles",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection.request("POST", "/mcp", body, headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text[text.index(b"{") :])["result"] if answer.status == 200 else text


def reach(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)


def health(machines: Machines, node: str) -> dict[str, Any]:
    """What a node says of itself to its owner; nothing while it does not listen."""
    own = next(machines.home.glob(f"*/{node}/http-token"), None)
    if own is None:
        return {}
    connection = reach(machines.ports[node])
    try:
        connection.request("GET", "/healthz", headers={"Authorization": f"Bearer {own.read_text().strip()}"})
        found: dict[str, Any] = json.loads(connection.getresponse().read())
    except ConnectionRefusedError:
        return {}
    finally:
        connection.close()
    return found


def seen_by_all(machines: Machines, node: str, token: str) -> set[str]:
    """The folders of what a node shows to a token, once it has taken in every file."""
    late = time.monotonic() + PATIENCE
    while not health(machines, node).items() >= {"files": 2 * FILES, "ready": True}.items():
        assert machines.running[node].poll() is None, machines.said(node)
        assert time.monotonic() < late, (machines.said(node), health(machines, node))
        rest()
    (own,) = machines.home.glob(f"*/{node}/http-token")
    taken_in(own.parent, machines.address, lambda: health(machines, node))
    status, found = asked(reach(machines.ports[node]), token, "harbour")
    assert (status, found.get("isError", False)) == (200, False), found
    return {Path(item["path"]).parent.name for item in found["structuredContent"]["items"]}


@pytest.fixture
def machines(postgres: Server, tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as ends:
        yield Machines(tmp_path, postgres, ends)


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((TEAM / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return found


def words_of(service: Mapping[str, Any]) -> list[str]:
    return [*service["entrypoint"], *service["command"]]


def test_the_services_of_the_compose_file_become_a_team(machines: Machines) -> None:
    team = services()
    assert ENTRY
    assert json.loads(ENTRY[1]) == team["prepare"]["entrypoint"] == [PROGRAM]
    env = {key: value for key, value in team["prepare"]["environment"].items() if key != "PGPASSWORD"}
    assert machines.start("prepare", words_of(team["prepare"]), env).wait(PATIENCE) == 0
    assert "made: role smart_context_node" in machines.said("prepare") or "made: tables" in machines.said("prepare")
    del machines.running["prepare"]
    for number in range(team["worker"]["deploy"]["replicas"]):
        machines.start(f"worker{number}", words_of(team["worker"]), env)
    for node in ("node1", "node2"):
        assert team[node]["networks"]["default"]["aliases"] == [f"{node}.example.org"]
        assert team[node]["environment"].items() >= team["prepare"]["environment"].items()
        # On all addresses there, of a container; on that of this machine alone here.
        words = [word.replace("0.0.0.0", "127.0.0.1") for word in words_of(team[node])]
        machines.start(
            node, words, {**env, **{k: v for k, v in team[node]["environment"].items() if k != "PGPASSWORD"}}
        )
    machines.start("walk", words_of(team["walk"]), env)
    token = machines.token("ada", env)
    assert [seen_by_all(machines, node, token) for node in ("node1", "node2")] == [{"sales"}] * 2
    assert asked(reach(machines.ports["node1"]), token, "harbour", "evil.example")[0] == 421
    assert [machines.stop(name) for name in ("node1", "node2", "worker0", "worker1")] == [0] * 4


def test_services_wait_for_what_they_need(machines: Machines) -> None:
    team = services()
    assert team["prepare"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    waiting = {"prepare": {"condition": "service_completed_successfully"}}
    assert {name for name, service in team.items() if service.get("depends_on") == waiting} == {
        "worker",
        "walk",
        "node1",
        "node2",
    }
    assert team["front"]["depends_on"] == ["node1", "node2"]
    assert "/opt/smart-context" in (TEAM / "Containerfile").read_text(encoding="utf-8")


def test_the_units_of_a_team_with_its_configuration_become_a_team(machines: Machines, run: Any) -> None:
    config = machines.home / "smart-context.toml"
    config.write_text(machines.placed((TEAM / "config.toml").read_text(encoding="utf-8"), ""), encoding="utf-8")
    places = ["--config", str(config), "--data-dir", str(machines.home / "owner")]
    assert run("engine", "init", *places).returncode == 0
    for kind in ("worker", "node", "walk"):
        unit = (TEAM / f"smart-context-{kind}.service").read_text(encoding="utf-8")
        words = shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1])  # type: ignore[index]
        env = dict(re.findall(r"^Environment=(\w+)=(.*)$", unit, re.MULTILINE))
        machines.start(kind, [word.replace("/etc/smart-context.toml", str(config)) for word in words], env)
    assert machines.running["walk"].wait(PATIENCE) == 0, machines.said("walk")
    del machines.running["walk"]
    token = machines.token("ada", {"SMART_CONTEXT_ENGINE": machines.address})
    assert seen_by_all(machines, "node", token) == {"sales"}
    assert [machines.stop(name) for name in ("node", "worker")] == [0, 0]


@pytest.mark.skipif(None in TOOLS, reason="needs nginx and openssl")
def test_nginx_in_front_passes_clients_on_to_the_nodes_and_past_one_that_is_gone(machines: Machines) -> None:
    team = services()
    env = {key: value for key, value in team["prepare"]["environment"].items() if key != "PGPASSWORD"}
    assert machines.start("prepare", words_of(team["prepare"]), env).wait(PATIENCE) == 0
    del machines.running["prepare"]
    machines.start("worker", words_of(team["worker"]), env)
    machines.start("walk", words_of(team["walk"]), env)
    hosts = {"SMART_CONTEXT_HTTP_ALLOWED_HOSTS": team["node1"]["environment"]["SMART_CONTEXT_HTTP_ALLOWED_HOSTS"]}
    for node in ("node1", "node2"):
        words = [word.replace("0.0.0.0", "127.0.0.1") for word in words_of(team[node])]
        machines.start(node, words, {**env, **hosts})
    token = machines.token("ada", env)
    for node in ("node1", "node2"):
        seen_by_all(machines, node, token)
    home = machines.home
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    out = ["-keyout", home / "key.pem", "-out", home / "cert.pem", "-addext", f"subjectAltName=DNS:{NAME}"]
    subprocess.run([TOOLS[1], "req", "-x509", *kind, *out], check=True, capture_output=True)
    front = machines.ends.enter_context(kept_port())
    conf = (TEAM / "nginx.conf").read_text(encoding="utf-8")
    for theirs, ours in {
        "listen 443 ssl": f"listen 127.0.0.1:{front} ssl",
        "/etc/ssl/context.pem": str(home / "cert.pem"),
        "/etc/ssl/context.key": str(home / "key.pem"),
        **{f"{node}.example.org:8765": f"127.0.0.1:{machines.ports[node]}" for node in ("node1", "node2")},
    }.items():
        assert theirs in conf
        conf = conf.replace(theirs, ours)
    (home / "tmp").mkdir()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{each}_temp_path {home}/tmp/{each};\n" for each in kinds)
    whole = f"daemon off;\nmaster_process off;\npid {home}/nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{conf}}}\n"
    (home / "nginx.conf").write_text(whole, encoding="utf-8")
    nginx = [str(TOOLS[0]), "-p", str(home), "-e", str(home / "error.log"), "-c", str(home / "nginx.conf")]
    machines.start("nginx", nginx, {})
    trust = ssl.create_default_context(cafile=home / "cert.pem")
    trust.check_hostname = False  # it is reached by its address

    def searched() -> set[str]:
        late = time.monotonic() + PATIENCE
        while True:
            try:
                over = http.client.HTTPSConnection("127.0.0.1", front, timeout=PATIENCE, context=trust)
                status, found = asked(over, token, "harbour")
            except ConnectionRefusedError:
                assert time.monotonic() < late, machines.said("nginx")
                rest()
                continue
            assert status == 200, found
            return {Path(item["path"]).parent.name for item in found["structuredContent"]["items"]}

    assert searched() == {"sales"}
    for node in ("node1", "node2"):  # whichever of them nginx sends this client to
        process = machines.running.pop(node)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        if node == "node1":
            assert searched() == {"sales"}
    over = http.client.HTTPSConnection("127.0.0.1", front, timeout=PATIENCE, context=trust)
    assert asked(over, token, "harbour")[0] == 502
