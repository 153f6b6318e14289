"""Caches from Python and from the command line: names, options, order of checks, help."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import naive
import smart_context
from conftest import Run
from smart_context.errors import CacheInvalid, CacheMissing

SOURCES = {"a.md": "alpha beta", "b.md": "beta"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    smart_context.build_cache(naive.write_sources(tmp_path / "sources", SOURCES), tmp_path / "cache")
    return tmp_path / "cache"


def test_the_public_names_are_these_and_all_are_there() -> None:
    assert (
        dir(smart_context)
        == smart_context.__all__
        == [
            "Built",
            "Cache",
            "Change",
            "Chosen",
            "ContextError",
            "Difference",
            "Excerpt",
            "IndexReport",
            "Packed",
            "Preview",
            "SearchIndex",
            "SearchItem",
            "SearchPage",
            "Selection",
            "Verified",
            "__version__",
            "build_cache",
            "diff",
            "freeze",
            "open_cache",
            "open_index",
            "pack",
            "verify_cache",
        ]
    )
    assert [name for name in smart_context.__all__ if not hasattr(smart_context, name)] == []
    with pytest.raises(AttributeError):
        _ = smart_context.absent


def test_a_cache_is_built_verified_opened_and_resolved_from_python(cache: Path) -> None:
    assert smart_context.verify_cache(cache) == (naive.cache_version(SOURCES), 2)
    with smart_context.open_cache(cache) as opened:
        assert opened.resolve_json("beta", 9) == naive.resolve(SOURCES, "beta", 9)
        selection = opened.resolve("beta", 1)
        assert [document.id for document in selection.documents] == ["b.md"]
        assert selection.documents_excluded_by_budget == 1
        (cache / "index.json").unlink()
        with pytest.raises(CacheInvalid):
            opened.resolve("beta", 1)
    with pytest.raises(CacheMissing):
        smart_context.open_cache(cache / "absent")


@pytest.mark.parametrize("page", ["concepts/caches.md", "reference/python.md"])
def test_the_examples_of_the_documents_run(page: str, tmp_path: Path) -> None:
    naive.write_sources(tmp_path / "docs", SOURCES)
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        subprocess.run([sys.executable, "-c", example], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--cache", "absent", "--query", b"\xff", "--budget", "x", "--frob"], 1),
        (["--cache", "absent", "--query", b"\xff", "--budget", "x", "--query", "y"], 1),
        (["--cache", "absent", "--query", b"\xff", "--budget", "x", "--format", "xml"], 1),
        (["--cache", "absent", "--query", b"\xff", "--budget", "x"], 2),
        (["--cache", "absent", "--query", "y", "--budget", "-1"], 3),
        (["--cache", "absent", "--query", "y", "--budget", "٣"], 3),
        (["--cache", "absent", "--query", "y", "--budget", "0" * 5000 + "7"], 4),
        (["--cache", "absent", "--query", "--debug-me", "--budget", "+7"], 4),
        (["--cache", "--help", "--query", "--cache", "--budget", "7"], 4),
    ],
)
def test_usage_comes_before_the_query_before_the_budget_before_the_cache(
    arguments: list[str | bytes], status: int, run: Run
) -> None:
    done = run("resolve", *arguments)
    assert (done.returncode, done.stdout) == (status, b"")


def test_the_root_of_a_list_comes_from_the_option_or_the_environment(cache: Path, run: Run) -> None:
    expected = b'{"caches":[{"path":"cache","has_manifest":true},{"path":"sources","has_manifest":false}]}\n'
    assert run("list", "--root", cache.parent).stdout == expected
    assert run("list", env={"CONTEXT_CACHE_ROOT": str(cache.parent)}).stdout == expected
    for env in ({}, {"CONTEXT_CACHE_ROOT": ""}):
        assert run("list", env=env).returncode == 1


@pytest.mark.parametrize("command", ["build", "resolve", "inspect", "verify", "list"])
def test_help_has_an_example(command: str, run: Run) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert f"context {command} --".encode() in done.stdout.split(b"Example", 1)[1]


def test_resolving_imports_no_engine_that_it_does_not_use(cache: Path) -> None:
    script = (
        "import sys\n"
        "from smart_context.cli import main\n"
        "sys.argv = ['context', *sys.argv[1:]]\n"
        "try:\n    main()\n"
        "finally:\n    print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "resolve", "--cache", cache, "--query", "beta", "--budget", "9"],
        capture_output=True,
        check=True,
    )
    loaded = set(done.stderr.decode().split())
    heavy = {"numpy", "mcp", "pydantic", "sqlite3", "tantivy", "asyncio", "ctypes", "pathlib", "lxml", "subprocess"}
    assert loaded & heavy == set()


def test_checking_a_cache_tells_each_document_by_its_number(cache: Path) -> None:
    told: list[tuple[int, int, str]] = []
    smart_context.verify_cache(cache, on_progress=lambda step: told.append((step.done, step.total, step.what)))
    assert told == [(1, 2, "a.md"), (2, 2, "b.md")]
