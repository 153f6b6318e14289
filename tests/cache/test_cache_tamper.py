"""Whatever is changed in a cache is found by `verify` and refused by `resolve`, cold and in memory alike."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from smart_context.cache import build, inspect, resolve, verify
from smart_context.cache.resident import Residents
from smart_context.errors import CacheInvalid, CacheMissing, ContextError

SOURCES = {"a.md": "alpha beta", "b.md": "beta gamma", "c.md": "delta", "sub/d.md": "beta"}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("pristine")
    build.cache(naive.write_sources(work / "sources", SOURCES), work / "cache", created_at="2026-01-01T00:00:00Z")
    return work / "cache"


@pytest.fixture
def cache(pristine: Path, tmp_path: Path) -> Path:
    return shutil.copytree(pristine, tmp_path / "cache")


Change = Callable[[Path], object]


def edit(member: str, change: Callable[[Any], object]) -> Change:
    """Change the JSON of a member; `documents/*` is the first document's."""

    def apply(cache: Path) -> None:
        path = min((cache / "documents").iterdir()) if member == "documents/*" else cache / member
        value = json.loads(path.read_bytes())
        change(value)
        path.write_text(json.dumps(value), encoding="utf-8")

    return apply


def first(cache: Path) -> Path:
    return min((cache / "documents").iterdir())


def put(**fields: object) -> Callable[[dict[str, object]], object]:
    return lambda value: value.update(fields)


def drop(key: str) -> Callable[[dict[str, object]], object]:
    return lambda value: value.pop(key)


CHANGES: dict[str, Change] = {
    "manifest removed": lambda c: (c / "manifest.json").unlink(),
    "manifest renamed": lambda c: (c / "manifest.json").rename(c / "Manifest.json"),
    "manifest a link": lambda c: ((c / "manifest.json").rename(c / "m"), (c / "manifest.json").symlink_to("m")),
    "manifest a pipe": lambda c: ((c / "manifest.json").unlink(), os.mkfifo(c / "manifest.json")),
    "manifest empty": lambda c: (c / "manifest.json").write_bytes(b""),
    "index removed": lambda c: (c / "index.json").unlink(),
    "index a link": lambda c: ((c / "index.json").rename(c / "i"), (c / "index.json").symlink_to("i")),
    "index an array": lambda c: (c / "index.json").write_text("[]"),
    "index with an id twice": lambda c: (c / "index.json").write_text(
        (c / "index.json").read_text().replace("{", '{"a.md": "documents/x.json",', 1)
    ),
    "index with one more": edit("index.json", put(x="documents/x.json")),
    "index with one less": edit("index.json", drop("a.md")),
    "index with another file": edit("index.json", put(**{"a.md": "documents/x.json"})),
    "index with a number": edit("index.json", put(**{"a.md": 1})),
    "cache_version": edit("manifest.json", put(cache_version="sha256:" + "0" * 64)),
    "document_count": edit("manifest.json", put(document_count=5)),
    "build_config": edit("manifest.json", lambda m: m["build_config"].update(version="2")),
    "hash_algorithm": edit("manifest.json", lambda m: m["build_config"].update(hash_algorithm="sha1")),
    "created_at no time": edit("manifest.json", put(created_at="2026-02-30T00:00:00Z")),
    "entry removed": edit("manifest.json", lambda m: m["documents"].pop()),
    "entry twice": edit("manifest.json", lambda m: m["documents"].append(m["documents"][0])),
    "entry's id": edit("manifest.json", lambda m: m["documents"][0].update(id="z.md")),
    "entry's version": edit("manifest.json", lambda m: m["documents"][0].update(version=m["documents"][1]["version"])),
    "entry's file": edit("manifest.json", lambda m: m["documents"][0].update(file=m["documents"][1]["file"])),
    "entry's file elsewhere": edit("manifest.json", lambda m: m["documents"][0].update(file="manifest.json")),
    "document removed": lambda c: first(c).unlink(),
    "document renamed": lambda c: first(c).rename(c / "documents" / "other.json"),
    "document a link": lambda c: (first(c).rename(c / "d"), (c / "documents" / "d").symlink_to("../d")),
    "document in a folder": lambda c: (p := first(c), p.unlink(), p.mkdir()),
    "document a pipe": lambda c: (p := first(c), p.unlink(), os.mkfifo(p)),
    "document's content": edit("documents/*", put(content="other")),
    "document's id": edit("documents/*", put(id="other.md")),
    "document's version": edit("documents/*", put(version="sha256:" + "0" * 64)),
    "document's source": edit("documents/*", put(source=1)),
    "document's metadata": edit("documents/*", put(metadata={"a": 2**63})),
    "document without metadata": edit("documents/*", drop("metadata")),
    "document with half a surrogate pair": edit("documents/*", put(source="\ud800")),
    "two documents exchanged": lambda c: _exchange(*sorted((c / "documents").iterdir())[:2]),
    "a file added": lambda c: (c / "documents" / "more.json").write_bytes(b"{}"),
    "a hidden file added": lambda c: (c / "documents" / ".x").write_bytes(b""),
    "a name that is not UTF-8 added": lambda c: Path(os.fsdecode(os.fsencode(c) + b"/documents/\xff")).write_bytes(b""),
    "a folder added": lambda c: (c / "documents" / "sub").mkdir(),
    "a link added": lambda c: (c / "documents" / "link").symlink_to("/"),
    "documents a link": lambda c: ((c / "documents").rename(c / "d"), (c / "documents").symlink_to("d")),
    "documents removed": lambda c: shutil.rmtree(c / "documents"),
}


def _exchange(one: Path, other: Path) -> None:
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found(name: str, cache: Path) -> None:
    residents = Residents(1 << 20)
    assert residents.resolve(cache, "beta", 3) == naive.resolve(SOURCES, "beta", 3)
    CHANGES[name](cache)
    violations = []
    for look in (verify.cache, lambda c: resolve.to_json(c, "beta", 0), lambda c: residents.resolve(c, "beta", 3)):
        with pytest.raises(CacheInvalid) as refused:
            look(cache)
        violations.append((refused.value.member, refused.value.why))
    assert violations[0] == violations[1] == violations[2]
    residents.close()


@pytest.mark.parametrize("name", CHANGES)
def test_inspecting_says_invalid_or_has_no_manifest_to_go_by(name: str, cache: Path) -> None:
    CHANGES[name](cache)
    try:
        answer = json.loads(inspect.command_json(cache))
    except CacheInvalid as error:
        assert error.member == "manifest.json"  # noqa: PT017  # one of two outcomes
    else:
        assert answer["valid"] is False


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_changed_byte_is_refused_or_changes_no_answer(pristine: Path, data: st.DataObject) -> None:
    """Flip any byte of any member: the answer is the same, or there is none."""
    members = sorted(path for path in pristine.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(members))
    original = path.read_bytes()
    at = data.draw(st.integers(0, len(original) - 1))
    changed = bytearray(original)
    changed[at] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    try:
        answer = resolve.to_json(pristine, "beta", 50)
    except ContextError as error:
        assert isinstance(error, CacheInvalid)  # noqa: PT017  # one of two outcomes
        with pytest.raises(CacheInvalid):
            verify.cache(pristine)
    else:
        assert answer == naive.resolve(SOURCES, "beta", 50)
        assert verify.cache(pristine) == (naive.cache_version(SOURCES), len(SOURCES))
    finally:
        path.write_bytes(original)


def test_the_first_violation_is_the_same_whatever_else_is_wrong(cache: Path) -> None:
    documents = sorted(json.loads((cache / "manifest.json").read_bytes())["documents"], key=lambda entry: entry["id"])
    (cache / documents[0]["file"]).write_bytes(b"not JSON")
    (cache / documents[3]["file"]).unlink()
    (cache / "documents" / "extra").touch()
    members = []
    for repair in ((cache / documents[3]["file"]), None):
        with pytest.raises(CacheInvalid) as refused:
            verify.cache(cache)
        members.append(refused.value.member)
        if repair:
            shutil.copy(cache / documents[1]["file"], repair)
    assert members == [documents[3]["file"], documents[0]["file"]]


def test_a_cache_that_is_gone_is_missing_also_from_memory(cache: Path) -> None:
    residents = Residents(1 << 20)
    residents.resolve(cache, "beta", 3)
    shutil.rmtree(cache)
    with pytest.raises(CacheMissing):
        residents.resolve(cache, "beta", 3)
    residents.close()
