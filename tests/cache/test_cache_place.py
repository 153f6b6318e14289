"""Which caches a client may name, and what it is told about them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import naive
import unprivileged
from conftest import PATIENCE
from smart_context.cache import build, inspect, listing, place, resolve
from smart_context.errors import CacheInvalid, CacheMissing

SOURCES = {"a.md": "inside"}
SECRET = {"a.md": "secret"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A cache root with a cache `one`, one in `sub/two`, links in and out, and a cache outside."""
    root = tmp_path / "root"
    root.mkdir()
    for name, tree, target in [
        ("s1", SOURCES, root / "one"),
        ("s2", SOURCES, root / "sub" / "two"),
        ("s3", SECRET, tmp_path / "outside"),
        ("s4", SECRET, tmp_path / "root-too"),
    ]:
        build.cache(naive.write_sources(tmp_path / name, tree), target, created_at="2026-01-01T00:00:00Z")
    (root / "in").symlink_to("sub/two")
    (root / "in-absolute").symlink_to(root / "one")
    (root / "out").symlink_to("../outside")
    (root / "out-absolute").symlink_to(tmp_path / "outside")
    (root / "up").symlink_to("..")
    (root / "near").symlink_to(tmp_path / "root-too")
    (root / "loop").symlink_to("loop")
    (root / "é").mkdir()
    (root / "file").touch()
    return root


@pytest.mark.parametrize(
    "name", ["one", "./one", "one/", "one/.", "sub/two", "sub//two", "in", "in-absolute", "{root}/one"]
)
def test_what_leads_inside_is_found(name: str, root: Path) -> None:
    at = place.inside(root, name.format(root=root))
    assert resolve.to_json(at, "inside", 9) == naive.resolve(SOURCES, "inside", 9)


OUTSIDE = [
    "",
    ".",
    "./",
    "/",
    "..",
    "../outside",
    "one/..",
    "one/../one",
    "sub/../../outside",
    "../root/one",
    "\0",
    "one\0",
]
OUTSIDE += [
    "out",
    "out-absolute",
    "up",
    "up/outside",
    "near",
    "loop",
    "{outside}",
    "{root}",
    "{root}/",
    "{root}/../outside",
]
OUTSIDE += [
    "{root}-too",
    "absent",
    "file",
    "file/x",
    "x" * 300,
    "x/" * 3000,
    "\ud800",
    "~",
    "one/manifest.json",
    "//one",
]
OUTSIDE += ["..\\outside", "%2e%2e/outside", "file:///etc", "one ", " one", "ONE", "．．/outside"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_whatever_else_is_missing_and_looks_alike(name: str, root: Path) -> None:
    given = name.format(root=root, outside=root.parent / "outside")
    for use in (lambda at: resolve.to_json(at, "x", 9), inspect.tool_json):
        with pytest.raises(CacheMissing):
            use(place.inside(root, given))


def test_a_root_that_is_a_link_is_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    for name in ("one", str(root / "one"), str(tmp_path / "alias" / "one")):
        assert os.fspath(place.inside(tmp_path / "alias", name)) == str(root / "one")


def test_no_name_leads_outside_while_the_tree_changes(root: Path) -> None:
    """A folder on the way is exchanged for a link out of the root, over and over: never a byte of what is outside."""
    (root / "way").mkdir()
    (root / "sub" / "two").rename(root / "way" / "cache")
    (root / "evil").mkdir()
    (root.parent / "evil").mkdir()
    (root.parent / "outside").rename(root.parent / "evil" / "cache")
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            (root / "way").rename(root / "away")
            (root / "way").symlink_to(root.parent / "evil")
            (root / "way").unlink()
            (root / "away").rename(root / "way")

    thread = threading.Thread(target=exchange)
    thread.start()
    found = missed = 0
    try:
        while found + missed < 400:
            try:
                answer = resolve.to_json(place.inside(root, "way/cache"), "secret inside", 9)
            except (CacheMissing, CacheInvalid):
                missed += 1
            else:
                assert answer == naive.resolve(SOURCES, "secret inside", 9)
                found += 1
    finally:
        stop.set()
        thread.join()
    # However few of them came at a moment when the folder was there: now it is.
    assert resolve.to_json(place.inside(root, "way/cache"), "secret inside", 9) == naive.resolve(
        SOURCES, "secret inside", 9
    )


def test_caches_are_listed_by_their_path_from_the_root(root: Path) -> None:
    (root / ".one.build-12-ab34").mkdir()
    (root / "sub" / "three").mkdir()
    Path(os.fsdecode(os.fsencode(root) + b"/\xff")).mkdir()
    names = [("one", True), ("sub", False), ("é", False)]
    expected = {"caches": [{"path": path, "has_manifest": has} for path, has in names]}
    for argument in (None, ".", str(root), "./"):
        assert listing.to_json(root, argument) == _compact(expected)
    inner = [{"path": "sub/three", "has_manifest": False}, {"path": "sub/two", "has_manifest": True}]
    for argument in ("sub", str(root / "sub"), "./sub/"):
        assert listing.to_json(root, argument) == _compact({"caches": inner})
    assert resolve.to_json(place.inside(root, "sub/two"), "", 0) == naive.resolve(SOURCES, "", 0)


@pytest.mark.parametrize("argument", ["", "..", "../root", "absent", "file", "out", "/", "\0", "{outside}"])
def test_no_other_root_is_listed(argument: str, root: Path) -> None:
    with pytest.raises(CacheMissing):
        listing.to_json(root, argument.format(outside=root.parent / "outside"))


def test_a_root_that_is_not_there_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("absent", "file"):
        with pytest.raises(CacheMissing):
            listing.to_json(tmp_path / name)


def test_no_directory_has_an_empty_name() -> None:
    with pytest.raises(CacheMissing):
        listing.to_json("")


def test_what_stands_in_a_folder_whose_name_is_not_utf8_is_left_out(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\xff/cache")).mkdir(parents=True)
    (root / "named").symlink_to(os.fsdecode(b"\xff"))
    assert listing.to_json(root, "named") == _compact({"caches": []})


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def test_the_tool_inspects_the_manifest_and_the_files_beside_it(root: Path) -> None:
    cache = root / "one"
    (cache / "notes").write_bytes(b"12345")
    (cache / "link").symlink_to("notes")
    total = sum((cache / name).stat().st_size for name in ("manifest.json", "index.json", "notes"))
    version = naive.cache_version(SOURCES)
    answer = {"cache_version": version, "document_count": 1, "total_bytes": total, "valid": True}
    assert inspect.tool_json(cache) == _compact(answer)
    (cache / "documents" / "extra").touch()  # the tool does not look there
    assert inspect.tool_json(cache) == _compact(answer)


@pytest.mark.parametrize(
    ("manifest", "version", "count", "valid"),
    [
        (None, "", 0, False),
        (b"", "", 0, False),
        (b"[]", "", 0, False),
        (b"{}", "", 0, False),
        (b'{"cache_version":"v"}', "v", 0, False),
        (b'{"document_count":7}', "", 7, False),
        (b'{"cache_version":"v","document_count":7}', "v", 7, True),
        (b'{"cache_version":5,"document_count":7}', "", 7, False),
        (b'{"cache_version":"v","document_count":-7}', "v", 0, False),
        (b'{"cache_version":"v","document_count":7.0}', "v", 0, False),
        (b'{"cache_version":"v","cache_version":"w","document_count":7}', "", 7, False),
        (b'{"cache_version":"\\ud800","document_count":7}', "", 7, False),
        (b'{"cache_version":"v","document_count":7', "", 0, False),
        (b'\xef\xbb\xbf{"cache_version":"v","document_count":7}', "", 0, False),
    ],
)
def test_the_tool_reports_what_a_broken_manifest_still_says(
    manifest: bytes | None, version: str, count: int, valid: bool, tmp_path: Path
) -> None:
    (tmp_path / "beside").write_bytes(b"123")
    if manifest is not None:
        (tmp_path / "manifest.json").write_bytes(manifest)
    answer = {
        "cache_version": version,
        "document_count": count,
        "total_bytes": 3 + len(manifest or b""),
        "valid": valid,
    }
    assert inspect.tool_json(tmp_path) == _compact(answer)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_the_tool_reads_no_manifest_that_is_not_a_file(kind: str, root: Path) -> None:
    path = root / "one" / "manifest.json"
    path.rename(root / "m")
    if kind == "link":
        path.symlink_to("../m")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    size = (root / "one" / "index.json").stat().st_size
    answer = {"cache_version": "", "document_count": 0, "total_bytes": size, "valid": False}
    assert inspect.tool_json(root / "one") == _compact(answer)


@unprivileged.needs_root
def test_without_rights_a_list_says_so_and_a_child_has_no_manifest(root: Path) -> None:
    (root / "one").chmod(0)
    done = unprivileged.run(root.parent, "list", "--root", "root")
    assert (done.returncode, json.loads(done.stdout)["caches"][0]) == (0, {"path": "one", "has_manifest": False})
    root.chmod(0)
    done = unprivileged.run(root.parent, "list", "--root", "root")
    assert (done.returncode, done.stdout) == (6, b"")
    root.chmod(0o755)


@unprivileged.needs_root
def test_a_cache_is_found_through_folders_that_may_be_entered_but_not_listed(root: Path) -> None:
    for folder in (root, root / "sub"):
        folder.chmod(0o711)
    for outer in root.parents:
        outer.chmod(outer.stat().st_mode | 0o011)
    script = (
        "import os, sys\n"
        "from smart_context.cache import place, verify\n"
        "from smart_context.model import Progress\n"
        "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
        "print(verify.cache(place.inside(sys.argv[1], 'sub/two')).document_count)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, root], capture_output=True, timeout=PATIENCE, check=False)
    assert done.stdout == b"1\n", done.stderr


def test_places_are_equal_where_they_lead_to_the_same() -> None:
    one, same = place.Place("/a", "b"), place.Place("/a/b", "")
    other, root = place.Place("/a", "c"), place.Place("/a", "")
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert other != one
    assert root != one
    assert one != "/a/b"
    assert (str(one), str(root), one.below, root.below) == ("/a/b", "/a", "b", "")
