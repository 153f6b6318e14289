"""Which files of a folder are as they were recorded: the same compiled and in Python."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from compiled import both
from conftest import Tree
from smart_context.sources import known

TELLING = frozenset({".gitignore", "CVS", "Größe"})


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    fd = os.open(folder, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def rows(folder: Path) -> list[known.Stamp]:
    """What a record would hold of the regular files of a folder."""
    with os.scandir(os.fsencode(folder)) as entries:
        found = [(e.path, e.inode(), e.stat(follow_symlinks=False)) for e in entries if not e.is_dir()]
    return [(path, inode, info.st_size, info.st_mtime_ns) for path, inode, info in found if stat.S_ISREG(info.st_mode)]


def told(files: known.Known, folder: Path) -> tuple[object, ...]:
    with opened(folder) as fd:
        met, entries, telling, is_odd = files.listed(fd, str(folder))
    return met, sorted(entries), telling, is_odd


def test_a_listing_says_what_was_met_what_is_left_and_which_names_tell_something(tree: Tree) -> None:
    root = tree({"a.txt": "1", "b.txt": "2", ".gitignore": "", "Größe/c.txt": "3", "CVS": "", "CVS2": ""})
    first = [row for row in rows(root) if row[0].endswith((b"a.txt", b"CVS"))]

    def work() -> tuple[object, ...]:
        files = known.of(first, TELLING)
        heard = told(files, root)
        return heard, sorted(files.met()), len(files), files.left()

    quickly, slowly = both(work, known)
    assert quickly == slowly
    left = [(".gitignore", False), ("CVS2", False), ("Größe", True), ("b.txt", False)]
    assert quickly == ((2, left, set(TELLING), True), ["CVS", "a.txt"], 0, [])


@pytest.mark.parametrize(
    ("name", "is_odd"), [("~$a", True), (".a", True), ("~a", False), ("a.~", False), ("$~", False)]
)
def test_names_of_hidden_files_and_of_what_office_programs_leave_are_odd(tree: Tree, name: str, is_odd: bool) -> None:
    root = tree({name: ""})
    quickly, slowly = both(lambda: told(known.of(rows(root)), root), known)
    assert quickly == slowly == (1, [], set(), is_odd)


def test_files_can_be_put_back_and_taken(tree: Tree) -> None:
    root = tree(dict.fromkeys(("a", "b", "c", "d"), "text"))
    every = rows(root)
    numbers = {os.fsdecode(row[0]): row[1:] for row in every}

    def work() -> list[object]:
        files = known.of(every)
        steps: list[object] = [told(files, root), files.put_back({"b", "c", "other"}), sorted(files.met())]
        steps += [sorted(files.left()), files.take(str(root / "b")), files.take(str(root / "b")), files.take("/no")]
        steps += [files.take(str(root / "a")), len(files), files.put_back(), sorted(files.left()), files.met()]
        return [*steps, told(files, root), len(files)]

    quickly, slowly = both(work, known)
    assert quickly == slowly
    a, b, c, d = (str(root / name) for name in "abcd")
    assert quickly[1:] == [
        2, ["a", "d"], [(b, numbers[b][0]), (c, numbers[c][0])], numbers[b], None, None,
        None, 1, 0, [(a, numbers[a][0]), (c, numbers[c][0]), (d, numbers[d][0])], [],
        (3, [("b", False)], set(), False), 0,
    ]  # fmt: skip


def test_of_two_rows_for_one_file_the_last_counts(tree: Tree) -> None:
    root = tree({"a": "text"})
    path, _, size, time = rows(root)[0]

    def work() -> tuple[object, ...]:
        files = known.of([(path, 1, size, time), (path, 2, 0, 0)])
        return len(files), told(files, root), files.left()

    quickly, slowly = both(work, known)
    assert quickly == slowly == (1, (0, [("a", False)], set(), False), [(str(root / "a"), 2)])


@pytest.mark.parametrize("places", ["here", "memory"])
def test_times_that_a_record_cannot_hold_are_the_last_or_first_that_it_can(tmp_path: Path, places: str) -> None:
    most = 2**63 - 1
    times = [0, 1, -1, -1_500_000_000, most - 1, most, most + 1, most + 10**9, 2 * most, -most - 1, -most, -2 * most]
    # A file system keeps the times that it can; the one in memory keeps more of them.
    memory = Path("/dev/shm") if os.path.isdir("/dev/shm") else tmp_path
    with TemporaryDirectory(dir=memory if places == "memory" else tmp_path) as folder:
        for number, time in enumerate(times):
            path = os.path.join(folder, str(number))
            Path(path).touch()
            with suppress(OSError):
                os.utime(path, ns=(time, time))
        every = [(*row[:3], max(-most, min(row[3], most))) for row in rows(Path(folder))]

        def work() -> tuple[object, ...]:
            files = known.of(every, TELLING)
            return told(files, Path(folder)), files.left()

        quickly, slowly = both(work, known)
    assert quickly == slowly == ((len(times), [], set(), False), [])


@pytest.mark.parametrize("seed", range(6))
def test_random_folders_are_listed_the_same_compiled_and_in_python(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    letters = [b"a", b"b", b".", b"~$", b"\xff", b"\n", b" ", "ö".encode(), "雪".encode()]
    names = {b"".join(draw.choices(letters, k=draw.randrange(1, 9))) for _ in range(draw.choice((3, 60, 2500)))}
    for name in sorted(names - {b".", b".."}):
        path = os.path.join(os.fsencode(tmp_path), name)
        match draw.randrange(12):
            case 0:
                os.mkdir(path)
            case 1:
                os.symlink(b"somewhere", path)
            case 2:
                os.mkfifo(path)
            case _:
                with open(path, "wb") as file:
                    file.write(b"x" * draw.randrange(3))
    every = [
        (path, number, size + draw.choice((0, 0, 0, 1)), time + draw.choice((0, 0, 0, -1)))
        for path, number, size, time in rows(tmp_path)
        if draw.random() < 0.8
    ]

    def work() -> tuple[object, ...]:
        files = known.of(every, TELLING)
        heard = told(files, tmp_path)
        met = sorted(files.met())
        return heard, met, files.put_back(set(met[::3])), sorted(files.left())

    quickly, slowly = both(work, known)
    assert quickly == slowly


def test_what_cannot_be_listed_is_told_by_an_error_and_nothing_of_it_is_met(tree: Tree) -> None:
    root = tree({"a": "text"})
    every = rows(root)

    def work() -> tuple[object, ...]:
        files = known.of(every)
        told(files, root)
        with open(root / "a", "rb") as file, pytest.raises(NotADirectoryError):
            files.listed(file.fileno(), str(root))
        return files.met(), len(files)

    quickly, slowly = both(work, known)
    assert quickly == slowly == ([], 0)


def test_what_is_open_is_known_by_its_device_and_number(tmp_path: Path) -> None:
    with opened(tmp_path) as fd:
        quickly, slowly = both(lambda: known.identity(fd), known)
        info = os.fstat(fd)
    assert quickly == slowly == (info.st_dev, info.st_ino)
    with pytest.raises(OSError, match="descriptor"):
        known.identity(fd)


def test_a_folder_at_the_top_of_all_is_known_as_others_are() -> None:
    def work() -> tuple[object, ...]:
        files = known.of([(b"/a", 7, 0, 0)])
        with opened(Path("/")) as fd:
            files.listed(fd, "")
        return files.take("/a"), len(files)

    quickly, slowly = both(work, known)
    assert quickly == slowly == ((7, 0, 0), 0)


@pytest.mark.skipif(not known.compiled, reason="it is not compiled here")
@pytest.mark.parametrize(
    ("row", "error"),
    [
        ([b"/a", 1, 2, 3], TypeError),
        ((b"/a", 1, 2), TypeError),
        (("/a", 1, 2, 3), TypeError),
        ((b"/a", 1, "2", 3), TypeError),
        ((b"/a", 1, 2, 1 << 70), OverflowError),
        ((b"a", 1, 2, 3), ValueError),
    ],
)
def test_what_no_record_holds_is_refused(row: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        known.compiled.Known([(b"/b", 1, 2, 3), row], frozenset())  # type: ignore[list-item]
    with pytest.raises(TypeError):
        known.compiled.Known(1, frozenset())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        known.compiled.Known([], {"a"})  # type: ignore[arg-type]
    files = known.compiled.Known([], frozenset())
    with pytest.raises(ValueError, match="slash"):
        files.take("a")
