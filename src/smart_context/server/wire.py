"""Standard input and output for frames alone, standard error for people. Light: it comes before all that might print."""

from __future__ import annotations

import os
import sys

from smart_context.data import dataclass
from smart_context.errors import IoError


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors that carry frames, and the process that started us."""

    read_fd: int
    write_fd: int
    parent: int


def claim() -> Wire:
    """Move standard input and output to descriptors of their own.

    Afterwards descriptor 1 leads to standard error and descriptor 0 to nothing, for us and for every child: a stray
    `print`, or a library that writes, cannot break a frame.

    Raises: IoError: one of the two is closed.
    """
    # Python has looked for us: the numbers of closed descriptors may since have been given to something else.
    if sys.stdin is None or sys.stdout is None:
        raise IoError("standard input or output is closed", hint="let an MCP client start this program")
    wire = Wire(os.dup(0), os.dup(1), os.getppid())
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error either
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire
