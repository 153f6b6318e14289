"""The guide for a team, run as it is written: its configuration, its nginx in front with TLS, clients that come through it."""

from __future__ import annotations

import functools
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tomllib
from pathlib import Path

import anyio
import httpx2
import pytest
from test_http import ACCEPT, INITIALIZE, Served

from conftest import PATIENCE, clean_env
from machine import kept_port
from server_client import SERVE, Peer

GUIDE = (Path(__file__).parents[2] / "docs/guides/team-server.md").read_text(encoding="utf-8")
NAME = "context.example.com"
TOKEN = "0123456789abcdef-token"
TOOLS = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin") for name in ("nginx", "openssl")]

pytestmark = pytest.mark.skipif(None in TOOLS, reason="needs nginx and openssl")


def block(language, begins=""):
    """The first block of that language in the guide, or the first that begins so."""
    return re.search(rf"```{language}\n({re.escape(begins)}.*?)```", GUIDE, re.DOTALL)[1]


def placed(text, places):
    """The text with the guide's places changed to ours; every one of them stands in it."""
    for theirs, ours in places.items():
        assert theirs in text
        text = text.replace(theirs, str(ours))
    return text


class Proxied:
    """The guide's server and nginx; both of a home of their own."""

    def __init__(self, home, port):
        self.home = home
        self.port = port
        for name in ("share", "tmp"):
            (home / name).mkdir()
        (home / "share/notes.md").write_text("The harbour master is Ada Quill.", encoding="utf-8")
        (home / "token").touch(mode=0o600)
        (home / "token").write_text(TOKEN, encoding="ascii")
        places = {"/srv/share": home / "share", "/var/lib/smart-context": home / "lib"}
        config = placed(block("toml"), {**places, "/etc/smart-context.token": home / "token"})
        config += placed(block("toml", "[oauth]"), {"/srv/share": home / "share"})
        self.server = Served(home, config=config)
        self.certificate = home / "cert.pem"
        self._certify()
        self._nginx()

    def _certify(self):
        names = f"subjectAltName=DNS:{NAME},DNS:localhost,IP:127.0.0.1"
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        out = ["-keyout", self.home / "key.pem", "-out", self.certificate, "-subj", f"/CN={NAME}", "-addext", names]
        subprocess.run([TOOLS[1], "req", "-x509", *kind, *out], check=True, capture_output=True)

    def _nginx(self):
        places = {
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl",
            "/etc/ssl/context.pem": self.certificate,
            "/etc/ssl/context.key": self.home / "key.pem",
            "127.0.0.1:8765": f"127.0.0.1:{self.server.port}",
        }
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {self.home}/tmp/{kind};\n" for kind in kinds)
        conf = (
            f"daemon off;\nmaster_process off;\npid {self.home}/nginx.pid;\nerror_log {self.home}/error.log;\n"
            f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{placed(block('nginx'), places)}}}\n"
        )
        (self.home / "nginx.conf").write_text(conf, encoding="utf-8")
        command = [TOOLS[0], "-p", self.home, "-e", self.home / "error.log", "-c", self.home / "nginx.conf"]
        self.nginx = subprocess.Popen(command, env=clean_env(self.home))
        while not self._listens():
            assert self.nginx.poll() is None, (self.home / "error.log").read_text(encoding="utf-8")

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def client(self, source="127.0.0.1"):
        trust = ssl.create_default_context(cafile=self.certificate)
        connection = functools.partial(http.client.HTTPSConnection, source_address=(source, 0), context=trust)
        return connection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, method, path, body=None, source="127.0.0.1", **headers):
        connection = self.client(source)
        given = {"Host": NAME, "Authorization": f"Bearer {TOKEN}", **ACCEPT}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        given = {name: value for name, value in given.items() if value}
        connection.request(method, path, body and json.dumps(body), given)
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def callers(self):
        log = (self.home / "index/audit.jsonl").read_text(encoding="utf-8")
        return [(line["caller"], line["client"], line["address"]) for line in map(json.loads, log.splitlines())]

    def end(self):
        self.nginx.terminate()
        assert self.nginx.wait(PATIENCE) == 0
        assert self.server.end() == 0


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    with kept_port() as port:
        found = Proxied(tmp_path_factory.mktemp("proxied"), port)
        yield found
        found.end()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_clients_of_both_eras_index_with_progress_and_search(proxied, mode):
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    steps = []

    async def step(progress, total, message):
        steps.append(progress)

    async def talk():
        trust = ssl.create_default_context(cafile=proxied.certificate)
        headers = {"Host": NAME, "Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, verify=trust, trust_env=False, timeout=PATIENCE) as over:
            transport = streamable_http_client(f"https://127.0.0.1:{proxied.port}/mcp", http_client=over)
            async with Client(transport, mode=mode) as client:
                indexed = await client.call_tool(
                    "indexFolder", {"root": str(proxied.home / "share")}, progress_callback=step
                )
                found = await client.call_tool("searchFiles", {"query": "harbour master"})
                return indexed.is_error, found.structured_content

    failed, found = anyio.run(talk)
    assert not failed
    assert steps
    assert [item["path"] for item in found["items"]] == [str(proxied.home / "share/notes.md")]


def test_news_of_a_long_run_pass_while_it_runs(proxied):
    (proxied.home / "share/many").mkdir()
    for number in range(500):
        (proxied.home / f"share/many/{number}.html").write_text(f"<p>{number} {'text ' * 300}", encoding="utf-8")
    arguments = {"root": str(proxied.home / "share/many")}
    params = {"name": "indexFolder", "arguments": arguments, "_meta": {"progressToken": 1}}
    _, headers, _ = proxied.ask("POST", "/mcp", INITIALIZE)
    connection = proxied.client()
    session = {"Mcp-Session-Id": headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
    call = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    connection.request("POST", "/mcp", call, {"Host": NAME, "Authorization": f"Bearer {TOKEN}", **ACCEPT, **session})
    answer = connection.getresponse()
    first = b""
    while b"\n\r\n" not in first and b"\n\n" not in first:
        first += answer.read1()
    rest = answer.read()
    connection.close()
    assert b"notifications/progress" in first
    assert b'"id":7' not in first
    assert b'"id":7' in rest


def test_the_proxy_passes_nothing_that_the_server_would_not_take(proxied):
    assert proxied.ask("POST", "/mcp", INITIALIZE)[0] == 200
    assert proxied.ask("POST", "/mcp", INITIALIZE, Authorization="Bearer wrong")[0] == 401
    assert proxied.ask("POST", "/mcp", INITIALIZE, Host="evil.example")[0] == 421
    assert proxied.ask("POST", "/mcp", INITIALIZE, Origin="https://evil.example")[0] == 403
    assert proxied.ask("POST", "/mcp", INITIALIZE, Origin=f"https://{NAME}")[0] == 200
    for path in ("/healthz", "/metrics", "/", "/mcp/../metrics"):
        assert proxied.ask("GET", path)[0] == 404


def test_a_client_without_a_token_is_told_where_to_sign_in_and_gets_there(proxied):
    status, headers, _ = proxied.ask("POST", "/mcp", INITIALIZE, Authorization="")
    address = re.search(r'resource_metadata="([^"]*)"', headers["www-authenticate"])[1]
    assert (status, address) == (401, f"https://{NAME}/.well-known/oauth-protected-resource/mcp")
    told = tomllib.loads(block("toml", "[oauth]"))["oauth"]
    for path in ("/.well-known/oauth-protected-resource", address.removeprefix(f"https://{NAME}")):
        status, _, body = proxied.ask("GET", path, Authorization="")
        found = json.loads(body)
        assert (status, found["resource"], found["authorization_servers"]) == (200, told["resource"], [told["issuer"]])


def test_callers_are_known_by_their_own_address_and_cannot_claim_another(proxied):
    client = {**INITIALIZE["params"], "clientInfo": {"name": "far", "version": "1"}}
    _, headers, _ = proxied.ask("POST", "/mcp", {**INITIALIZE, "params": client}, source="127.0.0.2")
    session = {"Mcp-Session-Id": headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "listRoots", "arguments": {}}}
    claimed = {"X_Forwarded_For": "10.9.8.7", **session}
    assert proxied.ask("POST", "/mcp", call, source="127.0.0.2", **claimed)[0] == 200
    assert proxied.callers()[-1] == ("owner", "far", "127.0.0.2")


def test_a_client_on_standard_input_comes_through_and_survives_a_restart(proxied):
    argv = [*SERVE, "--connect", f"https://localhost:{proxied.port}/mcp"]
    with Peer(argv, proxied.home) as peer:
        assert "CERTIFICATE_VERIFY_FAILED" in peer.ask("initialize", {})["error"]["message"]
    with Peer(argv, proxied.home, {"SSL_CERT_FILE": str(proxied.certificate)}) as peer:
        peer.initialize()
        assert peer.call("listRoots")["isError"] is False
        port = proxied.server.port
        assert proxied.server.end() == 0
        assert "502" in peer.ask("ping")["error"]["message"]
        config = (proxied.home / "config/smart-context/config.toml").read_text(encoding="utf-8")
        proxied.server = Served(proxied.home, config=config, port=port)
        assert peer.call("listRoots")["isError"] is False


def test_a_relay_that_does_not_know_the_certificate_says_how_to_name_it(proxied, tmp_path):
    argv = [*SERVE, "--connect", f"https://127.0.0.1:{proxied.port}/mcp", "--data-dir", str(tmp_path / "index")]
    with Peer(argv, tmp_path) as peer:
        said = peer.ask("initialize", {})["error"]["message"]
        peer.finish()
    assert said.endswith("; a certificate of your own authority is named with SSL_CERT_FILE")
