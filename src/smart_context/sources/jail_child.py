"""A process that locks itself in as the reading ones do, and can read nothing: loading all readers would take most of a second.

In: what a reading process is told.  Out: which layers of the jail hold, and hashes of files.
Always: what holds here holds for the reading processes, which enter the jail by the same steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from smart_context.model import Skipped
from smart_context.sources import worker_child


def main(args: Sequence[str]) -> None:
    """Say which layers hold, and wait until the parent closes the socket."""
    worker_child.serve(args, lambda *_, **__: Skipped("", "unreadable", ""))
