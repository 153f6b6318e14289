"""The command line as a whole: help, usage errors, exit statuses."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_help_names_every_command_and_goes_to_stdout(run):
    from smart_context.cli import COMMANDS

    done = run("--help")
    assert done.returncode == 0
    assert done.stderr == b""
    for name in COMMANDS:
        assert f"  {name} " in done.stdout.decode()


@pytest.mark.parametrize("args", [[], ["frob"], ["--frob"]])
def test_a_command_line_that_cannot_be_understood_exits_1_with_nothing_on_stdout(run, args):
    done = run(*args)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error: ")


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
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (status, b"", lines), done.stderr
