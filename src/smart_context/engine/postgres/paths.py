"""Translate paths between a shared record and this machine, which may mount the same folders elsewhere.

In: pairs `RECORD=HERE` of absolute folders.  Out: paths as the record has them, and as this machine has them.
Always: `to_local(to_record(path))` is `path`; a path in none of the folders is the same in both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from smart_context.errors import ConfigError


class PathMap:
    """A translation of paths, by the longest folder that holds them."""

    def __init__(self, pairs: Iterable[str]) -> None:
        """Raises: ConfigError for what is no pair of absolute folders."""
        self._pairs: list[tuple[bytes, bytes]] = []
        for pair in pairs:
            record, equals, here = pair.partition("=")
            if not equals or not os.path.isabs(record) or not os.path.isabs(here):
                raise ConfigError(
                    f"engine_places: {pair!r} is no pair of folders", hint='write "/as/in/the/record=/as/mounted/here"'
                )
            self._pairs.append((os.fsencode(os.path.normpath(record)), os.fsencode(os.path.normpath(here))))

    def to_record(self, path: str) -> bytes:
        """A path of this machine, as the record has it."""
        return _moved(os.fsencode(path), [(here, record) for record, here in self._pairs])

    def to_local(self, path: bytes) -> str:
        """A path of the record, as this machine has it."""
        return os.fsdecode(_moved(path, self._pairs))


def _moved(path: bytes, pairs: list[tuple[bytes, bytes]]) -> bytes:
    held = [(old, new) for old, new in pairs if path == old or path.startswith(old + b"/")]
    if not held:
        return path
    old, new = max(held, key=lambda pair: len(pair[0]))
    return new + path[len(old) :]
