"""The wheel in an empty environment: from `pip install` to the first answer in a client's configuration in two commands."""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from conftest import PATIENCE, clean_env
from server_client import PATIENT, Peer

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel, one for all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "install"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "whole").exists():
            environment(place, {**os.environ, "CFLAGS": "-O0"})  # as it is installed here all tests know it optimized
            (place / "whole").touch()
    return place / "env/bin"


def environment(place, env):
    """A wheel as it is built with this environment, and one with it and what it asks for, as it is installed here, and nothing else. No package index is asked."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place],
        cwd=ROOT,
        env=env,
        capture_output=True,
        check=True,
    )
    (wheel,) = place.glob("*.whl")
    venv.create(place / "env", with_pip=False, symlinks=True)
    python = place / "env/bin/python"
    quietly = ["--disable-pip-version-check", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", "pip", *quietly, wheel], capture_output=True, check=True)
    (packages,) = place.glob("env/lib/python*/site-packages")
    (metadata,) = packages.glob("smart_file_context-*.dist-info")
    link_requirements(importlib.metadata.PathDistribution(metadata), packages)
    return wheel, place / "env/bin"


def link_requirements(wheel, packages):
    """Link what a distribution requires without its extras, and what that requires in turn, into an environment."""
    todo, seen = [Requirement(line) for line in wheel.requires or ()], set()
    while todo:
        wanted = todo.pop()
        extras = {"", *wanted.extras}
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        found = importlib.metadata.distribution(wanted.name)
        assert wanted.specifier.contains(found.version, prereleases=True), wanted
        if (wanted.name, *sorted(extras)) in seen:
            continue
        seen.add((wanted.name, *sorted(extras)))
        for file in found.files or ():
            # A package is linked as a whole, with what the interpreter compiled of it.
            whole = file.parts[0] if (found.locate_file(file.parts[0]) / "__init__.py").exists() else file
            if ".." not in file.parts:
                link(found.locate_file(whole), packages / whole)
        todo += [
            Requirement(str(more).partition(";")[0])
            for more in map(Requirement, found.requires or ())
            if more.marker is None or any(more.marker.evaluate({"extra": extra}) for extra in extras)
        ]


def link(there, here):
    if not here.exists():
        here.parent.mkdir(parents=True, exist_ok=True)
        here.symlink_to(there)


def test_the_page_of_the_package_has_no_link_that_leads_nowhere(installed):
    (metadata,) = installed.parent.glob("lib/python*/site-packages/smart_file_context-*.dist-info")
    told = importlib.metadata.PathDistribution(metadata).metadata.get_payload()
    assert "# Smart Context" in told
    assert re.findall(r"\]\((?!https?:|#)([^)]+)\)", told) == []


def test_the_manual_pages_are_installed(installed):
    pages = {page.name for page in (ROOT / "man").glob("*.1")}
    assert {page.name for page in (installed.parent / "share/man/man1").iterdir()} == pages != set()


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
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    settings = json.loads((tmp_path / "config/Claude/claude_desktop_config.json").read_text(encoding="utf-8"))
    entry = settings["mcpServers"]["smart-context"]
    assert Path(entry["command"]) == installed / "context"
    argv = [entry["command"], *entry["args"]]
    with Peer(argv, tmp_path, {**env, **PATIENT}, start=subprocess.Popen) as peer:
        peer.initialize()
        answer = peer.call("searchFiles", {"query": "when does the ferry leave"})
    assert answer["structuredContent"]["items"][0]["path"] == str(root / "boats.md")


def test_the_base_install_needs_no_extra(installed):
    code = "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) for m in ('onnxruntime', 'pytest')))"
    assert subprocess.run([installed / "python", "-c", code], check=False, timeout=PATIENCE).returncode == 0
    help_text = subprocess.run(
        [installed / "context", "--help"], capture_output=True, check=True, timeout=PATIENCE
    ).stdout
    assert b"Caches:" in help_text
    assert (installed / "mcp-context-server").exists()


def test_the_library_ships_its_types_and_the_examples_of_its_page_run(installed, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "deploy.md").write_text("How do I deploy? Push the tag.\n", encoding="utf-8")
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    for example in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        subprocess.run(
            [installed / "python", "-I", "-c", example], cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE
        )
    code = "from importlib.resources import files; print(files('smart_context').joinpath('py.typed').is_file())"
    shipped = subprocess.run(
        [installed / "python", "-I", "-c", code], cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE
    )
    assert shipped.stdout == b"True\n"


def test_without_a_compiler_everything_is_there_and_answers_the_same(installed, tmp_path):
    wheel, without = environment(tmp_path, {**os.environ, "PATH": str(tmp_path / "nothing")})
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert [name for name in packed.namelist() if name.endswith((".so", ".c", ".h"))] == []
    answers = []
    for number, programs in enumerate((installed, without)):
        (tmp_path / str(number)).mkdir()
        env = clean_env(tmp_path / str(number))
        env.pop("PYTHONPATH", None)
        for words in (["roots", "add", str(ROOT / "examples/handbook")], ["index"]):
            subprocess.run([programs / "context", *words], env=env, capture_output=True, timeout=PATIENCE, check=True)
        asked = [programs / "context", "search", "--json", "how fast must a lost laptop be reported"]
        answers.append(subprocess.run(asked, env=env, capture_output=True, timeout=PATIENCE, check=True).stdout)
        findings = subprocess.run(
            [programs / "context", "doctor", "--json"], env=env, capture_output=True, timeout=PATIENCE, check=False
        )
        assert (b"not compiled" in findings.stdout) is bool(number)
    assert answers[0] == answers[1]
    assert b"laptop" in answers[0]
