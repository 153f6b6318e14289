"""Nothing that lies in the working folder is run: not by a command, nor by the entry that a client starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import PATIENCE, clean_env
from smart_context.cli import COMMANDS
from smart_context.clients import probe
from smart_context.clients.known import CLIENTS

NAMES = [
    "smart_context",
    "click",
    "json",
    "os",
    "re",
    "signal",
    "random",
    "tomllib",
    "sqlite3",
    "email",
    "typing",
    "sitecustomize",
    "usercustomize",
    "encodings",
    "tantivy",
    "numpy",
    "lxml",
    "mcp",
    "mcp_types",
    "anyio",
    "httpx2",
    "uvicorn",
    "starlette",
    "pypdfium2",
    "selectolax",
    "watchfiles",
    "tomlkit",
    "onnxruntime",
    "tokenizers",
    "phonenumbers",
]
CONTEXT = os.path.join(os.path.dirname(sys.executable), "context")

pytestmark = pytest.mark.skipif(not os.path.exists(CONTEXT), reason="the program is not installed beside Python")


@pytest.fixture
def trap(tmp_path):
    """A folder full of modules that note when they are run, and the note."""
    folder, note = tmp_path / "hostile", tmp_path / "note"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(note)!r}, 'a').write({name + ' '!r})\n", encoding="utf-8")
    return folder, note


@pytest.fixture
def bare(tmp_path):
    """This installation, with no program beside its Python."""
    there = Path(sys.prefix)
    if not (there / "pyvenv.cfg").exists():
        pytest.skip("needs a virtual environment")
    here = tmp_path / "bare"
    (here / "bin").mkdir(parents=True)
    (here / "pyvenv.cfg").write_bytes((there / "pyvenv.cfg").read_bytes())
    for name in os.listdir(there):
        if name.startswith("lib"):
            (here / name).symlink_to(there / name)
    (here / "bin/python").symlink_to(os.path.realpath(sys.executable))
    return str(here / "bin/python")


def run(trap, tmp_path, *words):
    env = {key: value for key, value in clean_env(tmp_path).items() if key != "PYTHONPATH"}
    return subprocess.run(words, cwd=trap[0], env=env, input=b"", capture_output=True, check=False, timeout=PATIENCE)


def test_no_command_runs_what_lies_where_the_user_stands(trap, tree, tmp_path):
    root = tree({"a.md": "# Boats\nThe ferry leaves at noon.\n"})
    for name in COMMANDS:
        assert run(trap, tmp_path, CONTEXT, name, "--help").returncode == 0
    for words in (
        ("index", "--root", root),
        ("search", "ferry", "--root", root),
        ("summarize", "ferry", "--root", root),
        ("open", root / "a.md", "--root", root),
        ("status", "--root", root),
        ("build", "--sources", root, "--cache", tmp_path / "cache"),
        ("resolve", "--cache", tmp_path / "cache", "--query", "ferry", "--budget", "100"),
        ("verify", "--cache", tmp_path / "cache"),
        ("doctor", "--root", root),
        ("connect", "cursor", "--root", root, "--yes"),
        ("maintain",),
        ("roots", "add", root),
    ):
        done = run(trap, tmp_path, CONTEXT, *words)
        assert done.returncode == 0, (words, done.stderr)
    assert run(trap, tmp_path, os.path.join(os.path.dirname(CONTEXT), "mcp-context-server")).returncode == 0
    assert not trap[1].exists(), trap[1].read_text()


@pytest.mark.parametrize("installed", ["with its program", "without it"])
def test_no_entry_that_is_written_runs_what_lies_in_the_clients_folder(
    trap, tree, tmp_path, bare, installed, monkeypatch
):
    root = tree({"a.md": "x"})
    start = [CONTEXT] if installed == "with its program" else [bare, "-P", "-m", "smart_context"]
    commands = set()
    for client in CLIENTS.values():
        done = run(trap, tmp_path, *start, "connect", client.name, "--root", root, "--print")
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode()
        entry = (tomllib.loads if client.format == "toml" else json.loads)(text)
        for key in (*client.path, "smart-context"):
            entry = entry[key]
        command = entry["command"]
        commands.add((*command, *entry.get("args", ())) if isinstance(command, list) else (command, *entry["args"]))
    assert {command[: len(start)] for command in commands} == {tuple(start)}
    monkeypatch.chdir(trap[0])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for command in commands:
        assert "searchFiles" in probe.tools([word for word in command if word != "--watch"])
    assert not trap[1].exists(), trap[1].read_text()
