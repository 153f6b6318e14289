"""The generated reference says what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import PATIENCE

ROOT = Path(__file__).parent.parent


def test_the_generated_pages_match_the_code():
    done = subprocess.run(
        [sys.executable, "-m", "tools.reference", "--check"],
        cwd=ROOT,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_every_command_has_help_with_a_first_line():
    from smart_context.cli import COMMANDS
    from smart_context.cli.program import cli

    for name in COMMANDS:
        command = cli.get_command(cli.make_context("context", [], resilient_parsing=True), name)
        assert command is not None
        assert command.help, name


def test_the_public_names_are_few_and_documented():
    import smart_context

    for name in smart_context.__all__:
        assert name == "__version__" or getattr(smart_context, name).__doc__, name
