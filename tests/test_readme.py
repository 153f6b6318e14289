"""The README says what is true: its commands print what it shows, its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import clean_env

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def sessions():
    """Every command of the README with what it is said to print."""
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n")


def told(text, home, work):
    """Put the places and times of this run into the README's words."""
    text = text.replace(str(work), "/home/you/smart-context").replace(str(home), "/home/you")
    return re.sub(r"in \d+\.\d s", "in 0.5 s", text).rstrip("\n")


def test_the_commands_of_the_readme_print_what_it_shows(tmp_path):
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    shutil.copytree(ROOT / "examples/handbook", work / "examples/handbook")
    env = {**clean_env(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_DATA_HOME": str(home / ".local/share")}
    commands = list(sessions())
    assert len(commands) == 6
    for command, output in commands:
        program, *args = shlex.split(command)
        assert program == "context"
        done = subprocess.run(
            [sys.executable, "-m", "smart_context", *args],
            cwd=work,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        printed = told(done.stdout.decode(), home, work)
        assert (done.returncode, sorted(printed.splitlines())) == (0, sorted(output.splitlines())), command


@pytest.mark.parametrize(
    "page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs"]
)
def test_links_lead_somewhere(page):
    files = [ROOT / page] if page.endswith(".md") else sorted((ROOT / page).rglob("*.md"))
    broken = [
        f"{file.relative_to(ROOT)}: {link}"
        for file in files
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read_text(encoding="utf-8"))
        if "://" not in link and not os.path.exists(file.parent / link)
    ]
    assert broken == []


def test_every_page_of_the_docs_is_linked_from_somewhere():
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    linked = set()
    for file in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)", file.read_text(encoding="utf-8")):
            linked.add(os.path.relpath((file.parent / link).resolve(), ROOT))
    assert pages - linked == set()
