"""`context ui`: finds the server that runs, or starts one; tells nothing to what else may listen."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import ready
from conftest import PATIENCE, clean_env

UI = [sys.executable, "-m", "smart_context", "ui", "--no-browser"]


def status_of(link):
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    connection.request("GET", f"{parts.path}?{parts.query}")
    found = connection.getresponse().status
    connection.close()
    return found


def test_ui_starts_a_server_and_the_next_one_uses_it(tmp_path, tree):
    root = tree({"a.md": "A walrus.\n"})
    common = ["--root", str(root), "--data-dir", str(tmp_path / "index")]
    started = ready.Popen(
        [*UI, "--port", "0", *common], env=clean_env(tmp_path), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    link = next(found[0] for line in started.stderr if (found := re.search(r"http\S+ticket=\S+", line.decode())))
    assert status_of(link) == 303
    again = ready.run(
        [*UI, "--port", str(urlsplit(link).port), *common],
        env=clean_env(tmp_path),
        check=False,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert again.returncode == 0
    assert status_of(again.stderr.decode().split()[-1]) == 303
    started.send_signal(signal.SIGTERM)
    assert started.wait(PATIENCE) == 0
    started.stderr.close()


def test_ui_starts_nothing_without_what_renders_the_page(tmp_path):
    lacking = "import runpy, sys; sys.modules['jinja2'] = None; runpy.run_module('smart_context', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", lacking, *UI[3:], "--port", "0", "--root", str(tmp_path)],
        env=clean_env(tmp_path),
        check=False,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    assert b"in the checkout: pip install '.[http]'" in done.stderr
    assert b"ticket" not in done.stderr


def test_ui_gives_nothing_away_to_another_program_on_its_port(run, tmp_path):
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as impostor:

        def answer():
            connection, _ = impostor.accept()
            with connection:
                heard.append(connection.recv(10_000))
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello")

        listening = threading.Thread(target=answer)
        listening.start()
        done = run("ui", "--no-browser", "--port", str(impostor.getsockname()[1]), "--data-dir", tmp_path / "index")
        listening.join()
    assert (done.returncode, done.stdout) == (6, b"")
    token = (tmp_path / "index/http-token").read_text().strip()
    assert token.encode() not in heard[0]
    assert b"ticket" not in done.stderr
