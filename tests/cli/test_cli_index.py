"""`context index`, `status` and `roots` as a person runs them."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from conftest import clean_env
from smart_context.cli.show import size


def told(done) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_folder_named_on_the_command_line_is_indexed_and_the_next_step_is_said(tree, run):
    root = tree({"a.txt": "alpha", "b.txt": ""})
    done = run("index", root)
    assert (done.returncode, done.stdout) == (0, b"")
    assert f"context roots add {root}" in done.stderr.decode()
    [report] = told(run("index", root, "--json"))
    assert {k: report[k] for k in ("root", "indexed", "skipped", "removed", "failed")} == {
        "root": str(root),
        "indexed": 0,
        "skipped": 2,
        "removed": 0,
        "failed": 0,
    }


def test_roots_are_added_listed_indexed_and_removed(tree, run, tmp_path):
    root = tree({"a.txt": "alpha", "sub/b.txt": "beta"})
    assert run("roots", "add", root).returncode == 0
    assert told(run("roots", "--json")) == [{"root": str(root), "state": "available"}]
    assert [r["indexed"] for r in told(run("index", "--json"))] == [2]
    inner = run("roots", "add", root / "sub").stderr.decode()
    assert "it lies in the root ~/tree, so that its files could be read already\n" in inner
    assert run("roots", "remove", root / "sub").returncode == 0
    done = run("index", root / "sub")
    assert b"roots add" not in done.stderr
    [status] = told(run("status", "--json"))["roots"]
    assert (status["files"], status["segments"], status["changes"]["new"], status["failed"]) == (2, 2, 0, 0)
    assert run("roots", "remove", root).returncode == 0
    assert told(run("roots", "--json")) == []
    assert run("roots", "remove", root).returncode == 4


def test_the_index_is_for_its_owner_alone(tree, run, tmp_path):
    run("index", tree({"a.txt": "alpha"}))
    data = tmp_path / "data/smart-context"
    assert data.stat().st_mode & 0o777 == 0o700
    assert {oct(p.stat().st_mode & 0o077) for p in (data, *data.rglob("record*"))} == {"0o0"}


def test_one_missing_root_does_not_stop_the_others(tree, run, tmp_path):
    root = tree({"a.txt": "alpha"})
    done = run("index", "--root", tmp_path / "away", "--root", root, "--json")
    assert (done.returncode, [r["indexed"] for r in json.loads(done.stdout)]) == (4, [1])
    status = told(run("status", "--root", tmp_path / "away", "--json"))
    assert status["roots"][0]["is_available"] is False


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="no /proc here")
@pytest.mark.parametrize("roots", [(), ("--root", "/proc")])
def test_a_folder_in_which_the_kernel_shows_its_state_is_refused_and_the_others_are_indexed(tree, run, roots):
    root = tree({"a.txt": "alpha"})
    done = run("index", "/proc/sys", root, *roots, "--json")
    assert (done.returncode, [(r["root"], r["indexed"]) for r in json.loads(done.stdout)]) == (4, [(str(root), 1)])
    assert done.stderr.decode().splitlines()[-2:] == [
        "error: cannot index /proc/sys: proc shows the state of the kernel, and has no files to read",
        "hint: name a folder on a disk",
    ]


def test_a_file_system_of_the_kernel_inside_a_folder_is_named_with_the_reason(tree, run):
    root = tree({"a.txt": "alpha"})
    inner = root / "kernel"
    inner.mkdir()
    if subprocess.run(["mount", "-t", "proc", "proc", inner], capture_output=True, check=False).returncode:
        pytest.skip("mounting needs root")
    try:
        said = run("index", root).stderr.decode()
        status = told(run("status", "--root", root, "--json"))["roots"][0]
    finally:
        subprocess.run(["umount", inner], check=True)
    assert f"not looked into: {inner}: proc shows the state of the kernel, and has no files to read\n" in said
    assert status["changes"]["hidden"] == []


def test_a_folder_without_a_file_to_read_is_told_so(tree, run):
    root = tree({".hidden": "x"})
    os.mkfifo(root / "pipe")
    left_out = "hidden and ignored files, links, and what is no file: devices, pipes, sockets"
    assert run("index", root).stderr.decode().splitlines()[0] == f"no file to read in tree; left out are {left_out}"
    (root / "a.txt").write_text("alpha", encoding="utf-8")
    assert "no file to read" not in run("index", root).stderr.decode()
    assert "no file to read" not in run("index", root).stderr.decode()


def test_roots_of_another_configuration_are_changed_with_the_option_behind_the_command(tree, run, tmp_path):
    root, config = tree({"a.md": "The gryphon sleeps."}), tmp_path / "team.toml"
    config.write_text('data_dir = "team"\n', encoding="utf-8")
    added = run("roots", "add", root, "--config", config)
    assert added.stderr.decode().splitlines() == [
        "~/tree is now a root, in ~/team.toml",
        f"read it into the index with: context index --config {config}",
    ]
    for listed in (("roots", "list", "--config", config), ("roots", "--config", config)):
        assert run(*listed).stdout.decode() == f"{root}\n"
    assert run("roots", "list").stdout == b""
    assert run("index", "--config", config).returncode == 0
    removed = run("roots", "remove", root, "--config", config)
    assert removed.stderr.decode().splitlines()[-1] == "1 file forgotten"
    assert run("roots", "list", "--config", config, "--json").stdout == b"[]\n"


def test_a_root_that_is_not_there_and_was_never_indexed_is_not_called_searched(run, tmp_path):
    told = run("status", "--root", tmp_path / "nowhere").stdout.decode().splitlines()
    assert told[0] == "~/nowhere  (not there, and never indexed)"


@pytest.mark.parametrize(
    ("args", "status"), [(("index",), 1), (("index", "/nowhere/at/all"), 4), (("roots", "add", "/nowhere"), 4)]
)
def test_what_cannot_be_done_is_an_error_with_a_hint(run, args, status):
    done = run(*args)
    assert (done.returncode, done.stdout) == (status, b"")
    assert b"hint: " in done.stderr


def test_status_names_what_failed_and_why(tree, run):
    root = tree({"bad.docx": b"PK\x03\x04" + os.urandom(40), "good.txt": "fine"})
    done = run("index", root)
    assert f"see what failed, and why: context status --root {root}\n" in done.stderr.decode()
    done = run("status", "--root", root)
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "\n    bad.docx\n      damaged (" in text
    [listed] = told(run("status", "--root", root, "--json"))["roots"]
    assert [(t["path"], t["state"], bool(t["reason"])) for t in listed["troubles"]] == [
        (str(root / "bad.docx"), "failed", True)
    ]


def test_a_damaged_index_is_refused_until_it_is_rebuilt(tree, run, tmp_path):
    root = tree({"a.txt": "alpha"})
    run("index", root)
    record = tmp_path / "data/smart-context/record.sqlite"
    record.write_bytes(b"garbage")
    done = run("index", root)
    assert done.returncode == 7
    assert b"--rebuild" in done.stderr
    assert record.read_bytes() == b"garbage"
    assert run("index", "--rebuild", root).returncode == 0
    assert (record.parent / "set-aside-1/record.sqlite").read_bytes() == b"garbage"


def test_a_terminal_gets_a_summary_on_stderr_and_no_json(tree, tmp_path):
    root = tree({f"{i}.txt": f"text {i}" for i in range(30)})
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "smart_context", "index", root],
            env=clean_env(tmp_path),
            stdout=subprocess.PIPE,
            stderr=theirs,
            check=True,
        )
        os.close(theirs)
        seen = b""
        while b"indexed in" not in seen:
            seen += os.read(ours, 65536)
    finally:
        os.close(ours)
    assert done.stdout == b""
    assert b"30 indexed in" in seen


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "1.0 MB"), (2_500_000_000_000_000, "2,500.0 TB")],
)
def test_sizes_are_written_as_people_say_them(count, text):
    assert size(count) == text


def test_names_that_are_not_utf8_do_not_break_status(tree, run):
    root = tree({"a.txt": "alpha"})
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.docx")).write_bytes(b"PK\x03\x04junk")
    run("index", root)
    assert "caf\\xe9.docx" in run("status", "--root", root).stdout.decode()


def test_a_run_over_an_unchanged_folder_loads_no_engine_and_no_reader(tree, tmp_path, run):
    root = tree({"a.txt": "alpha", "sub/b.txt": "beta"})
    command = ("index", root, "--data-dir", tmp_path / "data", "--json")
    traced = [run(*command, env={"PYTHONPROFILEIMPORTTIME": "1"}).stderr.decode() for _ in range(2)]
    heavy = ("tantivy", "smart_context.text.analysis", "smart_context.sources.worker")
    assert [[name in loaded for name in heavy] for loaded in traced] == [[True] * 3, [False] * 3]
    assert "numpy" not in traced[1]


def test_an_interrupted_run_says_what_was_kept_and_how_to_go_on(tree, tmp_path):
    root = tree(
        {"large.txt": "The gryphon sleeps and wakes and sleeps again. \n" * 300_000}
    )  # it takes a while to read
    command = [
        sys.executable,
        "-m",
        "smart_context",
        "index",
        "--root",
        str(root),
        "--data-dir",
        str(tmp_path / "data"),
    ]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        env=clean_env(tmp_path),
        # Where the tests run in the background, a shell has this signal ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        while not (tmp_path / "data/record.sqlite").exists() and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        told = process.stderr.read().decode()
    assert (process.returncode, "Traceback" in told) == (130, False)
    assert told.rstrip().endswith(" with: the same command")


def test_an_interrupted_run_over_everything_is_not_continued_by_a_plain_one(tree, tmp_path, run):
    root = tree({f"{n:04}.txt": f"The walrus number {n}.\n" * 50 for n in range(3000)})
    assert run("roots", "add", root).returncode == 0
    command = [sys.executable, "-m", "smart_context", "index", "--full"]
    with subprocess.Popen(command, env=clean_env(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while running.poll() is None and not _recorded(tmp_path / "data/smart-context/record.sqlite"):
            pass
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate()
    assert running.returncode == 143
    said = err.decode().splitlines()[-1]
    assert said == f"what was read is kept and can be searched; read everything again with: context index --full {root}"


def test_sigterm_ends_a_run_at_once_with_what_was_read_committed(tree, tmp_path):
    root = tree({f"{n:04}.txt": f"The walrus number {n}.\n" * 50 for n in range(3000)})
    at = ["--root", str(root), "--data-dir", str(tmp_path / "data")]
    command = [sys.executable, "-m", "smart_context", "index", *at]
    with subprocess.Popen(command, env=clean_env(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        record = tmp_path / "data" / "record.sqlite"
        while running.poll() is None and not _recorded(record):
            pass
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate()
    assert (running.returncode, out) == (143, b"")
    read, kept = err.decode().splitlines()
    assert re.fullmatch(r"ended: [\d,]+ of 3,000 files were read", read)
    assert kept == "what was read is kept and can be searched; go on with: the same command"
    assert 0 < _recorded(record) < 3000


def _recorded(record):
    try:
        with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True)) as db:
            return db.execute("SELECT COUNT(*) FROM files").fetchone()[0]
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize(("setting", "lines"), [("200", "lines 31-32"), ("2000", "lines 21-40")])
def test_segments_are_as_long_as_the_setting_allows(run, tree, setting, lines):
    root = tree({"a.txt": "".join(f"{'gryphon' if n == 32 else 'pelican'} {n:03} {'x' * 86}\n" for n in range(1, 61))})
    env = {"SMART_CONTEXT_INDEX_MAX_SEGMENT_CHARS": setting}
    assert run("index", "--root", root, env=env).returncode == 0
    (found,) = json.loads(run("search", "gryphon", "--root", root, "--json", env=env).stdout)["items"]
    assert found["pointer"] == lines


@pytest.mark.parametrize(("changes", "why"), [({"format": 0}, "made by another version"), (None, "damaged")])
def test_a_run_that_builds_the_ranking_anew_says_so_and_why_in_one_line_once(tree, run, tmp_path, changes, why):
    root = tree({"a.txt": "alpha"})
    run("roots", "add", root)
    run("index")
    state = tmp_path / "data/smart-context/ranking/generation.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), **changes}) if changes else "")
    line = f"the ranking was {why}: built anew from the record, reading no file again"
    assert run("index").stderr.decode().splitlines()[0] == line
    assert line not in run("index").stderr.decode()
    assert told(run("search", "alpha", "--json"))["items"]


def test_the_first_run_and_one_that_was_told_to_build_the_ranking_anew_do_not_say_that_they_do(tree, run):
    run("roots", "add", tree({"a.txt": "alpha"}))
    assert b"built anew" not in run("index").stderr
    assert b"built anew" not in run("index", "--rebuild").stderr
    assert [report["renewed"] for report in told(run("index", "--json"))] == [""]
