"""Building: what is taken, what is refused, and that no fault leaves anything but the old cache or the new one."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import naive
import unprivileged
from conftest import Run, clean_env
from smart_context.cache import build, exchange, resolve, sources, verify
from smart_context.errors import IoError, SameId

CREATED_AT = "2026-01-01T00:00:00Z"
OLD = {"a.md": "old"}
NEW = {f"{n}.md": f"new {n}" for n in range(20)}


def make(root: Path, target: Path, *, force: bool = False) -> build.Built:
    return build.cache(root, target, created_at=CREATED_AT, force=force)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_only_files_that_end_in_md_are_taken_and_pipes_are_not_opened(tmp_path: Path) -> None:
    root = naive.write_sources(
        tmp_path / "sources", {"a.md": "a", ".b/.c.md": "c", "x.MD": "", "y.md.txt": "", ".md": ""}
    )
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(root / "socket.md"))
    (root / "folder.md").mkdir()
    (root / "folder.md" / "d.md").write_text("d")
    skipped: list[str] = []
    built = build.cache(
        root, tmp_path / "cache", created_at=CREATED_AT, on_skipped=lambda path, why: skipped.append(path)
    )
    assert built == (naive.cache_version({"a.md": "a", ".b/.c.md": "c", "folder.md/d.md": "d"}), 3)
    assert skipped == []


def test_links_are_followed_to_files_inside_and_told_of_otherwise(tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", {"a.md": "a", "sub/b.txt": "b"})
    (tmp_path / "outside.md").write_text("secret")
    (tmp_path / "sources-too").mkdir()
    (tmp_path / "sources-too" / "s.md").write_text("secret")
    links = {"in.md": "sub/b.txt", "out.md": "../outside.md", "near.md": "../sources-too/s.md", "loop.md": "loop.md"}
    links |= {"dangling.md": "nowhere", "chain.md": "out.md", "folder": "../sources-too", "dir.md": "sub"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    skipped: list[str] = []
    built = build.cache(
        root, tmp_path / "cache", created_at=CREATED_AT, on_skipped=lambda path, why: skipped.append(path)
    )
    assert built == (naive.cache_version({"a.md": "a", "in.md": "b"}), 2)
    assert sorted(skipped) == ["chain.md", "dangling.md", "loop.md", "near.md", "out.md"]


def test_what_is_not_utf8_is_named_all_of_it(tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", {"a.md": "a"})
    for name in ("b.md", "c\n.md", os.fsdecode(b"d\xff.md"), os.fsdecode(b"e\xff.txt")):
        (root / name).write_bytes(b"\xff")
    with pytest.raises(IoError) as refused:
        make(root, tmp_path / "cache")
    assert refused.value.reason == "b.md, 'c\\n.md', 'd\\udcff.md'"
    assert names(tmp_path) == {"sources"}


def test_two_sources_with_one_id_are_refused_with_both_paths(tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", {"A/x.md": "1", "a/X.md": "2"})
    with pytest.raises(SameId) as refused:
        make(root, tmp_path / "cache")
    assert refused.value.paths == ("A/x.md", "a/X.md")
    assert names(tmp_path) == {"sources"}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("target", ["sources", "sources/.", ".", "..", "link"])
def test_a_target_with_the_sources_in_it_is_refused(target: str, force: bool, tmp_path: Path) -> None:
    work = tmp_path / "work"
    naive.write_sources(work / "sources", OLD)
    (work / "link").symlink_to(".")
    with pytest.raises(IoError):
        make(work / "sources", work / target, force=force)
    assert names(work) == {"sources", "link"}


@unprivileged.needs_root
@pytest.mark.parametrize("target", ["sources", "."])
def test_a_target_that_is_the_sources_under_another_mount_is_refused(target: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    root = naive.write_sources(work / "sources", OLD)
    for folder in (work, root):
        (folder / "manifest.json").write_text("{}")  # as if it were a cache, for --force
    (tmp_path / "again").mkdir()
    if subprocess.run(["mount", "--bind", work, tmp_path / "again"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a folder again")
    try:
        with pytest.raises(IoError):
            make(root, tmp_path / "again" / target, force=True)
        assert names(root) == {*OLD, "manifest.json"}
    finally:
        subprocess.run(["umount", tmp_path / "again"], check=True)


def untouched(path: Path) -> tuple[int, ...]:
    """What changes when somebody writes there; looking alone may change a folder's time of access."""
    found = os.lstat(path)
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@pytest.mark.parametrize(
    "what", ["file", "link to a cache", "link to nothing", "full folder", "linked manifest", "pipe"]
)
def test_force_replaces_nothing_but_a_cache_or_an_empty_folder(what: str, tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", OLD)
    target = tmp_path / "cache"
    make(root, tmp_path / "real")
    if what == "file":
        target.write_text("x")
    elif what == "pipe":
        os.mkfifo(target)
    elif what.startswith("link to"):
        target.symlink_to("real" if "cache" in what else "nothing")
    else:
        target.mkdir()
        (target / "other").touch()
        if what == "linked manifest":
            (target / "manifest.json").symlink_to("../real/manifest.json")
    before = names(tmp_path), untouched(target)
    for force in (False, True):
        with pytest.raises(IoError):
            make(root, target, force=force)
        assert (names(tmp_path), untouched(target)) == before


@pytest.mark.parametrize("can_exchange", [True, False])
def test_force_replaces_an_old_cache_and_an_empty_folder(
    can_exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_exchange:
        monkeypatch.setattr(exchange, "names", lambda *_: False)
    target = tmp_path / "cache"
    target.mkdir()
    for number, tree in enumerate((OLD, NEW)):
        root = naive.write_sources(tmp_path / f"sources{number}", tree)
        assert make(root, target, force=True) == verify.cache(target) == (naive.cache_version(tree), len(tree))
    assert names(tmp_path) == {"cache", "sources0", "sources1"}


@pytest.mark.parametrize("force", [True, False])
def test_a_cache_that_another_build_has_put_there_meanwhile_is_replaced_by_force_alone(
    force: bool, tmp_path: Path
) -> None:
    root = naive.write_sources(tmp_path / "sources", NEW)
    other = naive.write_sources(tmp_path / "other", OLD)
    target = tmp_path / "cache"

    def build_other(_progress: object) -> None:
        if not target.exists():
            make(other, target)

    if force:
        build.cache(root, target, created_at=CREATED_AT, force=True, on_progress=build_other)
    else:
        with pytest.raises(IoError):
            build.cache(root, target, created_at=CREATED_AT, on_progress=build_other)
    assert verify.cache(target).cache_version == naive.cache_version(NEW if force else OLD)
    assert names(tmp_path) == {"cache", "other", "sources"}


def test_missing_parents_are_made_and_removed_again_if_the_build_fails(tmp_path: Path) -> None:
    good = naive.write_sources(tmp_path / "good", OLD)
    bad = naive.write_sources(tmp_path / "bad", OLD)
    (bad / "b.md").write_bytes(b"\xff")
    with pytest.raises(IoError):
        make(bad, tmp_path / "x" / "y" / "cache")
    assert names(tmp_path) == {"good", "bad"}
    make(good, tmp_path / "x" / "y" / "cache")
    assert names(tmp_path / "x" / "y") == {"cache"}


def test_a_live_build_is_left_alone_and_a_dead_one_is_removed(tmp_path: Path) -> None:
    import fcntl

    root = naive.write_sources(tmp_path / "sources", OLD)
    live, dead, other = (tmp_path / name for name in (".cache.build-1-ab", ".cache.build-2-cd", ".other.build-3-ef"))
    for folder in (live, dead, other):
        (folder / "new").mkdir(parents=True)
    lock = os.open(live, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    make(root, tmp_path / "cache")
    os.close(lock)
    assert names(tmp_path) == {"sources", "cache", live.name, other.name}


def test_an_exchange_that_was_interrupted_is_undone_by_the_next_build(tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", OLD)
    dead = tmp_path / ".cache.build-1-ab"
    (dead / "new").mkdir(parents=True)
    make(root, dead / "old")
    with pytest.raises(IoError):  # for the target exists, once it is put back
        make(root, tmp_path / "cache")
    assert verify.cache(tmp_path / "cache") == (naive.cache_version(OLD), 1)
    make(root, tmp_path / "cache", force=True)
    assert names(tmp_path) == {"sources", "cache"}


def test_a_build_that_is_killed_leaves_the_old_cache_or_the_new_one(tmp_path: Path) -> None:
    old, new = naive.write_sources(tmp_path / "old", OLD), naive.write_sources(tmp_path / "new", NEW)
    target = tmp_path / "cache"
    make(old, target)
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, old, new, target], env=clean_env(tmp_path), capture_output=True, check=True
    )
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    was_old, was_new = [naive.cache_version(OLD), len(OLD)], [naive.cache_version(NEW), len(NEW)]
    killed = [found for status, found, _ in outcomes if status == signal.SIGKILL]
    assert len(killed) > 60
    assert [found for found in killed if found not in (was_old, was_new)] == []
    # It is the old one up to a point, and the new one from there on.
    assert killed == sorted(killed, key=lambda found: found == was_new)
    assert (killed[0], killed[-1]) == (was_old, was_new)
    assert {tuple(left) for _, _, left in outcomes} == {("cache", "new", "old")}
    assert outcomes[-1][:2] == [0, was_new]


# Build again and again, each time in a child that dies by SIGKILL at its next change of the file system, until one lives to
# the end. Each time: what stands there, and what is left beside it after a later build of the old cache.
_KILLED = """
import json, os, shutil, signal, sys
from smart_context.cache import build, exchange, verify
old, new, target = sys.argv[1:]
real = {name: getattr(os, name) for name in ("mkdir", "write", "fsync", "rename", "rmdir", "unlink", "open")}
real["fsync"] = os.fsync = lambda descriptor: None  # killing a process loses nothing that it wrote; this saves minutes
real_exchange = exchange.names

def counted(call):
    def count(*args, **kwargs):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return count

def child():
    shutil._use_fd_functions = True
    for name, call in real.items():
        setattr(os, name, counted(call))
    os.open = lambda path, flags, *rest, **more: (
        counted(real["open"]) if flags & os.O_CREAT else real["open"])(path, flags, *rest, **more)
    exchange.names = counted(real_exchange)
    build.cache(new, target, created_at="2026-01-01T00:00:00Z", force=True)

for point in range(1, 1000):
    left = point
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    found = verify.cache(target)
    build.cache(old, target, created_at="2026-01-01T00:00:00Z", force=True)
    print(json.dumps([status, found, sorted(os.listdir(os.path.dirname(target)))]))
    if status == 0:
        break
"""


def test_sources_that_change_during_the_build_give_a_cache_that_verifies(tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", {f"{n}.md": "x" * 5000 for n in range(50)})
    change = (
        "import os, sys, itertools\n"
        "for n in itertools.count():\n"
        "    path = os.path.join(sys.argv[1], f'{n % 50}.md')\n"
        "    with open(path, 'r+b') as file:\n"
        "        file.truncate(n * 37 % 9000); file.write(b'y' * (n * 91 % 9000))\n"
    )
    changer = subprocess.Popen([sys.executable, "-c", change, str(root)])
    try:
        for _ in range(5):
            try:
                built = make(root, tmp_path / "cache", force=True)
            except IoError as error:  # a NUL where a file was truncated is UTF-8, so only this may happen
                assert "UTF-8" in str(error)  # noqa: PT017
            else:
                assert verify.cache(tmp_path / "cache") == built
    finally:
        changer.kill()
        changer.wait()


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_becomes_a_link_during_the_build_is_not_followed(what: str, tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", {"a.md": "first", "b/c/d.md": "inside", "b/e.md": "inside too"})
    naive.write_sources(tmp_path / "outside", {"c/d.md": "secret", "e.md": "secret"})

    def swap(_progress: object) -> None:
        swapped = root / "b" if what == "folder" else root / "b" / "c" / "d.md"
        if not swapped.is_symlink():
            swapped.rename(tmp_path / "away")
            swapped.symlink_to(tmp_path / "outside" if what == "folder" else tmp_path / "outside" / "c" / "d.md")

    with pytest.raises(IoError):
        build.cache(root, tmp_path / "cache", created_at=CREATED_AT, on_progress=swap)
    assert names(tmp_path) == {"sources", "outside", "away"}


def test_a_source_that_vanishes_is_an_error_and_nothing_is_left(tmp_path: Path) -> None:
    root = naive.write_sources(tmp_path / "sources", NEW)

    def vanish(step: object) -> None:
        (root / "9.md").unlink(missing_ok=True)

    with pytest.raises(IoError):
        build.cache(root, tmp_path / "cache", created_at=CREATED_AT, on_progress=vanish)
    assert names(tmp_path) == {"sources"}


@unprivileged.needs_root
@pytest.mark.parametrize("kilobytes", [16, 40, 80, 120, 160, 200, 260, 320])
def test_a_full_disk_gives_6_and_leaves_what_was_there(kilobytes: int, tmp_path: Path, run: Run) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        old = naive.write_sources(tmp_path / "old", OLD)
        new = naive.write_sources(tmp_path / "new", {f"{n}.md": "x" * 4000 + str(n) for n in range(80)})
        (disk / "cache").mkdir()
        old_fits = run("build", "--sources", old, "--cache", disk / "cache", "--force").returncode == 0
        done = run("build", "--sources", new, "--cache", disk / "cache", "--force")
        assert (done.returncode, done.stdout) == (6, b"")
        assert names(disk) == {"cache"}
        if old_fits:
            assert verify.cache(disk / "cache") == (naive.cache_version(OLD), 1)
        else:
            assert names(disk / "cache") == set()
    finally:
        subprocess.run(["umount", disk], check=True)


@unprivileged.needs_root
@pytest.mark.parametrize("what", ["sources", "a source folder", "a source", "the parent", "the parent's parent"])
def test_permission_denied_gives_6_and_leaves_nothing(what: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    root = naive.write_sources(work / "sources", {"a.md": "a", "sub/b.md": "b"})
    (work / "out").mkdir()
    denied = {
        "sources": root,
        "a source folder": root / "sub",
        "a source": root / "a.md",
        "the parent": work / "out",
        "the parent's parent": work,
    }[what]
    denied.chmod(0o555 if "parent" in what else 0)
    target = "new/cache" if what == "the parent's parent" else "out/cache"
    done = unprivileged.run(work, "build", "--sources", "sources", "--cache", target)
    denied.chmod(0o755)
    assert (done.returncode, done.stdout) == (6, b"")
    assert names(work) == {"sources", "out"}
    assert names(work / "out") == set()


@unprivileged.needs_root
@pytest.mark.parametrize("member", ["manifest.json", "index.json", "documents", "document", "."])
@pytest.mark.parametrize("command", ["resolve", "verify", "inspect"])
def test_a_cache_that_may_not_be_read_gives_6(member: str, command: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    make(naive.write_sources(work / "sources", OLD), work / "cache")
    denied = next((work / "cache" / "documents").iterdir()) if member == "document" else work / "cache" / member
    denied.chmod(0)
    arguments = ("--query", "x", "--budget", "9") if command == "resolve" else ()
    done = unprivileged.run(work, command, "--cache", "cache", *arguments)
    assert (done.returncode, done.stdout) == (6, b"")


@pytest.mark.parametrize(("call", "times"), [("fsync", 7), ("mkdir", 3), ("write", 3), ("rename", 1)])
def test_a_system_call_that_fails_fails_the_build_and_leaves_nothing(
    call: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Devices fail where they like; here each such call fails in turn, until the build needs no more of them."""
    root = naive.write_sources(tmp_path / "sources", OLD)
    real, left = getattr(os, call), 0

    def failing(*args: object, **kwargs: object) -> object:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*args, **kwargs)

    for turn in range(1, times + 1):
        left = turn
        with monkeypatch.context() as patched:
            patched.setattr(os, call, failing)
            with pytest.raises(IoError):
                make(root, tmp_path / "cache")
        assert names(tmp_path) == {"sources"}
    left = times + 1
    with monkeypatch.context() as patched:
        patched.setattr(os, call, failing)
        built = make(root, tmp_path / "cache")
    assert built == verify.cache(tmp_path / "cache")
    assert left == 1


def test_many_documents_are_built_as_few_are(tmp_path: Path) -> None:
    tree = {f"{n}.md": f"document {n}" for n in range(200)}  # above the number that are synced one by one
    built = make(naive.write_sources(tmp_path / "sources", tree), tmp_path / "cache")
    assert built == verify.cache(tmp_path / "cache") == (naive.cache_version(tree), 200)
    assert resolve.to_json(tmp_path / "cache", "17", 99) == naive.resolve(tree, "17", 99)


def test_the_manifest_is_dated_now_in_utc(tmp_path: Path, run: Run) -> None:
    root = naive.write_sources(tmp_path / "sources", OLD)
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run("build", "--sources", root, "--cache", tmp_path / "cache", env={"TZ": "Asia/Tokyo"})
    after = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = (tmp_path / "cache" / "manifest.json").read_text()
    assert before <= text.split('"created_at": "')[1][:20] <= after


def test_a_source_larger_than_one_read_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "big.md"
    path.write_bytes(b"x" * 5_000_000)
    with sources.Sources(str(path.parent)) as tree:
        assert tree.read(sources.Source("big.md", path.name, path.name)) == b"x" * 5_000_000
