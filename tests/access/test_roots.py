"""Who may read what: every trick against path allow-lists stays outside, and tells nothing."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.access.roots import Place, Roots, parsed, shown
from smart_context.errors import BadRequest, ContextError, Forbidden, NotFound, SearchFailed
from unprivileged import NOBODY, needs_root

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths and links")


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """`in` is the root; `in-sibling` and `out` are not."""
    for name in ("in/sub/deep", "in-sibling", "out"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("in/a.txt", "in/sub/b.txt", "in-sibling/s.txt", "out/secret.txt"):
        (tmp_path / name).write_text(name)
    return tmp_path


def read(roots: Roots, path: str | Path) -> str:
    fd = roots.open_file(str(path))
    with os.fdopen(fd) as file:
        return file.read()


def failure(act: Callable[[], object]) -> tuple[str, str, str | None]:
    with pytest.raises(ContextError) as raised:
        act()
    return raised.value.code, raised.value.message, raised.value.hint


@posix
@pytest.mark.parametrize(
    "path",
    [
        "{out}/secret.txt",
        "{out}/missing.txt",
        "{out}",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        "{root}-sibling/s.txt",
        "{root}-sibling",
        "{root}/../out/secret.txt",
        "{root}/sub/../../out/secret.txt",
        "{root}/missing/../../out/secret.txt",
        "{root}/a.txt/../../out/secret.txt",
        "{root}/./..//out/secret.txt",
        "{root}/..",
        "/proc/self/root{root}/a.txt",
        "/proc/self/cwd/a.txt",
        "/dev/fd/0",
        "a.txt",
        "./a.txt",
        "../out/secret.txt",
        "~/a.txt",
        "",
        "file://{root}/a.txt",
        "%2F{root}/a.txt",
        "{root}\0/a.txt",
        "{root}/a.txt\0.png",
        "{root}/\ud800",
        "\\\\server\\share",
        "C:\\x",
        " {root}/a.txt",
    ],
)
def test_what_is_outside_is_forbidden_in_the_same_words_whatever_is_there(world: Path, path: str) -> None:
    roots = Roots([world / "in"])
    path = path.format(root=world / "in", out=world / "out")
    expected = failure(lambda: roots.open_file(str(world / "out" / "missing")))
    assert expected[0] == "FORBIDDEN"
    assert failure(lambda: roots.open_file(path)) == expected
    assert failure(lambda: roots.inside(path)) == expected


@posix
@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("in/l", "{out}/secret.txt"),
        ("in/l", "{out}/missing.txt"),
        ("in/l", "../out/secret.txt"),
        ("in/l", "../out/missing.txt"),
        ("in/sub/l", "../../out/secret.txt"),
        ("in/l", "../in-sibling/s.txt"),
        ("in/l", "/proc/self/root{root}/a.txt"),
        ("in/l", "sub/../../out/secret.txt"),
        ("in/l", "l"),
        ("in/l", "./sub/../l"),
    ],
)
def test_links_that_leave_or_go_in_circles_are_forbidden(world: Path, link: str, target: str) -> None:
    (world / link).symlink_to(target.format(root=world / "in", out=world / "out"))
    roots = Roots([world / "in"])
    expected = failure(lambda: roots.open_file("/nowhere"))
    assert failure(lambda: roots.open_file(str(world / link))) == expected
    assert failure(lambda: roots.open_file(str(world / link / "further"))) == expected


@posix
def test_a_linked_folder_that_leaves_is_forbidden_whatever_is_below(world: Path) -> None:
    (world / "in/l").symlink_to(world / "out")
    roots = Roots([world / "in"])
    for name in ("secret.txt", "missing.txt", "../in/a.txt"):
        with pytest.raises(Forbidden):
            roots.open_file(str(world / "in/l" / name))


@posix
def test_links_inside_are_followed_and_named_by_their_target(world: Path) -> None:
    (world / "in/to-file").symlink_to("sub/b.txt")
    (world / "in/to-folder").symlink_to(world / "in/sub")
    (world / "in/sub/up").symlink_to("..")
    roots = Roots([world / "in"])
    root = str(world / "in")
    for path in ("to-file", "to-folder/b.txt", "sub/up/to-folder/deep/../b.txt", "sub//./b.txt", "sub/b.txt/"):
        assert read(roots, f"{root}/{path}") == "in/sub/b.txt"
        assert roots.inside(f"{root}/{path}") == Place(root, f"{root}/sub/b.txt")


@posix
def test_a_link_from_one_root_into_another_is_inside(world: Path) -> None:
    (world / "in/l").symlink_to("../out/secret.txt")
    roots = Roots([world / "in", world / "out"])
    assert read(roots, world / "in/l") == "out/secret.txt"
    assert roots.inside(str(world / "in/l")) == Place(str(world / "out"), str(world / "out/secret.txt"))


@posix
def test_a_root_may_be_a_link_and_is_known_by_both_names(world: Path) -> None:
    (world / "link").symlink_to("in")
    roots = Roots([world / "link"])
    assert roots.names == (str(world / "link"),)
    for spelling in ("link", "in"):
        assert read(roots, world / spelling / "a.txt") == "in/a.txt"
        assert roots.inside(str(world / spelling / "a.txt")) == Place(str(world / "link"), str(world / "link/a.txt"))


def test_of_nested_roots_the_innermost_owns_a_file(world: Path) -> None:
    roots = Roots([world / "in", world / "in/sub", world / "in"])
    assert roots.names == (str(world / "in"), str(world / "in/sub"))
    assert roots.inside(str(world / "in/sub/b.txt")).root == str(world / "in/sub")
    assert roots.inside(str(world / "in/a.txt")).root == str(world / "in")
    assert read(roots, world / "in/sub/b.txt") == "in/sub/b.txt"


def test_what_is_gone_is_placed_but_not_opened(world: Path) -> None:
    roots = Roots([world / "in"])
    path = str(world / "in/gone/x.txt")
    assert roots.inside(path) == Place(str(world / "in"), path)
    with pytest.raises(NotFound):
        roots.open_file(path)
    with pytest.raises(NotFound):
        roots.open_file(str(world / "in/a.txt/below"))
    with pytest.raises(NotFound):
        roots.open_file(str(world / "in" / ("n" * 300)))


def test_a_root_that_is_not_there_stays_and_comes_back(world: Path) -> None:
    root = str(world / "share")
    roots = Roots([root])
    assert roots.state(root) == "unavailable"
    assert roots.inside(f"{root}/x.txt") == Place(root, f"{root}/x.txt")
    with pytest.raises(NotFound):
        roots.open_file(f"{root}/x.txt")
    (world / "share").mkdir()
    (world / "share/x.txt").write_text("back")
    assert roots.state(root) == "available"
    assert read(roots, f"{root}/x.txt") == "back"


def test_without_roots_everything_is_forbidden_with_a_hint(world: Path) -> None:
    code, _, hint = failure(lambda: Roots([]).open_file(str(world / "in/a.txt")))
    assert code == "FORBIDDEN"
    assert hint is not None


@posix
def test_only_regular_files_are_opened(world: Path) -> None:
    os.mkfifo(world / "in/fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(world / "in")  # the name of a socket has 100 bytes at most
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        roots = Roots([world / "in"])
        for name in ("fifo", "socket", "sub", ""):
            with pytest.raises(BadRequest):
                roots.open_file(str(world / "in" / name))
        for name in ("fifo", "socket", "a.txt"):  # on the way
            with pytest.raises(NotFound):
                roots.open_file(str(world / "in" / name / "b.txt"))


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_says_so(world: Path) -> None:
    (world / "in/a.txt").chmod(0)
    with pytest.raises(SearchFailed):
        Roots([world / "in"]).open_file(str(world / "in/a.txt"))


@posix
def test_the_whole_file_system_may_be_a_root(world: Path) -> None:
    assert read(Roots(["/"]), world / "out/secret.txt") == "out/secret.txt"
    assert read(Roots(["/"]), f"/proc/self/root{world}/out/secret.txt") == "out/secret.txt"


@posix
def test_hard_links_are_names_of_equal_right(world: Path) -> None:
    os.link(world / "out/secret.txt", world / "in/hard.txt")
    assert read(Roots([world / "in"]), world / "in/hard.txt") == "out/secret.txt"


@posix
def test_a_path_longer_than_the_system_allows_is_opened(world: Path) -> None:
    deep = "/".join(["d" * 200] * 30)
    here = os.open(world / "in", os.O_RDONLY)
    for name in deep.split("/"):
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    fd = os.open("x.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(fd, b"deep")
    os.close(fd)
    os.close(here)
    assert read(Roots([world / "in"]), f"{world}/in/{deep}/x.txt") == "deep"


@posix
@pytest.mark.parametrize("swapped", ["folder", "file"])
def test_links_swapped_in_between_never_lead_outside(world: Path, swapped: str) -> None:
    inside, evil = world / "in", world / "evil"
    (world / "out/b.txt").write_text("SECRET")
    if swapped == "folder":
        target = inside / "sub"
        evil.symlink_to(world / "out")
    else:
        target = inside / "sub/b.txt"
        evil.symlink_to(world / "out/b.txt")
    spare = world / "spare"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(target, spare)
            os.rename(evil, target)
            os.rename(target, evil)
            os.rename(spare, target)

    thread = threading.Thread(target=swap)
    thread.start()
    seen: dict[str, int] = {}
    try:
        roots = Roots([inside])
        for _ in range(3000):
            try:
                what = read(roots, inside / "sub/b.txt")
            except (Forbidden, NotFound) as error:
                what = error.code
            seen[what] = seen.get(what, 0) + 1
    finally:
        stop.set()
        thread.join()
    assert set(seen) <= {"in/sub/b.txt", "FORBIDDEN", "NOT_FOUND"}
    assert seen.get("in/sub/b.txt")


@posix
def test_no_descriptor_is_left_open(world: Path) -> None:
    (world / "in/l").symlink_to(world / "out")
    roots = Roots([world / "in"])
    before = os.open(os.devnull, os.O_RDONLY)
    os.close(before)
    for path in ("a.txt", "sub/b.txt", "l/secret.txt", "missing", "sub", "sub/../a.txt", "sub/deep/x"):
        try:
            os.close(roots.open_file(str(world / "in" / path)))
        except ContextError:
            pass
        try:
            roots.inside(str(world / "in" / path))
        except ContextError:
            pass
    after = os.open(os.devnull, os.O_RDONLY)
    os.close(after)
    assert after == before


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/a/é.txt", "/a/é.txt"),
        ("/a/new\nline", "/a/new\nline"),
        (os.fsdecode(b"/a/\xff\xfe.txt"), "/a/\\xff\\xfe.txt"),
        ("C:\\docs\\a", "C:\\docs\\a"),
        ("C:\\xff", "C:\\x5cxff"),
        ("/a/\\x41", "/a/\\x41"),
        ("/a/\\x5c", "/a/\\x5cx5c"),
    ],
)
def test_paths_are_shown_as_text_and_read_back(path: str, text: str) -> None:
    assert shown(path) == text
    assert parsed(text) == path


@given(
    st.one_of(
        st.binary(max_size=30), st.lists(st.sampled_from([b"\\", b"x", b"5c", b"\xc3", b"\xa9", b"80"])).map(b"".join)
    )
)
def test_every_name_survives_being_shown(name: bytes) -> None:
    path = os.fsdecode(name)
    shown(path).encode("utf-8")
    assert os.fsencode(parsed(shown(path))) == name


@contextmanager
def as_nobody(*places: Path) -> Iterator[None]:
    """Be a user without rights for a while, who may pass through some folders."""
    for place in places:
        for outer in place.parents:
            if outer.stat().st_uid == 0 and "pytest" in str(outer):
                outer.chmod(0o711)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@needs_root
@pytest.mark.parametrize("by_descriptor", [True, False])
def test_what_another_user_may_not_read_is_an_error_that_names_it_and_the_reason(
    world: Path, monkeypatch: pytest.MonkeyPatch, by_descriptor: bool
) -> None:
    monkeypatch.setattr("smart_context.access.roots._BY_DESCRIPTOR", by_descriptor)
    roots = Roots([world / "in"])
    (world / "in/a.txt").chmod(0o600)
    (world / "in/sub").chmod(0o700)
    with as_nobody(world / "in"):
        for path in (f"{world}/in/a.txt", f"{world}/in/sub/b.txt")[: 1 + by_descriptor]:
            code, message, _ = failure(lambda path=path: roots.open_file(path))  # type: ignore[misc]
            assert (code, message) == (SearchFailed.code, f"cannot read {path}: Permission denied")


@posix
def test_as_many_links_are_followed_as_the_kernel_follows_and_no_more(world: Path) -> None:
    roots = Roots([world / "in"])
    (world / "in/l0").symlink_to("a.txt")
    for number in range(1, 40):
        (world / f"in/l{number}").symlink_to(f"l{number - 1}")
    assert read(roots, world / "in/l38") == "in/a.txt"  # 39 links and the file
    with pytest.raises(Forbidden):
        roots.open_file(str(world / "in/l39"))


@posix
def test_a_part_of_the_roots_is_all_that_somebody_sees(world: Path) -> None:
    roots = Roots([world / "in", world / "out"])
    part = roots.within([f"{world}/in/sub/", f"{world}/nowhere"])
    assert part.names == (f"{world}/in/sub",)
    assert read(part, world / "in/sub/b.txt") == "in/sub/b.txt"
    assert read(part, world / "in/sub/deep/../b.txt") == "in/sub/b.txt"
    for path in ("in/a.txt", "in/sub/../a.txt", "in", "out/secret.txt", "in/subway"):
        with pytest.raises(Forbidden):
            part.open_file(str(world / path))
    assert roots.within([str(world)]).names == (f"{world}/in", f"{world}/out")
    assert roots.within([]).names == ()


@posix
def test_the_steps_to_a_path_begin_at_its_root(world: Path) -> None:
    (world / "name").symlink_to("in")
    roots = Roots([world / "name"])
    assert roots.steps(f"{world}/name/sub/b.txt") == (f"{world}/in", ("sub", "b.txt"))
    assert roots.steps(f"{world}/in") == (f"{world}/in", ())
    for path in (f"{world}/out", "sub", f"{world}/in\0"):
        with pytest.raises(Forbidden):
            roots.steps(path)


@posix
def test_a_system_without_descriptors_of_folders_keeps_to_the_roots_too(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smart_context.access.roots._BY_DESCRIPTOR", False)
    (world / "in/inside").symlink_to("sub/b.txt")
    (world / "in/leaves").symlink_to(world / "out")
    roots = Roots([world / "in"])
    assert read(roots, world / "in/a.txt") == "in/a.txt"
    assert read(roots, world / "in/inside") == "in/sub/b.txt"
    assert roots.inside(f"{world}/in/inside") == Place(f"{world}/in", f"{world}/in/sub/b.txt")
    assert roots.inside(f"{world}/in/absent") == Place(f"{world}/in", f"{world}/in/absent")
    outcomes = {"leaves/secret.txt": Forbidden, "sub": BadRequest, "absent": NotFound, "../out/secret.txt": Forbidden}
    for path, error in outcomes.items():
        with pytest.raises(error):
            roots.open_file(f"{world}/in/{path}")


@pytest.mark.parametrize(
    ("path", "text"),
    [("/a/\udc80\udcff", "/a/\\x80\\xff"), ("/a/\udc7f\ud800", "/a/\ufffd\ufffd"), ("/a/\udd00", "/a/\ufffd")],
)
def test_a_byte_that_is_no_text_is_shown_as_such_and_half_a_character_as_unknown(path: str, text: str) -> None:
    assert shown(path) == text


def test_bytes_that_are_a_character_together_name_it() -> None:
    assert parsed("/a/\\xc3\\xa9") == "/a/é"
    assert parsed("/a/\\xc3\ud800") == "/a/\udcc3\ud800"
