"""Reading processes: real ones, with readers that misbehave as their files tell them to."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PATIENCE
from machine import held
from smart_context.errors import InternalError, NotFound
from smart_context.index import reading
from smart_context.model import Extracted, Limits, Part, Skipped, Unit
from smart_context.sources import child, sibling, wire, worker
from smart_context.sources.wire import Answer
from smart_context.sources.worker import Done, Pool, Task

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="descriptors cannot be passed")

READER = """
import os, signal, sys, time
from smart_context.model import Extracted, Unit
from smart_context.sources.worker_child import serve

def read(data, name, limits):
    word, _, rest = bytes(data[:100]).decode().partition(" ")
    if word == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "abort":
        os.write(2, b"memory allocation of 99 bytes failed")
        os.abort()
    if word == "exit":
        os._exit(0)
    if word == "spin":
        while True: pass
    if word == "sleep":
        time.sleep(3600)
    if word == "memory":
        return [bytearray(10**8) for _ in range(1000)]
    if word == "grow":
        held = bytearray(int(rest))
        return Extracted("text", str(len(held)), ())
    if word == "turns":
        # Hold much until another process of the same parent is stopped; the mark is a folder, since no file can be written.
        held = bytearray(150_000_000)
        while not os.path.isdir(rest):
            if any(state == "T" for state in siblings()):
                os.mkdir(rest)
            time.sleep(0.02)
        return Extracted("text", str(len(held)), ())
    if word == "raise":
        raise KeyError("x")
    if word == "recurse":
        return read(data, name, limits)
    if word == "garbage":
        os.write(int(sys.argv[1]), b"\\xff" * 8 + b"not an answer" * 9)
        time.sleep(3600)
    if word == "write":
        os.write(os.open(rest, os.O_CREAT | os.O_WRONLY), b"x")
    if word == "fork":
        os.fork()
    if word == "noise":
        for _ in range(1000): os.write(2, b"n" * 10_000)
    if word == "dies":
        # Ended from outside, once: the mark is a folder, since no file can be written.
        try: os.mkdir(rest)
        except FileExistsError: pass
        else: os.kill(os.getpid(), signal.SIGKILL)
    if word == "long":
        return Extracted("text", "", (Unit((), "é" * int(rest)),))
    if word == "pid":
        return Extracted("text", str(os.getpid()), ())
    return Extracted("text", name, (Unit((), bytes(data[:100]).decode()),))

def siblings():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getppid():
            yield state

def main(args):
    serve(args, read)
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """The command line of a reading process whose reader obeys its files."""
    (tmp_path / "obedient.py").write_text(READER)
    before = sys.path[:]
    sys.path.append(str(tmp_path))
    try:
        return child.command("obedient")
    finally:
        sys.path[:] = before


def task(path: Path, want: str = "extract") -> Task:
    return Task(str(path), str(path), lambda: os.open(path, os.O_RDONLY), "hash" if want == "hash" else "extract")


def lay_out(folder: Path, contents: list[str]) -> list[Path]:
    paths = [folder / f"{at:03}.txt" for at in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content)
    return paths


def read_all(command: list[str], paths: list[Path], limits: Limits | None = None, **how: float) -> dict[str, Done]:
    # Without the jail, in which these readers could do nothing of what they try.
    with Pool(limits or Limits(cpu_seconds=1), 2, jail="off", start_with=command, **how) as pool:
        done = list(pool.run(task(path) for path in paths))
    assert len(done) == len(paths)
    return {str(each.key): each for each in done}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("segfault", "crashed"),
        ("exit", "crashed"),
        ("abort", "too much memory"),
        ("memory", "too much memory"),
        ("spin", "took too long"),
        ("sleep", "took too long"),
        ("raise", "cannot be parsed"),
        ("recurse", "nested too deep"),
        ("garbage", "crashed"),
        ("long 3000", "too much text"),
    ],
)
def test_a_bad_file_costs_that_file_and_no_other(tmp_path: Path, command: list[str], content: str, reason: str) -> None:
    paths = lay_out(tmp_path, ["a", "b", content, "c", "d", "e", "f"])
    limits = Limits(cpu_seconds=1, max_text_chars=2000, memory_bytes=1 << 29)
    done = read_all(command, paths, limits, stall_seconds=2.0 if content == "sleep" else 60.0)
    got = [each.outcome for _, each in sorted(done.items())]
    bad = got.pop(2)
    assert isinstance(bad, Skipped)
    assert bad.reason == reason
    assert [each.units[0].text for each in got if isinstance(each, Extracted)] == ["a", "b", "c", "d", "e", "f"]


def test_a_done_carries_the_hash_and_the_facts_of_the_opened_file(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["hello"])
    info = path.stat()
    done = read_all(command, [path])[str(path)]
    outcome = Extracted("text", "000.txt", (Unit((), "hello"),))
    assert done == Done(str(path), outcome, hashlib.sha256(b"hello").hexdigest(), 5, info.st_mtime_ns)


def test_only_the_hash_is_taken_when_only_that_is_wanted(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["segfault"])
    with Pool(Limits(), 1, start_with=command) as pool:
        (done,) = pool.run([task(path, "hash")])
    assert (done.outcome, done.sha256) == (None, hashlib.sha256(b"segfault").hexdigest())


def test_a_file_that_cannot_be_opened_is_skipped(tmp_path: Path, command: list[str]) -> None:
    def gone() -> int:
        raise NotFound("no such file")

    missing = tmp_path / "missing"
    tasks = [Task(1, "a", gone), Task(2, "b", lambda: os.open(missing, os.O_RDONLY))]
    with Pool(Limits(), 1, start_with=command) as pool:
        assert list(pool.run(tasks)) == [
            Done(1, Skipped("", "cannot be opened", "no such file"), "", 0, 0),
            Done(2, Skipped("", "cannot be opened", "No such file or directory"), "", 0, 0),
        ]


def test_a_file_over_the_size_limit_is_not_read(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    done = read_all(command, [path])[str(path)]
    assert (done.outcome, done.sha256, done.size) == (Skipped("", "too large", "1,073,741,824 bytes"), "", 1 << 30)


def test_a_process_cannot_write_files(tmp_path: Path, command: list[str]) -> None:
    target = tmp_path / "written"
    (path,) = lay_out(tmp_path, [f"write {target}"])
    assert read_all(command, [path])[str(path)].outcome == Skipped("text", "cannot be parsed", "OSError")
    assert target.stat().st_size == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root is not bound by the number of processes")
def test_a_process_cannot_start_processes(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["fork"])
    assert read_all(command, [path])[str(path)].outcome == Skipped("text", "cannot be parsed", "BlockingIOError")


def test_a_process_that_talks_is_not_waited_for(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["noise"])
    assert read_all(command, [path])[str(path)].outcome == Skipped("text", "cannot be parsed", "BlockingIOError")


def test_a_process_killed_from_outside_gets_its_file_read_again(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, [f"dies {tmp_path / 'mark'}"])
    assert isinstance(read_all(command, [path])[str(path)].outcome, Extracted)


def test_a_file_that_always_gets_its_process_killed_is_given_up(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, [f"dies {tmp_path / 'missing' / 'mark'}"])
    outcome = read_all(command, [path])[str(path)].outcome
    assert isinstance(outcome, Skipped)


def test_a_mapped_file_that_shrinks_while_read_is_reported_as_changed(tmp_path: Path) -> None:
    # Real bytes through a real map: the reader cuts the file it is reading, then looks behind the cut.
    script = READER.replace(
        'if word == "segfault":',
        'if word == "cut":\n        os.truncate(rest.strip(), 10); bytes(data[-9:])\n    if 0:',
    )
    (tmp_path / "cutter.py").write_text(script)
    sys.path.append(str(tmp_path))
    try:
        command = child.command("cutter")
    finally:
        sys.path.remove(str(tmp_path))
    path = tmp_path / "large"
    path.write_bytes(f"cut {path}".encode().ljust(100) + bytes(20_000_000))
    outcome = read_all(command, [path])[str(path)].outcome
    assert outcome == Skipped("", "changed while being read")


def test_a_file_that_grows_while_read_is_read_as_it_was(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["start"])
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab") as file:
            while not stop.is_set():
                file.write(b".")
                file.flush()

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        done = read_all(command, [path])[str(path)]
    finally:
        stop.set()
        thread.join()
    assert isinstance(done.outcome, Extracted)
    assert done.sha256 == hashlib.sha256(path.read_bytes()[: done.size]).hexdigest()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is looked up in /proc")
def test_processes_that_grow_together_take_turns_and_all_finish(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_MUCH_MEMORY", 150_000_000)
    monkeypatch.setattr(worker, "_MEMORY_EACH", 0)
    paths = lay_out(tmp_path, ["grow 120000000"] * 8)
    done = read_all(command, paths)
    assert [each.outcome for each in done.values()] == [Extracted("text", "120000000", ())] * 8


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is looked up in /proc")
def test_while_all_together_hold_much_only_the_largest_goes_on(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_MUCH_MEMORY", 200_000_000)
    monkeypatch.setattr(worker, "_MEMORY_EACH", 0)
    paths = lay_out(tmp_path, [f"turns {tmp_path / 'stopped'}"] * 2)
    done = read_all(command, paths, Limits(cpu_seconds=3))
    assert [each.outcome for each in done.values()] == [Extracted("text", "150000000", ())] * 2


def test_a_long_answer_arrives_whole(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["long 5000000"])
    outcome = read_all(command, [path])[str(path)].outcome
    assert isinstance(outcome, Extracted)
    assert outcome.units[0].text == "é" * 5_000_000


def test_processes_can_be_started_before_there_is_a_file_for_them(tmp_path: Path, command: list[str]) -> None:
    paths = lay_out(tmp_path, ["pid"] * 4)
    with Pool(Limits(), 2, start_with=command) as pool:
        pool.begin()
        begun = list(pool._children)
        titles = {d.outcome.title for d in pool.run(map(task, paths)) if isinstance(d.outcome, Extracted)}
        assert titles <= {str(child._process.pid) for child in begun}
    assert len(begun) == 2


def children() -> set[int]:
    return {int(pid) for each in Path("/proc/self/task").iterdir() for pid in (each / "children").read_text().split()}


def known_of(pid: int) -> tuple[list[str], str, str, int, bool]:
    """What the system says of a process: how it is confined, what it has open, whose child it is, and whether its session is its own."""
    there = Path("/proc", str(pid))
    wanted = ("PPid", "NoNewPrivs", "Seccomp", "Seccomp_filters", "CapEff", "Threads", "SigIgn", "SigCgt")
    status = [line for line in (there / "status").read_text().splitlines() if line.split(":")[0] in wanted]
    return (
        status,
        (there / "limits").read_text(),
        os.readlink(there / "cwd"),
        len(list((there / "fd").iterdir())),
        os.getsid(pid) == pid,
    )


@pytest.mark.skipif(not sibling.is_possible(), reason="processes are forked on Linux alone")
def test_a_process_that_another_one_forks_is_confined_and_a_child_of_ours_as_if_it_was_started(tmp_path: Path) -> None:
    paths = lay_out(tmp_path, ["x"] * 4)
    command = reading.started_with(reading.Preparing(2000))
    # Granted for each file anew, by what the process holds already.
    moving = ("Max cpu time", "Max address space")
    with Pool(Limits(), 2, start_with=command) as pool:
        list(pool.run(map(task, paths)))
        started, forked = pool._children
        assert started.layers == forked.layers
        found = [known_of(each._process.pid) for each in (started, forked)]
        limits = [[line for line in one[1].splitlines() if not line.startswith(moving)] for one in found]
        assert (found[0][0], limits[0], *found[0][2:]) == (found[1][0], limits[1], *found[1][2:])
        assert found[0][-1]
        assert f"PPid:\t{os.getpid()}" in found[1][0]


@pytest.mark.skipif(not sibling.is_possible(), reason="processes are forked on Linux alone")
def test_a_process_that_cannot_fork_the_others_leaves_it_to_us_to_start_them(tmp_path: Path) -> None:
    # One that has two threads: of these a fork has one.
    (tmp_path / "threaded.py").write_text(
        READER.replace(
            "def main(args):\n",
            "def main(args):\n    import threading\n    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n",
        )
    )
    sys.path.append(str(tmp_path))
    try:
        command = child.command("threaded")
    finally:
        sys.path.remove(str(tmp_path))
    words = [f"word {number}" for number in range(40)]
    paths = lay_out(tmp_path, [*words, "segfault"])
    done = [each.outcome for _, each in sorted(read_all(command, paths).items())]
    assert [each.units[0].text for each in done if isinstance(each, Extracted)] == words
    assert done[-1] == Skipped("", "crashed", "signal 11")


@pytest.mark.skipif(not sibling.is_possible(), reason="processes are forked on Linux alone")
def test_processes_that_are_ended_before_they_are_forked_leave_nothing(tmp_path: Path, command: list[str]) -> None:
    slow = [*command[:-1], f"import time; time.sleep(0.05); {command[-1]}"]
    before = children(), len(held("pipe:")), len(held("socket:"))
    for start in (command, slow):
        with Pool(Limits(), 3, start_with=start) as pool:
            pool.begin()
        with Pool(Limits(), 3, start_with=start) as pool:
            pool.begin()
            for each in reversed(pool._children[1:]):
                pool._end(each)
    assert (children(), len(held("pipe:")), len(held("socket:"))) == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is looked up in /proc")
def test_a_process_that_held_much_for_a_while_and_holds_little_now_is_kept(tmp_path: Path, command: list[str]) -> None:
    paths = lay_out(tmp_path, ["pid", "grow 200000000", "pid"])
    with Pool(Limits(), 1, start_with=command) as pool:
        outcomes = [d.outcome for d in pool.run(map(task, paths))]
    assert outcomes[0] == outcomes[2]
    assert isinstance(outcomes[0], Extracted)


def test_processes_are_kept_between_files_and_runs(tmp_path: Path, command: list[str]) -> None:
    paths = lay_out(tmp_path, ["pid"] * 50)
    with Pool(Limits(), 2, start_with=command) as pool:
        titles = {
            d.outcome.title for _ in range(2) for d in pool.run(map(task, paths)) if isinstance(d.outcome, Extracted)
        }
    assert len(titles) <= 2


LARGE_PARENT = """
import os, sys
held = bytearray(700 * 1024 * 1024)
held[::4096] = b"x" * len(held[::4096])
from smart_context.model import Limits
from smart_context.sources.worker import Pool, Task
path, command = sys.argv[1], sys.argv[2:]
with Pool(Limits(), 1, start_with=command) as pool:
    tasks = [Task(i, path, lambda: os.open(path, os.O_RDONLY)) for i in range(5)]
    print(len({done.outcome.title for done in pool.run(tasks)}))
"""


def test_a_large_parent_keeps_its_processes_too(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["pid"])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = [sys.executable, "-c", LARGE_PARENT, path, *command]
    assert subprocess.run(script, env=env, capture_output=True, check=True).stdout == b"1\n"


def test_tasks_are_taken_as_they_are_needed(tmp_path: Path, command: list[str]) -> None:
    (path,) = lay_out(tmp_path, ["x"])
    taken = 0

    def endless() -> Iterator[Task]:
        nonlocal taken
        while True:
            taken += 1
            yield task(path)

    with Pool(Limits(), 2, start_with=command) as pool:
        run = pool.run(endless())
        for _ in range(20):
            next(run)
        run.close()  # type: ignore[attr-defined]
    assert taken <= 20 + 3 * (worker._AHEAD + 1)  # in each process, and answered by one


def test_a_process_has_its_next_files_before_the_answers_to_the_last_are_taken(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "a").write_text("hello")
    count, opened = 3 * worker._AHEAD, 0

    def tasks() -> Iterator[Task]:
        nonlocal opened
        for number in range(count):
            opened = number + 1
            yield Task(number, "a", lambda: os.open(tmp_path / "a", os.O_RDONLY))

    with Pool(Limits(), 1, start_with=command) as pool:
        for taken, _ in enumerate(pool.run(tasks()), start=1):
            assert opened >= min(count, taken + worker._AHEAD)


def busy_caller(pool: Pool, paths: list[Path], until: int = -1) -> list[Done]:
    """Read files, with a caller that is busy after the first ones until a certain file is opened, the last by default."""
    is_open = threading.Event()

    def opened(path: Path) -> int:
        if path == paths[until]:
            is_open.set()
        return os.open(path, os.O_RDONLY)

    run = pool.run(Task(str(path), str(path), lambda path=path: opened(path)) for path in paths)  # type: ignore[misc]
    done = [next(run)]
    pool.stock()
    while not pool.is_stocked:
        done.append(next(run))
    with pool.meanwhile():
        assert is_open.wait(PATIENCE)
    return [*done, *run]


def test_processes_go_on_with_files_in_stock_while_the_caller_is_busy(tmp_path: Path, command: list[str]) -> None:
    paths = lay_out(tmp_path, ["long 10000", "x", "long 300000"] * worker._AHEAD)
    with Pool(Limits(), 2, start_with=command) as pool:
        plain = [(each.key, each.outcome) for each in pool.run(map(task, paths))]
        busy = [(each.key, each.outcome) for each in busy_caller(pool, paths)]
    assert sorted(busy, key=str) == sorted(plain, key=str)


def test_processes_wait_when_much_is_to_be_decoded(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = lay_out(tmp_path, ["long 100000"] * 4 * worker._AHEAD)
    monkeypatch.setattr(worker, "_TAKEN_IN", 1)
    with Pool(Limits(), 1, start_with=command) as pool:
        done = busy_caller(pool, paths, until=0)
    assert [each.key for each in done] == list(map(str, paths))


def test_what_happens_to_files_in_stock_costs_each_of_them_only_itself(tmp_path: Path, command: list[str]) -> None:
    paths = lay_out(tmp_path, ["x"] * 20 + ["segfault"] + ["x"] * 20 + ["gone"] + ["x"] * 20 + ["exit", "x"])
    paths[41].unlink()
    with Pool(Limits(), 2, jail="off", start_with=command) as pool:
        done = busy_caller(
            pool, paths, until=45
        )  # so many can be opened by the process that is left, whichever that is
    assert sorted(str(each.key) for each in done) == list(map(str, paths))
    bad = {Path(str(each.key)).name: each.outcome.reason for each in done if isinstance(each.outcome, Skipped)}
    assert bad == {"020.txt": "crashed", "041.txt": "cannot be opened", "062.txt": "crashed"}


def test_stop_ends_a_run_and_the_pool_works_on(tmp_path: Path, command: list[str]) -> None:
    sleeping, fine = lay_out(tmp_path, ["sleep", "x"])

    def stop() -> None:
        raise TimeoutError

    with Pool(Limits(), 1, start_with=command) as pool:
        with pytest.raises(TimeoutError):
            list(pool.run([task(sleeping)], stop))
        (done,) = pool.run([task(fine)])
        assert isinstance(done.outcome, Extracted)


def test_a_process_that_does_not_start_is_our_fault_and_says_why(tmp_path: Path) -> None:
    (path,) = lay_out(tmp_path, ["x"])
    command = [sys.executable, "-c", "raise SystemExit('no readers')"]
    with Pool(Limits(), 1, start_with=command) as pool, pytest.raises(InternalError) as raised:
        list(pool.run([task(path)]))
    assert raised.value.reason == "no readers"


def test_descriptors_are_not_lost(tmp_path: Path, command: list[str]) -> None:
    paths = lay_out(tmp_path, ["a", "segfault", "b", "exit"])
    read_all(command, paths)
    kinds = ("pipe:", "socket:", "anon_inode:", str(tmp_path))
    before = [len(held(kind)) for kind in kinds]
    read_all(command, paths)
    after = [len(held(kind)) for kind in kinds]
    assert all(now <= then for now, then in zip(after, before, strict=True))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("content", ["spin", "sleep"])
def test_a_killed_parent_leaves_no_process(tmp_path: Path, command: list[str], content: str) -> None:
    lay_out(tmp_path, ["pid", "pid", content, content])
    script = textwrap.dedent(f"""
        import os, sys
        from pathlib import Path
        from smart_context.model import Limits
        from smart_context.sources.worker import Pool, Task
        paths = sorted(map(str, Path({str(tmp_path)!r}).glob("*.txt")))
        with Pool(Limits(), 2, start_with={command!r}) as pool:
            for done in pool.run(Task(p, p, lambda p=p: os.open(p, 0)) for p in paths):
                print(done.outcome.title, flush=True)
    """)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=env)
    assert parent.stdout
    watches = [os.pidfd_open(number) for number in {int(parent.stdout.readline()) for _ in range(2)}]
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    import select

    for watch in watches:
        assert select.select([watch], [], [], PATIENCE)[0], "a reading process outlived its parent"
        os.close(watch)


def test_answers_cross_the_wire_unchanged() -> None:
    units = (
        Unit((Part("entry", "a'b"), Part("sheet", "Q2", 2), Part("rows", first=1, last=9)), "x\ny\n", "H", "rows", 7),
        Unit((), "日本 \U0001f600"),
        Unit((Part("page", first=3),), "", certainty=87),
    )
    for outcome in (
        Extracted("pdf", "Title", units, ("one", "two"), "Ann", "2024-03-31", 4),
        Skipped("zip", "damaged", "why"),
        None,
    ):
        answer = Answer(outcome, "ab", is_last=True)
        _, meta, body = wire.encode(answer)
        assert wire.decode(meta, body) == answer


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    _, meta, body = wire.encode(Answer(Extracted("text", "a\ud800", (Unit((), "b\udcffc"),)), ""))
    outcome = wire.decode(meta, body).outcome
    assert outcome == Extracted("text", "a?", (Unit((), "b?c"),))


@pytest.mark.parametrize(
    ("meta", "body"),
    [
        (b"", b""),
        (b"[]", b""),
        (b'{"file":[""]}', b""),
        (b'{"file":[0,false]}', b""),
        (b'{"file":["",0],"got":["text","",[],[[[],"",null,1,5,null]],"","",0]}', b"abc"),
        (b'{"file":["",0],"got":["text","",[],[[[],"",null,1,-1,null]],"","",0]}', b""),
        (b'{"file":["",0],"got":["text","",[],[[[],"","pages",1,0,null]],"","",0]}', b""),
        (b'{"file":["",0],"got":["text","",[],[[[["page"]],"",null,1,0,null]],"","",0]}', b""),
        (b'{"file":["",0],"got":["text","",[],[],"","",0]}', b"left over"),
        (b'{"file":["",0],"got":["text","",[],[],"","",0]}', b"\xff"),
        (b'{"file":["",0],"got":["text","",[],[],"","yesterday",0]}', b""),
        (b'{"file":["",0],"got":["text","",[],[],7,"",0]}', b""),
        (b'{"file":["",0],"got":["text","",[],[],"' + b"a" * 1001 + b'","",0]}', b""),
        (b'{"file":["",0],"got":["text","",[],[],"","",-1]}', b""),
        (b'{"file":["",0],"got":["text","",[],[[[],"",null,1,0,101]],"","",0]}', b""),
        (b'{"file":["",0],"skipped":[1,2,3]}', b""),
        (b"[" * 100_000, b""),
    ],
)
def test_what_is_no_answer_is_garbled(meta: bytes, body: bytes) -> None:
    with pytest.raises(wire.Garbled):
        wire.decode(meta, body)
