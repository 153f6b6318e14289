"""The command line as a whole: help, usage errors, exit statuses."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress

import pytest

from conftest import PATIENCE, clean_env


def test_help_names_every_command_and_goes_to_stdout(run):
    from smart_context.cli import COMMANDS

    done = run("--help")
    assert done.returncode == 0
    assert done.stderr == b""
    for name in COMMANDS:
        assert f"  {name} " in done.stdout.decode()


@pytest.mark.parametrize("args", [["frob"], ["--frob"], ["help", "frob"], ["help", "search", "frob"]])
def test_a_command_line_that_cannot_be_understood_exits_1_with_nothing_on_stdout(run, args):
    done = run(*args)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error: ")


def test_help_needs_no_dashes(run):
    whole = run("--help").stdout
    assert run("help").stdout == whole
    assert run("help", "search").stdout == run("search", "--help").stdout
    assert run("help", "roots", "add").stdout == run("roots", "add", "--help").stdout
    assert [run(*args).returncode for args in (("help",), ("help", "roots", "add"))] == [0, 0]


@pytest.mark.parametrize("group", [[], ["token"]])
def test_no_command_at_all_shows_the_help_to_people_and_is_an_error_to_scripts(run, tmp_path, group):
    done = run(*group)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.lower().startswith((b"error: no command", b"error: missing command"))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "smart_context", *group]
    with subprocess.Popen(command, stdout=theirs, env=clean_env(tmp_path)) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
    assert (process.returncode, shown.startswith(b"Usage: context")) == (0, True)


def test_debug_shows_where_and_keeps_the_status(run):
    plain = run("verify", "--cache", "absent")
    debugged = run("verify", "--cache", "absent", "--debug")
    assert (plain.returncode, debugged.returncode, debugged.stdout) == (4, 4, b"")
    assert b"Traceback" not in plain.stderr
    assert debugged.stderr.startswith(b"Traceback")
    assert debugged.stderr.endswith(plain.stderr)
    assert run("--debug", "verify", "--cache", "absent").stderr.startswith(b"Traceback")


def test_debug_as_the_value_of_an_option_is_that_value(run):
    done = run("resolve", "--cache", "absent", "--query", "--debug", "--budget", "7")
    assert done.returncode == 4
    assert b"Traceback" not in done.stderr


def test_a_command_that_exits_with_a_status_of_its_own_keeps_it(run, tmp_path):
    # `doctor` finds a problem with this cache root, and says so by its status.
    done = run("doctor", "--cache-root", tmp_path / "absent")
    assert b"absent" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("command", "redirect", "status", "lines"),
    [
        ("inspect --cache cache", ">/dev/full", 6, 2),  # the disk is full
        ("inspect --cache cache", ">&-", 6, 1),  # closed
        ("inspect --cache cache", "| true", 0, 0),  # the reader has gone
        ("--help", ">/dev/full", 6, 2),
        ("inspect --cache absent", "2>/dev/full", 4, 0),
        ("build --sources sources --cache new", "2>/dev/full", 0, 0),
        ("build --sources sources --cache new", ">&- 2>&-", 0, 0),
    ],
)
def test_output_that_nobody_takes_is_an_error_only_where_it_is_lost(run, tmp_path, command, redirect, status, lines):
    (tmp_path / "sources").mkdir()
    assert run("build", "--sources", "sources", "--cache", "cache").returncode == 0
    script = f"set -o pipefail; {sys.executable} -m smart_context {command} {redirect}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (status, b"", lines), done.stderr
    if lines == 2:
        assert done.stderr.decode().splitlines()[1] == "reason: No space left on device"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["serch", "x"], "error: no such command 'serch' (did you mean 'search'?)\nhint: see 'context --help'\n"),
        (["roots", "ad"], "error: no such command 'ad' (did you mean 'add'?)\nhint: see 'context roots --help'\n"),
        (["llm", "chek"], "error: no such command 'chek' (did you mean 'check'?)\nhint: see 'context llm --help'\n"),
        (["llm"], "error: Missing command.\nhint: see 'context llm --help'\n"),
        (["zzz"], "error: no such command 'zzz'\nhint: see 'context --help'\n"),
    ],
)
def test_a_command_that_does_not_exist_is_answered_with_the_nearest_one(run, args, said):
    done = run(*args)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", said)


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["index", "--zq"], "see 'context index --help'"),
        (
            ["search", "--zq"],
            "see 'context search --help'; words that begin with a dash stand after `--`: context search -- --zq",
        ),
        (
            ["search", "minutes", "-draft"],
            "see 'context search --help'; words that begin with a dash stand after `--`: context search -- -draft",
        ),
        (["search", "minutes", "--limit"], "see 'context search --help'"),
        (["roots", "add", "x", "-z"], "see 'context roots add --help'"),
    ],
)
def test_a_word_that_is_read_as_an_option_is_answered_with_how_to_look_for_it(run, args, hint):
    done = run(*args)
    assert (done.returncode, done.stdout, done.stderr.decode().splitlines()[-1]) == (1, b"", f"hint: {hint}")


@pytest.mark.parametrize("group", ["engine", "llm", "roots", "token"])
def test_a_group_lists_its_commands_with_whole_sentences(run, group):
    listed = run(group, "--help").stdout.decode().partition("Commands:\n")[2]
    assert listed
    assert "..." not in listed


def test_the_usage_of_connect_fits_on_one_line_and_a_wrong_client_is_answered_with_all_of_them(run):
    usage, *_ = run("connect", "--help").stdout.decode().splitlines()
    assert usage == "Usage: context connect [OPTIONS] [CLIENT]"
    said = run("connect", "cursr").stderr.decode()
    assert said.startswith("error: Invalid value for '[CLIENT]': 'cursr' is not one of 'claude-desktop', ")


@pytest.mark.parametrize(("no_color", "is_plain"), [("1", True), ("", False)])
def test_a_terminal_gets_no_colours_when_it_asks_for_none(run, tree, tmp_path, no_color, is_plain):
    root = tree({"a.md": "The gryphon sleeps."})
    run("index", "--root", root)
    terminal, inner = pty.openpty()
    try:
        command = [sys.executable, "-m", "smart_context", "search", "gryphon", "--root", root]
        env = {**clean_env(tmp_path), "NO_COLOR": no_color, "TERM": "xterm"}
        subprocess.run(command, stdout=inner, stderr=subprocess.DEVNULL, env=env, check=True)
        shown = b""
        while b"sleeps" not in shown:  # a terminal gives what has come so far, often one line
            shown += os.read(terminal, 65536)
    finally:
        os.close(inner)
        os.close(terminal)
    assert (b"\x1b[" not in shown) is is_plain


def test_a_folder_that_is_not_there_is_not_indexed_and_leaves_nothing_behind(run, tmp_path):
    done = run("index", tmp_path / "abesnt")
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr.decode() == f"error: there is no folder {tmp_path / 'abesnt'}\nhint: check the spelling\n"
    assert list(tmp_path.iterdir()) == []
