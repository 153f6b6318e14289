"""The command that starts this very installation.

Out: the words of a command line, to which arguments are added.
Always: it runs nothing that lies in the working folder, whatever the files there are called: it is the installed program by its
full path, or this interpreter with `-P`, which keeps the working folder out of Python's search path.
"""

from __future__ import annotations

import os
import sys

_HEAD_BYTES = 4096


def words() -> list[str]:
    """Give the command, to be started from any folder."""
    program = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "context")
    return [program] if _is_ours(program) else [sys.executable, "-P", "-m", "smart_context"]


def _is_ours(program: str) -> bool:
    # `context` beside the interpreter may be another's: ConTeXt installs one of that name into /usr/bin.
    try:
        with open(program, "rb") as file:
            return os.access(program, os.X_OK) and b"smart_context" in file.read(_HEAD_BYTES)
    except OSError:
        return False
