"""The README and the guides say what is true: their commands print what they show, their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE

ROOT = Path(__file__).parent.parent


def test_the_commands_of_the_readme_and_the_guides_print_what_they_show():
    done = subprocess.run(
        [sys.executable, "-m", "tools.outputs", "--check"], cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


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
