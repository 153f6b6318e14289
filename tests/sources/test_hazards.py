"""A folder of traps and bombs is indexed to the end: nothing waited for, nothing followed, each refusal with its reason."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import traps
from smart_context.access.roots import parsed
from smart_context.engine.local.record import Record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the traps are those of Linux")

# Every file that is refused or holds no text, and why.
REASONS = {
    "zeros.zip": "no text",
    "nested.zip": "no text",
    "deep.docx": "damaged",
    "cut.docx": "damaged",
    "laughs.xml": "no text",
    "deep.html": "no text",
    "inflates.pdf": "no text",
    "binary.txt": "unknown type",
    "empty.pdf": "empty",
}


def test_traps_and_bombs_cost_nothing_but_themselves(tmp_path, run):
    readable = traps.lay(tmp_path / "traps", tmp_path / "outside")
    growing, stop = tmp_path / "traps/growing.log", threading.Event()
    writer = threading.Thread(target=_grow, args=(growing, stop))
    writer.start()
    try:
        done = run("index", tmp_path / "traps", "--data-dir", tmp_path / "data", "--json")
    finally:
        stop.set()
        writer.join()
    assert (done.returncode, done.stderr.count(b"error")) == (0, 0)
    [report] = json.loads(done.stdout)
    rows = _rows(tmp_path / "data")
    told = {os.path.basename(path): row.reason for path, row in rows.items() if row.state != "ok"}
    told.pop("growing.log", None)  # it may have been read between two of its changes, or not
    assert told == REASONS
    assert report["problems"] == []
    assert not [path for path in rows if str(tmp_path / "outside") in path]
    assert _found(run, tmp_path, "zebra") == readable
    assert _found(run, tmp_path, "yak") == set()


def _grow(path: Path, stop: threading.Event) -> None:
    with path.open("w", encoding="utf-8") as file:
        while not stop.is_set() and file.tell() < 2_000_000:
            file.write("one more line\n" * 100)
            file.flush()


def _rows(data: Path) -> dict:
    record = Record.open(data)
    try:
        return {row.path: row for row in record.files(record.file_ids()).values()}
    finally:
        record.close()


def _found(run, place: Path, query: str) -> set[str]:
    done = run(
        "search", query, "--root", place / "traps", "--data-dir", place / "data", "--json", "-k", "50", "--all-copies"
    )
    assert done.returncode == 0
    return {parsed(item["path"]) for item in json.loads(done.stdout)["items"]}


def test_what_may_not_be_read_is_named_and_the_rest_is_indexed(tree, tmp_path):
    root = tree({"open.txt": "zebra", "shut.txt": "zebra", "closed/inside.txt": "zebra"})
    (root / "shut.txt").chmod(0)
    (root / "closed").chmod(0)
    command = [sys.executable, "-m", "smart_context", "index", root, "--data-dir", tmp_path / "data", "--json"]
    done = subprocess.run([*_without_the_right_to_read_everything(), *command], capture_output=True, check=True)
    (root / "closed").chmod(0o700)
    [report] = json.loads(done.stdout)
    assert (report["indexed"], report["failed"]) == (1, 1)
    assert report["problems"] == [f"{root}/closed: permission denied"]
    assert {(os.path.basename(path), row.state, row.reason) for path, row in _rows(tmp_path / "data").items()} == {
        ("open.txt", "ok", ""),
        ("shut.txt", "failed", "cannot be opened"),
    }


def _without_the_right_to_read_everything() -> list[str]:
    if os.geteuid():
        return []
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if not shutil.which("setpriv") or subprocess.run([*without, "true"], check=False).returncode:
        pytest.skip("root reads everything here")
    return without
