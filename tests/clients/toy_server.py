"""A server with tools that misbehave, put together from the same parts as the real ones."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from smart_context.errors import ContextError
from smart_context.model import Progress
from smart_context.server import run
from smart_context.server.tools import Arguments, Program, Reply, Tool, Work

_FOREVER = threading.Event()
_RELEASED = threading.Event()


def echo(arguments: Arguments, work: Work) -> Reply:
    return Reply(repr(dict(arguments)))


def waits(arguments: Arguments, work: Work) -> Reply:
    """Work until it is told to stop, or another call releases it."""
    try:
        while not _RELEASED.wait(0.01):
            work.stop()
    except ContextError:
        sys.stderr.write("stopped\n")
        sys.stderr.flush()
        raise
    return Reply("released")


def release(arguments: Arguments, work: Work) -> Reply:
    _RELEASED.set()
    return Reply("")


def deaf(arguments: Arguments, work: Work) -> Reply:
    """Never notice that it should stop."""
    _FOREVER.wait()
    return Reply("")


def noisy(arguments: Arguments, work: Work) -> Reply:
    """Write to standard output by every way there is, and read standard input."""
    print("print")
    sys.stdout.flush()
    os.write(1, b"descriptor\n")
    subprocess.run([sys.executable, "-c", "import sys; print('child', repr(sys.stdin.read()))"], check=True)
    return Reply("quiet")


def breaks(arguments: Arguments, work: Work) -> Reply:
    raise RuntimeError("the secret is 1234")


def for_ever(arguments: Arguments, work: Work) -> Reply:
    for done in range(3):
        work.on_progress(Progress(done, 3, f"file {done}"))
    return waits(arguments, work)


def steps(arguments: Arguments, work: Work) -> Reply:
    """Go faster than anybody can read."""
    for done in range(100):
        work.on_progress(Progress(done + 1, 100, f"file {done}"))
    return Reply("done")


def refuse(error: ContextError) -> Reply:
    return Reply(f"{error.code}: {error.message}", code=error.code)


def tool(name: str, act: object, **more: object) -> Tool:
    schema = {"type": "object", "properties": {"n": {}}, "additionalProperties": False}
    return Tool(name, name, name, schema, act, refuse, **more)  # type: ignore[arg-type]


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    rows = [tool(act.__name__, act, seconds=seconds) for act in (echo, waits, release, deaf, noisy, breaks, steps)]
    rows.append(tool("for.ever", for_ever, seconds=None))
    run.over_stdio(Program("toy", "Toy", "Misbehave."), rows)
