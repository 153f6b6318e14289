"""The manual pages say what the help says, and are sound roff."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "man").glob("*.1"))


def test_the_manual_pages_match_the_code():
    done = subprocess.run(
        [sys.executable, "-m", "tools.manpages", "--check"],
        cwd=ROOT,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_every_command_has_a_page():
    from smart_context.cli import COMMANDS

    assert {f"context-{name}.1" for name in COMMANDS} | {"context.1"} <= {page.name for page in PAGES}


def test_nothing_in_a_page_is_wrong_in_roff():
    if not shutil.which("groff"):
        pytest.skip("needs groff")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-z", *PAGES], capture_output=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_example_stands_in_a_page_as_it_is_typed():
    if not shutil.which("groff"):
        pytest.skip("needs groff")
    command = ["groff", "-man", "-Tascii", "-P-cbou", ROOT / "man/context-search.1"]
    shown = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True).stdout.decode()
    for line in (
        "context search '\"notice period\" -draft' --ext .docx",
        "context search -0 invoice total | xargs -0 ls -l",
    ):
        assert line in [one.strip() for one in shown.splitlines()]
