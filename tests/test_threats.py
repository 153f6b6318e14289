"""The page on threats names tests that exist, and names one for everything that it says is stopped."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/concepts/threats.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_every_test_that_the_page_names_exists():
    tests: dict[str, set[str]] = {}
    for file in {file for file, _ in NAMED}:
        tree = ast.parse((ROOT / file).read_bytes()) if (ROOT / file).is_file() else ast.Module([], [])
        tests[file] = {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert [f"{file}::{name}" for file, name in NAMED if name not in tests[file]] == []


def test_every_row_of_the_page_names_a_test():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| tries ")]
    assert len(rows) > 40
    assert [row for row in rows if not re.search(r"`tests/[\w/]+\.py::test_\w+`[^|]*\|$", row)] == []


def test_everybody_on_the_page_has_something_that_does_not_stop_them():
    parts = PAGE.split("\n## ")[1:]
    assert [part.splitlines()[0] for part in parts if "\n**Not stopped.** " not in part] == []
