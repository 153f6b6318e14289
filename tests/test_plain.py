"""Names are text: nothing of another's begins a line, moves the cursor or turns the direction where people read."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server_client import SERVE, Peer
from smart_context import plain

FORGED = "x\n2026-01-01T00:00:00.000Z  openFile  ok\x1b[2K\x1b[1A\r\u202ekcatta\u2066\u2028\x9b31m\u200e\U000e0041"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\U000e0041", r"\U000e0041"),
        ("漢字 👨\u200d👩 می\u200cخواهم", "漢字 👨\u200d👩 می\u200cخواهم"),
    ],
)
def test_what_steers_is_shown_as_an_escape(text, shown):
    assert plain.line(text) == shown


def test_lines_of_a_text_stay_lines():
    assert plain.lines("a\n\tb\x1b") == "a\n\tb\\x1b"


@given(st.text())
def test_json_reads_back_as_it_was_and_holds_nothing_that_steers(text):
    written = plain.json_text(json.dumps({"text": text}, ensure_ascii=False))
    assert json.loads(written) == {"text": text}
    assert not STEERING.search(written)


@given(st.text())
def test_masked_text_counts_as_many_characters(text):
    assert len(plain.masked(text)) == len(text)
    assert not STEERING.search(plain.masked(text) + plain.line(text))


def test_a_forged_name_adds_no_line_and_no_escape_to_the_log_that_people_read(tmp_path):
    options = ["--root", str(tmp_path), "--data-dir", str(tmp_path / "d")]
    with Peer([*SERVE, *options], tmp_path) as peer:
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": FORGED, "version": "1"}}
        peer.ask("initialize", greeting)
        peer.call("searchFiles", {"query": FORGED})
        peer.finish()
    for args in ([], ["--json"]):
        done = subprocess.run(
            [*SERVE[:3], "audit", *args, "--data-dir", str(tmp_path / "d")], capture_output=True, check=True
        )
        [line] = done.stdout.decode().splitlines()
        assert not STEERING.search(line)
    assert json.loads(line)["client"] == FORGED


def test_a_forged_path_adds_no_line_and_no_escape_to_what_commands_print(run, tmp_path):
    name = FORGED.replace("/", "-")
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / f"{name}.md").write_text("The ferry sails.", encoding="utf-8")
    (tmp_path / "share" / f"{name}.pdf").write_bytes(b"%PDF-1.7 broken")
    where = ["--root", tmp_path / "share", "--data-dir", tmp_path / "d"]
    for args in (["index"], ["status"], ["search", "ferry"], ["search", "ferry", "--json"], ["status", "--json"]):
        done = run(*args, *where)
        assert done.returncode == 0, done.stderr
        for line in (done.stdout + done.stderr).decode().splitlines():
            assert not STEERING.search(line), (args, line)
            assert not line.startswith("2026-01-01"), (args, line)
    done = run("open", tmp_path / "share" / f"{name}.absent", *where)
    assert done.returncode == 4
    assert not STEERING.search(done.stderr.decode())


def test_the_commands_and_the_server_write_text_of_others_through_one_function():
    cli = Path(plain.__file__).parent / "cli"
    assert [f.name for f in cli.glob("*.py") if "ensure_ascii" in f.read_text(encoding="utf-8")] == ["show.py"]


def test_a_forged_name_adds_no_line_and_no_escape_to_a_comparison_of_caches(run, tmp_path):
    for number, text in enumerate(("one", "two")):
        folder = tmp_path / f"s{number}"
        folder.mkdir()
        (folder / "same.md").write_text(text, encoding="utf-8")
        (folder / f"{number}{FORGED}.md").write_text(f"{text} {number}", encoding="utf-8")
        assert run("build", "--sources", folder, "--cache", tmp_path / f"c{number}").returncode == 0
    done = run("diff", tmp_path / "c0", tmp_path / "c1")
    assert done.returncode == 8, done.stderr
    assert b"added" in done.stdout
    for line in done.stdout.decode().splitlines():
        assert not STEERING.search(line)
        assert not line.startswith("2026-01-01")
