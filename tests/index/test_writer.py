"""The process that writes for a server: it answers as a run in this process would, and nobody outlives anybody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smart_context import engine, errors
from smart_context.access.roots import Roots
from smart_context.engine.local import lock
from smart_context.engine.local.index import Index
from smart_context.engine.local.lock import WriteLock
from smart_context.index import indexer, writer
from smart_context.index.indexer import Options
from smart_context.model import Progress
from smart_context.sources.walk import WalkOptions

OPTIONS = Options(WalkOptions(exclude=("*.log",)), workers=1)

# A server that has a folder indexed and says who writes.
SERVER = """
import sys
from pathlib import Path
from smart_context.access.roots import Roots
from smart_context import engine
from smart_context.engine.local import lock
from smart_context.index import indexer, writer
data, root = sys.argv[1:]
def tell(step):
    print(lock.holder(Path(data)).split()[1], flush=True)
writer.index(engine.at(data), Roots([root]), root, indexer.Options(), full=False, on_progress=tell, stop=lambda: None)
"""


def write(data: Path, root: Path, *, full=False, on_progress=lambda _step: None, stop=lambda: None):
    return writer.index(
        engine.at(data), Roots([root]), str(root), OPTIONS, full=full, on_progress=on_progress, stop=stop
    )


def many(tree, count=300):
    return tree({f"{number:04}.md": f"# Note {number}\n\n{'word ' * 200}" for number in range(count)})


def writer_of(data: Path) -> int:
    return int(lock.holder(data).split()[1])


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_reports_what_a_run_in_this_process_would(tree, tmp_path):
    root = tree({"a.md": "# Alpha\n\ntext", "b.txt": "beta", "c.docx": b"PK\x03\x04 broken", "d.log": "left out"})
    told = write(tmp_path / "data", root)
    with Index.open(tmp_path / "other", writable=True) as index:
        here = indexer.run(index, Roots([root]), str(root), OPTIONS)
    assert (told.indexed, told.failed, told.kinds, told.problems) == (
        here.indexed,
        here.failed,
        here.kinds,
        here.problems,
    )
    with Index.open(tmp_path / "data") as index:
        assert index.record.file(str(root / "a.md")).state == "ok"
        assert index.record.file(str(root / "d.log")) is None


def test_unchanged_files_are_skipped_and_full_reads_them_anew(tree, tmp_path):
    root = tree({"a.md": "alpha", "b.md": "beta"})
    write(tmp_path / "data", root)
    assert write(tmp_path / "data", root).skipped == 2
    assert write(tmp_path / "data", root, full=True).indexed == 2


def test_names_that_are_not_text_survive_the_way_there_and_back(tmp_path):
    root = os.path.join(os.fsencode(tmp_path), b"r\xff")
    os.mkdir(root)
    Path(os.fsdecode(root), "a.md").write_text("alpha")
    seen: list[Progress] = []
    told = write(tmp_path / "data", Path(os.fsdecode(root)), on_progress=seen.append)
    assert told.indexed == 1
    assert any("r\udcff" in step.what for step in seen)


def test_the_last_step_is_the_whole(tree, tmp_path):
    seen: list[Progress] = []
    write(tmp_path / "data", many(tree, 50), on_progress=seen.append)
    assert (seen[-1].done, seen[-1].total) == (50, 50)


def test_what_a_run_raises_comes_here(tree, tmp_path):
    root = tree({"inner/a.md": "alpha"})
    with pytest.raises(errors.NotFound, match="cannot look into") as caught:
        writer.index(
            engine.at(tmp_path / "data"),
            Roots([root]),
            str(root / "absent"),
            OPTIONS,
            full=False,
            on_progress=lambda _step: None,
            stop=lambda: None,
        )
    assert "mount or restore" in caught.value.hint
    held = WriteLock.take(tmp_path / "data")
    with pytest.raises(errors.Conflict, match=f"process {os.getpid()}"):
        write(tmp_path / "data", root)
    held.close()


def test_roots_mean_what_they_meant_when_the_server_started(tree, tmp_path):
    root = tree({"a.md": "alpha"})
    link = tmp_path / "link"
    link.symlink_to(root)
    roots = Roots([link])
    link.unlink()
    link.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.md").write_text("not ours")
    there = Roots.as_resolved(roots.resolved)
    os.close(there.open_file(str(link / "a.md")))
    with pytest.raises(errors.NotFound):
        there.open_file(str(link / "secret.md"))


def test_it_rests_while_others_wait_and_comes_to_its_end_all_the_same(tree, tmp_path):
    asked: list[int] = []

    def is_busy():
        asked.append(1)
        return True

    told = writer.index(
        engine.at(tmp_path / "data"),
        Roots([root := many(tree)]),
        str(root),
        OPTIONS,
        full=False,
        on_progress=lambda _step: None,
        stop=lambda: None,
        is_busy=is_busy,
    )
    assert told.indexed == 300
    assert asked


def test_a_machine_without_room_for_the_process_is_told_of():
    program = (
        "import os, resource\n"
        "from smart_context import errors\n"
        "from smart_context.index import writer\n"
        "free = os.open(os.devnull, os.O_RDONLY); os.close(free)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, free + 1))\n"
        "try: writer._started()\n"
        "except errors.SearchFailed as error: print(error.message, error.reason)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env)
    assert done.stdout == "cannot start the process that writes the index Too many open files\n"


class Enough(Exception):
    pass


def test_stopping_commits_what_was_read_and_leaves_nobody(tree, tmp_path):
    root = many(tree)
    pids: list[int] = []

    def stop():
        if pids:
            raise Enough

    def look(step):
        if step.done:
            pids.append(writer_of(tmp_path / "data"))

    with pytest.raises(Enough):
        write(tmp_path / "data", root, on_progress=look, stop=stop)
    assert not is_alive(pids[0])
    assert lock.holder(tmp_path / "data") == ""
    with Index.open(tmp_path / "data") as index:
        assert 0 < len(index.record.file_ids()) < 300
        assert index.ranking.file_ids() == index.record.file_ids()
    rest = write(tmp_path / "data", root)
    assert rest.skipped > 0
    assert rest.skipped + rest.indexed == 300


def test_a_writer_that_is_killed_is_told_of_and_the_next_goes_on(tree, tmp_path):
    root = many(tree)

    def kill(step):
        if step.done:
            os.kill(writer_of(tmp_path / "data"), signal.SIGKILL)

    with pytest.raises(errors.SearchFailed, match="signal 9") as caught:
        write(tmp_path / "data", root, on_progress=kill)
    assert "again" in caught.value.hint
    assert write(tmp_path / "data", root).indexed > 0
    with Index.open(tmp_path / "data") as index:
        assert len(index.record.file_ids()) == 300


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes in /proc")
def test_it_ends_with_its_server_however_that_ends(tree, tmp_path):
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, tmp_path / "data", many(tree, 2000)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert server.stdout
    pid = int(server.stdout.readline())
    assert is_alive(pid)
    server.kill()
    server.communicate()
    while is_alive(pid) or lock.holder(tmp_path / "data"):  # the lock goes with the last of its threads
        time.sleep(0.01)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes in /proc")
def test_it_steps_back_for_everybody_else(tree, tmp_path):
    seen: list[int] = []

    def look(_step):
        if who := lock.holder(tmp_path / "data"):
            seen.append(os.getpriority(os.PRIO_PROCESS, int(who.split()[1])))

    write(tmp_path / "data", many(tree), on_progress=look)
    assert seen
    assert min(seen) > os.getpriority(os.PRIO_PROCESS, 0)


def test_tidying_from_another_process(tree, tmp_path):
    with pytest.raises(errors.NotFound):
        writer.maintain(engine.at(tmp_path / "data"), stop=lambda: None)
    write(tmp_path / "data", tree({"a.md": "alpha"}))
    writer.maintain(engine.at(tmp_path / "data"), stop=lambda: None)
    assert write(tmp_path / "data", tree({})).skipped == 1


def test_a_ranking_of_another_version_is_built_anew_and_the_report_and_the_log_say_so(tree, tmp_path, capfd):
    root, data = tree({"a.txt": "alpha"}), tmp_path / "data"
    assert write(data, root).renewed == ""
    state = data / "ranking/generation.json"
    state.write_text(state.read_text().replace('"analysis": ', '"analysis": 9'))
    line = "the ranking was made by another version: built anew from the record, reading no file again"
    assert write(data, root).renewed == line
    assert line in capfd.readouterr().err.splitlines()
    assert write(data, root).renewed == ""
