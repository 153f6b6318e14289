"""What must hold for every cache: resolving equals a naive implementation, building gives what verifies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from conftest import Run, clean_env
from smart_context.cache import build, resolve, verify
from smart_context.cache.resident import Residents

CREATED_AT = "2026-01-01T00:00:00Z"

texts = st.text(naive.ALPHABET, max_size=60)
words = st.sampled_from(["alpha", "Beta", "ΟΔΟΣ", "οδος", "é", "x" * 30, "İ", "\x1c"])
contents = st.one_of(texts, st.lists(words, max_size=40).map(" ".join), st.lists(words, max_size=40).map("\u2003".join))
names = st.text("abAB01 -_.é😀\n\"'", min_size=1, max_size=8).filter(lambda name: name not in {".", ".."})
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
trees = st.dictionaries(paths, contents, max_size=12).filter(
    lambda tree: len({naive.document_id(path) for path in tree}) == len(tree)
)
queries = st.one_of(texts, st.lists(words, max_size=5).map(" ".join))
budgets = st.one_of(st.integers(0, 60), st.sampled_from([10**6, 2**64 - 1]))


@settings(max_examples=40, deadline=None)
@given(trees, st.lists(st.tuples(queries, budgets), min_size=1, max_size=4))
def test_resolving_equals_the_naive_implementation_cold_and_in_memory(
    tree: dict[str, str], requests: list[tuple[str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as work:
        cache = Path(work) / "cache"
        built = build.cache(naive.write_sources(Path(work) / "sources", tree), cache, created_at=CREATED_AT)
        assert built == (naive.cache_version(tree), len(tree))
        assert verify.cache(cache) == built
        residents = Residents(1 << 20)
        for query, budget in requests:
            expected = naive.resolve(tree, query, budget)
            assert resolve.to_json(cache, query, budget) == expected
            assert residents.resolve(cache, query, budget) == expected
            pretty = resolve.to_json(cache, query, budget, pretty=True)
            assert json.loads(pretty) == json.loads(expected)
        residents.close()


@settings(max_examples=15, deadline=None)
@given(trees, st.randoms(use_true_random=False))
def test_what_is_not_protected_changes_no_answer(tree: dict[str, str], random: object) -> None:
    with tempfile.TemporaryDirectory() as work:
        cache = Path(work) / "cache"
        build.cache(naive.write_sources(Path(work) / "sources", tree), cache, created_at=CREATED_AT)
        _change_what_does_not_matter(cache)
        assert verify.cache(cache) == (naive.cache_version(tree), len(tree))
        assert resolve.to_json(cache, "alpha é", 50) == naive.resolve(tree, "alpha é", 50)


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONHASHSEED": "1"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "2"},
        {"LC_ALL": "C.UTF-8", "TZ": "America/St_Johns", "PYTHONHASHSEED": "3", "PYTHONUTF8": "1"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "latin-1"},
    ],
    ids=["C", "Turkish", "UTF-8", "no UTF-8 anywhere"],
)
def test_locale_time_zone_and_hash_seed_change_no_byte(env: dict[str, str], tmp_path: Path, run: Run) -> None:
    tree = {"İstanbul/ΟΔΟΣ.md": "IİıΣ alpha ΟΔΟΣ", "b.md": "alpha é\u2028", "c/😀.md": "😀 ALPHA alpha", "d.md": ""}
    sources = naive.write_sources(tmp_path / "sources", tree)
    built = run("build", "--sources", sources, "--cache", tmp_path / "cache", env=env)
    assert (built.returncode, built.stdout) == (0, b"")
    query = "alpha οδος 😀"
    done = run("resolve", "--cache", tmp_path / "cache", "--query", query.encode(), "--budget", "20", env=env)
    assert (done.returncode, done.stdout) == (0, naive.resolve(tree, query, 20))


def test_the_same_sources_give_the_same_cache_to_the_byte(tmp_path: Path) -> None:
    sources = naive.write_sources(tmp_path / "sources", {"b.md": "b", "a/Z.md": "z", "a/y.md": "b", "é.md": ""})
    caches = [tmp_path / "one", tmp_path / "two"]
    for cache in caches:
        build.cache(sources, cache, created_at=CREATED_AT)
    assert _bytes(caches[0]) == _bytes(caches[1])


def test_engine_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    """A cache is built and resolved without any dependency: `-S` leaves site-packages out."""
    sources = naive.write_sources(tmp_path / "sources", {"a.md": "alpha É"})
    script = (
        "import sys; from smart_context.cache import build, resolve\n"
        f"build.cache({str(sources)!r}, {str(tmp_path / 'cache')!r}, created_at={CREATED_AT!r})\n"
        f"sys.stdout.buffer.write(resolve.to_json({str(tmp_path / 'cache')!r}, 'é', 9))"
    )
    package = Path(build.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={**clean_env(tmp_path), "PYTHONPATH": str(package)},
        capture_output=True,
        check=True,
    )
    assert done.stdout == naive.resolve({"a.md": "alpha É"}, "é", 9)


def _change_what_does_not_matter(cache: Path) -> None:
    manifest = json.loads((cache / "manifest.json").read_bytes())
    manifest["created_at"] = "1999-12-31t23:59:60.5+05:30"
    manifest["documents"].reverse()
    manifest["unknown"] = {"deep": [[1.5e300], None], "cache_version": 1}
    (cache / "manifest.json").write_text("\n\t " + json.dumps(manifest, indent=7) + "\r\n ", encoding="utf-8")
    index = json.loads((cache / "index.json").read_bytes())
    (cache / "index.json").write_text(json.dumps(dict(reversed(index.items()))), encoding="utf-8")
    for path in (cache / "documents").iterdir():
        document = json.loads(path.read_bytes())
        document |= {"source": "elsewhere", "metadata": {"z": 1, "a": "text"}, "extra": [{}]}
        path.write_text(json.dumps(dict(reversed(document.items())), indent=1), encoding="utf-8")
    (cache / "notes.txt").write_bytes(b"\xff")
    os.symlink("/nowhere", cache / "link")


def _bytes(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
