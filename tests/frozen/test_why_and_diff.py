"""`context why` and `context diff`, black box."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import smart_context
from conftest import Run, Tree
from smart_context.cache import build
from smart_context.frozen import diff

CREATED_AT = "2026-01-01T00:00:00Z"
OLD = {
    "deploy.md": "deploy by tag\nthen wait\n",
    "long.md": "deploy " * 30,
    "lunch.md": "soup at noon",
    "gone.md": "deploy gone",
    "here.md": "the same text",
}
NEW = {
    "deploy.md": "deploy by tag\nthen look\nthen wait\n",
    "long.md": "deploy " * 30,
    "lunch.md": "soup at noon",
    "there.md": "the same text",
    "new.md": "deploy new",
}


@pytest.fixture
def caches(tmp_path: Path) -> tuple[Path, Path]:
    for name, files in (("old", OLD), ("new", NEW)):
        sources = tmp_path / f"{name} sources"
        sources.mkdir()
        for file, text in files.items():
            (sources / file).write_text(text, encoding="utf-8")
        build.cache(sources, tmp_path / name, created_at=CREATED_AT)
    return tmp_path / "old", tmp_path / "new"


def test_every_document_has_its_rank_its_room_and_what_took_it(run: Run, caches: tuple[Path, Path]) -> None:
    done = run("why", "--cache", caches[0], "--query", "deploy", "--budget", "60", "--json")
    rows = json.loads(done.stdout)["documents"]
    assert [(row["id"], row["rank"], row["taken"], row["tokens"], row["tokens_left"]) for row in rows] == [
        ("long.md", 1, True, 53, 60),
        ("gone.md", 2, True, 3, 7),
        ("deploy.md", 3, False, 6, 4),
        ("here.md", 4, True, 4, 4),
        ("lunch.md", 5, False, 3, 0),
    ]
    assert rows[2]["instead"] == [{"id": "long.md", "tokens": 53}, {"id": "gone.md", "tokens": 3}]
    assert rows[2]["reason"] == "not taken: it has 6 tokens, and 4 were left"
    assert rows[3]["reason"] == "taken, though it matches nothing"
    assert rows[4]["reason"] == "not taken: it has 3 tokens, and 0 were left; it matches nothing"


@pytest.mark.parametrize("budget", [0, 3, 10, 60, 10_000])
def test_the_explanation_takes_what_resolve_takes(run: Run, caches: tuple[Path, Path], budget: int) -> None:
    request = ("--cache", caches[0], "--query", "deploy soup", "--budget", str(budget))
    rows = json.loads(run("why", *request, "--json").stdout)["documents"]
    resolved = json.loads(run("resolve", *request).stdout)["documents"]
    assert [row["id"] for row in rows if row["taken"]] == [document["id"] for document in resolved]


def test_one_document_can_be_asked_for_by_its_id_or_its_path(run: Run, caches: tuple[Path, Path]) -> None:
    request = ("why", "--cache", caches[0], "--query", "deploy", "--budget", "60")
    done = run(*request, "Deploy.md")
    assert done.stdout.decode().splitlines() == [
        "deploy.md: not taken: it has 6 tokens, and 4 were left",
        "  rank    3",
        "  score   0.2 (1 of 5 words match)",
        "  tokens  6; of the budget of 60, 4 were left",
        "  its room went to",
        "    long.md (53 tokens)",
        "    gone.md (3 tokens)",
    ]
    missing = run(*request, "deploi.md")
    assert (missing.returncode, missing.stdout) == (4, b"")
    assert b"deploy.md" in missing.stderr


def test_a_difference_names_what_came_went_moved_and_changed(run: Run, caches: tuple[Path, Path]) -> None:
    done = run("diff", *caches)
    assert done.returncode == 8
    assert done.stdout.decode().splitlines() == [
        "added    new.md",
        "removed  gone.md",
        "moved    here.md -> there.md",
        "changed  deploy.md  +1 -0",
        "  --- deploy.md",
        "  +++ deploy.md",
        "  @@ -1,2 +1,3 @@",
        "   deploy by tag",
        "  +then look",
        "   then wait",
    ]
    assert run("diff", *caches, "--stat").stdout.decode().splitlines()[-1] == "changed  deploy.md  +1 -0"


def test_a_query_shows_what_the_selection_gained_and_lost(run: Run, caches: tuple[Path, Path]) -> None:
    done = run("diff", *caches, "--query", "deploy", "--budget", "60", "--json", "--stat")
    answer = json.loads(done.stdout)
    assert answer["selection"] == {
        "query": "deploy",
        "budget": 60,
        "gained": ["new.md", "lunch.md"],
        "lost": ["gone.md", "here.md"],
        "kept": 1,
    }
    assert answer["changed"][0].keys() == {"id", "old", "new", "lines_added", "lines_removed"}
    assert run("diff", *caches, "--query", "deploy").returncode == 1


def test_the_same_documents_are_no_difference_whatever_else_differs(
    run: Run, caches: tuple[Path, Path], tmp_path: Path
) -> None:
    shutil.copytree(caches[0], tmp_path / "copy")
    (tmp_path / "copy" / "note.txt").write_text("beside", encoding="utf-8")
    done = run("diff", caches[0], tmp_path / "copy", "--json")
    assert (done.returncode, json.loads(done.stdout)["same"]) == (0, True)


def test_only_documents_that_differ_are_read(caches: tuple[Path, Path]) -> None:
    old, new = caches
    files = {
        entry["id"]: entry["file"]
        for entry in json.loads((old / "manifest.json").read_text(encoding="utf-8"))["documents"]
    }
    (old / files["lunch.md"]).write_text("not even JSON", encoding="utf-8")
    assert [one.id for one in diff.caches(old, new).changed] == ["deploy.md"]
    (old / files["deploy.md"]).write_text("not even JSON", encoding="utf-8")
    with pytest.raises(smart_context.ContextError) as error:
        diff.caches(old, new)
    assert error.value.code == "cache_invalid"


def test_long_documents_and_hostile_names_are_compared_too(tree: Tree, tmp_path: Path) -> None:
    for name, line in (("one", "a"), ("two", "b")):
        root = tree({"x\n+++ y.md": f"{line}\n" * 3000})
        build.cache(root, tmp_path / name, created_at=CREATED_AT)
    (changed,) = diff.caches(tmp_path / "one", tmp_path / "two").changed
    assert (changed.lines_added, changed.lines_removed) == (3000, 3000)
    assert changed.text.startswith('--- "x\\n+++ y.md"\n+++ "x\\n+++ y.md"\n@@ -1,3000 +1,3000 @@\n-a\n')


def test_a_cache_that_is_missing_or_invalid_is_not_compared(run: Run, caches: tuple[Path, Path]) -> None:
    assert run("diff", caches[0], "nowhere").returncode == 4
    (caches[1] / "manifest.json").write_text("{}", encoding="utf-8")
    assert run("diff", *caches).returncode == 5


def test_python_gives_the_same_difference(caches: tuple[Path, Path]) -> None:
    assert smart_context.diff(*caches, query="deploy", budget=60) == diff.caches(*caches, query="deploy", budget=60)
