"""What a command does not need it does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import clean_env

HEAVY = ("numpy", "mcp", "mcp_types", "pydantic", "anyio", "httpx", "uvicorn", "jinja2")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    notes = folder / "notes"
    notes.mkdir()
    for number in range(8):
        text = f"# Walrus {number}\n\nThe walrus number {number} sleeps on the ice since 2021.\n"
        (notes / f"walrus-{number}.md").write_text(text, encoding="utf-8")
    for name in HEAVY:
        (folder / "broken" / name).mkdir(parents=True)
        (folder / "broken" / name / "__init__.py").write_text("raise ImportError", encoding="utf-8")
    run(folder, "index", "notes")
    return folder


def run(folder, *args, **env):
    return subprocess.run(
        [sys.executable, "-m", "smart_context", *args, "--data-dir", "data"],
        cwd=folder,
        env={**clean_env(folder), **env},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize(
    "query",
    [
        ["walrus"],
        ["the walrus number 3 sleeps on the ice", "--explain"],
        ["walrus", "from", "2021", "--all-copies"],
        ["sleeps AND ice", "--json"],
    ],
    ids=lambda query: query[0],
)
def test_a_search_in_a_small_index_loads_neither_arrays_nor_anything_of_a_server(place, query):
    with_all = run(place, "search", *query, "--root", "notes")
    without = run(place, "search", *query, "--root", "notes", PYTHONPATH=str(place / "broken"))
    assert without == with_all
    assert "walrus-3.md" in without
