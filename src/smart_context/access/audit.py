"""The audit log: one JSON line per call, chained so that an edited or missing line is found.

In: what a call was and how it went.  Out: a line at the end of the log.
Always: a line is written whole or not at all; lines of several processes never mix; each carries the hash of the one before it,
across rotation, so that `audit_check.verify` finds a line that was changed, taken out or put in.

`<log>.state` beside the log has the hash and number of the last line, the hash before the oldest line still kept, the
hash of a line about to be written, and how many lines could not be written. It is also the lock that writers take. The state is written before
and after a line, so that a line which it does not count was added by somebody else. Anybody who may write both files and knows the method can make a
new chain; an anchor kept elsewhere reveals that.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from smart_context import defaults, flock
from smart_context.data import dataclass, field, replace
from smart_context.errors import CallCancelled, IoError
from smart_context.settings.config import Settings

GENESIS = "0" * 64
_STATE_BYTES = 512
_TAIL_BYTES = 64 * 1024
_MAX_QUERY = 2000  # characters
_MAX_NAME = 200
_MOST_NAMES = 512  # encoded names that are cached: a caller has the same one in every call
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """What is logged of a call. counts: results, files, tokens …, by name. error: the code of an error, or "".

    client: what the client says it is. address: of the peer, over HTTP.

    A call that its caller cancelled has the code of `CallCancelled`, and is logged as neither done nor failed.
    """

    tool: str
    caller: str
    latency_ms: float
    error: str = ""
    query: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    client: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The end of the chain. size: of the log when this was written. start: the hash before the oldest line kept.

    pending: the hash of a line that is being written. lost: lines that could not be written since the last one that was.
    """

    head: str = GENESIS
    seq: int = 0
    size: int = 0
    start: str = GENESIS
    pending: str = ""
    lost: int = 0


def configured(settings: Settings, clean: Callable[[str], str]) -> AuditLog | None:
    """The log as it is configured; None where it is off."""
    audit = settings.audit
    if not audit.enabled:
        return None
    return AuditLog(
        settings.audit_path(),
        clean=clean,
        include_query=audit.include_query,
        max_bytes=audit.max_mb * 1024 * 1024,
        keep=audit.keep,
    )


class AuditLog:
    """The log of one or several processes."""

    def __init__(
        self,
        path: str,
        *,
        clean: Callable[[str], str],
        include_query: bool = True,
        max_bytes: int = defaults.AUDIT_BYTES,
        keep: int = defaults.AUDIT_KEEP,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """clean: redacts what a caller wrote. keep: rotated files, `<path>.1` the newest."""
        self._path = path
        self._clean = clean
        self._name = lru_cache(_MOST_NAMES)(lambda name: clean(name)[:_MAX_NAME])
        self._include_query = include_query
        self._max_bytes = max_bytes
        self._keep = keep
        self._now = now
        self._lost = 0  # that the state does not know of

    def write(self, call: LoggedCall) -> None:
        """Append a line.

        Raises: IoError when the log cannot be written; that one is missing is then noted in the state, and in the next line.
        """
        facts = self._facts(call)
        try:
            with _Locked(self._path) as held:
                try:
                    self._append(held, facts)
                except OSError:
                    self._note_loss(held)
                    raise
        except OSError as error:
            raise IoError(f"cannot write the audit log {self._path}", reason=error.strerror) from error

    def _facts(self, call: LoggedCall) -> dict[str, object]:
        is_cancelled = call.error == CallCancelled.code
        facts: dict[str, object] = {
            "time": self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "tool": call.tool,
            "caller": self._name(call.caller),
            **({"client": self._name(call.client)} if call.client else {}),
            **({"address": call.address} if call.address else {}),
            "counts": dict(sorted(call.counts.items())),
            "latency_ms": round(call.latency_ms, 3),
            "outcome": call.error if is_cancelled else "error" if call.error else "ok",
        }
        if call.error and not is_cancelled:
            facts["error"] = call.error
        if call.query is not None and self._include_query:
            facts["query"] = self._clean(call.query)[:_MAX_QUERY]
        return facts

    def _append(self, held: _Locked, facts: Mapping[str, object]) -> None:
        log = os.open(self._path, _APPEND, 0o600)
        try:
            size = os.fstat(log).st_size
            state = held.state if size == held.state.size else _mended(log, size, held.state)
            lost = state.lost + self._lost
            line = sealed({"seq": state.seq + 1, **facts, **({"lost": lost} if lost else {})}, state.head)
            if size and size + len(line) > self._max_bytes:
                os.close(log)
                log = -1
                state = self._rotate(held, state)
                log, size = os.open(self._path, _APPEND, 0o600), 0
            held.put(replace(state, size=size, pending=hash_of(line)))
            _write_whole(log, line, size)
            held.put(State(hash_of(line), state.seq + 1, os.fstat(log).st_size, state.start))
            self._lost = 0
        finally:
            if log >= 0:
                os.close(log)

    def _note_loss(self, held: _Locked) -> None:
        self._lost += 1
        try:
            held.put(replace(held.state, pending="", lost=held.state.lost + self._lost))
            self._lost = 0
        except OSError:
            return  # told with the next line that can be written

    def _rotate(self, held: _Locked, state: State) -> State:
        """Rename every file to the next number and remove the oldest; the chain then begins after the removed lines."""
        numbers = rotated(self._path)
        if doomed := [number for number in numbers if number >= self._keep]:
            # First the state, then the files: a reader knows a file that should be gone by its last hash.
            state = replace(state, start=last_hash(f"{self._path}.{doomed[0]}") or state.start)
            held.put(state)
        for number in reversed(numbers):
            if number in doomed:
                os.unlink(f"{self._path}.{number}")
            else:
                os.rename(f"{self._path}.{number}", f"{self._path}.{number + 1}")
        os.rename(self._path, f"{self._path}.1")
        return state


def sealed(facts: Mapping[str, object], before: str) -> bytes:
    """A line with the hash of the one before it, and its own hash over all that."""
    text = _ENCODER.encode({**facts, "prev": before})
    body = text.encode("utf-8", "replace").removesuffix(b"}")
    return body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


_SEAL = len(b',"hash":"') + 64 + len(b'"}\n')


def hash_of(line: bytes) -> str:
    """The hash that a line carries, or "" for what is no whole line of ours."""
    ours = line[-_SEAL:].startswith(b',"hash":"') and line.endswith(b'"}\n')
    return line[-_SEAL + 9 : -3].decode("ascii", "replace") if ours else ""


def is_sealed(line: bytes) -> bool:
    """Say whether a line is as it was written."""
    return bool(hash_of(line)) and hashlib.sha256(line[:-_SEAL]).hexdigest() == hash_of(line)


def previous(line: bytes) -> str:
    """The hash of the line before, as a line carries it."""
    found = line[:-_SEAL][-73:]
    return found[8:-1].decode("ascii", "replace") if found.startswith(b'"prev":"') else ""


def rotated(path: str) -> list[int]:
    """The numbers of a log's rotated files, newest first."""
    folder, name = os.path.split(os.path.abspath(path))
    endings = [entry.removeprefix(f"{name}.") for entry in os.listdir(folder) if entry.startswith(f"{name}.")]
    return sorted(int(ending) for ending in endings if ending.isdecimal())


def last_hash(path: str) -> str:
    """The hash of a file's last line, or ""."""
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
        return hash_of(file.read().rpartition(b"\n")[0].rpartition(b"\n")[2] + b"\n")


def parse_state(data: bytes) -> State | None:
    """Read a state; None for what is none."""
    try:
        head, seq, size, start, *more = json.loads(data)
        pending, lost = more or ("", 0)
        return State(str(head), int(seq), int(size), str(start), str(pending), int(lost))
    except (ValueError, TypeError):
        return None


class _Locked:
    """The state of a log, held against other writers."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd: int
        self.state = State()

    def __enter__(self) -> _Locked:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            self._fd = os.open(f"{self._path}.state", flags, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            self._fd = os.open(f"{self._path}.state", flags, 0o600)
        flock.lock(self._fd)
        self.state = parse_state(os.read(self._fd, _STATE_BYTES)) or State()
        return self

    def put(self, state: State) -> None:
        """Write the state; one write of constant length, so that it is the old one or the new one."""
        told = (state.head, state.seq, state.size, state.start, state.pending, state.lost)
        text = json.dumps(told).ljust(_STATE_BYTES - 1) + "\n"
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, text.encode())
        self.state = state

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def _mended(log: int, size: int, state: State) -> State:
    """The state to continue from when somebody else has changed the log."""
    os.lseek(log, max(0, size - _TAIL_BYTES), os.SEEK_SET)
    tail = os.read(log, _TAIL_BYTES)
    if tail and not tail.endswith(b"\n"):  # cut off in mid-line: end it, so that the next one is a line of its own
        os.write(log, b"\n")
    last = tail.splitlines(keepends=True)[-1] if tail else b""
    if state.pending and is_sealed(last) and hash_of(last) == state.pending:
        # A writer died between its line and the state: the line counts.
        return State(state.pending, state.seq + 1, size, state.start)
    # Somebody else changed the log. The chain goes on from what we know, which leaves the break to be found.
    return state


def _write_whole(log: int, line: bytes, size: int) -> None:
    try:
        written = os.write(log, line)
    except OSError:
        os.ftruncate(log, size)
        raise
    if written != len(line):  # a full disk takes what fits
        os.ftruncate(log, size)
        raise OSError(28, "No space left on device")
