"""`context uninstall`: what was put on the machine goes, what is somebody else's stays."""

from __future__ import annotations

import json
import re
import sys
import time

import pytest

from conftest import PATIENCE
from server_client import SERVE, Peer


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_nothing_is_removed_before_it_is_wished_and_then_all_that_is_ours(run, tree, tmp_path):
    root = tree({"a.md": "The gryphon sleeps.", "b.md": "And wakes."})
    assert run("roots", "add", root).returncode == 0
    assert run("index").returncode == 0
    assert run("connect", "cursor", "--yes").returncode == 0
    assert run("token", "add", "jo", "--root", root).returncode == 0
    assert run("build", "--sources", root, "--cache", tmp_path / "kept.cache").returncode == 0
    data = next(path.parent for path in tmp_path.rglob("record.sqlite"))
    (data / "mine.txt").write_text("not theirs", encoding="utf-8")
    before = everything(tmp_path)
    dry = run("uninstall")
    assert (dry.returncode, everything(tmp_path)) == (0, before)
    assert b"would remove the entry of Cursor" in dry.stdout
    assert b"nothing was removed" in dry.stderr
    assert run("uninstall", "--yes").returncode == 0
    left = everything(tmp_path)
    kept = {"tree/a.md", "tree/b.md", str((data / "mine.txt").relative_to(tmp_path))}
    assert {name for name in left if "kept.cache" not in name and "cursor" not in name} == kept
    settings = next(path for path in tmp_path.rglob("mcp.json"))
    assert "smart-context" not in json.loads(settings.read_text(encoding="utf-8")).get("mcpServers", {})
    assert run("verify", "--cache", tmp_path / "kept.cache").returncode == 0


def test_an_index_that_is_being_written_is_not_pulled_away(run, tree, tmp_path):
    from smart_context import engine

    root = tree({"a.md": "The gryphon sleeps."})
    run("index", "--root", root)
    data = next(path.parent for path in tmp_path.rglob("record.sqlite"))
    with engine.at(data).open(writable=True):
        dry, done = run("uninstall"), run("uninstall", "--yes")
    assert (dry.returncode, done.returncode, (data / "record.sqlite").exists()) == (0, 6, True)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_is_removed_while_a_server_would_index_it_again(run, tree, tmp_path):
    root = tree({"a.md": "The gryphon sleeps."})
    assert run("roots", "add", root).returncode == 0
    assert run("index").returncode == 0
    data = next(path.parent for path in tmp_path.rglob("record.sqlite"))
    with Peer([*SERVE, "--watch"], tmp_path) as peer:
        peer.initialize()
        peer.call("searchFiles", {"query": "gryphon"})
        dry, done = run("uninstall"), run("uninstall", "--yes")
        # The server may have a process at work that writes its index: it is named, too.
        told = rf"(process \d+, )*process {peer.process.pid}(, process \d+)* uses? the index, and would make another"
        assert (dry.returncode, bool(re.search(f"^end this first: {told}$", dry.stderr.decode(), re.MULTILINE))) == (
            0,
            True,
        )
        assert done.returncode == 6
        assert re.search(rf"^error: {told}\nhint: end it first", done.stderr.decode(), re.MULTILINE)
        assert (data / "record.sqlite").exists()
    deadline = time.monotonic() + PATIENCE
    while run("uninstall", "--yes").returncode == 6 and time.monotonic() < deadline:
        pass  # a process of the killed server has not ended yet
    assert not data.exists()


def test_what_killed_processes_left_half_written_goes_too(run, tree, tmp_path):
    root = tree({"a.md": "The gryphon sleeps."})
    run("index", "--root", root)
    data = next(path.parent for path in tmp_path.rglob("record.sqlite"))
    left = ["vectors-ab.new", "tokens.new", ".last-search.json.4711", "record.sqlite.new", "llm-usage.json.4711.new"]
    for name in left:
        (data / name).write_bytes(b"half")
    (data / "ranking.old").mkdir()
    assert run("uninstall", "--yes").returncode == 0
    assert not data.exists()
