"""The command line as a whole: help, usage errors, exit statuses."""

from __future__ import annotations

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
