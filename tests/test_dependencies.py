"""Every dependency has a reason that is written down."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_every_dependency_has_a_row_in_the_table():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(each for name in extras if name != "all" for each in extras[name])]
    names = {re.match(r"[\w.-]+", each)[0] for each in wanted}
    rows = [
        line
        for line in (ROOT / "docs/concepts/dependencies.md").read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    ]
    assert {name for name in names if not any(f"`{name}`" in row for row in rows)} == set()


@pytest.mark.parametrize("name", ["ci", "uv"])
def test_what_is_installed_is_one_version_with_its_hashes_and_no_address(name):
    text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    wanted = text.replace("\\\n", " ").splitlines()
    assert [line for line in wanted if not re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []
    assert len(wanted) == len(set(wanted)) > 0
