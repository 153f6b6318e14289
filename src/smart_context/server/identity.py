"""Identify the caller without asking it: by the peer of a connection, or the process that started us.

In: the scope of a request, or the number of a process.  Out: a name.
Always: nothing here comes from what a client says of itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from smart_context.model import Caller

CALLER = "smart_context.caller"
"""The key under which the gate leaves the `Caller` in a request's scope."""

_MAX_PATH = 4096


def started_by(parent: int) -> Caller:
    """The caller behind a server on standard input and output: our user, and the program that started us."""
    return Caller(f"{_user()}/{_program(parent) or 'unknown'}")


def peer(scope: Mapping[str, Any]) -> str:
    """The address at the other end of a request; "" where it is not known."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _user() -> str:
    if sys.platform == "win32":
        return os.getlogin()
    import pwd

    # Not from the environment, which a client sets.
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _program(process: int) -> str:
    """The name of a running program's file, or ""."""
    try:
        path = os.readlink(f"/proc/{process}/exe")
    except OSError:
        path = "" if sys.platform in {"linux", "win32"} else _asked(process)
    return os.path.basename(path.removesuffix(" (deleted)"))


def _asked(process: int) -> str:
    """As the system's library of macOS tells it."""
    import ctypes

    if not (pidpath := getattr(ctypes.CDLL(None), "proc_pidpath", None)):
        return ""
    path = ctypes.create_string_buffer(_MAX_PATH)
    return os.fsdecode(path.value) if pidpath(process, path, _MAX_PATH) > 0 else ""
