"""`server.json`, as the MCP registry takes it: it names this package, this version, and a command that starts."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import smart_context
from server_client import SERVE
from smart_context.clients import probe

ROOT = Path(__file__).parent.parent
ENTRY = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_name_and_version_are_those_of_the_package():
    (package,) = ENTRY["packages"]
    assert ENTRY["version"] == package["version"] == smart_context.__version__
    assert package["identifier"] == PROJECT["name"]
    assert package["identifier"] in PROJECT["scripts"]  # `uvx NAME` starts the script of that name
    assert re.search(r"mcp-name: (\S+) ", (ROOT / "README.md").read_text(encoding="utf-8"))[1] == ENTRY["name"]
    assert len(ENTRY["description"]) <= 100


def test_the_arguments_start_a_server(tmp_path, monkeypatch):
    monkeypatch.setenv("SMART_CONTEXT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    arguments = []
    for argument in ENTRY["packages"][0]["packageArguments"]:
        value = argument.get("value", str(tmp_path))
        arguments += [value] if argument["type"] == "positional" else [argument["name"], value]
    assert arguments[0] == SERVE[-1]
    assert len(probe.tools([*SERVE[:-1], *arguments])) == 9
