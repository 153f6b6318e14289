"""A PostgreSQL server for a benchmark: one that runs, or one that is started for the time, as the tests start theirs.

In: an address, or none.  Out: an address whose user may make databases, or a `Server`.  Always: what was started here is ended here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


@contextmanager
def at(address: str | None) -> Iterator[str]:
    """The address, or that of a server for the time."""
    if address:
        yield address
        return
    with started() as server:
        yield server.address("bench")


@contextmanager
def started() -> Iterator[Any]:
    """A server of its own, as `tests/postgres_server.py` has it: it is stopped, paused and followed by replicas there."""
    tests = str(Path(__file__).parent.parent / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    with import_module("postgres_server").running() as server:
        yield server
