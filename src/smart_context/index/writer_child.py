"""The process that writes the index for a server: carry out one order, report progress, end.

In: an order, a line of JSON on standard input, and perhaps "wait" and "stop" after it.  Out: progress and the outcome, on
standard output.
Always: "wait" pauses it for a moment between two files, never for ever; "stop" ends it there, with a commit; the end of
standard input means that the server has ended, and ends it at once, which does no harm to the index.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smart_context import heap, talk
from smart_context.errors import ContextError
from smart_context.index.writer import STOP, WAIT
from smart_context.model import Limits, OnProgress, Progress, Stop

if TYPE_CHECKING:
    from smart_context.index.indexer import Options

_NICE = 10  # beside programs that use every processor it gets a tenth of one; at 19 it would be a seventieth
_TELL_EVERY = 0.1  # seconds
_MOMENT = 0.1  # seconds: the interval between two "wait" requests, so that it works at least half of the time
_CHUNK = 64 * 1024


class _Stopped(Exception):
    """The server asked to stop; it has its own answer for its caller."""


def main(_args: Sequence[str]) -> None:
    """Carry out the order on standard input."""
    out = os.dup(1)
    os.dup2(2, 1)  # all other output goes to standard error
    os.nice(_NICE)
    heap.share()
    order, stopped, asked_to_wait = _listen()

    def stop() -> None:
        if stopped.is_set():
            raise _Stopped
        if asked_to_wait.is_set():
            stopped.wait(_MOMENT)
            asked_to_wait.clear()

    outcome: dict[str, Any] = {}
    try:
        outcome["done"] = _carry_out(order, _progress_to(out), stop)
    except _Stopped:
        return
    except ContextError as error:
        outcome["error"] = [type(error).__name__, error.message, error.reason, error.hint]
    _tell(out, outcome)


def _listen() -> tuple[dict[str, Any], threading.Event, threading.Event]:
    """Read the order; return it with the events for "stop" and "wait", which a thread sets from then on."""
    data = b""
    while b"\n" not in data:
        piece = os.read(0, _CHUNK)
        if not piece:
            os._exit(1)
        data += piece
    order, _, more = data.partition(b"\n")
    stopped, asked_to_wait = threading.Event(), threading.Event()

    def listen() -> None:
        said = more
        while True:
            if WAIT in said:
                asked_to_wait.set()
            if STOP in said:
                stopped.set()
            said = os.read(0, _CHUNK)
            if not said:
                os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    return json.loads(order), stopped, asked_to_wait


def _carry_out(order: dict[str, Any], on_progress: OnProgress, stop: Stop) -> dict[str, Any]:
    def step(progress: Progress) -> None:
        on_progress(progress)
        stop()

    from smart_context import engine

    home = engine.at(*order["engine"])
    if order["do"] == "maintain":
        if renewed := home.maintain(step):
            talk.say(f"{renewed}\n")
        return {}
    from smart_context.access.roots import Roots
    from smart_context.index import indexer

    with home.open(writable=True, on_progress=step) as index:
        roots = Roots.as_resolved(order["roots"])
        options = _options(order["options"])
        folder = order["folder"]
        if order["do"] == "scan":
            from smart_context.index import scans

            return asdict(scans.read(index, roots, folder, options, order["data"], on_progress=on_progress, stop=stop))
        full = order["full"]
        report = indexer.run(index, roots, folder, options, full=full, on_progress=on_progress, stop=stop)
        if report.renewed:
            talk.say(f"{report.renewed}\n")
        return asdict(report)


def _options(order: dict[str, Any]) -> Options:
    from smart_context.index.indexer import Options
    from smart_context.sources.walk import WalkOptions

    walk = order["walk"]
    return Options(
        WalkOptions(**{**walk, "exclude": tuple(walk["exclude"]), "never_enter": frozenset(walk["never_enter"])}),
        Limits(**order["limits"]),
        order["workers"],
        order["max_chars"],
        order["jail"],
        tuple(order["patterns"]),
    )


def _progress_to(out: int) -> OnProgress:
    told_at = 0.0

    def tell(step: Progress) -> None:
        nonlocal told_at
        if step.done == step.total or time.monotonic() - told_at >= _TELL_EVERY:
            _tell(out, {"step": [step.done, step.total, step.what, step.counts, step.searchable, step.large]})
            told_at = time.monotonic()

    return tell


def _tell(out: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(out, data) :]
