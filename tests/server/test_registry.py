"""`server.json`, as the MCP registry takes it: it names this package, this version, and a command that starts."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import smart_context
from server_client import SERVE
from smart_context.clients import probe

ROOT = Path(__file__).parents[2]
ENTRY = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_name_and_version_are_those_of_the_package():
    (package,) = ENTRY["packages"]
    assert ENTRY["version"] == package["version"] == smart_context.__version__
    assert package["identifier"] == PROJECT["name"]
    assert package["identifier"] in PROJECT["scripts"]  # `uvx NAME` starts the script of that name
    assert re.search(r"mcp-name: (\S+) ", (ROOT / "README.md").read_text(encoding="utf-8"))[1] == ENTRY["name"]


@pytest.mark.parametrize("joined", [True, False], ids=["--name=value", "--name value"])
@pytest.mark.parametrize("optional", [True, False], ids=["all", "only what is fixed"])
def test_the_arguments_start_a_server(tmp_path, monkeypatch, joined, optional):
    monkeypatch.setenv("SMART_CONTEXT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    arguments = []
    for argument in ENTRY["packages"][0]["packageArguments"]:
        value = argument.get("value", str(tmp_path))
        if argument["type"] == "positional":
            arguments.append(value)
        elif optional or "value" in argument:
            arguments += [f"{argument['name']}={value}"] if joined else [argument["name"], value]
    assert arguments[0] == SERVE[-1]
    assert len(probe.tools([*SERVE[:-1], *arguments])) == 10


INPUT = {"description": str, "format": str, "value": str, "isRequired": bool, "isSecret": bool, "default": str}
KNOWN = {
    "entry": {"$schema": str, "name": str, "title": str, "description": str, "version": str, "packages": list},
    "package": {
        "registryType": str,
        "identifier": str,
        "version": str,
        "runtimeHint": str,
        "transport": dict,
        "packageArguments": list,
        "environmentVariables": list,
    },
    "argument": {**INPUT, "type": str, "name": str, "valueHint": str, "isRepeated": bool},
    "variable": {**INPUT, "name": str},
}


def check(what, given, *needed):
    """Compare an object with what the registry's schema (2025-12-11) says of its kind."""
    assert {key: type(value) for key, value in given.items()}.items() <= KNOWN[what].items()
    assert set(needed) <= given.keys()


def test_the_entry_is_what_the_registry_takes():
    assert ENTRY["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    check("entry", ENTRY, "name", "description", "version")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", ENTRY["name"])
    assert 3 <= len(ENTRY["name"]) <= 200
    assert 1 <= len(ENTRY["title"]) <= 100
    assert 1 <= len(ENTRY["description"]) <= 100
    for package in ENTRY["packages"]:
        check("package", package, "registryType", "identifier", "transport")
        assert package["transport"] == {"type": "stdio"}
        assert re.fullmatch(r"\d+\.\d+\.\d+\S*", package["version"])  # a range, or `latest`, is refused
        for argument in package["packageArguments"]:
            check("argument", argument, "type")
            assert {"positional": {"value", "valueHint"}, "named": {"name"}}[argument["type"]] & argument.keys()
            assert argument.get("format", "string") in {"string", "number", "boolean", "filepath"}
        for variable in package["environmentVariables"]:
            check("variable", variable, "name")
            assert variable.get("format", "string") in {"string", "number", "boolean", "filepath"}
