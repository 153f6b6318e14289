"""How reading processes are started, without what they load themselves.

In: a `Preparing`.  Out: the command line of a reading process.
Always: it is small: the indexing process needs it, and nothing of what prepares a file.
"""

from __future__ import annotations

import json

from smart_context.data import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Preparing:
    """How files are prepared: the longest segment, the configured redaction patterns, and whether they will be searched."""

    max_chars: int
    patterns: tuple[str, ...] = ()
    searched: bool = True


def started_with(how: Preparing) -> list[str]:
    """The command line of a reading process."""
    # Imported here: a reading process does not need it, and would load a dozen modules more.
    from smart_context.sources import child

    return [*child.command("smart_context.index.reading_child"), json.dumps(asdict(how))]
