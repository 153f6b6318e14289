"""Write the index in a child process, for a server that also answers searches.

In: an order (index a folder, run OCR, or maintain the index).  Out: its outcome, as if it had been done here.
Always: a search never waits for a run, neither for the GIL nor for memory; the child ends after its order, and when we end in any
way; it runs at low priority, and so do the reading processes that it starts.

They exchange lines of JSON: the order, "wait" and "stop" in one direction, progress and the outcome in the other (`writer_child`).
"""

from __future__ import annotations

import json
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from smart_context import errors
from smart_context.access.roots import Roots
from smart_context.engine.port import Engine
from smart_context.index.indexer import Options
from smart_context.index.model import IndexReport, KindCount
from smart_context.model import OnProgress, Progress, Stop, silent
from smart_context.sources.child import command

STOP = b"stop\n"
WAIT = b"wait\n"

_LOOK_EVERY = 0.1  # seconds between two checks whether to stop
# For the current files and a commit; a process that takes longer is killed, and loses its work since the last commit.
_STOPPING_SECONDS = 30.0
_CHUNK = 64 * 1024


def index(
    engine: Engine,
    roots: Roots,
    folder: str,
    options: Options,
    *,
    full: bool,
    on_progress: OnProgress,
    stop: Stop,
    is_busy: Callable[[], bool] = lambda: False,
) -> IndexReport:
    """Bring the index up to date with a folder: `indexer.run` in another process.

    is_busy: whether a call is being answered; the run then pauses, at most half of the time.
    Raises: what the run raises; what `stop` raises, once everything read so far is committed.
    """
    order = {"do": "index", "roots": roots.resolved, "folder": folder, "options": _as_dict(options), "full": full}
    return _report(_done(engine, order, on_progress, stop, is_busy))


def scan(
    engine: Engine,
    roots: Roots,
    folder: str,
    options: Options,
    data: Mapping[str, str],
    *,
    on_progress: OnProgress,
    stop: Stop,
    is_busy: Callable[[], bool] = lambda: False,
) -> IndexReport:
    """Run OCR on what waits in a folder: `scans.read` in another process. The rest as for `index`."""
    order = {"do": "scan", "roots": roots.resolved, "folder": folder, "options": _as_dict(options), "data": dict(data)}
    return _report(_done(engine, order, on_progress, stop, is_busy))


def _as_dict(options: Options) -> dict[str, Any]:
    how = asdict(options)
    how["walk"]["never_enter"] = sorted(options.walk.never_enter)
    return how


def _report(outcome: dict[str, Any]) -> IndexReport:
    kinds = {kind: KindCount(**count) for kind, count in outcome.pop("kinds").items()}
    return IndexReport(**{**outcome, "problems": tuple(outcome["problems"]), "kinds": kinds})


def maintain(engine: Engine, *, stop: Stop) -> None:
    """Maintain the index: `Engine.maintain` in another process."""
    _done(engine, {"do": "maintain"}, silent, stop, lambda: False)


def _done(
    engine: Engine, order: dict[str, Any], on_progress: OnProgress, stop: Stop, is_busy: Callable[[], bool]
) -> dict[str, Any]:
    order["engine"] = engine.made_of
    with _started() as process:
        try:
            outcome = _followed(process, order, on_progress, stop, is_busy)
        except BaseException:
            _end(process)
            raise
    if outcome is None:
        raise _died(process.returncode)
    if "error" in outcome:
        raise _error(*outcome["error"])
    done: dict[str, Any] = outcome["done"]
    return done


def _started() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command("smart_context.index.writer_child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C reaches only us
            cwd="/",
        )
    except OSError as error:
        raise errors.SearchFailed(
            "cannot start the process that writes the index",
            reason=error.strerror,
            hint="searches go on; try again when the machine has room for another process",
        ) from error


def _followed(
    process: subprocess.Popen[bytes],
    order: dict[str, Any],
    on_progress: OnProgress,
    stop: Stop,
    is_busy: Callable[[], bool],
) -> dict[str, Any] | None:
    """Send the order and report progress; return the outcome, or None when the process died without one."""
    assert process.stdin
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
    except BrokenPipeError:
        return None
    for line in _lines(process):
        if line is not None:
            message = json.loads(line)
            if "step" not in message:
                return dict(message)
            on_progress(Progress(*message["step"]))
        stop()
        if is_busy():
            with suppress(BrokenPipeError):  # it has just come to its end
                process.stdin.write(WAIT)
    return None


def _lines(process: subprocess.Popen[bytes]) -> Iterator[bytes | None]:
    """Yield each line that arrives, and None whenever none has arrived for a while."""
    assert process.stdout
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(_LOOK_EVERY):
                yield None
                continue
            piece = process.stdout.read(_CHUNK)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the process commit its work, and make sure that it ends."""
    assert process.stdin
    late = time.monotonic() + _STOPPING_SECONDS
    with suppress(BrokenPipeError):  # it has just come to its end
        process.stdin.write(STOP)
    for _line in _lines(process):
        if time.monotonic() > late:
            process.kill()
            return


def _died(status: int) -> errors.SearchFailed:
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return errors.SearchFailed(
        f"the process that writes the index ended unexpectedly ({how})",
        hint="index the folder again: it goes on from the last commit",
    )


def _error(name: str, message: str, reason: str | None, hint: str | None) -> errors.ContextError:
    kind = getattr(errors, name, None)
    # An error class that cannot be made from a message alone is restored as its nearest base class that can.
    while isinstance(kind, type) and issubclass(kind, errors.ContextError):
        if "__init__" not in vars(kind) or kind is errors.ContextError:
            return kind(message, reason=reason, hint=hint)
        kind = kind.__base__
    return errors.SearchFailed(message, reason=reason, hint=hint)
