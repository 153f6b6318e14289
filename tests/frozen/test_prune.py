"""`context prune`: what goes and what stays; and what `list` and `inspect` say of frozen caches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run, Tree
from smart_context.cache import build
from smart_context.frozen import provenance
from smart_context.frozen.provenance import Provenance, Question, Source


@pytest.fixture
def root(tree: Tree, tmp_path: Path) -> Path:
    """Four caches of different ages, and what is none."""
    sources = tree({"a.md": "alpha"})
    root = tmp_path / "root"
    times = {
        "new": "2999-01-01T00:00:00Z",
        "old": "2020-01-01T00:00:00Z",
        "older": "2019-01-01T00:00:00+01:00",
        "oldest": "2018-01-01t00:00:00z",
    }
    for name, time in times.items():
        build.cache(sources, root / name, created_at=time)
    (root / "other").mkdir()
    (root / "other" / "manifest.json").write_text("{}", encoding="utf-8")
    (root / "link").symlink_to(root / "oldest")
    (root / "file").write_text("x", encoding="utf-8")
    return root


def names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


def test_nothing_goes_without_a_yes(run: Run, root: Path) -> None:
    before = names(root)
    done = run("prune", "--root", root, "--keep", "1")
    assert done.stdout.decode().splitlines() == [
        "would remove  2018-01-01 00:00  oldest",
        "would remove  2019-01-01 00:00  older",
        "would remove  2020-01-01 00:00  old",
    ]
    assert (done.returncode, names(root)) == (0, before)


def test_the_newest_and_the_young_stay_and_what_is_no_cache_too(run: Run, root: Path) -> None:
    before = names(root)
    assert run("prune", "--root", root, "--keep", "2", "--older-than", "30d", "--yes").returncode == 0
    assert names(root) == before - {"older", "oldest"}
    assert run("prune", "--root", root, "--older-than", "1w", "--yes").returncode == 0
    assert names(root) == before - {"older", "oldest", "old"}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [((), 1), (("--older-than", "soon"), 1), (("--keep", "-1"), 1), (("--root", "nowhere", "--keep", "1"), 4)],
)
def test_a_request_that_says_nothing_removes_nothing(
    run: Run, root: Path, arguments: tuple[str, ...], status: int
) -> None:
    before = names(root)
    where = () if "--root" in arguments else ("--root", root)
    assert run("prune", *where, *arguments, "--yes").returncode == status
    assert names(root) == before


def test_a_frozen_cache_names_its_question_on_stderr_and_stdout_stays_as_it_was(run: Run, root: Path) -> None:
    listed, inspected = run("list", "--root", root).stdout, run("inspect", "--cache", root / "old").stdout
    found = Provenance(
        "2026-01-01T00:00:00Z", "0.1.0", Question("how do I\x1b[2J deploy", 10), False, "3", (("pdf", "0.1.0"),),
        (Source("a.pdf/page 1.md", "sha256:00", "a.pdf", "00", "page 1", 0.5, "pdf"),),
    )  # fmt: skip
    (root / "old" / "freeze.json").write_bytes(provenance.to_json(found))
    assert provenance.read(root / "old") == found
    shown = run("list", "--root", root)
    assert (shown.stdout, shown.stderr.decode()) == (listed, "old: frozen from how do I\\x1b[2J deploy\n")
    shown = run("inspect", "--cache", root / "old")
    assert shown.stdout == inspected
    assert shown.stderr.decode().splitlines() == [
        "frozen from how do I\\x1b[2J deploy",
        "at 2026-01-01T00:00:00Z by version 0.1.0, redacted, 1 passage of 1 file",
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"freeze":"2"}', '{"freeze":"1","question":5}', json.dumps({"freeze": "1"})]
)
def test_a_freeze_json_that_says_nothing_is_passed_over(run: Run, root: Path, text: str) -> None:
    (root / "old" / "freeze.json").write_text(text, encoding="utf-8")
    assert run("list", "--root", root).returncode == 0
    assert run("inspect", "--cache", root / "old").returncode == 0
