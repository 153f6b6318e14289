"""The wheel in an empty environment: from `pip install` to the first answer in a client's configuration in two commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from conftest import clean_env

ROOT = Path(__file__).parents[2]


def pip(python, *args):
    return subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", *args], capture_output=True, check=False, timeout=600
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel and what it asks for, and nothing else."""
    place = tmp_path_factory.mktemp("install")
    built = pip(sys.executable, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(ROOT))
    if built.returncode and b"connection" in built.stderr.lower():
        pytest.skip("building the wheel needs hatchling, and no package index can be reached")
    assert built.returncode == 0, built.stderr
    venv.create(place / "env", with_pip=True)
    (wheel,) = place.glob("*.whl")
    done = pip(place / "env/bin/python", "install", "--quiet", str(wheel))
    if done.returncode and b"connection" in done.stderr.lower():
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    return place / "env/bin"


@pytest.mark.timeout(900)
def test_two_commands_lead_from_nothing_to_an_answer(installed, tmp_path):
    root = tmp_path / "Documents"
    root.mkdir()
    (root / "boats.md").write_text("# Boats\nThe ferry to the island leaves at seven.\n", encoding="utf-8")
    env = {**clean_env(tmp_path), "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}"}
    env.pop("PYTHONPATH", None)
    done = subprocess.run(
        ["context", "connect", "claude-desktop", "--root", str(root), "--yes"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    settings = json.loads((tmp_path / "config/Claude/claude_desktop_config.json").read_text(encoding="utf-8"))
    entry = settings["mcpServers"]["smart-context"]
    assert Path(entry["command"]) == installed / "context"
    frames = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "searchFiles", "arguments": {"query": "when does the ferry leave"}},
        },
    ]
    asked = b"".join(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n" for frame in frames)
    server = subprocess.run(
        [entry["command"], *entry["args"]], env=env, input=asked, capture_output=True, timeout=120, check=False
    )
    answers = {frame.get("id"): frame for frame in map(json.loads, server.stdout.splitlines())}
    assert answers[2]["result"]["structuredContent"]["items"][0]["path"] == str(root / "boats.md")


def test_the_base_install_needs_no_extra(installed):
    code = "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) for m in ('onnxruntime', 'pytest')))"
    assert subprocess.run([installed / "python", "-c", code], check=False, timeout=60).returncode == 0
    help_text = subprocess.run([installed / "context", "--help"], capture_output=True, check=True, timeout=60).stdout
    assert b"Caches:" in help_text
    assert (installed / "mcp-context-server").exists()


def test_the_library_ships_its_types_and_the_examples_of_its_page_run(installed, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "deploy.md").write_text("How do I deploy? Push the tag.\n", encoding="utf-8")
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    for example in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        subprocess.run(
            [installed / "python", "-I", "-c", example], cwd=tmp_path, check=True, capture_output=True, timeout=60
        )
    code = "from importlib.resources import files; print(files('smart_context').joinpath('py.typed').is_file())"
    shipped = subprocess.run(
        [installed / "python", "-I", "-c", code], cwd=tmp_path, check=True, capture_output=True, timeout=60
    )
    assert shipped.stdout == b"True\n"
