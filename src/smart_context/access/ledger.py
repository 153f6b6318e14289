"""Audit lines of all machines in one place: each machine's log is a chain there, and stays the truth on that machine.

In: a log that `audit.AuditLog` writes.  Out: its lines in the shared record, in order; and the verdict on a chain there.
Always: lines are delivered as they were written, each once; while the database cannot be reached they wait in the log. A log that was written anew begins
a chain of its own beside the old one, so that neither hides the other.

`<log>.chain` beside the log has the name of its chain. It is also the lock for delivering.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from smart_context import flock
from smart_context.access import audit, audit_check
from smart_context.access.audit_check import Problem, Verdict
from smart_context.errors import Conflict, ContextError, IoError, NotFound

_TOGETHER = 500  # lines of one delivery
_PAUSE = 2.0  # seconds between two looks
_AGAIN = 10.0  # after one that failed
_MOST_PROBLEMS = 100


class Line(NamedTuple):
    """A line of a log, with its number there."""

    seq: int
    data: bytes


class Ledger(Protocol):
    """Where the lines of all machines are."""

    def last(self, chain: str) -> Line | None:
        """The last line of a chain."""

    def add(self, chain: str, lines: Sequence[Line]) -> int:
        """Store lines, and return how many of them are stored unchanged."""

    def chains(self) -> list[str]:
        """The name of every chain."""

    def lines(self, chain: str) -> Iterator[Line]:
        """The lines of a chain, in order."""


class Courier:
    """Delivers one log, from a thread. machine: the first part of its chain's name."""

    def __init__(self, path: str, ledger: Ledger, machine: str, warn: Callable[[str], None]) -> None:
        self._path = path
        self._ledger = ledger
        self._machine = machine
        self._warn = warn
        self._sent: int | None = None  # the last number that is there; None: ask
        self._at = (-1, 0)  # the file that was read last, and how far
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)

    def __enter__(self) -> Courier:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join(_AGAIN)

    def _run(self) -> None:
        pause = _PAUSE
        while not self._ends.wait(pause):
            pause = self._tried()
        if pause == _PAUSE:  # what came last; where nobody answers, the next server delivers it
            self._tried()

    def _tried(self) -> float:
        try:
            self.deliver()
        except ContextError as error:
            self._warn(f"audit lines wait on this machine: {error.in_one_line}")
            return _AGAIN
        return _PAUSE

    def deliver(self) -> int:
        """Send what is not there yet; how many lines. Nothing while another process does so.

        Raises: IoError when the log cannot be read; what the ledger raises.
        """
        try:
            with _Chain(self._path, self._machine) as chain:
                return self._delivered(chain) if chain.is_ours else 0
        except OSError as error:
            raise IoError(f"cannot deliver the audit log {self._path}", reason=error.strerror) from error

    def _delivered(self, chain: _Chain) -> int:
        there = _written(self._path)
        try:
            if self._sent is None:
                self._sent = self._known(chain, there)
            if there < self._sent:
                self._sent = self._anew(chain)
            if there == self._sent:
                return 0
            return self._send(chain)
        except BaseException:
            self._sent, self._at = None, (-1, 0)
            raise

    def _known(self, chain: _Chain, there: int) -> int:
        """How far a chain has come, if it is one of this log."""
        last = self._ledger.last(chain.name)
        if last is None:
            return 0
        own = next((line for line in self._lines(last.seq - 1) if line.seq == last.seq), last)
        self._at = (-1, 0)
        return last.seq if own == last and there >= last.seq else self._anew(chain)

    def _anew(self, chain: _Chain) -> int:
        chain.begin()
        self._at = (-1, 0)
        return 0

    def _send(self, chain: _Chain) -> int:
        done, rest = 0, self._lines(self._sent or 0)
        while lines := list(islice(rest, _TOGETHER)):
            if self._ledger.add(chain.name, lines) < len(lines):
                chain.begin()
                raise Conflict(f"the audit chain of {self._machine} holds other lines; a new one is begun")
            self._sent, done = lines[-1].seq, done + len(lines)
        return done

    def _lines(self, after: int) -> Iterator[Line]:
        """The lines after a number; of the file that was read last, from where that ended."""
        try:
            with open(self._path, "rb") as log:
                found = os.fstat(log.fileno())
                if found.st_ino == self._at[0] and found.st_size >= self._at[1]:
                    log.seek(self._at[1])
                    yield from _numbered(iter(log.readline, b""), after)
                    self._at = (found.st_ino, log.tell())
                    return
        except FileNotFoundError:
            return
        with audit_check.Snapshot(self._path) as every:
            yield from _numbered((line for _, line in every.lines()), after)


class _Chain:
    """The name of a log's chain, held against other processes that would deliver."""

    def __init__(self, path: str, machine: str) -> None:
        self._path, self._machine = path, machine
        self._fd = -1
        self.is_ours = False
        self.name = ""

    def __enter__(self) -> _Chain:
        if not os.path.isdir(os.path.dirname(self._path)):
            return self
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        self._fd = os.open(f"{self._path}.chain", flags, 0o600)
        self.is_ours = flock.try_lock(self._fd)
        if self.is_ours:
            self.name = os.read(self._fd, 1000).decode("utf-8", "replace").strip()
            if not self.name:
                self.begin()
        return self

    def begin(self) -> None:
        """Name a new chain."""
        self.name = f"{self._machine}/{secrets.token_hex(4)}"
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, self.name.encode() + b"\n", 0)

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)


def _written(path: str) -> int:
    """The number of a log's last line, as its state tells it."""
    try:
        with open(f"{path}.state", "rb") as beside:
            state = audit.parse_state(beside.read())
    except FileNotFoundError:
        return 0
    return state.seq if state else 0


def _numbered(lines: Iterator[bytes], after: int) -> Iterator[Line]:
    """Whole lines with their numbers, as far as these are consecutive; checking the log itself reports foreign lines."""
    for data in lines:
        try:
            seq = int(json.loads(data)["seq"]) if data.endswith(b"\n") else 0
        except (ValueError, TypeError, KeyError):
            continue
        if seq > after:
            after = seq
            yield Line(seq, data)


def verify(ledger: Ledger, chain: str) -> Verdict:
    """Check every line and every link of a chain, from the oldest stored line.

    Raises: NotFound if there is none.
    """
    problems: list[Problem] = []
    before: str | None = None
    count = lost = last = 0
    for seq, data in ledger.lines(chain):
        if not count and seq == 1:
            before = audit.GENESIS
        what = audit_check.wrong(data, before)
        if what and len(problems) < _MOST_PROBLEMS:
            problems.append(Problem(chain, seq, what))
        before, last, count = audit.hash_of(data) or None, seq, count + 1
        lost += audit_check.numbers(data)[1]
    if not count:
        raise NotFound(f"there is no audit chain {chain}", hint="list them with: context audit verify --all-nodes")
    return Verdict(count, (chain,), tuple(problems), f"{last}-{before}" if before else "", lost)


def read(ledger: Ledger, filters: audit_check.EntryFilters) -> Iterator[dict[str, object]]:
    """The entries of every chain, each in its order, with the name of the chain as `node`."""
    for chain in ledger.chains():
        for _, data in ledger.lines(chain):
            try:
                entry = json.loads(data)
            except ValueError:
                continue
            if isinstance(entry, dict) and filters.take(entry):
                yield {**entry, "node": chain}
