"""The audit log: whole lines, one chain over processes and rotations, and every disturbance found."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from smart_context.access import audit, audit_check
from smart_context.access.audit import AuditLog, LoggedCall
from smart_context.access.audit_check import EntryFilters
from smart_context.errors import CallCancelled, IoError, NotFound, UsageError

WRITER = """
import sys
from smart_context.access.audit import AuditLog, LoggedCall
log = AuditLog(sys.argv[1], clean=str, max_bytes=4000, keep=1000)
for number in range(int(sys.argv[2])):
    log.write(LoggedCall("searchFiles", sys.argv[3], 1.0, query="x" * (number % 90), counts={"results": number}))
    print(number, flush=True)
"""


def open_log(path: Path, **how: object) -> AuditLog:
    times = itertools.count()
    start = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
    options = {"clean": lambda text: text.replace("secret", "[redacted:secret]"), **how}
    return AuditLog(str(path), now=lambda: start + timedelta(hours=next(times)), **options)  # type: ignore[arg-type]


def fill(path: Path, count: int = 10, **how: object) -> list[bytes]:
    log = open_log(path, **how)
    for number in range(count):
        log.write(LoggedCall("openFile", "me", 1.5, counts={"n": number}))
    return path.read_bytes().splitlines(keepends=True)


def start_writer(path: Path, count: int, who: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(count), who], stdout=subprocess.PIPE, env=env)


def test_a_line_holds_what_was_called_by_whom_and_how_it_went(tmp_path: Path) -> None:
    path = tmp_path / "new" / "audit.jsonl"
    log = open_log(path)
    log.write(
        LoggedCall("searchFiles", "claude secret", 12.3456, query="my secret\nquery", counts={"results": 3, "a": 1})
    )
    log.write(LoggedCall("openFile", "claude", 0.5, error="NOT_FOUND"))
    first, second = [json.loads(line) for line in path.read_text().splitlines()]
    assert {k: v for k, v in first.items() if k not in {"prev", "hash"}} == {
        "seq": 1,
        "time": "2024-05-01T12:00:00.000Z",
        "tool": "searchFiles",
        "caller": "claude [redacted:secret]",
        "counts": {"a": 1, "results": 3},
        "latency_ms": 12.346,
        "outcome": "ok",
        "query": "my [redacted:secret]\nquery",
    }
    assert (second["outcome"], second["error"], "query" in second) == ("error", "NOT_FOUND", False)
    assert (first["prev"], second["prev"]) == ("0" * 64, first["hash"])
    if sys.platform != "win32":
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_the_query_is_left_out_when_so_configured(tmp_path: Path) -> None:
    log = open_log(tmp_path / "a", include_query=False)
    log.write(LoggedCall("searchFiles", "me", 1, query="private"))
    assert b"private" not in (tmp_path / "a").read_bytes()


def test_text_that_is_no_text_and_long_queries_are_written_all_the_same(tmp_path: Path) -> None:
    log = open_log(tmp_path / "a")
    log.write(LoggedCall("searchFiles", "\ud800", 1, query="q" * 100_000))
    (entry,) = audit_check.read(str(tmp_path / "a"))
    assert (entry["caller"], len(entry["query"])) == ("?", 2000)
    assert audit_check.verify(str(tmp_path / "a")).is_intact


@pytest.mark.parametrize(
    ("disturb", "line"),
    [
        (lambda lines: lines[:4] + lines[5:], 5),  # a line is gone
        (lambda lines: lines[1:], 1),  # the first is gone
        (lambda lines: lines[:-1], 0),  # the last is gone
        (lambda lines: lines[:-3], 0),
        (lambda lines: [], 0),
        (lambda lines: [*lines[:3], lines[3].replace(b'"n":3', b'"n":4'), *lines[4:]], 4),  # edited
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 4),  # exchanged
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4),  # repeated
        (lambda lines: [*lines[:3], b"{}\n", *lines[3:]], 4),  # put in
        (lambda lines: [*lines[:3], b"\n", *lines[3:]], 4),
        (lambda lines: [*lines[:-1], lines[-1][:-5]], 10),  # cut off
        (lambda lines: [*lines[:-1], lines[-1].replace(b'"n":9', b'"n":8')], 10),
    ],
)
@pytest.mark.parametrize("goes_on", [False, True])
def test_every_disturbance_is_found_also_after_further_lines(
    tmp_path: Path, disturb: Callable[[list[bytes]], list[bytes]], line: int, goes_on: bool
) -> None:
    path = tmp_path / "audit.jsonl"
    changed = disturb(fill(path))
    path.write_bytes(b"".join(changed))
    if goes_on:
        fill(path, 3)
    verdict = audit_check.verify(str(path))
    assert not verdict.is_intact
    assert verdict.problems[0].line == (line or (len(changed) + 1 if goes_on else 0))


def test_an_undisturbed_log_is_intact_over_rotations_and_oldest_files_go(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for count in range(1, 60):
        fill(path, 1, max_bytes=2000, keep=3)
        verdict = audit_check.verify(str(path))
        assert verdict.is_intact, (count, verdict)
    assert [os.path.basename(file) for file in verdict.files] == [f"audit.jsonl{end}" for end in (".3", ".2", ".1", "")]
    numbers = [entry["seq"] for entry in audit_check.read(str(path))]
    assert numbers == list(range(numbers[0], 60))
    fill(path, 20, max_bytes=2000, keep=1)  # fewer are to be kept from now on
    verdict = audit_check.verify(str(path))
    assert (len(verdict.files), verdict.is_intact) == (2, True)


def test_a_rotated_file_that_is_gone_is_found(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    fill(path, 60, max_bytes=2000, keep=9)
    files = audit_check.verify(str(path)).files
    for gone in (files[0], files[1]):
        kept = Path(gone).read_bytes()
        Path(gone).unlink()
        assert not audit_check.verify(str(path)).is_intact
        Path(gone).write_bytes(kept)
    assert audit_check.verify(str(path)).is_intact


def test_a_writer_that_died_between_line_and_state_leaves_an_intact_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    fill(path, 5)
    beside = tmp_path / "audit.jsonl.state"
    head, seq, size, start, *_ = json.loads(beside.read_bytes())
    announced = json.loads(fill(path, 1)[-1])["hash"]
    beside.write_text(json.dumps([head, seq, size, start, announced, 0]))
    assert audit_check.verify(str(path)).is_intact
    fill(path, 1)
    verdict = audit_check.verify(str(path))
    assert (verdict.is_intact, verdict.lines) == (True, 7)
    assert [entry["seq"] for entry in audit_check.read(str(path))] == list(range(1, 8))


def test_a_lost_state_is_found(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    fill(path)
    (tmp_path / "audit.jsonl.state").unlink()
    assert not audit_check.verify(str(path)).is_intact


def test_processes_write_one_chain_together_while_it_rotates(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writers = [start_writer(path, 60, who) for who in "abc"]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    verdict = audit_check.verify(str(path))
    assert (verdict.is_intact, verdict.lines) == (True, 180)
    assert len(verdict.files) > 5
    entries = list(audit_check.read(str(path)))
    assert [entry["seq"] for entry in entries] == list(range(1, 181))
    for who in "abc":
        assert [e["counts"]["results"] for e in entries if e["caller"] == who] == list(range(60))


def test_writers_killed_at_any_moment_leave_an_intact_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    told = 0
    for stop_after in (3, 8, 14, 21):
        writer = start_writer(path, 10_000, "k")
        assert writer.stdout
        for _ in range(stop_after):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        writer.communicate()
        told += stop_after
        verdict = audit_check.verify(str(path))
        assert verdict.is_intact, verdict
        assert verdict.lines >= told


def test_entries_are_filtered(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = open_log(path)
    for tool, caller, error in (("a", "x", ""), ("b", "x", "E"), ("a", "y", "E"), ("b", "y", ""), ("c", "y@x", "")):
        log.write(LoggedCall(tool, caller, 1, error=error))

    def numbers(**filters: str) -> list[int]:
        return [entry["seq"] for entry in audit_check.read(str(path), EntryFilters(**filters))]

    assert numbers() == [1, 2, 3, 4, 5]
    assert numbers(tool="a") == [1, 3]
    assert numbers(caller="y") == [3, 4]
    assert numbers(caller="y", outcome="error") == [3]
    assert numbers(since="2024-05-01T13:00") == [2, 3, 4, 5]
    assert numbers(until="2024-05-01T13") == [1, 2]
    assert numbers(since="2024-05-01", until="2024-05-01") == [1, 2, 3, 4, 5]


def test_no_log_and_no_place_for_one_are_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        audit_check.verify(str(tmp_path / "no" / "audit.jsonl"))
    (tmp_path / "file").write_text("")
    with pytest.raises(IoError):
        open_log(tmp_path / "file" / "audit.jsonl").write(LoggedCall("a", "b", 1))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_FSIZE with SIGXFSZ ignored")
def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    before = b"".join(fill(path, 3))
    script = (
        "import resource, signal, sys\n"
        "from smart_context.errors import IoError\n"
        "from smart_context.access.audit import AuditLog, LoggedCall\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100},) * 2)\n"
        "try: AuditLog(sys.argv[1], clean=str).write(LoggedCall('a', 'b', 1.0))\n"
        "except IoError: print('refused')\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "refused\n"
    assert path.read_bytes() == before
    assert (audit_check.verify(str(path)).is_intact, audit_check.verify(str(path)).lost) == (True, 1)
    assert json.loads(fill(path, 1)[-1])["lost"] == 1
    assert (audit_check.verify(str(path)).is_intact, audit_check.verify(str(path)).lost) == (True, 1)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("goes_on", [False, True])
def test_well_formed_lines_of_somebody_else_are_found(tmp_path: Path, count: int, goes_on: bool) -> None:
    path = tmp_path / "audit.jsonl"
    before = json.loads(fill(path, 4)[-1])["hash"]
    for number in range(count):
        line = audit.sealed({"seq": 5 + number, "tool": "openFile", "caller": "somebody else"}, before)
        before = audit.hash_of(line)
        with path.open("ab") as log:
            log.write(line)
    if goes_on:
        fill(path, 2)
    assert not audit_check.verify(str(path)).is_intact


def test_an_anchor_proves_that_nothing_before_it_changed_even_if_all_was_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    fill(path, 5)
    anchor = audit_check.verify(str(path)).head
    fill(path, 5)
    assert audit_check.verify(str(path), anchor).is_intact
    for file in tmp_path.iterdir():
        file.unlink()
    log = open_log(path)
    for number in range(10):  # the same lines but one, by the program itself
        log.write(LoggedCall("openFile", "me", 1.5, counts={"n": number + (number == 2)}))
    assert audit_check.verify(str(path)).is_intact
    [problem] = audit_check.verify(str(path), anchor).problems
    assert problem.what.startswith("line 5 is not the one")
    for wrong in ("5", "x-1", "5-abc"):
        with pytest.raises(UsageError):
            audit_check.verify(str(path), wrong)


def test_an_anchor_older_than_what_is_kept_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    fill(path, 2)
    anchor = audit_check.verify(str(path)).head
    fill(path, 60, max_bytes=2000, keep=1)
    [problem] = audit_check.verify(str(path), anchor).problems
    assert "older than what is kept" in problem.what


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("", ""),
        ("2026-05-01", "2026-05-01"),
        ("2026-05-01T12", "2026-05-01T12"),
        ("2026-05-01 12:30", "2026-05-01T12:30"),
        ("2026-05-01T12:30Z", "2026-05-01T12:30"),
        ("2026-05-01T00:30+02:00", "2026-04-30T22:30"),
        ("2026-05-01T12:30:01.5", "2026-05-01T12:30:01.5"),
    ],
)
def test_times_are_read_as_people_write_them(given: str, meant: str) -> None:
    assert audit_check.moment(given) == meant


def test_what_is_no_time_is_an_error() -> None:
    for text in ("notatime", "2026", "2026-13-01", "yesterday"):
        with pytest.raises(UsageError):
            audit_check.moment(text)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2026-05-01T12:30:01.123456", "2026-05-01T12:30:01.123"),
        ("2026-05-01T12:30:01.123", "2026-05-01T12:30:01.123"),
        ("2026-05-01T12:30:01+00:00", "2026-05-01T12:30:01"),
    ],
)
def test_times_are_as_precise_as_those_in_the_log_at_most(given: str, meant: str) -> None:
    assert audit_check.moment(given) == meant


def test_a_log_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    with pytest.raises(IoError):
        audit_check.verify(str(tmp_path / "audit.jsonl"))


def test_names_are_cut_and_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = open_log(path)
    log.write(LoggedCall("a", "n" * 201, 1, client="c" * 201, address="::1", query="q" * 2001))
    log.write(LoggedCall("a", "n" * 200, 1, error=CallCancelled.code))
    first, second = audit_check.read(str(path))
    assert (first["caller"], first["client"], first["address"]) == ("n" * 200, "c" * 200, "::1")
    assert first["query"] == "q" * 2000
    assert (second["caller"], second["outcome"]) == ("n" * 200, CallCancelled.code)
    assert {"client", "address", "error", "query", "lost"}.isdisjoint(second)


def test_a_log_turns_over_when_a_line_would_be_too_many_bytes_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    size = len(b"".join(fill(path, 2)))
    for file in tmp_path.iterdir():
        file.unlink()
    fill(path, 2, max_bytes=size)
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["audit.jsonl", "audit.jsonl.state"]
    for file in tmp_path.iterdir():
        file.unlink()
    fill(path, 2, max_bytes=size - 1)
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.state"]
    fill(path, 1, max_bytes=1, keep=1)
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.state"]
    assert audit_check.verify(str(path)).is_intact


def test_a_line_longer_than_all_that_is_allowed_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    assert len(fill(path, 1, max_bytes=10)) == 1
    assert not (tmp_path / "audit.jsonl.1").exists()


def test_lines_of_no_entry_have_no_number_and_problems_are_told_up_to_a_hundred(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    fill(path, 1)
    with path.open("ab") as log:
        log.write(b"[]\n" * 120)
    verdict = audit_check.verify(str(path))
    assert (verdict.lines, len(verdict.problems), verdict.lost, verdict.head) == (121, 101, 0, "")
    assert [problem.line for problem in verdict.problems] == [*range(2, 102), 0]


def test_lines_put_in_by_somebody_else_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    before = json.loads(fill(path, 2)[-1])["hash"]
    for number in range(3):
        line = audit.sealed({"seq": 3 + number}, before)
        before = audit.hash_of(line)
        with path.open("ab") as log:
            log.write(line)
    verdict = audit_check.verify(str(path))
    [problem] = verdict.problems
    assert problem.what.startswith("the last 3 were put in by somebody else")
    assert verdict.head == f"5-{before}"


def test_an_empty_log_and_a_head_of_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b"")
    verdict = audit_check.verify(str(path))
    assert (verdict.lines, verdict.head, verdict.is_intact) == (0, "", False)  # there is no state beside it


@pytest.mark.parametrize("left", [0, 3])
def test_lines_after_one_that_was_cut_off_stand_for_themselves(tmp_path: Path, left: int) -> None:
    path = tmp_path / "audit.jsonl"
    lines = fill(path, 3)
    path.write_bytes(b"".join(lines)[:-5] if left else b"")
    found = fill(path, 2)
    assert len(found) == left + 2
    assert [audit.is_sealed(line) for line in found] == [True] * max(0, left - 1) + [False] * (left > 0) + [True, True]


@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize("name", ["audit.jsonl", "audit.jsonl.state"])
def test_a_link_in_the_place_of_the_log_or_its_state_is_not_written_through(tmp_path: Path, name: str) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"somebody's\n")
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / name).symlink_to(other)
    with pytest.raises(IoError):
        open_log(tmp_path / "log" / "audit.jsonl").write(LoggedCall("a", "b", 1))
    assert other.read_bytes() == b"somebody's\n"


def test_what_is_no_entry_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    first, second = fill(path, 2)
    path.write_bytes(b"no line\n[1]\n" + first + b"{\n" + second + b"3\n")
    assert [entry["seq"] for entry in audit_check.read(str(path))] == [1, 2]
