"""The jail of reading processes: every forbidden act tried from inside, and every format read in it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import jail_acts
from office_files import docx, epub, odf, paragraph, pdf_pages, pptx, shape, shown, xlsx, zipped
from smart_context.errors import SearchFailed
from smart_context.model import JAIL_LAYERS, Extracted, Limits
from smart_context.sources import child, seccomp
from smart_context.sources.worker import Done, Pool, Task
from unprivileged import needs_root

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the jail is Linux's")
needs_jail = pytest.mark.usefixtures("whole_jail")

# A reading process as ours, but for its reader, which does what it should not be able to.
INTRUDER = """
import json
import jail_acts
from smart_context.model import Extracted
from smart_context.sources.worker_child import serve

def main(args):
    def read(data, name, limits):
        return Extracted("text", json.dumps(jail_acts.attempt(*json.loads(bytes(data)))), ())
    serve(args, read)
"""

# Where nobody may read the interpreter, everything is loaded before the rights are given up.
ALONE = """
import ctypes, json, os, sys
import jail_acts
from smart_context.sources import jail
folder, listening, layer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.open(os.path.join(folder, "mapped"), os.O_RDONLY)
if os.geteuid() == 0 and layer != "landlock as root":
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
out = os.dup(1)
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
held = jail.enter() if layer == "all" else jail._landlock(libc)
os.write(out, json.dumps([held, jail_acts.attempt(folder, listening)]).encode())
"""


@pytest.fixture
def stage(tmp_path: Path):
    """A folder to attack, a port that listens, and what the folder must still look like afterwards."""
    for outer in tmp_path.parents:
        if outer.stat().st_uid == os.geteuid() and "pytest" in str(outer):
            outer.chmod(0o711)
    folder = tmp_path / "stage"
    jail_acts.lay_out(folder)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield folder, server.getsockname()[1]


def state(folder: Path) -> list[tuple[str, int, int, bytes]]:
    return [
        (path.name, path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.iterdir())
    ]


def intrude(tmp_path: Path, folder: Path, listening: int, jail: str, but_not: tuple[str, ...] = ()) -> dict[str, str]:
    (tmp_path / "intruder.py").write_text(INTRUDER)
    before = sys.path[:]
    sys.path += [str(tmp_path), str(Path(__file__).parents[1])]
    try:
        command = child.command("intruder")
    finally:
        sys.path[:] = before
    order = folder / "mapped"
    order.write_text(json.dumps([str(folder), listening, but_not]))
    unchanged = state(folder)
    task = Task(0, str(order), lambda: os.open(order, os.O_RDONLY))
    with Pool(Limits(), 1, jail=jail, start_with=command) as pool:
        (done,) = pool.run([task])
    assert isinstance(done.outcome, Extracted), done.outcome
    if jail != "off":
        assert state(folder) == unchanged
    result: dict[str, str] = json.loads(done.outcome.title)
    return result


@needs_jail
def test_a_reader_that_is_taken_over_can_do_nothing_of_all_this(tmp_path: Path, stage) -> None:
    results = intrude(tmp_path, *stage, "require")
    assert {act: how for act, how in results.items() if how == "done"} == {}


def test_without_the_jail_the_same_acts_succeed(tmp_path: Path, stage) -> None:
    results = intrude(tmp_path, *stage, "off", but_not=("start a program", "trace its parent"))
    expected = {
        "read a file", "list a folder", "look at a file", "make a file", "make a folder", "make a link", "truncate a file",
        "remove a file", "remove a folder", "rename a file", "connect", "send a datagram", "listen", "signal its parent",
        "map executable memory", "make memory executable", "change the mode of what it was given",
    }  # fmt: skip
    assert {act for act in expected if results[act] != "done"} == set()


def alone(folder: Path, listening: int, layer: str) -> tuple[object, dict[str, str]]:
    unchanged = state(folder)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parents[1])])}
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(folder), str(listening), layer], env=env, capture_output=True, check=True
    )
    assert state(folder) == unchanged or layer != "all"
    held, results = json.loads(done.stdout)
    return held, results


@needs_jail
@needs_root
def test_another_user_can_do_nothing_of_it_either(stage) -> None:
    held, results = alone(*stage, "all")
    assert held == list(JAIL_LAYERS)
    assert {act: how for act, how in results.items() if how == "done"} == {}


@pytest.mark.parametrize("layer", ["landlock", pytest.param("landlock as root", marks=needs_root)])
def test_landlock_alone_keeps_files_and_connections_away(tmp_path: Path, stage, layers, layer: str) -> None:
    if "landlock" not in layers:
        pytest.skip("this kernel has no Landlock")
    # One wall is enough for these, should the other have a hole.
    held, results = alone(*stage, layer)
    assert held is True
    forbidden = {
        "read a file", "list a folder", "make a file", "make a folder", "make a link", "make a hard link", "make a pipe",
        "remove a file", "remove a folder", "rename a file", "start a program", "read its own memory",
    }  # fmt: skip
    assert {act for act in forbidden if results[act] == "done"} == set()


def samples(folder: Path) -> list[Path]:
    """A small file of every family of formats, and texts in encodings that are loaded late."""
    page = "<html><head><meta charset=shift_jis></head><body><h1>Top</h1><p>日本語の文章</p></body></html>"
    mail = (
        "From: a@example.org\nTo: b@example.org\nDate: Mon, 2 Mar 2020 10:00:00 +0100\nSubject: =?iso-2022-jp?B?GyRCRnxLXBsoQg==?=\n"
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain; charset=koi8-r\n"
        "Content-Transfer-Encoding: base64\n\n8NLJ18XU\n--x\nContent-Type: text/html\n\n<p>Hi</p>\n--x--\n"
    )
    contents: dict[str, bytes] = {
        "a.pdf": pdf_pages(shown("The ferry leaves at noon")),
        "b.docx": docx(paragraph("Goals", "Heading1") + paragraph("Sail")),
        "c.pptx": pptx([shape("Slide one")]),
        "d.xlsx": xlsx({"Q2": '<row r="1"><c r="A1"><v>7</v></c></row>'}),
        "e.odt": odf("text", "<text:p>Open</text:p>"),
        "f.epub": epub({"c.xhtml": "<html><body><h1>One</h1><p>Once</p></body></html>"}),
        "g.html": page.encode("shift_jis"),
        "h.eml": mail.encode(),
        "i.rtf": rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8}",
        "j.csv": b"name,age\nAnn,7\n",
        "k.xml": b"<?xml version='1.0'?><a title='One word'>text</a>",
        "l.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ["x = 1"]}]}).encode(),
        "m.txt": ("Приветствую вас, дорогие друзья, в этом письме. " * 20).encode("koi8-r"),
        "n.zip": zipped({"inner/a.txt": "inside", "b.html": "<p>B</p>"}),
        "o.md": b"# Title\n\nBody\n",
        "ls.1": b".TH LS 1\n.SH NAME\nls \\- list\n",
        "p.png": b"\x89PNG\r\n\x1a\n\0\0",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return sorted(folder.iterdir())


def read(paths: list[Path], jail: str) -> dict[object, Done]:
    tasks = [Task(path.name, str(path), lambda path=path: os.open(path, os.O_RDONLY)) for path in paths]
    with Pool(Limits(), 1, jail=jail) as pool:
        return {done.key: done for done in pool.run(tasks)}


def test_every_format_reads_the_same_in_the_jail(tmp_path: Path) -> None:
    paths = samples(tmp_path)
    jailed, free = read(paths, "prefer"), read(paths, "off")
    assert jailed == free
    found = {key: done.outcome for key, done in jailed.items()}
    assert {key for key, outcome in found.items() if not isinstance(outcome, Extracted) or not outcome.units} == {
        "p.png"
    }


@needs_jail
def test_a_large_file_is_mapped_in_the_jail(tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    large.write_bytes(b"a line of text\n" * 1_200_000)
    (done,) = read([large], "require").values()
    assert isinstance(done.outcome, Extracted)
    assert sum(len(unit.text) for unit in done.outcome.units) > 17_000_000


LACKING = """
from smart_context.sources import jail, worker_child
jail.enter = lambda: ("seccomp",)
main = worker_child.main
"""


def test_nothing_is_read_without_a_jail_that_is_required(tmp_path: Path) -> None:
    # A kernel without Landlock: the process says so and ends before it takes a file.
    (tmp_path / "lacking.py").write_text(LACKING)
    (tmp_path / "a.txt").write_text("x")
    sys.path.append(str(tmp_path))
    try:
        command = child.command("lacking")
    finally:
        sys.path.remove(str(tmp_path))
    path = tmp_path / "a.txt"
    task = Task(0, str(path), lambda: os.open(path, os.O_RDONLY))
    with Pool(Limits(), 1, jail="require", start_with=command) as pool, pytest.raises(SearchFailed) as raised:
        list(pool.run([task]))
    assert "index.jail" in raised.value.message
    with Pool(Limits(), 1, jail="prefer", start_with=command) as pool:
        (done,) = pool.run([task])
        assert isinstance(done.outcome, Extracted)


HEADERS = {
    "x86_64": (0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": (1, "/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_table_of_system_calls_agrees_with_the_kernel(machine: str) -> None:
    column, header = HEADERS[machine]
    if not os.path.exists(header):
        pytest.skip(f"{header} is not installed")
    defined = Path(header).read_text()
    calls = seccomp._ALLOWED | seccomp._MAPS | seccomp._SIGNALS | seccomp._LIMITS | seccomp._CONTROL
    for name, numbers in calls.items():
        # Some have another name where numbers are 64 bits wide anyway.
        found = re.search(rf"#define __NR(?:3264)?_{name}\s+(\d+)", defined)
        assert (int(found[1]) if found else -1) == numbers[column], name


def test_an_unknown_architecture_has_no_filter() -> None:
    assert seccomp.program("riscv64", 1) is None
