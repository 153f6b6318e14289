"""Read an audit log back, and check its chain.

In: the path of a log.  Out: its entries, oldest first, over all rotated files; or a `Verdict`.
Always: neither changes anything, and a log that is being written meanwhile is read up to where it was.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

from smart_context import flock
from smart_context.access import audit
from smart_context.access.audit import State
from smart_context.errors import IoError, NotFound, UsageError

_MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was written. line: in that file, from 1; 0 for the file as a whole."""

    file: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What checking found. head: number and hash of the last line, to keep elsewhere. lost: calls that could not be logged."""

    lines: int
    files: tuple[str, ...]
    problems: tuple[Problem, ...]
    head: str = ""
    lost: int = 0

    @property
    def is_intact(self) -> bool:
        """Whether every line is there as it was written."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class EntryFilters:
    """Which entries to show. since, until: the beginning of a time as entries have it; see `moment`."""

    tool: str = ""
    caller: str = ""
    outcome: str = ""
    since: str = ""
    until: str = ""

    def take(self, entry: dict[str, Any]) -> bool:
        """Say whether an entry is wanted."""
        time = str(entry.get("time", ""))
        return (
            (not self.tool or entry.get("tool") == self.tool)
            and (not self.caller or entry.get("caller") == self.caller)
            and (not self.outcome or entry.get("outcome") == self.outcome)
            and (not self.since or time >= self.since)
            and (not self.until or time[: len(self.until)] <= self.until)
        )


def moment(text: str) -> str:
    """A time from a person, `2024-05-01` or longer, as entries have it: UTC, as precise as it was given.

    Raises: UsageError for what is no time.
    """
    if not text:
        return ""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        hint = "write it as 2026-05-01, 2026-05-01T12:30 or 2026-05-01T12:30:00Z; without a zone it is UTC"
        raise UsageError(f"{text!r} is not a time", hint=hint) from None
    if when.tzinfo:
        when = when.astimezone(UTC)
    clock = re.search(r"[T ](\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?)", text)
    return when.isoformat(timespec="milliseconds")[: min(23, 11 + len(clock[1])) if clock else 10]


def read(path: str, filters: EntryFilters | None = None) -> Iterator[dict[str, Any]]:
    """Yield the entries of a log, oldest first; what is no entry is passed over.

    Raises: NotFound if there is no log; IoError if it cannot be read.
    """
    filters = filters or EntryFilters()
    with Snapshot(path) as log:
        for _, line in log.lines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and filters.take(entry):
                yield entry


def verify(path: str, anchor: str = "") -> Verdict:
    """Check every line and every link of the chain; with an anchor, also that the line it names is there as it was.

    A line's hash covers the hash of the one before it, and so every line up to it.
    Raises: NotFound if there is no log; IoError if it cannot be read; UsageError for what is no anchor.
    """
    number, wanted = _anchor(anchor)
    with Snapshot(path) as log:
        problems: list[Problem] = []
        before = log.state.start if log.state else None
        count = lost = first = last = 0
        # Lines after the one that the state knows as the last; None while that one was not met.
        foreign = 0 if log.state and log.state.head == before else None
        is_anchored = not wanted
        for place, line in log.lines():
            count += 1
            what = wrong(line, before)
            if what and len(problems) < _MOST_PROBLEMS:
                problems.append(Problem(*place, what))
            before = audit.hash_of(line) or None
            if foreign is not None:
                foreign += 1
            if log.state and before == log.state.head:
                foreign = 0
            last, missing = numbers(line)
            first, lost = first or last, lost + missing
            is_anchored = is_anchored or (last, before) == (number, wanted)
        problems += _wrong_end(path, log.state, before or "", foreign or 0)
        if not is_anchored:
            problems.append(Problem(path, 0, _unanchored(number, first)))
        head = f"{last}-{before}" if before else ""
        lost += log.state.lost if log.state else 0
        return Verdict(count, tuple(log.names), tuple(problems), head, lost)


def _anchor(text: str) -> tuple[int, str]:
    if not text:
        return 0, ""
    number, _, digest = text.partition("-")
    if not (number.isascii() and number.isdecimal() and re.fullmatch("[0-9a-f]{64}", digest)):
        raise UsageError(f"{text!r} is not an anchor", hint="give the line that `context audit anchor` printed")
    return int(number), digest


def _unanchored(number: int, first: int) -> str:
    if number < first:
        return f"line {number:,}, which the anchor names, is older than what is kept"
    return f"line {number:,} is not the one that the anchor names: the log was written anew, or cut"


def numbers(line: bytes) -> tuple[int, int]:
    """The number of a line, and how many before it could not be written; 0 for what is no line of ours."""
    try:
        entry = json.loads(line)
        return int(entry.get("seq", 0)), int(entry.get("lost", 0))
    except (ValueError, TypeError, AttributeError):
        return 0, 0


def wrong(line: bytes, before: str | None) -> str:
    """What is wrong with a line that follows one of some hash; "" for nothing."""
    if not audit.hash_of(line):
        return "not a whole line of this log"
    if not audit.is_sealed(line):
        return "changed after it was written"
    if before is not None and audit.previous(line) != before:
        return "does not follow the line before it: lines are missing, moved or put in"
    return ""


def _wrong_end(path: str, state: State | None, head: str, foreign: int) -> list[Problem]:
    if state is None:
        return [Problem(f"{path}.state", 0, "the state beside the log is missing or broken")]
    # A writer that died between its line and the state has announced it.
    if (head or state.start) in {state.head, state.pending}:
        return []
    if foreign:
        return [Problem(path, 0, f"the last {foreign:,} were put in by somebody else: the state does not count them")]
    return [Problem(path, 0, "the last lines are missing")]


class Snapshot:
    """A log as it was at one moment: its files are opened and measured while no writer is at work, then read at leisure."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._held = ExitStack()
        self._open: list[BinaryIO] = []
        self._sizes: list[int] = []
        self.state: State | None = None
        self.names: list[str] = []

    def __enter__(self) -> Snapshot:
        try:
            with ExitStack() as lock:
                try:
                    beside = lock.enter_context(open(f"{self._path}.state", "rb"))
                    flock.lock(beside.fileno())
                    self.state = audit.parse_state(beside.read())
                except FileNotFoundError:
                    pass
                self._open_files()
        except OSError as error:
            self.__exit__()
            raise IoError(f"cannot read the audit log {self._path}", reason=error.strerror) from error
        if not self.names:
            raise NotFound(
                f"there is no audit log at {self._path}", hint="it is written by `context serve`; see `audit.path`"
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def lines(self) -> Iterator[tuple[tuple[str, int], bytes]]:
        """Every line with its file and number, oldest first."""
        for name, file, size in zip(self.names, self._open, self._sizes, strict=True):
            number, left = 0, size
            while left > 0 and (line := file.readline(left)):
                left -= len(line)
                number += 1
                yield (name, number), line

    def _open_files(self) -> None:
        folder = os.path.dirname(os.path.abspath(self._path))
        numbers = audit.rotated(self._path) if os.path.isdir(folder) else []
        names = [f"{self._path}.{number}" for number in reversed(numbers)]
        names += [self._path] if os.path.lexists(self._path) else []
        # A writer that died while it rotated may have left a file that the chain does not begin with any more.
        if len(names) > 1 and self.state and audit.last_hash(names[0]) == self.state.start:
            names = names[1:]
        self.names = names
        for name in names:
            file = self._held.enter_context(open(name, "rb"))  # noqa: SIM115  closed with the stack
            self._open.append(file)
            self._sizes.append(os.fstat(file.fileno()).st_size)
