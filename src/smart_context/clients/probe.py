"""Start a server as a client would, and ask for its tools.

In: a command.  Out: the names of its tools, or an error that says what went wrong, with what the server wrote to stderr.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence

from smart_context.errors import IoError
from smart_context.settings import config

_PROTOCOL = "2025-06-18"
_SECONDS = 30.0  # for an answer
_ONLY_LOOK = {"index.at_start": "false"}  # a server that lives for a moment should begin nothing


def tools(command: Sequence[str], timeout: float = _SECONDS) -> list[str]:
    """Shake hands over a pipe and list the tools."""
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=config.child_environment(_ONLY_LOOK),
        )
    except OSError as error:
        raise IoError(f"cannot start {command[0]}", reason=error.strerror) from error
    # A server that hangs must not hang us: ending it ends the reads below.
    watchdog = threading.Timer(timeout, child.kill)
    watchdog.start()
    try:
        with child:
            out, err = child.communicate(_conversation())
    finally:
        watchdog.cancel()
    for line in out.splitlines():
        try:
            frame = json.loads(line)
        except ValueError as error:
            raise IoError("the server wrote something that is not a message", reason=repr(line[:200])) from error
        if frame.get("id") == 2 and "result" in frame:
            return [tool["name"] for tool in frame["result"]["tools"]]
    said = err.decode("utf-8", "replace").strip().splitlines()
    raise IoError("the server did not list its tools", reason=said[-1] if said else f"it ended with {child.returncode}")


def version(program: Sequence[str]) -> str:
    """Ask a program of ours for its version.

    Raises: IoError when it does not run, or is another's.
    """
    try:
        done = subprocess.run([*program, "--version"], capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise IoError(f"cannot start {program[0]}", reason=str(error)) from error
    said = done.stdout.decode("utf-8", "replace").strip()
    name, _, number = said.partition(", version ")
    if done.returncode or name != "context" or not number or len(number) > 50:
        raise IoError(
            f"{program[0]} does not tell its version", reason=said[:200] or f"it ended with {done.returncode}"
        )
    return number


def _conversation() -> bytes:
    client = {"name": "context-connect", "version": "1"}
    hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
    frames: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    return b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
