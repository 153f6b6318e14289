"""Search from Python: the same answers as the command gives, by the names that `smart_context` exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import smart_context
from conftest import Run, Tree

FILES = {"a.md": "# Alpha\n\nThe turbine hums.\n", "b/c.txt": "A turbine and a valve; write to jo@example.org.\n"}


def test_what_is_found_is_what_the_command_finds(tree: Tree, tmp_path: Path, run: Run) -> None:
    root = tree(FILES)
    with smart_context.open_index([root], data_dir=tmp_path / "index") as index:
        [report] = index.update()
        page = index.search("turbine valve")
    done = run("search", "turbine valve", "--json", "--root", root, "--data-dir", tmp_path / "index")
    told = json.loads(done.stdout)
    assert (report.indexed, index.roots) == (2, (str(root),))
    assert [item.answer()["path"] for item in page.items] == [item["path"] for item in told["items"]]
    assert page.answer()["items"] == [{key: item[key] for key in page.answer()["items"][0]} for item in told["items"]]


def test_a_preview_is_redacted_and_confined(tree: Tree, tmp_path: Path) -> None:
    root = tree(FILES)
    with smart_context.open_index([root], data_dir=tmp_path / "index") as index:
        shown = index.open(root / "b/c.txt")
        assert shown.text == "A turbine and a valve; write to [redacted:email].\n"
        assert (shown.pointer, shown.truncated, shown.next) == ("lines 1-1", False, "")
        with pytest.raises(smart_context.ContextError) as refused:
            index.open("/etc/passwd")
    assert refused.value.code == "FORBIDDEN"


def test_one_folder_is_brought_up_to_date_alone(tree: Tree, tmp_path: Path) -> None:
    root = tree(FILES)
    steps = []
    with smart_context.open_index([root], data_dir=tmp_path / "index") as index:
        [report] = index.update(root / "b", on_progress=steps.append)
        assert (report.indexed, len(index.search("turbine").items)) == (1, 1)
    assert steps
