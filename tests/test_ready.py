"""A process that is forked from one with everything loaded is what a started one would be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import ready
from conftest import PATIENCE, clean_env

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
CONTEXT = [sys.executable, "-m", "smart_context"]
# What a process knows of itself, but for its number and its parent's.
TELL = """
import os, signal, sys, smart_context
print(sys.argv, sorted(os.environ.items()), os.getcwd(), sorted(os.listdir("/proc/self/fd")), sys.stdin.read())
print(sys.path, sys.stdout.encoding, sys.stdout.line_buffering, os.umask(0), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE))
print("told", file=sys.stderr)
sys.exit({status})
"""

# What is known of the process in which a program reads files, when it is ready.
READS = """
import os, select, sys
from pathlib import Path
from smart_context.index import reading
from smart_context.model import Limits
from smart_context.sources.child import Child, Death
child = Child(Limits(), reading.started_with(reading.Preparing(2000, (), True)), "auto")
select.select([child.socket], [], [])
child.receive()
there = Path("/proc", str(child._process.pid))
told = there.joinpath("status").read_text().splitlines()
print([line for line in told if line.split(":")[0] in ("NoNewPrivs", "Seccomp", "Seccomp_filters", "CapEff", "Threads", "SigIgn")])
print(there.joinpath("limits").read_text())
print(os.getsid(child._process.pid) == child._process.pid, os.readlink(there / "cwd"), sorted(os.listdir(there / "fd")))
print(child._process.pid in map(int, Path("/proc/self/task", str(os.getpid()), "children").read_text().split()), child.layers)
child.kill(Death("ended", ""))
"""


def both(command, **how):
    """What comes of a command, forked and started."""
    found = []
    for run in (ready.run, subprocess.run):
        done = run(command, capture_output=True, timeout=PATIENCE, **how)
        found.append((done.returncode, done.stdout, done.stderr))
    return found


@pytest.mark.parametrize("status", ["0", "3", "None", "'said'", "-1", "300", "1/0"])
def test_it_has_what_a_started_one_has_and_ends_as_it_does(tmp_path, status):
    how = {"env": {**clean_env(tmp_path), "MORE": "ä\udcff"}, "cwd": tmp_path, "input": b"given"}
    forked, started = both([sys.executable, "-c", TELL.format(status=status), "ä", "b c"], **how)
    assert forked[:2] == started[:2]
    assert (forked[2] == started[2]) is (status != "1/0")  # a traceback shows how it came here
    assert b"given" in forked[1]


@pytest.mark.parametrize("words", [["--version"], ["search"], ["nothing"], ["search", "x", "--root", "/absent"]])
def test_a_command_answers_the_same(tmp_path, words):
    forked, started = both([*CONTEXT, *words], env=clean_env(tmp_path), cwd=tmp_path)
    assert forked == started


def test_nothing_is_done_at_its_end_that_a_started_one_does_not_do(tmp_path):
    command = [sys.executable, "-c", "import atexit, logging, smart_context; print(atexit._ncallbacks())"]
    forked, started = both(command, env=clean_env(tmp_path), cwd=tmp_path)
    assert started == (0, b"1\n", b"")
    expected = 1 if ready.measuring() is None else 2  # what was measured is written at its end
    assert forked == (0, b"%d\n" % expected, b"")


def test_the_process_in_which_it_reads_files_is_confined_as_a_started_one(tmp_path):
    forked, started = both([sys.executable, "-c", READS], env=clean_env(tmp_path), cwd=tmp_path)
    assert forked == started
    assert b"Max open files" in forked[1], forked[2]


def test_so_is_the_one_that_is_forked_for_a_test(tmp_path):
    forks = f"import subprocess, sys; sys.path.append({os.path.dirname(__file__)!r}); import ready; subprocess.Popen = ready.Reading"
    found = []
    for script in (READS, f"{forks}\n{READS}\nassert ready._started"):
        how = {"env": clean_env(tmp_path), "cwd": tmp_path, "capture_output": True, "timeout": PATIENCE}
        done = subprocess.run([sys.executable, "-c", script], check=False, **how)
        found.append((done.returncode, done.stdout, done.stderr))
    started, forked = found
    assert forked == started
    assert b"Max open files" in forked[1], forked[2]


def test_it_can_be_signalled_waited_for_and_found(tmp_path):
    command = [sys.executable, "-c", "import smart_context, sys; print('up', flush=True); sys.stdin.read()"]
    with ready.Popen(command, env=clean_env(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        assert process.poll() is None
        assert os.path.samefile(f"/proc/{process.pid}/cwd", ".")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == -signal.SIGTERM
        assert process.poll() == -signal.SIGTERM


@pytest.mark.parametrize(
    ("command", "env", "is_forked"),
    [
        (CONTEXT, {}, True),
        ([sys.executable, "-c", "import json"], {}, False),
        (["sh", "-c", "exit"], {}, False),
        (CONTEXT, {"SMART_CONTEXT_DATA_DIR": "/tmp"}, True),
        (CONTEXT, {"PYTHONPATH": "/elsewhere"}, False),
        (CONTEXT, {"PYTHONHASHSEED": "1"}, False),
        (CONTEXT, {"LC_ALL": "C"}, False),
    ],
)
def test_what_is_not_ours_or_is_read_while_python_starts_is_started(tmp_path, command, env, is_forked):
    assert ready.can_be_forked(command, {"env": {**clean_env(tmp_path), **env}}) is is_forked


def test_a_shell_can_start_it_too(tmp_path):
    ready.program(tmp_path / "context")
    script = "./context --version; ./context nothing 2>/dev/null; echo $?; echo x | ./context resolve --cache absent --query x --budget 9; echo $?"
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=clean_env(tmp_path), capture_output=True, check=True)
    assert done.stdout.startswith(b"context, version ")
    assert done.stdout.splitlines()[1:] == [b"1", b"4"]
