"""Audit lines on their way to what machines share: each once, in order, in a chain that nobody else's line gets into."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from smart_context import flock
from smart_context.access import ledger
from smart_context.access.audit import AuditLog, LoggedCall
from smart_context.access.audit_check import EntryFilters
from smart_context.access.ledger import Courier, Line
from smart_context.errors import Conflict, IoError, NotFound, Unreachable


class Shelf:
    """A ledger in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, list[Line]] = {}
        self.sizes: list[int] = []
        self.is_away = False
        self.takes = 10**9  # lines of one delivery

    def last(self, chain: str) -> Line | None:
        self._answer()
        return self.kept[chain][-1] if self.kept.get(chain) else None

    def add(self, chain: str, lines: Sequence[Line]) -> int:
        self._answer()
        self.kept.setdefault(chain, []).extend(lines[: self.takes])
        self.sizes.append(len(lines))
        return min(len(lines), self.takes)

    def chains(self) -> list[str]:
        return sorted(self.kept)

    def lines(self, chain: str) -> Iterator[Line]:
        return iter(self.kept.get(chain, ()))

    def _answer(self) -> None:
        if self.is_away:
            raise Unreachable("nobody answers")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "log" / "audit.jsonl")


def write(path: str, count: int, **how: int) -> None:
    log = AuditLog(path, clean=str, **how)  # type: ignore[arg-type]
    for number in range(count):
        log.write(LoggedCall("openFile", "me", 1.0, counts={"n": number}))


def courier(path: str, shelf: Shelf, told: list[str] | None = None) -> Courier:
    return Courier(path, shelf, "m1", (told if told is not None else []).append)


def numbers(shelf: Shelf) -> list[list[int]]:
    return [[line.seq for line in lines] for lines in shelf.kept.values()]


def test_lines_are_delivered_as_they_were_written_and_each_once(path: str) -> None:
    shelf = Shelf()
    mine = courier(path, shelf)
    assert mine.deliver() == 0  # there is no log, and no folder for one
    write(path, 3)
    assert [mine.deliver(), mine.deliver()] == [3, 0]
    write(path, 2)
    assert [mine.deliver(), mine.deliver()] == [2, 0]
    [(chain, lines)] = shelf.kept.items()
    assert re.fullmatch("m1/[0-9a-f]{8}", chain)
    assert b"".join(line.data for line in lines) == Path(path).read_bytes()
    assert numbers(shelf) == [[1, 2, 3, 4, 5]]
    assert Path(f"{path}.chain").read_text() == f"{chain}\n"
    assert os.stat(f"{path}.chain").st_mode & 0o777 == 0o600


def test_who_starts_anew_goes_on_where_the_last_one_ended(path: str) -> None:
    shelf = Shelf()
    write(path, 3)
    assert courier(path, shelf).deliver() == 3
    assert courier(path, shelf).deliver() == 0
    write(path, 2)
    assert courier(path, shelf).deliver() == 2
    assert numbers(shelf) == [[1, 2, 3, 4, 5]]


def test_lines_of_files_that_were_turned_over_are_delivered_too(path: str) -> None:
    shelf = Shelf()
    mine = courier(path, shelf)
    write(path, 4, max_bytes=500, keep=50)
    assert mine.deliver() == 4
    write(path, 5, max_bytes=500, keep=50)
    assert mine.deliver() == 5
    assert len(os.listdir(os.path.dirname(path))) > 4
    assert numbers(shelf) == [list(range(1, 10))]


def test_many_lines_are_delivered_some_at_a_time(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_TOGETHER", 3)
    shelf = Shelf()
    write(path, 8)
    assert courier(path, shelf).deliver() == 8
    assert shelf.sizes == [3, 3, 2]
    assert numbers(shelf) == [list(range(1, 9))]


def test_while_nobody_answers_lines_wait(path: str) -> None:
    shelf, told = Shelf(), list[str]()
    write(path, 2)
    mine = courier(path, shelf, told)
    shelf.is_away = True
    with pytest.raises(Unreachable):
        mine.deliver()
    shelf.is_away = False
    assert mine.deliver() == 2
    shelf.is_away = True
    write(path, 1)
    with pytest.raises(Unreachable):
        mine.deliver()
    shelf.is_away = False
    assert mine.deliver() == 1
    assert numbers(shelf) == [[1, 2, 3]]


def test_a_log_that_was_written_anew_begins_a_chain_beside_the_old_one(path: str) -> None:
    shelf = Shelf()
    write(path, 3)
    same = courier(path, shelf)
    assert same.deliver() == 3
    for name in (path, f"{path}.state"):
        os.unlink(name)
    write(path, 2)
    assert same.deliver() == 2
    for name in (path, f"{path}.state"):
        os.unlink(name)
    write(path, 4)
    assert courier(path, shelf).deliver() == 4  # another one, which has to ask; its line of that number is another
    assert numbers(shelf) == [[1, 2, 3], [1, 2], [1, 2, 3, 4]]


def test_a_chain_that_holds_other_lines_is_left_alone_and_a_new_one_begun(path: str) -> None:
    shelf = Shelf()
    write(path, 3)
    mine = courier(path, shelf)
    shelf.takes = 1
    with pytest.raises(Conflict, match="m1"):
        mine.deliver()
    shelf.takes = 9
    assert mine.deliver() == 3
    assert numbers(shelf) == [[1], [1, 2, 3]]


def test_nothing_is_delivered_while_another_process_does_so(path: str) -> None:
    shelf = Shelf()
    write(path, 1)
    assert courier(path, shelf).deliver() == 1
    write(path, 1)
    other = os.open(f"{path}.chain", os.O_RDWR)
    assert flock.try_lock(other)
    assert courier(path, shelf).deliver() == 0
    os.close(other)
    assert courier(path, shelf).deliver() == 1


def test_what_is_no_whole_line_of_the_log_is_not_delivered(path: str) -> None:
    shelf = Shelf()
    write(path, 2)
    whole = Path(path).read_bytes()
    first, second = whole.splitlines(keepends=True)
    Path(path).write_bytes(b"no line\n[1]\n{}\n" + first + b'{"seq":"x"}\n' + first + second[:-1])
    assert courier(path, shelf).deliver() == 1
    Path(path).write_bytes(whole)
    assert courier(path, shelf).deliver() == 1
    assert [line.data for line in next(iter(shelf.kept.values()))] == [first, second]


def test_a_log_that_cannot_be_read_is_an_error(path: str) -> None:
    write(path, 1)
    os.mkdir(f"{path}.chain")
    with pytest.raises(IoError, match="cannot deliver the audit log"):
        courier(path, Shelf()).deliver()


def test_what_came_last_is_delivered_when_a_server_ends_and_a_failure_is_told(path: str) -> None:
    shelf, told = Shelf(), list[str]()
    write(path, 2)
    with courier(path, shelf, told):
        pass
    assert (numbers(shelf), told) == ([[1, 2]], [])
    shelf.is_away = True
    write(path, 1)
    with courier(path, shelf, told):
        pass
    assert told == ["audit lines wait on this machine: nobody answers"]


def delivered(path: str, count: int = 5) -> tuple[Shelf, str, list[Line]]:
    shelf = Shelf()
    write(path, count)
    courier(path, shelf).deliver()
    [(chain, lines)] = shelf.kept.items()
    return shelf, chain, lines


def test_a_chain_as_it_was_written_is_intact_also_without_its_oldest_lines(path: str) -> None:
    shelf, chain, lines = delivered(path)
    head = json.loads(lines[-1].data)["hash"]
    found = ledger.verify(shelf, chain)
    assert (found.lines, found.problems, found.head, found.lost, found.files) == (5, (), f"5-{head}", 0, (chain,))
    del lines[:2]
    found = ledger.verify(shelf, chain)
    assert (found.lines, found.problems, found.head) == (3, (), f"5-{head}")
    with pytest.raises(NotFound):
        ledger.verify(shelf, "m1/none")


def test_a_line_that_was_changed_taken_out_or_put_first_is_found(path: str) -> None:
    shelf, chain, lines = delivered(path)
    whole = list(lines)
    lines[2] = Line(3, lines[2].data.replace(b'"me"', b'"us"'))
    assert [(one.line, one.what) for one in ledger.verify(shelf, chain).problems] == [
        (3, "changed after it was written")
    ]
    lines[:] = [*whole[:2], *whole[3:]]
    assert [one.line for one in ledger.verify(shelf, chain).problems] == [4]
    lines[:] = [Line(1, whole[1].data), *whole[2:]]  # what is first follows the beginning
    assert [one.line for one in ledger.verify(shelf, chain).problems] == [1]
    lines[:] = [Line(number, b"no line\n") for number in range(1, 121)]
    found = ledger.verify(shelf, chain)
    assert (found.lines, len(found.problems), found.head) == (120, 100, "")


def test_entries_of_every_chain_are_read_with_its_name(path: str) -> None:
    shelf, chain, lines = delivered(path, 2)
    shelf.kept["m2/x"] = [Line(1, b'{"tool": "searchFiles"}\n'), Line(2, b"no line\n"), Line(3, b"[1]\n"), lines[0]]
    found = list(ledger.read(shelf, EntryFilters()))
    assert [(one["node"], one["tool"]) for one in found] == [
        (chain, "openFile"), (chain, "openFile"), ("m2/x", "searchFiles"), ("m2/x", "openFile"),
    ]  # fmt: skip
    assert [one["node"] for one in ledger.read(shelf, EntryFilters(tool="searchFiles"))] == ["m2/x"]
