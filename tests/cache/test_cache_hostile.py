"""Caches made to mislead: no crash, no wait, no read outside, the right error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

import naive
from conftest import Run, clean_env
from machine import held
from smart_context.cache import build, folder, inspect, manifest, resolve, verify
from smart_context.errors import CacheInvalid, CacheMissing

SOURCES = {"a.md": "alpha beta", "b.md": "beta"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    root = naive.write_sources(tmp_path / "sources", SOURCES)
    build.cache(root, tmp_path / "cache", created_at="2026-01-01T00:00:00Z")
    return tmp_path / "cache"


FILES = [
    "../secret.json",
    "documents/../../secret.json",
    "documents/../documents/x.json",
    "/etc/hostname",
    "documents//x.json",
    "documents/./x.json",
    "documents/",
    "documents",
    "",
    ".",
    "documents/\0x.json",
    "documents/" + "n" * 300 + ".json",
    "documents/" + "/".join("n" * 3000),
    "documents/a\\b.json",
    "Documents/x.json",
    "documents/link/secret.json",
    "documents/secret.json",
]


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_leads_elsewhere_is_refused_and_not_read(file: str, cache: Path) -> None:
    secret = json.dumps({"id": "a.md", "version": naive.version("s"), "source": "", "content": "s", "metadata": {}})
    (cache.parent / "secret.json").write_text(secret)
    (cache / "documents" / "link").symlink_to("../..")
    (cache / "documents" / "secret.json").symlink_to("../../secret.json")
    manifest = json.loads((cache / "manifest.json").read_bytes())
    manifest["documents"][0] |= {"file": file, "version": naive.version("s")}
    manifest["cache_version"] = naive.cache_version({"a.md": "s", "b.md": "beta"})
    (cache / "manifest.json").write_text(json.dumps(manifest))
    index = json.loads((cache / "index.json").read_bytes()) | {"a.md": file}
    (cache / "index.json").write_text(json.dumps(index))
    for look in (verify.cache, lambda c: resolve.to_json(c, "s", 9)):
        with pytest.raises(CacheInvalid):
            look(cache)
    assert json.loads(inspect.command_json(cache))["valid"] is False


@pytest.mark.parametrize("member", ["manifest.json", "index.json", "documents/first"])
def test_any_amount_of_white_space_is_read_in_little_memory(member: str, cache: Path) -> None:
    path = min((cache / "documents").iterdir()) if "/" in member else cache / member
    text = path.read_bytes()
    gap = b" \n\t\r" * (5 * 1024 * 1024)  # three times 20 MB: as far as memory goes, a gigabyte is the same
    middle = text.index(b":") + 1
    with path.open("wb") as file:
        for part in (gap, text[:middle], gap, text[middle:], gap):
            file.write(part)
    del gap
    answer, peak = _resolve_measured(cache, "beta", 99)
    assert answer == naive.resolve(SOURCES, "beta", 99)
    assert peak < 40_000


def test_white_space_inside_strings_is_kept_however_long(tmp_path: Path) -> None:
    content = 'x" ' + " " * 3_000_000 + '\\" \\\\' + "\\" * 1_000_001 + " " * 5_000_000 + '"' + "\t" * 100
    tree = {"a.md": content, "b.md": "y"}
    build.cache(naive.write_sources(tmp_path / "sources", tree), tmp_path / "cache", created_at="2026-01-01T00:00:00Z")
    answer = json.loads(resolve.to_json(tmp_path / "cache", "y", 10**7))
    assert {document["id"]: document["content"] for document in answer["documents"]} == tree


def test_a_sparse_manifest_is_not_read_to_its_end(cache: Path) -> None:
    os.truncate(cache / "manifest.json", 1 << 40)
    with pytest.raises(CacheInvalid):
        verify.cache(cache)


@pytest.mark.parametrize(
    "extra",
    [
        '"x":' + "[" * 100_000 + "]" * 100_000,
        '"x":' + '{"a":' * 50_000 + "1" + "}" * 50_000,
        '"x":' + "9" * 100_000,
        '"x":-1e999999',
        '"x":"\\ud800"',
        '"x":{"cache_version":1,"cache_version":2}',
        '"x":1,"x":2',
    ],
    ids=["deep arrays", "deep objects", "long number", "large exponent", "half a pair", "known key inside", "twice"],
)
@pytest.mark.parametrize("member", ["manifest", "document"])
def test_unknown_keys_may_hold_anything(member: str, extra: str, cache: Path) -> None:
    path = cache / "manifest.json" if member == "manifest" else min((cache / "documents").iterdir())
    path.write_text(path.read_text().replace("{", "{" + extra + ",", 1))
    assert resolve.to_json(cache, "beta", 99) == naive.resolve(SOURCES, "beta", 99)


@pytest.mark.parametrize(
    ("field", "value"),
    [("document_count", v) for v in ("2.0", "2e0", "-0", "02", "18446744073709551618", "true", '"2"', "9" * 10_000)]
    + [
        ("created_at", f'"{v}"')
        for v in (
            "2026-13-01T00:00:00Z",
            "2026-01-01",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "now",
            "",
            "2025-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-01-01T00:00:00+24:00",
            "２０26-01-01T00:00:00Z",
        )
    ],
)
def test_a_field_of_the_wrong_type_is_refused_by_every_command(field: str, value: str, cache: Path) -> None:
    manifest = json.loads((cache / "manifest.json").read_bytes())
    text = json.dumps(manifest).replace(f'"{field}": {json.dumps(manifest[field])}', f'"{field}": {value}', 1)
    (cache / "manifest.json").write_text(text)
    for look in (verify.cache, inspect.command_json, lambda c: resolve.to_json(c, "", 0)):
        with pytest.raises(CacheInvalid):
            look(cache)


def test_a_known_key_given_twice_is_refused_wherever_it_is(cache: Path) -> None:
    document = min((cache / "documents").iterdir())
    for path, key in [(cache / "manifest.json", k) for k in ("cache_version", "documents", "id", "hash_algorithm")] + [
        (document, k) for k in ("id", "version", "source", "content", "metadata")
    ]:
        original = path.read_text()
        twice = original.replace(f'"{key}":', f'"{key}":"x","{key}":', 1)
        path.write_text(twice)
        with pytest.raises(CacheInvalid):
            verify.cache(cache)
        path.write_text(original)
    document.write_text(document.read_text().replace('"metadata":{}', '"metadata":{"k":1,"k":"last wins"}'))
    assert verify.cache(cache).document_count == 2


@pytest.mark.parametrize(
    "name", ["new\nline", 'quo"te', "s pace", "-dash", "é😀", "back\\slash", os.fsdecode(b"\xff\xfe")]
)
def test_any_name_of_a_cache_will_do(name: str, tmp_path: Path, run: Run) -> None:
    root = naive.write_sources(tmp_path / "sources", SOURCES)
    target = os.path.join(tmp_path, name)
    assert run("build", "--sources", root, "--cache", target).returncode == 0
    done = run("resolve", "--cache", target, "--query", "beta", "--budget", "9")
    assert (done.returncode, done.stdout) == (0, naive.resolve(SOURCES, "beta", 9))
    os.rename(os.path.join(target, "index.json"), os.path.join(target, "index"))
    broken = run("verify", "--cache", target)
    assert (broken.returncode, broken.stdout) == (5, b"")


@pytest.mark.parametrize("path", ["", "\0", "no\0pe", "x" * 5000, "x/" * 3000, "file/x", "loop"])
def test_a_path_that_cannot_be_a_directory_is_a_missing_cache(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(CacheMissing):
        verify.cache(os.path.join(tmp_path, path) if path else path)


def test_an_empty_cache_needs_no_documents_folder(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    build.cache(tmp_path / "sources", tmp_path / "cache", created_at="2026-01-01T00:00:00Z")
    assert verify.cache(tmp_path / "cache") == (naive.cache_version({}), 0)
    (tmp_path / "cache" / "documents").rmdir()  # as version control and archives lose it
    assert resolve.to_json(tmp_path / "cache", "x", 9) == naive.resolve({}, "x", 9)
    (tmp_path / "cache" / "documents").symlink_to(tmp_path)
    with pytest.raises(CacheInvalid):
        verify.cache(tmp_path / "cache")


def test_no_descriptor_is_lost(cache: Path) -> None:
    def use() -> None:
        resolve.to_json(cache, "beta", 9)
        inspect.tool_json(cache)
        (cache / "documents" / "x").touch()
        with pytest.raises(CacheInvalid):
            verify.cache(cache)
        (cache / "documents" / "x").unlink()
        with pytest.raises(CacheMissing):
            folder.open_cache(cache / "absent")

    use()
    for _ in range(5):
        use()
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not list open descriptors")
    assert held(str(cache)) == []


def test_memory_of_a_cold_resolve_follows_what_is_selected(tmp_path: Path) -> None:
    """Forty megabytes of documents, a small budget: the whole never stands in memory."""
    tree = {f"{n}.md": f"word{n} " * 30_000 for n in range(150)}
    root = naive.write_sources(tmp_path / "sources", tree)
    build.cache(root, tmp_path / "cache", created_at="2026-01-01T00:00:00Z")
    answer, peak = _resolve_measured(tmp_path / "cache", "word7", 70_000)
    assert [document["id"] for document in json.loads(answer)["documents"]] == ["7.md"]
    assert peak < 40_000


def _resolve_measured(cache: Path, query: str, budget: int) -> tuple[bytes, int]:
    """Resolve in a process of its own; return the answer, and the most kilobytes that the process had."""
    script = (
        "import re, sys\n"
        "from smart_context.cache import resolve\n"
        "answer = resolve.to_json(sys.argv[1], sys.argv[2], int(sys.argv[3]))\n"
        "print(re.search(r'VmHWM:\\s*([0-9]+)', open('/proc/self/status').read())[1], flush=True)\n"
        "sys.stdout.buffer.write(answer)"
    )
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell a process's peak memory apart from its parent's")
    done = subprocess.run(
        [sys.executable, "-c", script, cache, query, str(budget)],
        env=clean_env(cache.parent),
        capture_output=True,
        check=True,
    )
    peak, answer = done.stdout.split(b"\n", 1)
    return answer, int(peak)


def test_reading_a_manifest_takes_little_more_than_its_text_and_its_entries() -> None:
    entries = [
        manifest.Entry(f"part/document {n}.md", naive.version(str(n)), f"documents/{n:012x}.json") for n in range(2000)
    ]
    data = manifest.to_json(entries, "2026-01-01T00:00:00Z")
    tracemalloc.start()
    try:
        listed = manifest.read(bytes(bytearray(data)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert listed.documents == sorted(entries)
    assert peak < 3.5 * len(data)
