"""The files for operators under `examples/`: what they say works, as far as it can be tried without their programs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE, clean_env

EXAMPLES = Path(__file__).parent.parent / "examples"
BIN = "/opt/smart-context/bin/"


def ours(words):
    """A command of the files, with the program of this very installation."""
    programs = {f"{BIN}context": [sys.executable, "-m", "smart_context"], f"{BIN}python": [sys.executable]}
    return [*programs[words[0]], *words[1:]]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path):
    unit = (EXAMPLES / "smart-context.service").read_text(encoding="utf-8")
    assert f"ExecStart={BIN}context " in unit
    place = tmp_path / "smart-context.service"
    place.write_text(unit.replace(f"{BIN}context", sys.executable), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", place], capture_output=True, check=False, env=clean_env(tmp_path)
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_unit_starts_a_server_with_the_configuration_that_it_names(run, tmp_path):
    unit = (EXAMPLES / "smart-context.service").read_text(encoding="utf-8")
    words = shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1])
    assert words[-2:] == ["--config", "/etc/smart-context.toml"]
    config = tmp_path / "smart-context.toml"
    config.write_text("[http]\nport = -1\n", encoding="utf-8")
    done = run(*words[1:-1], config)  # it comes as far as reading it
    assert (done.returncode, b"port" in done.stderr) == (1, True)


def test_the_container_serves_the_mounted_share_and_passes_its_health_check(tmp_path, port):
    text = (EXAMPLES / "Containerfile").read_text(encoding="utf-8")
    entry, command = (
        json.loads(re.search(rf"^{name} (\[.*\])$", text, re.MULTILINE)[1]) for name in ("ENTRYPOINT", "CMD")
    )
    check = json.loads(re.search(r"^HEALTHCHECK CMD (\[.*\])$", text, re.MULTILINE)[1])
    assert re.findall(r"^ENV (.*)$", text, re.MULTILINE) == ["SMART_CONTEXT_DATA_DIR=/data"]
    assert command == ["--root", "/srv/share"]
    port = str(port)
    (tmp_path / "share").mkdir()
    # As the guide has it for another name: the health check goes on all the same.
    env = {"SMART_CONTEXT_DATA_DIR": str(tmp_path / "data"), "SMART_CONTEXT_HTTP_ALLOWED_HOSTS": "context.example.com"}
    server = subprocess.Popen(
        [*ours(entry), "--root", str(tmp_path / "share"), "--port", port],
        env={**clean_env(tmp_path), **env},
        stderr=subprocess.PIPE,
    )
    try:
        while b" listening on " not in (said := server.stderr.readline()):
            assert b"warning" in said or said.startswith(b"hint"), said
        assert said.endswith(b"with a bearer token\n")
        assert os.stat(tmp_path / "data/http-token").st_mode & 0o777 == 0o600
        subprocess.run([word.replace("8765", port) for word in ours(check)], check=True, timeout=PATIENCE)
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)
    assert server.returncode == 0


TEAM = sorted((EXAMPLES / "team").glob("*.service"))


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_units_of_a_team(tmp_path):
    for unit in [*TEAM, *(EXAMPLES / "team").glob("*.timer")]:
        text = unit.read_text(encoding="utf-8").replace(f"{BIN}context", sys.executable)
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", *sorted(tmp_path.iterdir())],
        capture_output=True,
        check=False,
        env=clean_env(tmp_path),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_commands_of_a_team_are_ours_and_its_configuration_is_read(tmp_path):
    from smart_context.cli import COMMANDS
    from smart_context.cli.program import cli
    from smart_context.settings import config

    texts = [unit.read_text(encoding="utf-8") for unit in TEAM]
    started = [shlex.split(re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1])[1:] for text in texts]
    assert [words[0] for words in started] == ["serve", "index", "worker"]
    for words in started:
        command = cli.get_command(None, words[0])
        assert command.make_context(words[0], words[1:], resilient_parsing=True).params
    compose = (EXAMPLES / "team" / "compose.yaml").read_text(encoding="utf-8")
    named = re.findall(r'command: \["(\w+)"', compose)
    assert named == ["engine", "worker", "serve"]
    assert set(named) <= set(COMMANDS)
    settings = config.load({"config": str(EXAMPLES / "team" / "config.toml")}, {"HOME": str(tmp_path)})
    assert settings.engine.startswith("postgresql://")
