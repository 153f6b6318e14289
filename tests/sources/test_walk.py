"""The walk: what is found, in which order, what is left out, and that nothing stops it."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled import both, in_python
from conftest import Tree
from smart_context.sources import ignore, known, walk
from smart_context.sources.walk import Found, WalkOptions

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX names and links")


def problem(path: str, reason: str) -> None:
    raise AssertionError(f"{path}: {reason}")


def names(root: Path, *, top: Path | None = None, **options: object) -> list[str]:
    found = walk.files(str(root), WalkOptions(**options), problem, top=str(top) if top else None)  # type: ignore[arg-type]
    return [os.path.relpath(each.path, root) for each in found]


def recorded(root: Path, **options: bool) -> dict[str, tuple[int, int, int]]:
    """What a record would know of the files that are there: a number, size and time for each."""
    found = walk.files(str(root), WalkOptions(**options), problem)
    return {each.path: (number, each.size, each.mtime_ns) for number, each in enumerate(found)}


def knowing(files: dict[str, tuple[int, int, int]]) -> known.Known:
    return known.of(((os.fsencode(path), *facts) for path, facts in files.items()), walk.TELLING)


def test_files_come_sorted_with_their_facts(tree: Tree) -> None:
    root = tree({"b.txt": "22", "a/z.txt": "1", "a.txt": "", "a/b/c.txt": "333", "c": "x"})
    assert names(root) == ["a/b/c.txt", "a/z.txt", "a.txt", "b.txt", "c"]
    info = (root / "b.txt").stat()
    found = [each for each in walk.files(str(root), WalkOptions(), problem) if each.path.endswith("b.txt")]
    assert found == [Found(str(root / "b.txt"), 2, info.st_mtime_ns)]


def test_known_files_are_left_out_and_all_else_comes_as_without_knowing_them(tree: Tree) -> None:
    root = tree(
        dict.fromkeys(
            ("a.txt", "longer.txt", "later.txt", "sub/b.txt", "sub/left.txt", "was/file.txt", "gone.txt", "z.txt"),
            "text",
        )
    )
    files = recorded(root)
    (root / "longer.txt").write_text("more text", encoding="utf-8")
    os.utime(root / "later.txt", ns=(1, 1))
    (root / "gone.txt").unlink()
    shutil.rmtree(root / "was")
    (root / "was").write_text("text", encoding="utf-8")  # a file where a folder was, and a folder where a file was
    (root / "z.txt").unlink()
    tree({"z.txt/new.txt": "new", "sub/.gitignore": "left.txt", "b.txt": "text"})
    every = list(walk.files(str(root), WalkOptions(), problem))
    as_known = [each for each in every if files.get(each.path, ())[1:] == (each.size, each.mtime_ns)]
    met: list[tuple[str, int]] = []
    left = knowing(files)
    found = walk.files(str(root), WalkOptions(), problem, recorded=left, on_met=lambda *told: met.append(told))
    assert list(found) == [each for each in every if each not in as_known]
    assert [os.path.relpath(each.path, root) for each in as_known] == ["a.txt", "sub/b.txt"]
    assert met == [(str(root), 1), (str(root / "sub"), 1)]
    met_paths = {each.path for each in as_known}
    assert dict(left.left()) == {path: facts[0] for path, facts in files.items() if path not in met_paths}
    assert len(left) == len(files) - len(as_known)


@posix
def test_what_is_as_it_is_known_is_the_same_compiled_and_in_python(tree: Tree) -> None:
    root = tree({"a.txt": "1", "größe.txt": "2", "sub/雪.txt": "3", "sub/b.txt": "4", "link": "5", "fifo": "6"})
    odd = os.fsencode(root) + b"/odd\xff.txt"
    with open(odd, "wb") as file:
        file.write(b"7")
    files = recorded(root)
    assert os.fsdecode(odd) in files
    for name, kind in (("link", lambda path: path.symlink_to("a.txt")), ("fifo", os.mkfifo)):
        (root / name).unlink()
        kind(root / name)
        info = (root / name).lstat()
        files[str(root / name)] = (1, info.st_size, info.st_mtime_ns)
    os.utime(root / "sub/b.txt", ns=(0, -(10**9)))
    files[str(root / "sub/b.txt")] = (1, 1, -(10**9))
    files[str(root / "a.txt")] = (1, 1, -1)
    files[str(root / "sub")] = (1, 1, 1)

    def work() -> tuple[list[Found], list[tuple[str, int]], list[tuple[str, int]]]:
        left, met = knowing(files), list[tuple[str, int]]()
        found = walk.files(str(root), WalkOptions(), problem, recorded=left, on_met=lambda *told: met.append(told))
        return list(found), sorted(left.left()), met

    quickly, slowly = both(work, known)
    assert quickly == slowly
    assert [each.path for each in quickly[0]] == [str(root / "a.txt")]
    assert quickly[2] == [(str(root), 2), (str(root / "sub"), 2)]


def test_known_files_that_are_left_out_now_stay_known_and_those_taken_back_are_met(tree: Tree) -> None:
    root = tree(
        {
            ".gitignore": "*.log\n!kept.log\n",
            **dict.fromkeys(("kept.log", "a.txt", "out/b.txt", "tagged/c.txt", "venv/d.txt", "~$e.txt", ".f.txt"), "text"),
        }
    )  # fmt: skip
    files = recorded(root, include_hidden=True, include_junk=True)
    del files[str(root / ".gitignore")]
    tree(
        {
            "out/.ignore": "b.txt",
            "tagged/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55",
            "venv/pyvenv.cfg": "",
        }
    )

    def work() -> tuple[dict[str, int], dict[str, int]]:
        left, met = knowing(files), {}
        assert list(walk.files(str(root), WalkOptions(), problem, recorded=left, on_met=met.__setitem__)) == []
        return dict(left.left()), met

    quickly, slowly = both(work, known)
    assert quickly == slowly
    left, met = quickly
    assert {os.path.relpath(path, root) for path in files.keys() - left.keys()} == {"kept.log", "a.txt"}
    assert met == {str(root): 2}
    assert left.items() <= {path: facts[0] for path, facts in files.items()}.items()


def test_known_files_of_a_folder_that_cannot_be_listed_stay_known(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(dict.fromkeys(("a/1.txt", "a/2.txt", "b/1.txt"), "text"))
    files = recorded(root)

    class Failing:
        """The disk fails after the first of a folder's names."""

        def __init__(self, fd: int) -> None:
            self._inner, self._left = scandir(fd), 1

        def __enter__(self) -> Failing:
            return self

        def __exit__(self, *_: object) -> None:
            self._inner.close()

        def __iter__(self) -> Failing:
            return self

        def __next__(self) -> os.DirEntry[str]:
            found = next(self._inner)
            if found.name.endswith(".txt"):
                self._left -= 1
            if self._left < 0:
                raise OSError(5, "Input/output error")
            return found

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", Failing)
    problems: dict[str, str] = {}
    with in_python(known):
        left = knowing(files)
        assert list(walk.files(str(root), WalkOptions(), problems.__setitem__, recorded=left)) == []
    assert problems == {str(root / "a"): "input/output error"}
    assert {path for path, _ in left.left()} == {str(root / "a/1.txt"), str(root / "a/2.txt")}


def test_hidden_and_junk_are_left_out_and_each_can_be_taken(tree: Tree) -> None:
    root = tree(
        {
            "a.txt": "",
            ".hidden": "",
            ".config/x": "",
            ".git/HEAD": "",
            "node_modules/m/i.js": "",
            "p/__pycache__/p.pyc": "",
            "~$report.docx": "",
            "Thumbs.db": "",
            "target/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
            "target/out.txt": "",
            "env/pyvenv.cfg": "",
            "env/lib/x.py": "",
            "mine/CACHEDIR.TAG": "a file of my own",
            "mine/m.txt": "",
            "target2/t.txt": "",
        }
    )
    plain = ["a.txt", "mine/m.txt", "target2/t.txt"]
    assert names(root) == plain
    assert names(root, include_hidden=True) == [".config/x", ".hidden", *plain]
    assert names(root, include_junk=True) == [
        "Thumbs.db", "a.txt", "env/lib/x.py", "env/pyvenv.cfg", "mine/CACHEDIR.TAG", "mine/m.txt", "node_modules/m/i.js",
        "p/__pycache__/p.pyc", "target/CACHEDIR.TAG", "target/out.txt", "target2/t.txt", "~$report.docx",
    ]  # fmt: skip


def test_ignore_files_are_honoured_where_they_stand_and_can_be_turned_off(tree: Tree) -> None:
    root = tree(
        {
            ".gitignore": "*.log\n/only-here.txt\nbuild/\n",
            ".ignore": "!kept.log\n",
            ".git/info/exclude": "private*\n",
            "a.log": "", "kept.log": "", "only-here.txt": "", "private.txt": "", "build/x.txt": "",
            "sub/.gitignore": "!b.log\n*.tmp\n",
            "sub/b.log": "", "sub/c.log": "", "sub/d.tmp": "", "sub/only-here.txt": "", "d.tmp": "",
        }
    )  # fmt: skip
    assert names(root) == ["d.tmp", "kept.log", "sub/b.log", "sub/only-here.txt"]
    assert len(names(root, honour_ignore_files=False)) == 10


def test_a_folder_inside_a_root_is_walked_by_the_rules_of_the_root(tree: Tree) -> None:
    root = tree(
        {".gitignore": "/sub/x.txt\n*.log\n", "sub/x.txt": "", "sub/y.txt": "", "sub/z.log": "", "other/o.txt": ""}
    )
    assert names(root / "sub", top=root) == ["y.txt"]
    assert names(root / "sub") == ["x.txt", "y.txt", "z.log"]


def test_patterns_of_our_own_leave_out_and_folders_by_name_are_not_entered(tree: Tree) -> None:
    root = tree({"a.bak": "", "a.txt": "", "x/b.bak": "", "data/db": "", "x/data/db": ""})
    assert names(root, exclude=("*.bak",)) == ["a.txt", "data/db", "x/data/db"]
    assert names(root, never_enter=frozenset({str(root / "data")})) == ["a.bak", "a.txt", "x/b.bak", "x/data/db"]


@posix
def test_links_are_not_followed_and_nothing_special_is_opened(tree: Tree, tmp_path: Path) -> None:
    root = tree({"a.txt": "", "sub/b.txt": ""})
    (tmp_path / "out").mkdir()
    (tmp_path / "out/secret.txt").write_text("")
    (root / "to-out").symlink_to(tmp_path / "out")
    (root / "to-secret").symlink_to(tmp_path / "out/secret.txt")
    (root / "to-a").symlink_to("a.txt")
    (root / "sub/loop").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "broken").symlink_to("nowhere")
    os.mkfifo(root / "fifo")
    os.mkfifo(root / "sub/.gitignore")  # reading it would wait for ever
    (root / ".gitignore").symlink_to(tmp_path / "out/secret.txt")
    here = os.getcwd()
    os.chdir(root)  # the name of a socket has 100 bytes at most
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        os.chdir(here)
        assert names(root) == ["a.txt", "sub/b.txt"]


@posix
def test_no_ignore_file_is_read_through_a_link(tree: Tree, tmp_path: Path) -> None:
    root = tree({"a.txt": "", "b.txt": "", "c.txt": "", ".git/HEAD": ""})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/exclude").write_text("a.txt\n", encoding="utf-8")
    (root / ".git/info").symlink_to(tmp_path / "elsewhere")
    (root / ".gitignore").symlink_to(tmp_path / "elsewhere/exclude")
    assert names(root) == ["a.txt", "b.txt", "c.txt"]


@posix
def test_a_root_that_is_a_link_is_walked(tree: Tree, tmp_path: Path) -> None:
    root = tree({"a.txt": ""})
    (tmp_path / "link").symlink_to(root)
    assert [each.path for each in walk.files(str(tmp_path / "link"), WalkOptions(), problem)] == [
        str(tmp_path / "link/a.txt")
    ]


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_names_that_are_not_utf8_and_names_with_newlines_are_found(tree: Tree) -> None:
    root = tree({"a\nb.txt": ""})
    bad = os.path.join(os.fsencode(root), b"\xff\xfe.txt")
    with open(bad, "wb"):
        pass
    found = [os.fsencode(each.path) for each in walk.files(str(root), WalkOptions(), problem)]
    assert found == [os.fsencode(root / "a\nb.txt"), bad]


@posix
def test_paths_longer_and_deeper_than_the_system_allows_are_found(tmp_path: Path) -> None:
    depth = 300  # more than the descriptors that are held, and 6,000 bytes of path
    here = os.open(tmp_path, os.O_RDONLY)
    for at in range(depth):
        for name in ("a.txt", "z.txt"):
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.mkdir("m" * 20, dir_fd=here)
        if at % 3 == 0:
            os.mkdir("n", dir_fd=here)
        deeper = os.open("m" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    found = [each.path for each in walk.files(str(tmp_path), WalkOptions(), problem)]
    assert len(found) == 2 * depth
    assert found[0] == f"{tmp_path}/a.txt"
    assert found[depth - 1 : depth + 1] == [
        f"{tmp_path}/{'m' * 20}" + f"/{'m' * 20}" * (depth - 2) + f"/{n}.txt" for n in "az"
    ]
    assert found[-1] == f"{tmp_path}/z.txt"


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_reported_and_the_rest_goes_on(tree: Tree) -> None:
    root = tree({"a/x.txt": "", "b/y.txt": "", "c/z.txt": ""})
    (root / "b").chmod(0)
    problems: list[tuple[str, str]] = []
    found = [each.path for each in walk.files(str(root), WalkOptions(), lambda *each: problems.append(each))]
    (root / "b").chmod(0o700)
    assert found == [str(root / "a/x.txt"), str(root / "c/z.txt")]
    assert problems == [(str(root / "b"), "permission denied")]


WALK_AS_NOBODY = """
import json, os, sys
from smart_context.errors import ContextError
from smart_context.access.roots import Roots
from smart_context.sources import walk
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
root, problems = sys.argv[1], []
found = [f.path for f in walk.files(root, walk.WalkOptions(), lambda *each: problems.append(each))]
try:
    Roots([root]).open_file(root + "/c/z.txt")
except ContextError as error:
    problems.append((error.code, error.message))
print(json.dumps([found, problems]))
"""


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become nobody")
def test_as_nobody_what_is_not_readable_is_reported_and_the_rest_goes_on() -> None:
    # Not below pytest's folder, which nobody else may enter.
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        for folder in "abc":
            (root / folder).mkdir()
        for file in ("a/x.txt", "b/y.txt", "c/z.txt"):
            (root / file).write_text("")
        (root / "b").chmod(0o700)
        (root / "c/z.txt").chmod(0o600)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", WALK_AS_NOBODY, name], env=env, capture_output=True, check=True)
        assert json.loads(done.stdout) == [
            [f"{name}/a/x.txt", f"{name}/c/z.txt"],
            [[f"{name}/b", "permission denied"], ["INTERNAL_ERROR", f"cannot read {name}/c/z.txt: Permission denied"]],
        ]


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="no /proc here")
def test_what_the_kernel_shows_of_itself_is_not_walked() -> None:
    assert list(walk.files("/proc", WalkOptions(), problem)) == []


def test_a_folder_that_vanishes_meanwhile_is_reported_and_the_rest_goes_on(tree: Tree) -> None:
    root = tree({"a.txt": "", "b/y.txt": "", "c/z.txt": "", "d.txt": ""})
    problems: list[tuple[str, str]] = []
    walking = walk.files(str(root), WalkOptions(), lambda *each: problems.append(each))
    assert next(walking).path == str(root / "a.txt")
    shutil.rmtree(root / "b")
    (root / "d.txt").unlink()
    assert [each.path for each in walking] == [str(root / "c/z.txt")]
    assert problems == [(str(root / name), "no such file or directory") for name in ("b", "d.txt")]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    problems: list[tuple[str, str]] = []
    assert list(walk.files(str(tmp_path / "no"), WalkOptions(), lambda *each: problems.append(each))) == []
    assert problems == [(str(tmp_path / "no"), "no such file or directory")]


def test_a_walk_left_early_leaves_no_descriptor(tree: Tree) -> None:
    root = tree({f"{'d/' * n}x.txt": "" for n in range(6)})
    before = os.open(os.devnull, os.O_RDONLY)
    os.close(before)
    walking = walk.files(str(root), WalkOptions(), problem)
    next(walking)
    walking.close()  # type: ignore[attr-defined]
    after = os.open(os.devnull, os.O_RDONLY)
    os.close(after)
    assert after == before


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"st_file_attributes": 0x400000}, True),  # Windows: recall on data access
        ({"st_file_attributes": 0x1000}, True),  # Windows: offline
        ({"st_file_attributes": 0x20}, False),
        ({"st_flags": 0x40000000}, True),  # macOS: dataless
        ({"st_flags": 0x20}, False),
        ({}, False),
    ],
)
def test_files_that_are_only_in_the_cloud_are_known_by_their_attributes(facts: dict[str, int], expected: bool) -> None:
    assert known.is_placeholder(SimpleNamespace(**facts)) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "left_out", "kept"),
    [
        ("*.txt", ["a.txt", "d/a.txt"], ["a.txt.x"]),
        ("/a", ["a", "a/b"], ["d/a"]),
        ("a/b", ["a/b", "a/b/c"], ["d/a/b", "a/c"]),
        ("a/", ["a/b", "d/a/b"], ["a", "d/a"]),
        ("**/a", ["a", "x/y/a"], ["ab"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/bb", "x/a/b"]),
        ("a?c", ["abc"], ["ac", "abbc"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("[!a-c]x", ["dx"], ["bx"]),
        ("[]x]y", ["]y", "xy"], ["y"]),
        ("[[:digit:]]*", ["1a"], ["a1"]),
        ("\\#a", ["#a"], ["a"]),
        ("\\!a", ["!a"], ["a"]),
        ("#a", [], ["#a", "a"]),
        ("a\\ ", ["a "], ["a"]),
        ("a   ", ["a"], ["a "]),
        ("[a", [], ["[a", "a"]),
        ("a\\", [], ["a", "a\\"]),
        ("*", ["a", "b/c"], []),
        ("*\n!*.py", ["a.txt"], ["a.py"]),
        ("*.py\n!a.py\na.py", ["a.py"], []),
        ("d/\n!d/a", ["d/a"], []),
        ("é*", ["éa"], ["e"]),
    ],
)
def test_patterns_mean_what_git_says(pattern: str, left_out: list[str], kept: list[str]) -> None:
    rules = ignore.parse(pattern)
    assert [path for path in left_out + kept if ignore.leaves_out(rules, tuple(path.split("/")))] == left_out


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
def test_random_patterns_are_judged_as_git_does(tmp_path: Path) -> None:
    chance = random.Random(7)
    folders = ["", "a/", "b/", "a/b/", "a/b/c/", "ab/", "b/a/"]
    paths = sorted(
        {d + n for d in folders for n in ("a", "b", "ab", "abc", "a.c", "b.c", ".c", "a b")}
        - {d.rstrip("/") for d in folders}
    )
    words = ["a", "b", "*", "**", "?", "*.c", "a*", "*b", "ab", "[ab]", "[!a]", "a*c", "**c", "a?c"]
    git = ["git", "-c", "core.excludesFile=", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True, capture_output=True)
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    for _ in range(60):
        lines = [
            chance.choice(["", "", "!"]) + chance.choice(["", "", "/"])
            + "/".join(chance.choices(words, k=chance.choice([1, 1, 2, 3]))) + chance.choice(["", "", "/"])
            for _ in range(chance.randint(1, 4))
        ]  # fmt: skip
        (tmp_path / ".gitignore").write_text("\n".join(lines))
        listed = subprocess.run(
            [*git, "ls-files", "-z", "--others", "--exclude-standard"], capture_output=True, check=True, text=True
        ).stdout.split("\0")
        expected = sorted(path for path in listed if path and path != ".gitignore")
        found = sorted(n for n in names(tmp_path, include_hidden=True) if n != ".gitignore")
        assert found == expected, lines


@settings(deadline=None, max_examples=60)
@given(st.text("*a?", min_size=1, max_size=40), st.integers(0, 250))
def test_no_pattern_takes_long(pattern: str, length: int) -> None:
    # With backtracking, forty stars against 250 letters would not end in the life of this universe.
    rules = ignore.parse(f"{pattern}b\n**/{'/'.join(pattern)}/b")
    assert not ignore.leaves_out(rules, ("a" * length + "c",))
    assert not ignore.leaves_out(rules, ("a",) * (length // 5) + ("c",)) or "*" in pattern


HOSTILE = {
    "many wildcards": "\n".join("*".join("a" * 5) + str(n) for n in range(20_000)),
    "many for folders": "\n".join(["?/"] * 50_000),
    "many for one folder": "\n".join(f"/a*{n}" for n in range(50_000)),
    "many steps": "**/a/" * 20_000,
    "brackets never closed": "[[:" * 80_000,
    "a long line": "a*" * 40_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_beyond_the_bounds_of_ignore_files_is_reported_and_the_rest_holds(tree: Tree, text: str) -> None:
    files = {f"{folder}/{'a' * 200}{n}.txt": "" for folder in range(12) for n in range(20)}
    ignores = {f"{folder}/.gitignore": f"*.log\n{text}\n*.{folder}\n" for folder in range(12)}
    root = tree({**files, **ignores, "3/left.log": ""})
    problems: dict[str, str] = {}
    found = list(walk.files(str(root), WalkOptions(), problems.__setitem__))
    assert sorted(os.path.relpath(each.path, root) for each in found) == sorted(files)
    assert sorted(problems) == sorted(f"{root}/{folder}/.gitignore" for folder in range(12))


def test_ignore_files_of_nested_folders_add_up_to_a_bound(tree: Tree) -> None:
    patterns = "\n".join(f"x*{n}?" for n in range(900))
    folders = ["/".join(["d"] * depth) for depth in range(1, 9)]
    root = tree({f"{folder}/.gitignore": f"{patterns}\n{len(folder)}" for folder in folders} | {"d/a.txt": ""})
    problems: dict[str, str] = {}
    assert len(list(walk.files(str(root), WalkOptions(), problems.__setitem__))) == 1
    assert set(problems.values()) == {"too many patterns in ignore files: this one is not read"}
    assert 4 <= len(problems) <= 7
