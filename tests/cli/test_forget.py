"""`context forget` and `context roots remove`: no trace of the text is left in the data directory."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest
import tantivy

from conftest import clean_env
from terminal import Terminal

TEXT = "The quokkafish memorandum of the thirtieth, to be forgotten by everyone.\n" * 40


@pytest.fixture
def data(run, tree, tmp_path):
    root = tree(
        {"keep/a.txt": "An ordinary note about the garden.\n", "old/b.txt": TEXT, "old/c.txt": "More quokkafish.\n"}
    )
    settings = tmp_path / "config.toml"
    settings.write_text(f'roots = ["{root}/keep", "{root}/old"]\ndata_dir = "{tmp_path / "data"}"\n')
    assert run("index", "--config", settings).returncode == 0
    # Replaced text leaves traces of its own.
    (root / "old" / "c.txt").write_text("More quokkafish than before.\n")
    assert run("index", "--config", settings).returncode == 0
    return tmp_path / "data"


def traces(data, blobs):
    """What of the data directory holds the word, or a piece of the text as it was kept."""
    found = []
    for file in sorted(data.rglob("*")):
        held = file.read_bytes() if file.is_file() else b""
        if b"quokkafish" in held or b"quokkafi" in held or any(blob in held for blob in blobs):
            found.append(file.name)
    searcher = tantivy.Index.open(str(data / "ranking")).searcher()
    # The engine's words lie there compressed; this counts documents that are gone too.
    return found + ["ranking"] * bool(searcher.doc_freq("text", "quokkafish"))


def kept(data):
    with sqlite3.connect(data / "record.sqlite") as db:
        rows = db.execute(
            "SELECT data FROM blocks JOIN file_rows USING (file_id) WHERE CAST(path AS TEXT) LIKE '%/old/%'"
        ).fetchall()
    return [row[0][2:40] for row in rows]


@pytest.mark.parametrize("command", [("forget", "{}/old"), ("roots", "remove", "{}/old")])
def test_nothing_is_left_of_what_was_forgotten(run, data, tmp_path, command):
    blobs = kept(data)
    assert traces(data, blobs)
    args = [part.format(tmp_path / "tree") for part in command]
    at = ["--config", tmp_path / "config.toml"]
    done = run(args[0], *at, *args[1:]) if args[0] == "roots" else run(*args, *at)
    assert done.returncode == 0, done.stderr
    assert traces(data, blobs) == []
    assert b"/old/" not in (data / "record.sqlite").read_bytes()
    found = run("search", "garden", "--json", *at)
    assert b"keep/a.txt" in found.stdout


@pytest.mark.parametrize("command", [("forget", "{}/old"), ("roots", "remove", "{}/old")])
def test_a_damaged_index_that_was_set_aside_is_named_since_it_may_hold_what_was_forgotten(run, data, tmp_path, command):
    at = ["--config", tmp_path / "config.toml"]
    with open(data / "record.sqlite", "r+b") as record:
        record.write(b"damage")
    assert run("index", "--rebuild", *at).returncode == 0
    aside = data / "set-aside-1"
    done = run(*[part.format(tmp_path / "tree") for part in command], *at)
    told = f"warning: a damaged index that was set aside may still hold the text; remove it with: rm -r {aside}"
    assert (done.returncode, told in done.stderr.decode().splitlines()) == (0, True)
    found = json.loads(run("doctor", "--json", *at).stdout)
    assert [one["fix"] for one in found if str(aside) in one["what"]] == [f"rm -r {aside}"]
    shutil.rmtree(aside)
    assert str(aside).encode() not in run("doctor", *at).stdout


def test_forgetting_that_others_held_up_is_finished_by_the_next_one_and_by_maintenance(run, data, tmp_path):
    blobs = kept(data)
    at = ["--config", tmp_path / "config.toml"]
    with contextlib.closing(sqlite3.connect(data / "record.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM files").fetchone()
        done = run("forget", tmp_path / "tree/old", *at)
        assert (done.returncode, b"context maintain" in done.stderr) == (6, True)
        assert set(traces(data, blobs)) == {"record.sqlite"}
    held_up = shutil.copytree(data, tmp_path / "held-up")
    for finish in (["forget", tmp_path / "tree/old"], ["forget", tmp_path / "tree/nothing"], ["maintain"]):
        shutil.rmtree(data)
        shutil.copytree(held_up, data)
        done = run(*finish, *at)
        assert done.returncode == 0, done.stderr
        assert traces(data, blobs) == []
        assert b"garden" in run("search", "garden", "--json", *at).stdout


def test_forgetting_one_file_keeps_the_others(run, data, tmp_path):
    at = ["--config", tmp_path / "config.toml"]
    done = run("forget", tmp_path / "tree/old/b.txt", *at)
    assert done.returncode == 0, done.stderr
    assert b"1 file" in done.stderr
    assert b"c.txt" in run("search", "quokkafish", "--json", *at).stdout


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("/typo", "everything indexed in / lies in {}"),
        ("{}/zzz", "indexed in {}: keep, old"),
        ("{}/kepp", "did you mean {}/keep?"),
        ("{}/odl/b.txt", "did you mean {}/old/b.txt?"),
        ("{}/odl/none", "did you mean {}/old?"),
        ("{}/keep/none", "indexed in {}/keep: a.txt"),
        ("{}/../link/b.txt", "it is a link; did you mean {}/old/b.txt?"),
    ],
)
def test_a_path_of_which_nothing_is_indexed_is_an_error_that_names_what_is(run, data, tmp_path, typed, near):
    tree, at = tmp_path / "tree", ["--config", tmp_path / "config.toml"]
    (tmp_path / "link").symlink_to(tree / "old")
    path = typed.format(tree)
    done = run("forget", path, *at)
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        4,
        [f"error: nothing is indexed at {os.path.abspath(path)}", f"hint: {near.format(tree)}"],
    )
    assert b"b.txt" in run("search", "quokkafish", "--json", *at).stdout


def test_where_nothing_was_ever_indexed_or_all_was_forgotten_there_is_nothing_to_forget(run, data, tmp_path):
    at = ["--config", tmp_path / "config.toml"]
    assert run("forget", "/", *at).returncode == 0
    nothing = (4, b"error: nothing is indexed\nhint: there is nothing to forget\n")
    for where in (at, ["--data-dir", tmp_path / "none"]):
        done = run("forget", tmp_path / "tree", *where)
        assert (done.returncode, done.stderr) == nothing
    assert not (tmp_path / "none").exists()


def test_a_person_is_asked_before_a_whole_root_is_forgotten_and_nobody_else_is(run, data, tmp_path):
    at = ["--config", str(tmp_path / "config.toml")]
    tree = tmp_path / "tree"
    for place, question in {
        tree / "old": "is a root. Forget the text of 2 files?",
        tree: "holds 2 roots. Forget the text of 3 files?",
        "/": "/ is the whole file system. Forget the text of 3 files?",
    }.items():
        command = [sys.executable, "-m", "smart_context", "forget", str(place), *at]
        with Terminal(command, clean_env(tmp_path), tmp_path, 200, 24) as terminal:
            terminal.until(question)
            terminal.type("\n")
            assert terminal.until_it_ends() == 1
            assert "nothing was forgotten" in terminal.lines
    assert b"garden" in run("search", "garden", *at).stdout
    for rest in ([tree / "old/b.txt"], [tree / "old", "--yes"]):
        command = [sys.executable, "-m", "smart_context", "forget", *map(str, rest), *at]
        with Terminal(command, clean_env(tmp_path), tmp_path, 200, 24) as terminal:
            assert terminal.until_it_ends() == 0
            assert any("1 file at" in line for line in terminal.lines)
    assert b"1 file at / forgotten" in run("forget", "/", *at).stderr


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_after_a_power_cut_it_is_known_what_was_to_be_forgotten(data, tmp_path):
    """The note is on the disk before the first change of the record, and goes when all else is there."""
    trace = tmp_path / "trace"
    given = [str(tmp_path / "tree" / "old"), "--config", str(tmp_path / "config.toml")]
    watched = ["strace", "-f", "-y", "-qq", "-e", "trace=openat,fsync,fdatasync,unlink", "-o", str(trace)]
    command = [*watched, sys.executable, "-m", "smart_context", "forget", *given]
    done = subprocess.run(command, check=False, capture_output=True, env=clean_env(tmp_path))
    if b"ptrace" in done.stderr.lower() or not trace.exists():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    told = [
        ("noted" if "openat" in line else "note gone")
        if "forget.unfinished" in line
        else ("record" if "record.sqlite" in line else "names" if f"<{data}>" in line else "")
        for line in trace.read_text().splitlines()
        if "sync(" in line or ("forget.unfinished" in line and ("O_CREAT" in line or "unlink(" in line))
    ]
    steps = [step for step in told if step]
    begun = steps[steps.index("noted") :]
    assert begun[:2] == ["noted", "names"]
    assert begun[-2:] == ["names", "note gone"]
    assert "record" in begun
