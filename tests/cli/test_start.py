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


# What a search has no use for, and takes milliseconds to load: OpenSSL, what writes classes, reads source code or looks for the network.
COSTLY = {
    "_hashlib", "_ssl", "argparse", "ast", "asyncio", "click", "ctypes", "dataclasses", "decimal", "difflib", "email", "glob", "hashlib", "importlib.metadata", "inspect",
    "logging", "numpy", "random", "secrets", "shutil", "socket", "string", "subprocess", "tempfile", "textwrap", "tokenize", "tomllib", "traceback", "uuid", "zipfile",
}  # fmt: skip


@pytest.mark.parametrize(
    "query", [["walrus"], ["the walrus number 3 sleeps on the ice"], ["walrus@example.com"]], ids=str
)
def test_a_search_loads_nothing_that_it_has_no_use_for(place, query):
    loaded = loaded_by(place, "search", *query, "--root", "notes")
    assert "smart_context.find.search" in loaded
    assert loaded & COSTLY == set()


def test_a_run_over_an_unchanged_folder_loads_neither_readers_nor_what_searches(place):
    loaded = loaded_by(place, "index", "notes", "--root", "notes")
    assert "smart_context.sources.walk" in loaded
    unused = {
        "engine.port",
        "engine.expression",
        "engine.local.ranking",
        "index.intake",
        "sources.worker",
        "find.search",
    }
    assert loaded & {*COSTLY, *(f"smart_context.{name}" for name in unused), "tantivy"} == set()


def test_a_run_that_reads_files_leaves_what_reading_needs_to_the_processes_that_read(place):
    (place / "notes" / "more.md").write_text("one more walrus")
    loaded = loaded_by(place, "index", "notes", "--root", "notes")
    assert {"smart_context.index.intake", "tantivy"} <= loaded
    readers = {
        "smart_context.sources.worker_child",
        "smart_context.sources.jail",
        "smart_context.sources.sniff",
        "smart_context.sources.extract",
        "smart_context.index.prepare",
        "smart_context.redact.document",
        "lxml.etree",
        "smart_context.engine.local.ranking.view",  # this and the next are what searches need
        "smart_context.engine.expression",
    }
    assert loaded & (COSTLY - {"socket", "subprocess"} | readers) == set()


def loaded_by(place, *args):
    """The modules that a command loads."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "smart_context", *args, "--data-dir", "data"],
        cwd=place,
        env=clean_env(place),
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
